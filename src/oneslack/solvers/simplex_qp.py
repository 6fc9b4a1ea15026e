"""The small dual QP over planes, by an active set.

    max_a  f(a) = <b, a> - 1/2 a' Q a       a >= 0,  sum a = total,  F' a = 0

Q is the Gram matrix of the planes, F (m, k) their components along free weights (often k = 0).
Start anywhere feasible; on the support take the Newton step that keeps the equalities, shortened to
stay >= 0 (then a variable leaves); when the step is whole, the variable with the largest reduced
gradient enters.  Every iterate is feasible and f never falls, so f(a) is a valid bound whenever we
stop.  For any beta, f* - f(a) <= total max_j (g_j - F_j beta) - <a, g> with g = b - Q a: the gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class QPSolution:
    """A feasible point with its value and a bound on what it lacks."""

    a: np.ndarray
    value: float
    gap: float
    multipliers: np.ndarray  # of F' a = 0
    n_iter: int


def solve_simplex_qp(Q, b, total, a, F=None, tol=0.0, max_iter=1000) -> QPSolution:
    """Improve the feasible point `a` until the gap is at most `tol` (or rounding stops it)."""
    m = len(b)
    # Columns of one size: the regularisation of the equalities below must be small beside them.
    size = np.ones(0) if F is None else np.abs(F).max(axis=0)
    size = np.where(size > 0, size, 1.0)
    E = np.ones((m, 1)) if F is None else np.column_stack([np.ones(m), F / size])
    a = a.copy()
    support = a > 0
    # Q a is of the size of b at the optimum, so this is a scale of Q even where Q is all zeros.
    scale = max(float(np.diag(Q).max()), float(np.abs(b).max()) / total, 1e-300)
    best_gap, stuck = np.inf, 0
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        index = np.flatnonzero(support)
        step, multipliers = _newton_step(Q, b, E, a, index, scale)
        # Rounding must not throw a variable out again that the equalities hold at zero for now.
        step[np.abs(step) <= 1e-12 * total] = 0.0
        blocked = _move(a, index, step)
        if len(blocked):
            support[blocked] = False
            continue
        g = b - Q @ a
        reduced = g - E @ multipliers
        top = int(np.argmax(reduced))
        gap = max(total * (reduced[top] + multipliers[0]) - float(a @ g), 0.0)
        # Rounding shows as a gap that no longer falls: three looks without progress end it.
        stuck = stuck + 1 if gap >= 0.5 * best_gap and support[top] else 0
        best_gap = min(best_gap, gap)
        if gap <= tol or stuck >= 3:
            break
        support[top] = True
    a *= total / a.sum()
    value = float(b @ a - 0.5 * a @ (Q @ a))
    return QPSolution(a, value, gap_of(Q, b, E, a, multipliers, total), multipliers[1:] / size, n_iter)


def gap_of(Q, b, E, a, multipliers, total) -> float:
    """How far f(a) is from the optimum, at most."""
    g = b - Q @ a
    free = E[:, 1:] @ multipliers[1:]
    return max(total * float((g - free).max()) - float(a @ g), 0.0)


def _newton_step(Q, b, E, a, index, scale):
    """The step on the support that maximises f within the equalities, and their multipliers."""
    p, k = len(index), E.shape[1]
    K = np.zeros((p + k, p + k))
    K[:p, :p] = Q[np.ix_(index, index)]
    K[np.arange(p), np.arange(p)] += 1e-13 * scale
    K[:p, p:] = E[index]
    K[p:, :p] = E[index].T
    # Equalities may say the same twice (intercepts of all classes); this picks small multipliers.
    K[np.arange(p, p + k), np.arange(p, p + k)] = -1e-13 / scale
    right = np.zeros(p + k)
    right[p + 1 :] = -(E[index, 1:].T @ a[index])  # back to F'a = 0: rounding must not add up
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
