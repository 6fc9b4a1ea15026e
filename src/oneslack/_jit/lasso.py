"""Proximal Newton steps of solvers/proximal_newton.py on small data, many in one call: as newton.py does for
squared weights, whose passes over the data these are.

The model of a step is minimised over all features at once, by its Gram matrix.  Letters as there; r holds the
strength of the penalty on each weight, 0 for the intercept, which is the last one where there is one, and all
sums are times C.

Duals are made feasible where they may close the gap, no sooner.  Those of the model are tried where P is what
the model said but for the gap that is asked for.  Those of the losses, p, are divided by ratio = max(1, max_j
|v_j| / r_j), and as D is concave along them they prove no less than the gap

    P - D(p / ratio) >= sum_j r_j |w_j| - <v, w> / ratio
"""

import numpy as np

from .all_rows import add_squares, gather, short_dot
from .columns import descend_gram
from .compiler import njit, register_jitable
from .newton import _look
from .scalar_loss import FUSED, bounds, charge, curvature, target

#: What of the model's decrease a step must have (Armijo), and how often a step is halved.
ARMIJO, HALVINGS = 0.01, 30
#: What of the gap asked for a model's duals may lose, as they are made feasible; how much less each time that
#: this was not enough, and the least.
LOST, STRICTER, STRICTEST = 0.5, 0.1, 1e-6
#: So many steps that promise this share of the gap asked for, and do not close it, are enough.
LATE, LITTLE = 3, 0.1
#: Sweeps over a Gram matrix between exact steps on the weights that are not 0, and how many of these.
SWEEPS, ROUNDS = 10, 30
#: What is added to a diagonal, as a share of it and of the largest; for exact steps, at least.
DAMP, RIDGE = 1e-9, 1e-13


@njit(**FUSED)
def proximal_path(phi, X, y, s, C, r, held, has_bias, w, tol, steps, p):
    """Up to `steps` steps from w, which is changed, until the gap is `tol`.  p are feasible duals in the end.
    Returns (P, D) there."""
    n, d = y.shape[0], w.shape[0]
    S, S_new, at, at_new = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    v, v_new, q, move, full = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    H, c, room = np.empty((d + d % 2, d + d % 2)), np.empty(n), np.empty(n)
    best, weakest, strict, late, is_new = -np.inf, np.inf, LOST, 0, True
    for j in range(d):
        weakest = min(weakest, r[j]) if r[j] > 0.0 else weakest
    _, losses, _ = _look(phi, X, y, s, C, w, has_bias, 1.0, S, at, c, v)
    penalty = _penalty(w, r)
    for _ in range(steps):
        primal = penalty + losses
        enough = tol * abs(primal)
        if is_new and penalty - short_dot(v, w, d) / _ratio(v, r, held) <= enough:
            best = _feasible(phi, X, y, s, C, r, held, has_bias, at, c, q, room, best, p)
        if primal - best <= enough:
            return primal, best
        if is_new:
            _gram(phi, X, s, C, has_bias, at, d, H)
        for j in range(d):
            q[j], move[j] = -v[j], 0.0
        tight = min(strict * enough / max(penalty, 1e-3 * abs(primal)), np.sqrt(strict * tol))
        _minimise(H, q, w, r, held, move, tight * weakest)
        decrease, fall = _promises(v, q, w, r, move)
        if not decrease > 0.0 and strict > STRICTEST:
            strict, is_new = STRICTER * strict, False
            continue
        late += decrease <= LITTLE * enough
        if not decrease > 0.0 or late > LATE:
            break
        t, is_new = 2.0, False
        for _ in range(HALVINGS):
            t *= 0.5
            for j in range(d):
                full[j] = w[j] + t * move[j]
            _, losses, _ = _look(phi, X, y, s, C, full, has_bias, 1.0, S_new, at_new, c, v_new)
            penalty = _penalty(full, r)
            is_new = penalty + losses <= primal - ARMIJO * t * decrease
            if is_new:
                break
        if not is_new:
            penalty = _penalty(w, r)
            losses = primal - penalty
            break
        for j in range(d):
            w[j] = full[j]
        S, S_new, at, at_new, v, v_new = S_new, S, at_new, at, v_new, v
        if t == 1.0 and abs(primal - fall - penalty - losses) <= enough:
            _forecast(phi, y, at_new, S_new, S)
            best = _feasible(phi, X, y, s, C, r, held, has_bias, at_new, c, q, room, best, p)
            strict = max(STRICTER * strict, STRICTEST)
    best = _feasible(phi, X, y, s, C, r, held, has_bias, at, c, q, room, best, p)
    return penalty + losses, best


@register_jitable
def _penalty(w, r):
    total = 0.0
    for j in range(w.shape[0]):
        total += r[j] * abs(w[j])
    return total


@register_jitable
def _ratio(v, r, held):
    """max(1, max_j |v_j| / r_j)."""
    ratio = 1.0
    for j in range(v.shape[0]):
        if r[j] > 0.0:
            ratio = max(ratio, (v[j] if held[j] else abs(v[j])) / r[j])
    return ratio


@register_jitable
def _promises(v, q, w, r, move):
    """By how much a step lowers P to first order, and by how much the model, whose gradient there is q."""
    decrease, curving = 0.0, 0.0
    for j in range(w.shape[0]):
        decrease += v[j] * move[j] - r[j] * (abs(w[j] + move[j]) - abs(w[j]))
        curving += move[j] * (q[j] + v[j])
    return decrease, decrease - 0.5 * curving


