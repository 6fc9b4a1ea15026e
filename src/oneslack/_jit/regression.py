"""Compiled loops of the tube loss: cuts, slopes, the smoothed loss, dual coordinate passes.

Throughout, y is the target, S holds the scores <w, x_i> + b, s the sample weights, r_i = y_i - S_i is the
residual and max(0, |r_i| - eps) the loss: nothing inside a tube of half-width eps.
"""

import numpy as np
from numba import njit

from .held import add_row, weights
from .random import below, shuffle
from .rows import row_dot, row_nonzeros


@njit(nogil=True, cache=True)
def tube_cut(y, s, eps, S, lo, hi, c):
    """Worst outputs at S: c_i = s_i sign(r_i) outside the tube, else 0.  Returns sum c_i y_i - |c_i| eps."""
    total = 0.0
    for i in range(lo, hi):
        c[i] = 0.0
        r = y[i] - S[i]
        if abs(r) > eps:
            c[i] = s[i] if r > 0.0 else -s[i]
            total += c[i] * y[i] - s[i] * eps
    return total


# The compiler may reorder these sums: it makes them faster and no less exact.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def tube_along(y, s, eps, S, dS, t, lo, hi):
    """At S + t dS: the loss term of the cut there, the tube loss, and its slope in t."""
    offset, total, slope = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        r = y[i] - (S[i] + t * dS[i])
        excess = abs(r) - eps
        outside = s[i] if excess > 0.0 else 0.0
        c = outside if r > 0.0 else -outside
        offset += c * y[i] - outside * eps
        total += outside * excess
        slope -= c * dS[i]
    return offset, total, slope


@njit(nogil=True, cache=True)
def tube_sum(y, s, eps, S, lo, hi):
    """sum_i s_i max(0, |r_i| - eps)."""
    total = 0.0
    for i in range(lo, hi):
        excess = abs(y[i] - S[i]) - eps
        if excess > 0.0:
            total += s[i] * excess
    return total


@njit(nogil=True, cache=True)
def smooth_duals(y, s, eps, S, mu, lo, hi, p):
    """Duals of the smoothed loss: both sides of the tube are hinges, rounded off by mu each,

        p_i = clip((r_i - eps) / mu + 1/2, 0, 1) - clip((-r_i - eps) / mu + 1/2, 0, 1).

    Returns the dual loss sum s_i (p_i y_i - |p_i| eps), the tube loss, and the smoothing error: what the
    smoothed loss has above p_i r_i - |p_i| eps.  Where the roundings overlap (eps < mu/2), the two duals
    cancel in part, and the tube is paid for only once.
    """
    loss, tube, error = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        r = y[i] - S[i]
        up = min(max((r - eps) / mu + 0.5, 0.0), 1.0)
        down = min(max((-r - eps) / mu + 0.5, 0.0), 1.0)
        q = up - down
        p[i] = q
        loss += s[i] * (q * y[i] - abs(q) * eps)
        rounding = 0.5 * mu * (up * (1.0 - up) + down * (1.0 - down))
        error += s[i] * (rounding - 2.0 * eps * min(up, down))
        if abs(r) > eps:
            tube += s[i] * (abs(r) - eps)
    return loss, tube, error


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def smooth_slope(y, s, eps, S, dS, t, mu, lo, hi):
    """Slope and curvature along dS, at t, of the smoothed loss."""
    slope, curvature = 0.0, 0.0
    scale = 1.0 / mu
    for i in range(lo, hi):
        r = y[i] - (S[i] + t * dS[i])
        a, b = (r - eps) * scale + 0.5, (-r - eps) * scale + 0.5
        up, down = min(max(a, 0.0), 1.0), min(max(b, 0.0), 1.0)
        slope -= s[i] * dS[i] * (up - down)
        inside = (1.0 if up == a else 0.0) + (1.0 if down == b else 0.0)
        curvature += inside * s[i] * dS[i] * dS[i]
    return slope, curvature * scale


@njit(nogil=True, cache=True)
def smooth_hessian(X, s, eps, p, mu, lo, hi, intercept, H):
    """H += sum_i (s_i k_i / mu) x_i x_i' (lower triangle), k_i the number of roundings that r_i is inside;
    the bias comes last.

    p_i tells k_i: below 1 - 2 eps/mu both count, up to 1 one does, and 0 is the flat of a wide tube.
    """
    d = H.shape[0]
    index = np.empty(d, np.int64)
    value = np.empty(d)
    both = 1.0 - 2.0 * eps / mu
    for i in range(lo, hi):
        q = abs(p[i])
        if q >= 1.0 or (q == 0.0 and both <= 0.0):
            continue
        count = row_nonzeros(X, i, index, value)
        if intercept:
            index[count] = d - 1
            value[count] = 1.0
            count += 1
        scale = (2.0 if q < both else 1.0) * s[i] / mu
        for a in range(count):
            xa = scale * value[a]
            row = H[index[a]]
            for b in range(a + 1):
                row[index[b]] += xa * value[b]


@njit(nogil=True, cache=True)
def dual_pass(X, y, eps, upper, norm2, scale, rate, alpha, w, bias, active, count, kept, block, zone, state):
    """One pass of dual coordinate ascent over active[:count], in blocks of neighbouring rows.

    A dual alpha_i in [-upper_i, upper_i] is an example; w = scale sum alpha_i x_i + anything fixed is kept
    up to date (scale is below 1 around an anchor, solvers/anchor.py), or is a Held (held.py).  With rate > 0
    there is a bias, moved like one more weight (see DualCD on the intercept).
    An example that rests by more than `zone` (at 0 inside the tube, at a bound outside) is left out of
    the next pass: kept[:m] lists those that stay.  Returns m, the running sum of the examples' gaps
    upper_i max(0, |r_i| - eps) - alpha_i r_i + |alpha_i| eps, the growth of the dual, and the largest
    violations to either side.
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
            r = y[i] - (row_dot(X, i, values) + bias[0])
            old, C = alpha[i], upper[i]
            size = abs(old)
            # How far r is beyond the side of the tube that alpha stands for, or the nearer one.
            u = (abs(r) if old == 0.0 else r if old > 0.0 else -r) - eps
            gap += C * max(abs(r) - eps, 0.0) - size * u
            if (size == 0.0 and u < -zone[0]) or (size == C and u > zone[1]):
                continue
            kept[m] = i
            m += 1
            if (size == 0.0 and u <= 0.0) or (size == C and u >= 0.0):
                continue
            low = max(low, -u)
            high = max(high, u)
            norm = scale * norm2[i]
            q = norm + rate
            pull = old * q + r
            if abs(pull) <= eps:
                new = 0.0
            else:  # an empty row stays outside whatever w is
                new = min((abs(pull) - eps) / q, C) if q > 0.0 else C
                new = new if pull > 0.0 else -new
            if new != old:
                alpha[i] = new
                change = new - old
                growth += change * (r - 0.5 * change * norm) - eps * (abs(new) - size)
                add_row(X, i, scale * change, w)
                bias[0] += rate * change
    return m, gap, growth, low, high


@njit(nogil=True, cache=True)
def unsettled(y, eps, upper, S, alpha, out):
    """The examples that may still move at scores S; all others are where they should be."""
    m = 0
    for i in range(y.shape[0]):
        r, size = y[i] - S[i], abs(alpha[i])
        u = (abs(r) if size == 0.0 else r if alpha[i] > 0.0 else -r) - eps
        if not ((size == 0.0 and u < 0.0) or (size == upper[i] and u > 0.0)):
            out[m] = i
            m += 1
    return m
