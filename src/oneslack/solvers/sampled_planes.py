"""The bundle of sampled cutting planes: supports instead of normals, and the dual QP over their Gram matrix.

A plane is  R(w) >= b_k - <g_k, w> - <f_k, bias>  with  g_k = sum_j phi(x_j) c_j  over a few examples j, its
support.  For a point w = sum_k a_k g_k all that is needed is a, the Gram matrix of the g_k, and their scores.
"""

from __future__ import annotations

import numpy as np

from ..kernel_problem import Expansion
from .simplex_qp import solve_simplex_qp

#: Examples whose scores a thread adds up, and how many at a time, so that they stay in the cache.
SPAN, PIECE = 65_536, 8192
#: A dropped plane may hold this share of the best point.
LITTLE = 1e-4


class SampledPlanes:
    """Planes under (an estimate of) the risk.  Plane 0 is the floor, R >= 0.

    a      (m,) the dual point over the planes, sum a = weight
    best   (m,) the best point so far, in the same terms
    """

    def __init__(self, problem, drop_after):
        self.weight, self.slots, self.drop_after = problem.weight, problem.slots, drop_after
        self.intercept, self.engine = problem.intercept, problem.engine
        self.gram = np.zeros((1, 1))
        self.offsets, self.free = np.zeros(1), np.zeros((1, self.slots))
        self.a, self.best = np.array([self.weight]), np.array([self.weight])
        self.idle = np.zeros(1, int)
        self.supports = [np.empty(0, int)]
        self.coefficients = [np.empty((0, self.slots))]
        self.scores, self.exact = [None], [None]
        self.bias = np.zeros(self.slots)
        self.dual, self.n_added = 0.0, 0

    def __len__(self):
        return len(self.offsets)

    def add(self, support, coefficients, offset, free, inner, scores=None, exact=None):
        """`inner` (m + 1,): products with the planes so far and with itself."""
        m = len(self)
        gram = np.empty((m + 1, m + 1))
        gram[:m, :m] = self.gram
        gram[m] = gram[:, m] = inner
        self.gram = gram
        self.offsets, self.free = np.append(self.offsets, offset), np.vstack([self.free, free])
        self.a, self.best = np.append(self.a, 0.0), np.append(self.best, 0.0)
        self.idle = np.append(self.idle, 0)
        self.supports.append(support)
        self.coefficients.append(coefficients)
        self.scores.append(scores)
        self.exact.append(exact)
        self.n_added += 1

    def solve(self, tol):
        """The best dual point over the planes, to an absolute gap of `tol`; sets a, bias and dual."""
        F = self.free if self.intercept else None
        solution = solve_simplex_qp(self.gram, self.offsets, self.weight, self.a, F, tol)
        if solution.n_iter == 1:
            # Good enough for `tol`, but the same point again would bring nothing new.
            tol = min(0.01 * tol, 0.1 * solution.gap)
            solution = solve_simplex_qp(self.gram, self.offsets, self.weight, solution.a, F, tol)
        self.a = solution.a
        if self.intercept:
            self.bias = solution.multipliers
        self.idle = np.where(self.a > 0, 0, self.idle + 1)
        self.dual = solution.value

    def model_value(self, a, bias) -> float:
        """max_k of the planes at w = sum_k a_k g_k."""
        return float((self.offsets - self.gram @ a - self.free @ bias).max())

    def inner_with(self, support, coefficients) -> np.ndarray:
        """(m,): <g_k, sum_j phi(x_j) c_j>, from the planes' scores of all examples."""
        products = [0.0]
        products += [float(np.sum(A[support] * coefficients, dtype=np.float64)) for A in self.scores[1:]]
        return np.array(products)

    def scores_of(self, a, bias, out) -> np.ndarray:
        """Scores of all examples at w = sum_k a_k g_k, into `out` (n, slots)."""
        parts = [(self.scores[k], np.float32(a[k])) for k in np.flatnonzero(a) if k]

        def fill(lo):
            for first in range(lo, min(lo + SPAN, len(out)), PIECE):
                rows = slice(first, min(first + PIECE, lo + SPAN))
                piece = out[rows]
                piece[:] = bias
                for scores, weight in parts:
                    piece += weight * scores[rows]

        self.engine.map(fill, range(0, len(out), SPAN))
        return out

    def expansion(self, a, bias) -> Expansion:
        used = [k for k in np.flatnonzero(a) if len(self.supports[k])]
        if not used:
            return Expansion(np.empty(0, int), np.empty((0, self.slots)), bias.copy())
        index = np.concatenate([self.supports[k] for k in used])
        return Expansion(index, np.concatenate([a[k] * self.coefficients[k] for k in used]), bias.copy())

    def drop_idle(self) -> bool:
        """Forget planes long without weight; says whether the best point has changed by it."""
        keep = (self.idle < self.drop_after) | (self.best > LITTLE * self.weight)
        keep[0] = True
        if keep.all():
            return False
        kept = np.flatnonzero(keep)
        changed = bool((self.best[~keep] != 0).any())
        self.gram = self.gram[np.ix_(kept, kept)]
        self.offsets, self.free, self.a = self.offsets[kept], self.free[kept], self.a[kept]
        self.best, self.idle = self.best[kept], self.idle[kept]
        for name in ("supports", "coefficients", "scores", "exact"):
            values = getattr(self, name)
            setattr(self, name, [values[k] for k in kept])
        return changed
