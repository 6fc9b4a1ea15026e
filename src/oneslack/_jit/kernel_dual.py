"""Compiled dual steps on a block of examples whose kernel matrix is at hand, and sums of its rows.

S holds the block's scores, Q its kernel matrix; steps keep S up to date.
"""

import numpy as np

from .compiler import njit, register_jitable
from .multiclass import project_simplex


@njit(nogil=True, cache=True)
def add_rows(rows, slots, change, S, lo, hi):
    """S[lo:hi] += sum_k rows[slots[k], lo:hi] change[k], for one column S (n,)."""
    total = np.zeros(hi - lo)
    for k in range(len(slots)):
        row = rows[slots[k], lo:hi]
        for j in range(hi - lo):
            total[j] += change[k] * row[j]
    for j in range(hi - lo):
        S[lo + j] += total[j]


@njit(nogil=True, cache=True)
def box_gaps(y, upper, alpha, S, gaps):
    """gaps[i] = upper_i max(0, u_i) - alpha_i u_i, with u_i = 1 - y_i S_i: what example i adds to P - D."""
    for i in range(len(y)):
        u = 1.0 - y[i] * S[i]
        gaps[i] = (upper[i] - alpha[i]) * u if u > 0.0 else -alpha[i] * u


@njit(nogil=True, cache=True)
def box_block(Q, y, upper, alpha, S, share, max_passes):
    """Ascent on the block until its gap has fallen to `share` of what it was: a pass of coordinate steps
    finds who is at a bound, conjugate gradients solve for the others, and so in turns.

    A product with Q counts as a pass.
    """
    q = len(y)
    gaps = np.empty(q)
    box_gaps(y, upper, alpha, S, gaps)
    goal = share * gaps.sum()
    passes = 0
    while passes < max_passes:
        passes += 1
        for i in range(q):
            u = 1.0 - y[i] * S[i]
            curvature = Q[i, i]
            new = upper[i] if u > 0.0 else 0.0
            if curvature > 0.0:
                new = min(max(alpha[i] + u / curvature, 0.0), upper[i])
            if new != alpha[i]:
                change = (new - alpha[i]) * y[i]
                alpha[i] = new
                for j in range(q):
                    S[j] += change * Q[i, j]
        box_gaps(y, upper, alpha, S, gaps)
        if gaps.sum() <= goal:
            break
        passes += _solve_free(Q, y, upper, alpha, S, share, max_passes - passes)


@register_jitable
def _solve_free(Q, y, upper, alpha, S, share, max_products):
    """Conjugate gradients over the alpha off their bounds, until their slopes have fallen to `share`.

    Where a step meets bounds those beyond them are cut off, if what is left gains, else it ends at the first;
    then the gradients begin anew.  Returns the products with Q taken.
    """
    q = len(y)
    slope, direction, product, cut_product = np.zeros(q), np.zeros(q), np.empty(q), np.empty(q)
    goal, before, taken = -1.0, 0.0, 0
    while taken < max_products:
        square = 0.0
        for i in range(q):
            slope[i] = y[i] - S[i] if 0.0 < alpha[i] < upper[i] else 0.0
            square += slope[i] * slope[i]
        if goal < 0.0:
            goal = share * share * square
        if square <= goal:
            break
        onward = square / before if before > 0.0 else 0.0
        before = square
        for i in range(q):
            direction[i] = slope[i] + onward * direction[i] if 0.0 < alpha[i] < upper[i] else 0.0
        _times(Q, direction, product)
        taken += 1
        along, curvature = np.dot(slope, direction), np.dot(direction, product)
        if along <= 0.0 or curvature <= _noise(Q, direction):
            break  # rounding has the last word
        best = along / curvature
        room, met = best, -1
        for i in range(q):
            if direction[i] != 0.0:
                bound = upper[i] if y[i] * direction[i] > 0.0 else 0.0
                if (bound - alpha[i]) * y[i] / direction[i] < room:
                    room, met = (bound - alpha[i]) * y[i] / direction[i], i
        if met < 0:
            alpha[:] = _cut_off(y, upper, alpha, direction, best)
            S += best * product
            continue
        before = 0.0
        cut = _cut_off(y, upper, alpha, direction, best)
        _times(Q, (cut - alpha) * y, cut_product)
        taken += 1
        gain = np.dot(slope, (cut - alpha) * y) - 0.5 * np.dot((cut - alpha) * y, cut_product)
        if gain <= room * (along - 0.5 * room * curvature):
            cut = _cut_off(y, upper, alpha, direction, room)
            cut[met] = upper[met] if y[met] * direction[met] > 0.0 else 0.0
            cut_product[:] = room * product
        alpha[:] = cut
        S += cut_product
    return taken


@register_jitable
def _times(Q, v, out):
    """out = Q v for a symmetric Q; rows where v is 0 are not read."""
    out[:] = 0.0
    for i in range(len(v)):
        if v[i] != 0.0:
            for j in range(len(v)):
                out[j] += v[i] * Q[i, j]


