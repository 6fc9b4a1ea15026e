"""Compiled loops of the hinge: cuts, slopes, the smoothed hinge, dual coordinate passes.

Throughout, y is -1 or +1, S holds the scores <w, x_i> + b, s the sample weights, and
u_i = 1 - y_i S_i is how much example i lacks to its margin.
"""

import numpy as np
from numba import njit

from .held import add_row, weights
from .random import below, shuffle
from .rows import row_dot, row_nonzeros


@njit(nogil=True, cache=True)
def hinge_cut(y, s, S, lo, hi, c):
    """Worst outputs at S: c_i = s_i y_i where u_i > 0, else 0.  Returns sum s_i [u_i > 0]."""
    total = 0.0
    for i in range(lo, hi):
        c[i] = 0.0
        if y[i] * S[i] < 1.0:
            c[i] = s[i] * y[i]
            total += s[i]
    return total


# The compiler may reorder these sums: it makes them faster and no less exact.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def hinge_along(y, s, S, dS, t, lo, hi):
    """The weight of the examples that lack margin at S + t dS, the hinge sum, and its slope in t."""
    mass, total, slope = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        u = 1.0 - y[i] * (S[i] + t * dS[i])
        lacking = s[i] if u > 0.0 else 0.0
        mass += lacking
        total += lacking * u
        slope -= lacking * y[i] * dS[i]
    return mass, total, slope


@njit(nogil=True, cache=True)
def hinge_sum(y, s, S, lo, hi):
    """sum_i s_i max(0, u_i)."""
    total = 0.0
    for i in range(lo, hi):
        u = 1.0 - y[i] * S[i]
        if u > 0.0:
            total += s[i] * u
    return total


@njit(nogil=True, cache=True)
def smooth_duals(y, s, S, mu, lo, hi, p):
    """Duals of the smoothed hinge, p_i = clip(u_i / mu + 1/2, 0, 1), one an example.

    Returns sum s_i p_i, the hinge sum, and the smoothing error sum s_i (mu/2) p_i (1 - p_i), which
    is zero outside the zone |u_i| < mu/2.
    """
    mass, hinge, error = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        u = 1.0 - y[i] * S[i]
        q = min(max(u / mu + 0.5, 0.0), 1.0)
        p[i] = q
        mass += s[i] * q
        error += s[i] * q * (1.0 - q)
        if u > 0.0:
            hinge += s[i] * u
    return mass, hinge, 0.5 * mu * error


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def smooth_slope(y, s, S, dS, t, mu, lo, hi):
    """Slope and curvature along dS, at t, of the smoothed hinge sum."""
    slope, curvature = 0.0, 0.0
    scale = 1.0 / mu
    for i in range(lo, hi):
        q = (1.0 - y[i] * (S[i] + t * dS[i])) * scale + 0.5
        p = min(max(q, 0.0), 1.0)
        slope -= s[i] * y[i] * dS[i] * p
        inside = 1.0 if p == q else 0.0
        curvature += inside * s[i] * dS[i] * dS[i]
    return slope, curvature * scale


@njit(nogil=True, cache=True)
def smooth_hessian(X, s, p, mu, lo, hi, intercept, H):
    """H += sum over the zone of (s_i / mu) x_i x_i' (lower triangle); the bias comes last."""
    d = H.shape[0]
    index = np.empty(d, np.int64)
    value = np.empty(d)
    for i in range(lo, hi):
        if 0.0 < p[i] < 1.0:
            count = row_nonzeros(X, i, index, value)
            if intercept:
                index[count] = d - 1
                value[count] = 1.0
                count += 1
            scale = s[i] / mu
            for a in range(count):
                xa = scale * value[a]
                row = H[index[a]]
                for b in range(a + 1):
                    row[index[b]] += xa * value[b]


@njit(nogil=True, cache=True)
def dual_pass(X, y, upper, norm2, scale, rate, alpha, w, bias, active, count, kept, block, zone, state):
    """One pass of dual coordinate ascent over active[:count], in blocks of neighbouring rows.

    A dual alpha_i in [0, upper_i] is an example; w = scale sum alpha_i y_i x_i + anything fixed is kept up
    to date (scale is below 1 around an anchor, solvers/anchor.py), or is a Held (held.py): then norm2 is in
    its metric, which may be longer than the step needs but never shorter.  With
    rate > 0 there is a bias, moved like one more weight (see DualCD on the intercept).
    An example that sits at a bound by more than `zone` (below, above) is left out of the next pass:
    kept[:m] lists those that stay.  Returns m, the running sum of the examples' gaps
    upper_i max(0, u_i) - alpha_i u_i, the growth of the dual, and the largest violations at either
    bound.
    """
    segments = np.arange((count + block - 1) // block)
    shuffle(segments, 0, segments.shape[0], state)
    gap, growth, low, high = 0.0, 0.0, 0.0, 0.0
    m, values = 0, weights(w)
    for segment in segments:
        lo = segment * block
        for a in range(min(lo + block, count) - 1, lo - 1, -1):
            k = lo + below(state, a - lo + 1)
            i = active[k]
            active[k] = active[a]
            active[a] = i
            u = 1.0 - y[i] * (row_dot(X, i, values) + bias[0])
            old, C = alpha[i], upper[i]
            gap += (C - old) * u if u > 0.0 else -old * u
            if (old == 0.0 and u < -zone[0]) or (old == C and u > zone[1]):
                continue
            kept[m] = i
            m += 1
            if (old == 0.0 and u <= 0.0) or (old == C and u >= 0.0):
                continue
            low = max(low, -u)
            high = max(high, u)
            norm = scale * norm2[i]
            q = norm + rate
            new = min(max(old + u / q, 0.0), C) if q > 0.0 else C  # an empty row lacks 1 whatever w is
            if new != old:
                alpha[i] = new
                growth += (new - old) * (u - 0.5 * (new - old) * norm)
                change = (new - old) * y[i]
                add_row(X, i, scale * change, w)
                bias[0] += rate * change
    return m, gap, growth, low, high


@njit(nogil=True, cache=True)
def unsettled(y, upper, S, alpha, out):
    """The examples that may still move at scores S; all others are at their right bound."""
    m = 0
    for i in range(y.shape[0]):
        u = 1.0 - y[i] * S[i]
        if not ((alpha[i] == 0.0 and u < 0.0) or (alpha[i] == upper[i] and u > 0.0)):
            out[m] = i
            m += 1
    return m
