"""Proximal Newton steps of solvers/proximal_newton.py on small data, many in one call: as newton.py does for
squared weights, whose passes over the data these are.

The model of a step is minimised over all features at once, by its Gram matrix.  Letters as there; r holds the
strength of the penalty on each weight, 0 for the intercept, which is the last one where there is one, and all
sums are times C.
"""

import numpy as np

from .all_rows import add_squares, gather
from .columns import _violation, descend_gram
from .compiler import njit, register_jitable
from .newton import _look
from .scalar_loss import FUSED, charge, curvature, target

#: What of the model's decrease a step must have (Armijo), and how often a step is halved.
ARMIJO, HALVINGS = 0.01, 30
#: A model is minimised until no subgradient is above this share of the worst.
INNER = 0.01
#: So many steps that promise this share of the gap asked for, and do not close it, are enough: P is then near
#: its least, but no duals of the losses themselves are as good.
LATE, LITTLE = 3, 0.1
#: Sweeps over a Gram matrix between exact steps on the weights that are not 0, and how many of these.
SWEEPS, ROUNDS = 10, 30
#: What is added to a diagonal, as a share of it and of the largest.
DAMP = 1e-9


@njit(**FUSED)
def proximal_path(phi, X, y, s, C, r, held, has_bias, w, tol, steps, p):
    """Up to `steps` steps from w, which is changed, until the gap is `tol`.  p are feasible duals in the end.
    Returns (P, D) there."""
    n, d = y.shape[0], w.shape[0]
    S, S_full, p_new, c = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    v, q, room, move, full = np.empty(d), np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    H = np.empty((d + d % 2, d + d % 2))
    best, weakest, penalty, strict = -np.inf, np.inf, 0.0, 0.1
    for j in range(d):
        penalty += r[j] * abs(w[j])
        weakest = min(weakest, r[j]) if r[j] > 0.0 else weakest
    _, losses, _ = _look(phi, X, y, s, C, w, has_bias, 1.0, S, p_new, c, v)
    late = 0
    for k in range(steps + 1):
        primal = penalty + losses
        dual = _feasible(phi, X, y, s, C, r, held, has_bias, p_new, v, c, room, S_full)
        if dual > best:
            best = dual
            for i in range(n):
                p[i] = S_full[i]
        if k == steps or primal - best <= tol * abs(primal):
            break
        _gram(phi, X, s, C, has_bias, p_new, d, H)
        worst = 0.0
        for j in range(d):
            q[j], move[j] = -v[j], 0.0
            worst = max(worst, _violation(w[j], q[j], r[j], held[j]))
        # Duals that are divided by 1 + t, to be feasible, lose about t times the penalty.
        tight = tol * abs(primal) / max(penalty, 1e-3 * abs(primal)) * weakest
        _minimise(H, q, w, r, held, move, max(INNER * worst, strict * tight))
        decrease = 0.0
        for j in range(d):
            decrease += v[j] * move[j] - r[j] * (abs(w[j] + move[j]) - abs(w[j]))
        if not decrease > 0.0:
            if strict < 1e-6:
                break
            strict *= 0.1
            continue
        late += decrease <= LITTLE * tol * abs(primal)
        if late > LATE:
            break
        t, is_less = 1.0, False
        for _ in range(HALVINGS):
            penalty = 0.0
            for j in range(d):
                full[j] = w[j] + t * move[j]
                penalty += r[j] * abs(full[j])
            _, losses, _ = _look(phi, X, y, s, C, full, has_bias, 1.0, S, p_new, c, v)
            is_less = penalty + losses <= primal - ARMIJO * t * decrease
            if is_less:
                break
            t *= 0.5
        if not is_less:
            return primal, best
        for j in range(d):
            w[j] = full[j]
    return primal, best


@register_jitable
def _feasible(phi, X, y, s, C, r, held, has_bias, p, v, c, room, out):
    """D at feasible duals, `out`: p, those of the heavier side of an intercept made smaller until they
    balance, and all of them until no |v_j| is above r_j."""
    n, d, up, down = y.shape[0], v.shape[0], 0.0, 0.0
    for j in range(d):
        room[j] = v[j]
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
        out[i] = p[i] * (share_up if p[i] > 0.0 else share_down)
    if has_bias:
        for i in range(n):
            c[i] = C * s[i] * out[i]
        gather(X, c, has_bias, room)
    ratio = 1.0
    for j in range(d):
        if r[j] > 0.0:
            ratio = max(ratio, (room[j] if held[j] else abs(room[j])) / r[j])
    total = 0.0
    for i in range(n):
        out[i] /= ratio
        if out[i] != 0.0:
            total += s[i] * (target(phi, y[i]) * out[i] - charge(phi, y[i], out[i], 1.0))
    return C * total


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
    d = q.shape[0]
    index, step, L = np.empty(d, np.int64), np.empty(d), np.empty((d, d))
    for _ in range(ROUNDS):
        if descend_gram(H, q, w, r, held, move, SWEEPS, enough) <= enough:
            return
        count = 0
        for j in range(d):
            if w[j] + move[j] != 0.0 or r[j] == 0.0:
                index[count] = j
                count += 1
        # Cholesky; where it is singular but for rounding the step is shorter, not wrong.
        for a in range(count):
            i = index[a]
            u = w[i] + move[i]
            step[a] = -q[i] - r[i] * np.sign(u)
            for b in range(a + 1):
                total = H[i, index[b]]
                for k in range(b):
                    total -= L[a, k] * L[b, k]
                L[a, b] = total / L[b, b] if b < a else np.sqrt(max(total, 1e-12 * H[i, i]))
        for a in range(count):
            for k in range(a):
                step[a] -= L[a, k] * step[k]
            step[a] /= L[a, a]
        for a in range(count - 1, -1, -1):
            for k in range(a + 1, count):
                step[a] -= L[k, a] * step[k]
            step[a] /= L[a, a]
        # As far as no weight changes its sign.
        t, first = 1.0, -1
        for a in range(count):
            u = w[index[a]] + move[index[a]]
            if r[index[a]] > 0.0 and u * (u + t * step[a]) < 0.0:
                t, first = -u / step[a], a
        for a in range(count):
            j = index[a]
            change = t * step[a]
            if a == first:
                change = -(w[j] + move[j])
            if change == 0.0:
                continue
            move[j] = -w[j] if a == first else move[j] + change
            for b in range(d):
                q[b] += change * H[j, b]
