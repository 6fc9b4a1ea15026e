"""Conjugate gradients on a face of the multi-class dual.

Passes over single examples find out soon which duals are 0, and then crawl along the face where the others
move, as examples that are alike undo each other's steps.  On the face, with supports Z_i = {z: alpha_iz > 0},

    D(alpha + delta) = D(alpha) + sum_iz delta_iz g_iz - 1/2 scale |V|^2 - 1/2 rate |sum_i delta_i|^2
    V = sum_i x_i delta_i' (d, K),     sum_z delta_iz = 0,  delta_iz = 0 outside Z_i

is a plain quadratic (the term in rate is that of the intercepts, solvers/dual_cd.py), so a few conjugate
gradients, preconditioned by |x_i|^2, go where thousands of passes would.  Beyond a bound the duals are
projected on their simplex, and the step is halved until D grows by a fair share of what was promised (More &
Toraldo 1991, here with simplices for boxes).

Duals of the free examples rows[j] lie in flat arrays, those of row j at starts[j] : starts[j + 1], their
classes in `places`.
"""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from .multiclass import project_simplex
from .rows import row_add_some, row_some_scores


@njit(nogil=True, cache=True)
def free_duals(alpha, active, count, rows, starts, places):
    """List the duals above 0 of the examples of active[:count] that have two or more; returns how many
    examples."""
    m, at = 0, 0
    starts[0] = 0
    for a in range(count):
        i, first = active[a], at
        for z in range(alpha.shape[1]):
            if alpha[i, z] > 0.0:
                places[at] = z
                at += 1
        if at - first < 2:
            at = first
            continue
        rows[m] = i
        m += 1
        starts[m] = at
    return m


@register_jitable
def _centre(v, lo, hi):
    mean = 0.0
    for a in range(lo, hi):
        mean += v[a]
    mean /= hi - lo
    for a in range(lo, hi):
        v[a] -= mean


@register_jitable
def _sum_up(X, rows, starts, places, v, V, total):
    """V = sum_i x_i v_i', total = sum_i v_i."""
    V[:] = 0.0
    total[:] = 0.0
    for j in range(rows.shape[0]):
        lo, hi = starts[j], starts[j + 1]
        row_add_some(X, rows[j], v[lo:hi], places[lo:hi], hi - lo, V)
        for a in range(lo, hi):
            total[places[a]] += v[a]


@register_jitable
def _products(X, rows, starts, places, V, total, scale, rate, out):
    """out_iz = scale <x_i, V_z> + rate total_z, centred in each example."""
    for j in range(rows.shape[0]):
        lo, hi = starts[j], starts[j + 1]
        for a in range(lo, hi):
            out[a] = 0.0
        row_some_scores(X, rows[j], V, places[lo:hi], hi - lo, out[lo:hi])
        for a in range(lo, hi):
            out[a] = scale * out[a] + rate * total[places[a]]


@njit(nogil=True, cache=True)
def face_direction(X, y, L, norm2, scale, rate, W, bias, rows, starts, places, most, g, delta, V, total):
    """g and the steps delta of at most `most` conjugate gradients on the face; returns how many there were."""
    size = starts[rows.shape[0]]
    r, p, h = np.empty(size), np.empty(size), np.empty(size)
    _products(X, rows, starts, places, W, bias, 1.0, 1.0, g)
    slope = 0.0
    for j in range(rows.shape[0]):
        lo, hi = starts[j], starts[j + 1]
        q = scale * norm2[rows[j]] + rate
        for a in range(lo, hi):
            g[a] += L[y[rows[j]], places[a]]
            r[a] = g[a]
            delta[a] = 0.0
        _centre(r, lo, hi)
        for a in range(lo, hi):
            p[a] = r[a] / q
            slope += r[a] * p[a]
    first = slope
    for turn in range(most):
        _sum_up(X, rows, starts, places, p, V, total)
        _products(X, rows, starts, places, V, total, scale, rate, h)
        curvature = 0.0
        for a in range(size):
            curvature += p[a] * h[a]
        if not curvature > 0.0 or slope <= 1e-4 * first:
            return turn
        t, before = slope / curvature, slope
        slope = 0.0
        for j in range(rows.shape[0]):
            lo, hi = starts[j], starts[j + 1]
            for a in range(lo, hi):
                delta[a] += t * p[a]
                r[a] -= t * h[a]
            _centre(r, lo, hi)
            q = scale * norm2[rows[j]] + rate
            for a in range(lo, hi):
                slope += r[a] * r[a] / q
        for j in range(rows.shape[0]):
            q = scale * norm2[rows[j]] + rate
            for a in range(starts[j], starts[j + 1]):
                p[a] = r[a] / q + slope / before * p[a]
    return most


@njit(nogil=True, cache=True)
def face_step(X, upper, scale, rate, alpha, rows, starts, places, g, delta, most, moved, V, total):
    """The longest step, halved at most `most` times, by which D grows enough; returns that growth, and leaves
    the change of the duals in `moved`, its sums in V and total."""
    K = alpha.shape[1]
    v, work = np.empty(K), np.empty(K)
    t = 1.0
    for _ in range(most + 1):
        linear = 0.0
        for j in range(rows.shape[0]):
            lo, hi, p = starts[j], starts[j + 1], alpha[rows[j]]
            is_inside = True
            for a in range(lo, hi):
                v[a - lo] = p[places[a]] + t * delta[a]
                is_inside &= v[a - lo] >= 0.0
            if not is_inside:
                project_simplex(v, upper[rows[j]], hi - lo, work)
            for a in range(lo, hi):
                moved[a] = v[a - lo] - p[places[a]]
                linear += moved[a] * g[a]
        _sum_up(X, rows, starts, places, moved, V, total)
        square = 0.0
        for f in range(V.shape[0]):
            for z in range(K):
                square += scale * V[f, z] * V[f, z]
        for z in range(K):
            square += rate * total[z] * total[z]
        growth = linear - 0.5 * square
        if growth > 0.1 * linear and growth > 0.0:
            return growth
        t *= 0.5
    return 0.0
