"""The bundle of sampled cutting planes: supports instead of normals, and the dual QP over their Gram matrix.

A plane is  R(w) >= b_k - <g_k, w> - <f_k, bias>  with  g_k = sum_j phi(x_j) c_j  over a few examples j, its
support.  For a point w = sum_k a_k g_k all that is needed is a, the Gram matrix of the g_k, and their scores.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from ...kernels.expansion import Expansion
from ..simplex_qp import solve_further

#: Scores that a thread adds up at a time: so few that they stay in the cache.
PIECE = 8192
#: Idle planes that hold a part of the best point are put together when they are so many.
FOLD = 10
POINTS = ("a", "best", "target", "pulled", "point")
#: Beyond this, scores are not kept in float32.
LARGE = 1e30


def narrow(scores):
    """Scores as planes keep them: in float32, half the memory, where they and their sums fit into it."""
    return scores.astype(np.float64 if np.abs(scores).max(initial=0.0) > LARGE else np.float32, copy=False)


class SampledPlanes:
    """Planes under (an estimate of) the risk.  Plane 0 is the floor, R >= 0.

    a       (m,) the best dual point over the planes, sum a = weight; `dual` is its value
    best    (m,) the best point so far, w = sum_k best_k g_k
    target  (m,) where to go, in the same terms: a, or the solution of a QP pulled to the best point
    pulled  (m,) the dual point of that QP
    point   (m,) where the next plane is taken
    """

    def __init__(self, problem, drop_after):
        self.weight, self.slots, self.drop_after = problem.weight, problem.slots, drop_after
        self.intercept, self.engine = problem.intercept, problem.engine
        self.gram = np.zeros((1, 1))
        self.offsets, self.free = np.zeros(1), np.zeros((1, self.slots))
        self.a = self.best = self.target = self.pulled = self.point = np.array([self.weight])
        self.idle = np.zeros(1, int)
        self.supports = [np.empty(0, int)]
        self.coefficients = [np.empty((0, self.slots))]
        self.scores, self.exact = [None], [None]
        self.bias = np.zeros(self.slots)
        self.dual, self.n_added = 0.0, 0

    _NO_STATE = ("engine",)

    def state(self) -> dict:
        """All of it, as it is: a copy of the arrays is up to who keeps them."""
        return {name: value for name, value in vars(self).items() if name not in self._NO_STATE}

    @classmethod
    def of_state(cls, state) -> SampledPlanes:
        """As it was, but without an engine; the state stays as it is."""
        planes = cls.__new__(cls)
        vars(planes).update({name: copy(value) for name, value in state.items()})
        return planes

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
        for name in POINTS:
            setattr(self, name, np.append(getattr(self, name), 0.0))
        self.idle = np.append(self.idle, 0)
        self.supports.append(support)
        self.coefficients.append(coefficients)
        self.scores.append(scores)
        self.exact.append(exact)
        self.n_added += 1

    def solve(self, tol):
        """The best dual point over the planes, to an absolute gap of `tol`; sets a, bias, target and dual."""
        solution = self._solution(self.gram, self.offsets, self.a, tol)
        self.a = self.pulled = self.target = solution.a
        if self.intercept:
            self.bias = solution.multipliers
        self.idle = np.where(self.a > 0, 0, self.idle + 1)
        self.dual = solution.value

    def solve_pulled(self, tol, pull):
        """The same with 1/2 pull |w - best|^2 added to the objective; sets pulled, bias and target.

        Its dual is  max_a <b - s Q best, a> - 1/2 (1 - s) a' Q a  with  s = pull / (1 + pull),  and its
        solution w = sum_k target_k g_k has  target = (1 - s) a + s best.
        """
        s = pull / (1.0 + pull)
        offsets = self.offsets - s * (self.gram @ self.best)
        solution = self._solution((1.0 - s) * self.gram, offsets, self.pulled, tol)
        self.pulled = solution.a
        self.target = (1.0 - s) * solution.a + s * self.best
        if self.intercept:
            self.bias = solution.multipliers
        self.idle = np.where(self.pulled > 0, 0, self.idle + 1)

    def raise_dual(self, tol):
        """The best dual point without a pull: sets a and dual alone."""
        solution = self._solution(self.gram, self.offsets, self.a, tol)
        self.a, self.dual = solution.a, max(self.dual, solution.value)
        self.idle[self.a > 0] = 0

    def _solution(self, gram, offsets, a, tol):
        return solve_further(gram, offsets, self.weight, a, self.free if self.intercept else None, tol)

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
        from ..._jit.vectors import add_scaled

        parts = [(self.scores[k].reshape(-1), float(a[k])) for k in np.flatnonzero(a) if k]
        out[:] = bias
        flat = out.reshape(-1)

        def fill(lo):
            piece = flat[lo : lo + PIECE]
            for scores, weight in parts:
                add_scaled(piece, weight, scores[lo : lo + PIECE])

        self.engine.map(fill, range(0, len(flat), PIECE))
        return out

    def expansion(self, a, bias) -> Expansion:
        used = [k for k in np.flatnonzero(a) if len(self.supports[k])]
        if not used:
            return Expansion(np.empty(0, int), np.empty((0, self.slots)), bias.copy())
        index = np.concatenate([self.supports[k] for k in used])
        coefficients = np.concatenate([a[k] * self.coefficients[k] for k in used])
        return Expansion(index, coefficients, bias.copy(), max(float(a @ self.gram @ a), 0.0))

    def drop_idle(self) -> np.ndarray | None:
        """Forget planes long without weight; those that are kept, or None where all are.

        Some of them may hold a part of the best point: once these are several, their mean by those parts
        takes their place, at the end.  It is a plane as well, and the best point stays where it is.
        """
        idle = (self.idle >= self.drop_after) & (self.a <= 0) & (self.pulled <= 0)
        idle[0] = False
        folded = np.flatnonzero(idle & (self.best > 0))
        if len(folded) < FOLD:
            idle[folded] = False
        idle &= self.best >= 0
        if not idle.any():
            return None
        if len(folded) >= FOLD:
            self._add_mean(folded)
        kept = np.flatnonzero(~np.append(idle, np.zeros(len(self) - len(idle), bool)))
        self.gram = self.gram[np.ix_(kept, kept)]
        self.offsets, self.free, self.idle = self.offsets[kept], self.free[kept], self.idle[kept]
        for name in POINTS:
            setattr(self, name, getattr(self, name)[kept])
        for name in ("supports", "coefficients", "scores", "exact"):
            values = getattr(self, name)
            setattr(self, name, [values[k] for k in kept])
        return kept

    def _add_mean(self, index):
        """The mean of planes by their part in the best point, which it takes over."""
        total = float(self.best[index].sum())
        share = self.best[index] / total
        inner = self.gram[:, index] @ share
        support = np.concatenate([self.supports[k] for k in index])
        coefficients = np.concatenate([r * self.coefficients[k] for k, r in zip(index, share, strict=True)])
        scores = None
        if self.scores[index[0]] is not None:
            scores = narrow(sum(r * self.scores[k] for k, r in zip(index, share, strict=True)))
        own = float(share @ inner[index])
        offset, free = float(share @ self.offsets[index]), share @ self.free[index]
        self.add(support, coefficients, offset, free, np.append(inner, own), scores)
        self.n_added -= 1
        # On idle planes all points are multiples of the best one.
        for name in POINTS:
            values = getattr(self, name)
            values[-1] = values[index].sum()
            values[index] = 0.0