@register_jitable
def _forecast(phi, y, p, S, S_new):
    """p become the duals that the model at scores S has where they are S_new, those beyond an end at it."""
    for i in range(y.shape[0]):
        low, high = bounds(phi, y[i], 1.0)
        p[i] = min(max(p[i] - curvature(phi, p[i], 1.0) * (S_new[i] - S[i]), low), high)


@register_jitable
def _feasible(phi, X, y, s, C, r, held, has_bias, p, c, v, room, best, out):
    """D at feasible duals, made of p: those of the heavier side of an intercept smaller until they balance,
    and all of them until no |v_j| is above r_j.  They are kept in `out` where that is above `best`; returns
    the better one.  c, v and room are overwritten."""
    n, up, down = y.shape[0], 0.0, 0.0
    share_up = share_down = 1.0
    if has_bias:
        for i in range(n):
            if p[i] > 0.0:
                up += s[i] * p[i]
            else:
                down -= s[i] * p[i]
        common = min(up, down)
        share_up = common / up if up > 0.0 else 1.0
        share_down = common / down if down > 0.0 else 1.0
    for i in range(n):
        room[i] = p[i] * (share_up if p[i] > 0.0 else share_down)
        c[i] = C * s[i] * room[i]
    gather(X, c, has_bias, v)
    ratio, total = _ratio(v, r, held), 0.0
    for i in range(n):
        room[i] /= ratio
        if room[i] != 0.0:
            total += s[i] * (target(phi, y[i]) * room[i] - charge(phi, y[i], room[i], 1.0))
    if C * total > best:
        for i in range(n):
            out[i] = room[i]
    return max(best, C * total)


@register_jitable
def _gram(phi, X, s, C, has_bias, p, d, H):
    """The Hessian of the losses, whole, its diagonal a little larger."""
    h = np.empty(p.shape[0])
    for i in range(p.shape[0]):
        h[i] = C * s[i] * curvature(phi, p[i], 1.0)
    H[:, :] = 0.0
    add_squares(X, h, d, has_bias, H)
    top = 0.0
    for a in range(d):
        top = max(top, H[a, a])
    for a in range(d):  # where nothing is curved any more a weight goes to 0 at once
        H[a, a] += DAMP * (H[a, a] + (top if top > 0.0 else 1.0))
        for b in range(a):
            H[b, a] = H[a, b]


@register_jitable
def _minimise(H, q, w, r, held, move, enough):
    """Sweeps over the model, with exact steps between, from no move and its gradient q, until no subgradient
    is further from 0 than `enough`."""
    d, ridge = q.shape[0], RIDGE
    index, L = np.empty(d, np.int64), np.empty((d, d))
    slope, step, cut = np.empty(d), np.empty(d), np.empty(d)
    sweeps, full = SWEEPS, 0
    while full < ROUNDS:
        if descend_gram(H, q, w, r, held, move, sweeps, enough) <= enough:
            return
        count = 0
        for j in range(d):
            u = w[j] + move[j]
            if u != 0.0 or r[j] == 0.0:
                index[count], slope[count] = j, q[j] + r[j] * np.sign(u)
                count += 1
        _exact_step(H, index, slope, count, ridge, step, L)
        stiffer = _keep_signs(H, w, r, move, index, slope, count, step, cut)
        ridge = max(ridge * stiffer, RIDGE)
        # After a step that put weights to 0 comes the next one: sweeps would take them up again.
        is_full = stiffer < 1.0
        sweeps, full = SWEEPS if is_full else 0, full + is_full
        for a in range(count):
            j = index[a]
            move[j] = -w[j] if step[a] == -(w[j] + move[j]) else move[j] + step[a]
            for b in range(d):
                q[b] += step[a] * H[j, b]


@register_jitable
def _exact_step(H, index, slope, count, ridge, step, L):
    """The step to the model's least over the weights `index`, if they kept their signs."""
    # Cholesky; where it is singular but for rounding the step is shorter, not wrong.
    for a in range(count):
        i, row = index[a], L[a]
        step[a], whole = -slope[a], (1.0 + ridge) * H[i, i]
        for b in range(a):
            row[b] = (H[i, index[b]] - short_dot(row, L[b], b)) / L[b, b]
        row[a] = np.sqrt(max(whole - short_dot(row, row, a), 1e-12 * whole))
    for a in range(count):
        step[a] = (step[a] - short_dot(L[a], step, a)) / L[a, a]
    for a in range(count - 1, -1, -1):
        row = L[a]
        step[a] /= row[a]
        for b in range(a):
            step[b] -= row[b] * step[a]


@register_jitable
def _keep_signs(H, w, r, move, index, slope, count, step, cut):
    """A step after which no weight has changed its sign: those that would go to 0, if the model falls so;
    else it ends where the first one is 0.  Returns by how much the ridge of the next one is larger; `cut` is
    overwritten."""
    t, first, fall = 1.0, -1, 0.0
    for a in range(count):
        u, cut[a] = w[index[a]] + move[index[a]], step[a]
        if r[index[a]] > 0.0 and u * (u + step[a]) < 0.0:
            cut[a] = -u
            if first < 0 or -u / step[a] < t:
                t, first = -u / step[a], a
    if first < 0:
        return 0.1
    for a in range(count):
        curving = 0.0
        for b in range(count):
            curving += H[index[a], index[b]] * cut[b]
        fall += cut[a] * (slope[a] + 0.5 * curving)
    for a in range(count):
        step[a] = cut[a] if fall < 0.0 or a == first else t * step[a]
    return 100.0 if fall >= 0.0 and t < 0.1 else 1.0
