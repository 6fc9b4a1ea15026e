"""A number: the loss is max(0, |y - <w, x> - b| - epsilon), nothing inside a tube around the line.

As a structural problem an example has two cuts beside the zero cut, one for a score that is too low and one
for a score that is too high (Ramanan 2013, A.6):

    H_i = max(0,  y_i - epsilon - <w, x_i>,  -y_i - epsilon + <w, x_i>)

Only one of them can be violated, so their duals are one number alpha_i in [-C s_i, C s_i]:

    D(alpha) = sum_i alpha_i y_i - epsilon |alpha_i| - 1/2 |sum_i alpha_i x_i|^2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...certificate.rounding import Sizes
from .rows import LinearData, pack_rows


@dataclass(frozen=True)
class RegressionData(LinearData):
    """Packed examples; `unit` is the size of their targets, by which solvers measure losses."""

    unit: float = 1.0

    def take(self, index) -> RegressionData:
        return RegressionData(self.X[index], self.y[index], self.weights[index], self.unit)


@dataclass(frozen=True)
class Regression:
    """A target y, any real number; x (d,).  With an intercept, the last weight is the bias.

    epsilon  half the width of the tube inside which an error costs nothing

    >>> import numpy as np, oneslack
    >>> problem = oneslack.Problem(oneslack.Regression(1, 0.5), [[1.0], [2.0]], [1.0, 3.0])
    >>> float(problem.primal(np.array([1.0])))  # 1/2 |w|^2 + (0 + 0.5)
    1.0
    """

    n_features: int
    epsilon: float = 0.0
    intercept: bool = False

    @property
    def n_params(self) -> int:
        return self.n_features + self.intercept

    @property
    def free(self) -> np.ndarray:
        return np.arange(self.n_features, self.n_params)

    # Blocks of examples, through their scores (n,).

    def pack(self, X, Y, weights=None) -> RegressionData:
        y = np.asarray(Y, dtype=np.float64)
        if not (np.isfinite(self.epsilon) and self.epsilon >= 0):
            raise ValueError(f"epsilon must be a number >= 0; got {self.epsilon!r}")
        bad = np.flatnonzero(~np.isfinite(y))
        if len(bad):
            raise ValueError(f"example {bad[0]}: y is {y[bad[0]]}, expected a finite number")
        data = pack_rows(X, y, weights)
        total = float(data.weights.sum())
        unit = float(data.weights @ np.abs(data.y)) / total if total > 0 else 0.0
        return RegressionData(data.X, data.y, data.weights, unit or 1.0)

    def new_scores(self, data):
        return np.empty(data.n)

    def scores(self, data, shard, w, out):
        from ..._jit.rows import scores

        bias = w[-1] if self.intercept else 0.0
        scores(data.view, w, bias, shard.lo, shard.hi, out)

    def cut(self, data, shard, S, coefficients):
        from ..._jit.regression import tube_cut

        return tube_cut(data.y, data.weights, self.epsilon, S, shard.lo, shard.hi, coefficients)

    def risk(self, data, shard, S):
        from ..._jit.regression import tube_sum

        return tube_sum(data.y, data.weights, self.epsilon, S, shard.lo, shard.hi)

    def along(self, data, shard, S, dS, t):
        from ..._jit.regression import tube_along

        return tube_along(data.y, data.weights, self.epsilon, S, dS, t, shard.lo, shard.hi)

    def adjoint(self, data, shard, coefficients):
        from ..._jit.rows import adjoint

        g = np.zeros(self.n_params)
        adjoint(data.view, coefficients, shard.lo, shard.hi, g)
        if self.intercept:
            g[-1] = coefficients[shard.lo : shard.hi].sum()
        return g

    # Duals: p (n,) in [-1, 1], positive where the score is too low.

    def coefficients(self, data, p):
        return data.weights * p

    def dual_loss(self, data, p):
        mass = data.weights * p
        return float(np.einsum("i,i", mass, data.y) - self.epsilon * np.abs(mass).sum())

    def balance(self, data, p):
        return self.balanced(data, p, self.flow(data, p)) if self.intercept else p

    def flow(self, data, p):
        """Dual mass upwards and downwards; those of parts of the examples add up."""
        mass = data.weights * p
        return np.array([mass[mass > 0].sum(), -mass[mass < 0].sum()])

    def balanced(self, data, p, flow):
        """Shares that balance where `flow` is that of all examples."""
        up, down = flow
        common = min(up, down)
        return p * np.where(p > 0, _ratio(common, up), _ratio(common, down))

    # How large things are, for bounds that hold whatever rounding does (rounding.py).

    def sizes(self, data) -> Sizes:
        return Sizes(data.lengths + self.intercept, np.abs(data.y) + self.epsilon, data.weights)

    def free_bound(self, data):
        """The best b, other weights fixed, puts an example on an edge of its tube."""
        return float(np.abs(data.y).max()) + self.epsilon, float(data.lengths.max())

    def worsened(self, data, S, e):
        """Scores that have every example's loss raised by e (n,)."""
        return np.where(data.y > S, S - e, S + e)

    def rest(self, data, S, p):
        """How far each example is from moving its dual at scores S; 0 for those that may move."""
        error = data.y - S
        outside = np.where(p == 0.0, np.abs(error), np.sign(p) * error) - self.epsilon
        at_bound = ((p == 0.0) & (outside < 0.0)) | ((np.abs(p) == 1.0) & (outside > 0.0))
        return np.where(at_bound, np.abs(outside), 0.0)

    def merges(self, data, p):
        """Yield (mass, target, share): examples that may be merged, weighted by their duals, and what is then
        the target and the share of the dual."""
        for side in (-1.0, 1.0):
            mass = data.weights * np.maximum(side * p, 0.0)
            if mass.any():
                yield mass, float(mass @ data.y) / float(mass.sum()), side

    def smooth_duals(self, data, shard, S, mu, p):
        from ..._jit.regression import smooth_duals

        return smooth_duals(data.y, data.weights, self.epsilon, S, mu, shard.lo, shard.hi, p)

    def smooth_slope(self, data, shard, S, dS, t, mu):
        from ..._jit.regression import smooth_slope

        return smooth_slope(data.y, data.weights, self.epsilon, S, dS, t, mu, shard.lo, shard.hi)

    def smooth_hessian(self, data, shard, p, mu):
        from ..._jit.regression import smooth_hessian

        H = np.zeros((self.n_params, self.n_params))
        smooth_hessian(data.view, data.weights, self.epsilon, p, mu, shard.lo, shard.hi, self.intercept, H)
        return H

    def dual_passes(self, data, C, seed, regulariser=None):
        from .regression_dual import RegressionDual

        return RegressionDual(self, data, C, seed, regulariser)


def _ratio(part, whole):
    return part / whole if whole > 0 else 1.0
