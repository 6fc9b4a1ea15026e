"""Compiled loops over a scalar loss phi: cuts, lines, the smoothed loss, dual coordinate passes.

Throughout, y is the target, S holds the scores z_i = <w, x_i> + b, s the sample weights, and a dual is
a_i = C s_i p_i with p = -d phi / d z.  `phi` is one of losses/: its methods are compiled into the loops, so
that numba keeps one version a loss on disk.
"""

import numpy as np

from .compiler import njit, overload, register_jitable
from .held import add_row, weights
from .random import below, shuffle
from .rows import row_dot

LOOP = {"nogil": True, "cache": True, "error_model": "numpy"}
#: Where the compiler may fuse products with sums, and divide by multiplying: faster, and nearly as exact.
FUSED = LOOP | {"fastmath": {"contract", "arcp"}}

# The methods of losses.Loss, as functions that compiled code can call.


def value(self, y, z):
    return self.value(y, z)


def dual(self, y, z):
    return self.dual(y, z)


def target(self, y):
    return self.target(y)


def charge(self, y, a, C):
    return self.charge(y, a, C)


def bounds(self, y, C):
    return self.bounds(y, C)


def smooth(self, y, z, mu):
    return self.smooth(y, z, mu)


def curvature(self, p, mu):
    return self.curvature(p, mu)


def place(self, y, a, C):
    return self.place(y, a, C)


def pull(self, y, z, a, C):
    return self.pull(y, z, a, C)


def step(self, y, z, a, C, q):
    return self.step(y, z, a, C, q)


def _method(phi, name, otherwise=None):
    """A method of a loss, by its compiled type, and what it calls."""
    for helper in set(getattr(phi.instance_class, "helpers", ())) - _known:
        _known.add(register_jitable(helper))
    return getattr(phi.instance_class, name, otherwise)


_known = set()
overload(value)(lambda self, y, z: _method(self, "value"))
overload(dual)(lambda self, y, z: _method(self, "dual"))
overload(target)(lambda self, y: _method(self, "target"))
overload(charge)(lambda self, y, a, C: _method(self, "charge"))
overload(bounds)(lambda self, y, C: _method(self, "bounds"))
overload(smooth)(lambda self, y, z, mu: _method(self, "smooth"))
overload(curvature)(lambda self, p, mu: _method(self, "curvature"))
overload(place)(lambda self, y, a, C: _method(self, "place"))
overload(pull)(lambda self, y, z, a, C: _method(self, "pull"))
overload(step)(lambda self, y, z, a, C, q: _method(self, "step"))

# What is made of them, unless a loss has a way of its own that is shorter.


def touched(self, y, z, mu):
    """At z, of the loss rounded off by mu: p, t p - charge(p), the loss itself, and the error."""
    p, error = smooth(self, y, z, mu)
    return p, target(self, y) * p - charge(self, y, p, 1.0), value(self, y, z), error


def gained(self, y, z, a, C, norm, rate):
    """A coordinate step from a: its end, by how much D grows, and the gap of the example before."""
    lack, paid = target(self, y) - z, charge(self, y, a, C)
    gap = C * value(self, y, z) - a * lack + paid
    at, u = place(self, y, a, C), pull(self, y, z, a, C)
    if at != 0 and at * u >= 0.0:
        return a, 0.0, gap
    new = step(self, y, z, a, C, norm + rate)
    change = new - a
    return new, change * (lack - 0.5 * change * norm) - (charge(self, y, new, C) - paid), gap


overload(touched)(lambda self, y, z, mu: _method(self, "touched", touched))
overload(gained)(lambda self, y, z, a, C, norm, rate: _method(self, "gained", gained))


@njit(**LOOP)
def cut(phi, y, s, S, lo, hi, c):
    """The plane that touches the losses at S: c_i = s_i p_i.  Returns its value at S = 0."""
    total = 0.0
    for i in range(lo, hi):
        p = dual(phi, y[i], S[i])
        c[i] = s[i] * p
        total += s[i] * (target(phi, y[i]) * p - charge(phi, y[i], p, 1.0))
    return total


@njit(**FUSED)
def along(phi, y, s, S, dS, t, lo, hi):
    """At S + t dS: the plane's value at 0, the sum of the losses, and its slope in t."""
    offset, total, slope = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        z = S[i] + t * dS[i]
        p = dual(phi, y[i], z)
        offset += s[i] * (target(phi, y[i]) * p - charge(phi, y[i], p, 1.0))
        total += s[i] * value(phi, y[i], z)
        slope -= s[i] * p * dS[i]
    return offset, total, slope