@register_jitable
def _noise(Q, v):
    """About what rounding of Q alone makes of v' Q v."""
    size = 0.0
    for i in range(len(v)):
        size += abs(v[i]) * np.sqrt(max(Q[i, i], 0.0))
    return np.finfo(Q.dtype).eps * size * size


@register_jitable
def _cut_off(y, upper, alpha, direction, step):
    """The alpha after a step along the direction, held within their bounds."""
    cut = alpha.copy()
    for i in range(len(y)):
        if direction[i] != 0.0:
            cut[i] = min(max(alpha[i] + step * y[i] * direction[i], 0.0), upper[i])
    return cut


@njit(nogil=True, cache=True)
def pair_block(Q, y, upper, alpha, S, share, max_steps):
    """Steps of pairs that keep sum alpha_i y_i, until the largest violation has fallen to `share`.

    v_i = y_i - S_i; i may go up (its alpha_i y_i rises), j down; the pair with v_i > v_j gains.
    """
    q = len(y)
    goal = -1.0
    for _ in range(max_steps):
        top, up = -np.inf, -1
        lowest = np.inf
        for i in range(q):
            v = y[i] - S[i]
            if ((y[i] > 0.0 and alpha[i] < upper[i]) or (y[i] < 0.0 and alpha[i] > 0.0)) and v > top:
                top, up = v, i
            if ((y[i] > 0.0 and alpha[i] > 0.0) or (y[i] < 0.0 and alpha[i] < upper[i])) and v < lowest:
                lowest = v
        violation = top - lowest
        if goal < 0.0:
            goal = share * violation
        if up < 0 or violation <= goal or violation <= 1e-14:
            break
        best, down = -1.0, -1
        for j in range(q):
            if (y[j] > 0.0 and alpha[j] > 0.0) or (y[j] < 0.0 and alpha[j] < upper[j]):
                difference = top - (y[j] - S[j])
                if difference > 0.0:
                    curvature = max(Q[up, up] + Q[j, j] - 2.0 * Q[up, j], 1e-12)
                    if difference * difference / curvature > best:
                        best, down = difference * difference / curvature, j
        if down < 0:
            break
        curvature = max(Q[up, up] + Q[down, down] - 2.0 * Q[up, down], 1e-12)
        step = (top - (y[down] - S[down])) / curvature
        room_up = upper[up] - alpha[up] if y[up] > 0.0 else alpha[up]
        room_down = alpha[down] if y[down] > 0.0 else upper[down] - alpha[down]
        step = min(step, room_up, room_down)
        alpha[up] = _moved(alpha[up], y[up] * step, upper[up], step == room_up, y[up] > 0.0)
        alpha[down] = _moved(alpha[down], -y[down] * step, upper[down], step == room_down, y[down] < 0.0)
        for j in range(q):
            S[j] += step * (Q[up, j] - Q[down, j])


@register_jitable
def _moved(alpha, change, upper, at_bound, rises):
    """The bound itself where it is reached: rounding must not leave a rest."""
    if at_bound:
        return upper if rises else 0.0
    return min(max(alpha + change, 0.0), upper)


@njit(nogil=True, cache=True)
def simplex_gaps(y, upper, L, P, S, gaps):
    """gaps[i] = upper_i (max_z g_z - <p_i, g>), g_z = L[y_i, z] + S_iz."""
    for i in range(len(y)):
        best, mean = -np.inf, 0.0
        for z in range(L.shape[0]):
            g = L[y[i], z] + S[i, z]
            best = max(best, g)
            mean += P[i, z] * g
        gaps[i] = upper[i] * max(best - mean, 0.0)


@njit(nogil=True, cache=True)
def simplex_block(Q, y, upper, L, P, S, share, max_passes):
    """Block ascent, one example's outputs at a time, until the block's gap has fallen to `share`.

    Row p of P is the example's share of each output: its part of w is upper (e_y - p) phi(x).
    """
    q, K = P.shape
    gaps = np.empty(q)
    simplex_gaps(y, upper, L, P, S, gaps)
    goal = share * gaps.sum()
    p, work = np.empty(K), np.empty(K)
    for _ in range(max_passes):
        for i in range(q):
            if upper[i] <= 0.0:
                continue
            curvature = upper[i] * max(Q[i, i], 1e-12)
            highest = -np.inf
            for z in range(K):
                highest = max(highest, L[y[i], z] + S[i, z])
            for z in range(K):
                away = L[y[i], z] + S[i, z] - highest
                # A curvature that is too small for a number leaves all to the highest.
                p[z] = P[i, z] + away / curvature if curvature > 0.0 else 1.0 * (away == 0.0)
            project_simplex(p, 1.0, K, work)
            for z in range(K):
                change = -upper[i] * (p[z] - P[i, z])
                if change != 0.0:
                    P[i, z] = p[z]
                    for j in range(q):
                        S[j, z] += change * Q[i, j]
        simplex_gaps(y, upper, L, P, S, gaps)
        if gaps.sum() <= goal:
            break
