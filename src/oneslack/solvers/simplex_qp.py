"""The small dual QP over planes, by an active set.

    max_a  f(a) = <b, a> - 1/2 a' Q a       a >= 0,  sum a = total,  F' a = 0

With `groups` the sum of each group of variables is `total`: one slack a group of planes.
Q is the Gram matrix of the planes, F (m, k) their components along free weights (often k = 0).
Start anywhere feasible; on the support take the Newton step that keeps the equalities, shortened to
stay >= 0 (then a variable leaves), or cut off at 0 where that is better (then several do); when the step is
whole, the few variables with the largest reduced gradients enter.  Every iterate is feasible and f never
falls, so f(a) is a valid bound whenever we stop.  For any beta, with g = b - Q a,
f* - f(a) <= total max_j (g_j - F_j beta) - <a, g>: the gap; the maximum is taken in each group, and summed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Variables that enter at a time, without groups: a step costs the same for one and for several.
ENTER = 5


@dataclass(frozen=True)
class QPSolution:
    """A feasible point with its value and a bound on what it lacks."""

    a: np.ndarray
    value: float
    gap: float
    multipliers: np.ndarray  # of F' a = 0
    n_iter: int


def solve_simplex_qp(Q, b, total, a, F=None, tol=0.0, max_iter=1000, groups=None) -> QPSolution:
    """Improve the feasible point `a` until the gap is at most `tol` (or rounding stops it)."""
    m = len(b)
    groups = np.zeros(m, int) if groups is None else groups
    k = int(groups.max()) + 1
    sums = np.equal.outer(groups, np.arange(k)).astype(float)
    # Columns of one size: the regularisation of the equalities below must be small beside them.
    size = np.ones(0) if F is None else np.abs(F).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    E = sums if F is None else np.column_stack([sums, F / size])
    a = a.copy()
    support = a > 0
    # Q a is of the size of b at the optimum, so this is a scale of Q even where Q is all zeros.
    scale = max(float(np.diag(Q).max()), float(np.abs(b).max()) / total, 1e-300)
    best_gap, stuck = np.inf, 0
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        index = np.flatnonzero(support)
        step, multipliers = _newton_step(Q, b, E, a, index, scale, k)
        # Rounding must not throw a variable out again that the equalities hold at zero for now.
        step[np.abs(step) <= 1e-12 * total] = 0.0
        blocked = _move(a, index, step) if E.shape[1] > 1 else _move_or_cut_off(Q, b, a, index, step, total)
        if len(blocked):
            support[blocked] = False
            continue
        g = b - Q @ a
        reduced = g - E @ multipliers
        top = _first_of_groups(reduced, groups, k)
        gap = max(total * float((reduced[top] + multipliers[:k]).sum()) - float(a @ g), 0.0)
        # Rounding shows as a gap that no longer falls: three looks without progress end it.
        stuck = stuck + 1 if gap >= 0.5 * best_gap and support[top].all() else 0
        best_gap = min(best_gap, gap)
        if gap <= tol or stuck >= 3:
            break
        support[_entering(reduced, support) if k == 1 else top[reduced[top] > 0.0]] = True
    a *= (total / np.bincount(groups, a))[groups]
    value = float(b @ a - 0.5 * a @ (Q @ a))
    g = b - Q @ a
    reduced = g - E[:, k:] @ multipliers[k:]
    gap = max(total * float(reduced[_first_of_groups(reduced, groups, k)].sum()) - float(a @ g), 0.0)
    return QPSolution(a, value, gap, multipliers[k:] / size, n_iter)


def solve_further(Q, b, total, a, F, tol, groups=None) -> QPSolution:
    """The same, but never the point `a` itself: good enough for `tol`, it would bring nothing new."""
    solution = solve_simplex_qp(Q, b, total, a, F, tol, groups=groups)
    if solution.n_iter == 1:
        tol = min(0.01 * tol, 0.1 * solution.gap)
        solution = solve_simplex_qp(Q, b, total, solution.a, F, tol, groups=groups)
    return solution


def _first_of_groups(values, groups, k):
    """(k,): where each group has its largest value."""
    if k == 1:
        return np.array([np.argmax(values)])
    order = np.lexsort((values, groups))
    return order[np.searchsorted(groups[order], np.arange(k), side="right") - 1]


def _entering(reduced, support):
    """Those outside the support with the largest reduced gradients; the largest of all in any case."""
    outside = np.where(support, -np.inf, reduced)
    some = np.argpartition(-outside, ENTER)[:ENTER] if len(outside) > ENTER else np.arange(len(outside))
    return np.append(some[outside[some] > 0.0], np.argmax(reduced))


def _newton_step(Q, b, E, a, index, scale, n_sums):
    """The step on the support that maximises f within the equalities, and their multipliers; the first n_sums
    equalities are the sums, which no step changes."""
    p, k = len(index), E.shape[1]
    K = np.zeros((p + k, p + k))
    K[:p, :p] = Q[np.ix_(index, index)]
    K[np.arange(p), np.arange(p)] += 1e-13 * scale
    K[:p, p:] = E[index]
    K[p:, :p] = E[index].T
    # Equalities may say the same twice (intercepts of all classes); this picks small multipliers.
    K[np.arange(p, p + k), np.arange(p, p + k)] = -1e-13 / scale
    right = np.zeros(p + k)
    right[p + n_sums :] = -(E[index, n_sums:].T @ a[index])  # back to F'a = 0: rounding must not add up
    right[:p] = (b - Q[:, index] @ a[index])[index]
    try:
        solution = np.linalg.solve(K, right)
        if not np.isfinite(solution).all():
            raise np.linalg.LinAlgError
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(K, right, rcond=None)[0]
    return solution[:p], solution[p:]


def _move(a, index, step):
    """a[index] += t step, t <= 1 the longest that keeps a >= 0; returns who reached 0."""
    now = a[index]
    falling = step < 0
    ratio = np.full(len(index), np.inf)
    ratio[falling] = now[falling] / -step[falling]
    t = min(1.0, float(ratio.min()))
    a[index] = np.maximum(now + t * step, 0.0)
    if t >= 1.0 and not (ratio <= 1.0).any():
        return index[:0]
    blocked = index[ratio <= t]
    a[blocked] = 0.0
    return blocked


def _move_or_cut_off(Q, b, a, index, step, total):
    """The same, or the whole step with what falls below 0 left at 0, whichever raises f more; for variables
    with one sum alone."""
    whole = a.copy()
    whole[index] = np.maximum(a[index] + step, 0.0)
    blocked = _move(a, index, step)
    if len(blocked):
        whole *= total / whole.sum()
        change = whole - a
        if change @ (b - Q @ (0.5 * (whole + a))) > 0.0:
            a[:] = whole
            return index[whole[index] <= 0.0]
    return blocked