@njit(**LOOP)
def loss_sum(phi, y, s, S, lo, hi):
    """sum_i s_i phi_i."""
    total = 0.0
    for i in range(lo, hi):
        total += s[i] * value(phi, y[i], S[i])
    return total


@njit(**FUSED)
def smooth_duals(phi, y, s, S, mu, lo, hi, p):
    """Duals of the smoothed loss, one an example.  Returns sum s_i (t_i p_i - charge), the sum of the losses,
    and the smoothing error."""
    linear, total, error = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        p[i], kept, lost, rounding = touched(phi, y[i], S[i], mu)
        linear += s[i] * kept
        total += s[i] * lost
        error += s[i] * rounding
    return linear, total, error


@njit(**FUSED)
def smooth_slope(phi, y, s, S, dS, t, mu, lo, hi):
    """Slope and curvature along dS, at t, of the smoothed losses."""
    slope, curving = 0.0, 0.0
    for i in range(lo, hi):
        p, _ = smooth(phi, y[i], S[i] + t * dS[i], mu)
        slope -= s[i] * dS[i] * p
        curving += s[i] * dS[i] * dS[i] * curvature(phi, p, mu)
    return slope, curving


@njit(**LOOP)
def curvatures(phi, s, p, mu, out):
    """out[i] = s_i phi_mu'' where the duals are p."""
    for i in range(p.shape[0]):
        out[i] = s[i] * curvature(phi, p[i], mu)


@njit(**LOOP)
def dual_pass(phi, X, y, upper, norm2, scale, rate, alpha, w, bias, active, count, kept, block, zone, state):
    """One pass of dual coordinate ascent over active[:count], in blocks of neighbouring rows.

    upper_i = C s_i weighs example i; w = scale sum alpha_i x_i + anything fixed is kept up to date (scale is
    below 1 around an anchor, solvers/anchor.py), or is a Held (held.py): then norm2 is in its metric, which
    may be longer than the step needs but never shorter.  With rate > 0 there is a bias, moved like one more
    weight (see DualCD on the intercept).
    An example that rests by more than `zone` (at place -1, at 1) is left out of the next pass (shrinking):
    kept[:m] lists those that stay.  Returns m, the running sum of the examples' gaps
    upper_i phi - (t_i - z_i) alpha_i + charge, the growth of the dual, and the largest violations, inwards
    and outwards.
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
            z = row_dot(X, i, values) + bias[0]
            old, C = alpha[i], upper[i]
            if C == 0.0:
                continue
            at, u = place(phi, y[i], old, C), pull(phi, y[i], z, old, C)
            new, gain, own = gained(phi, y[i], z, old, C, scale * norm2[i], rate)
            gap += own
            if (at < 0 and u < -zone[0]) or (at > 0 and u > zone[1]):
                continue
            kept[m] = i
            m += 1
            change = new - old
            if change != 0.0:
                low = max(low, -u)
                high = max(high, u)
                alpha[i] = new
                growth += gain
                add_row(X, i, scale * change, w)
                bias[0] += rate * change
    return m, gap, growth, low, high


@njit(**LOOP)
def unsettled(phi, y, upper, S, alpha, out):
    """The examples that may still move at scores S (KKT); all others rest."""
    m = 0
    for i in range(y.shape[0]):
        u = pull(phi, y[i], S[i], alpha[i], upper[i])
        if upper[i] > 0.0 and place(phi, y[i], alpha[i], upper[i]) * u <= 0.0:
            out[m] = i
            m += 1
    return m


@njit(**LOOP)
def leaning(phi, y, upper, norm2, S, alpha, out):
    """Each dual after its own exact step at scores S, as if it were alone."""
    for i in range(y.shape[0]):
        out[i] = step(phi, y[i], S[i], alpha[i], upper[i], norm2[i])


@njit(**LOOP)
def resting(phi, y, S, p, out):
    """How far each dual, a share p_i, is from moving at scores S; 0 for those that may move."""
    for i in range(y.shape[0]):
        u = pull(phi, y[i], S[i], p[i], 1.0)
        out[i] = abs(u) if place(phi, y[i], p[i], 1.0) * u > 0.0 else 0.0


@njit(**LOOP)
def worsened(phi, y, S, e, out):
    """Of the scores S_i - e_i and S_i + e_i the one with the larger loss."""
    for i in range(y.shape[0]):
        below, above = S[i] - e[i], S[i] + e[i]
        out[i] = below if value(phi, y[i], below) > value(phi, y[i], above) else above


@njit(**LOOP)
def is_flat(phi, y, s, S):
    """Whether no loss that counts has a slope at S."""
    steep = 0
    for i in range(y.shape[0]):
        steep += s[i] > 0.0 and dual(phi, y[i], S[i]) != 0.0
    return steep == 0
