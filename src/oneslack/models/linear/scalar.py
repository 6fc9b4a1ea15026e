"""A linear score under a scalar loss: P(w, b) = 1/2 |w|^2 + C sum_i s_i phi(y_i, <w, x_i> + b).

What all of them share: two classes under the hinge (binary.py), a number under the tube (regression.py), and
any other loss of losses/.  Nothing here knows which one it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...certificate.rounding import Sizes, gamma
from .rows import LinearData, pack_rows


class ScalarModel:
    """A model with `n_features`, `intercept` and a loss `phi`.  With an intercept, the last weight is the
    bias."""

    @property
    def n_params(self) -> int:
        return self.n_features + self.intercept

    @property
    def free(self) -> np.ndarray:
        return np.arange(self.n_features, self.n_params)

    # Blocks of examples, through their scores (n,).

    def pack(self, X, Y, weights=None) -> LinearData:
        y = np.asarray(Y)
        if self.phi.has_sides:
            bad, expected = np.flatnonzero((y != 1) & (y != -1)), "-1 or +1"
        else:
            y = y.astype(np.float64)
            bad, expected = np.flatnonzero(~np.isfinite(y)), "a finite number"
        if len(bad):
            raise ValueError(f"example {bad[0]}: y is {y[bad[0]]}, expected {expected}")
        data = pack_rows(X, y.astype(np.float64), weights)
        return data if self.phi.has_sides else data.in_units()

    def new_scores(self, data):
        return np.empty(data.n)

    def scores(self, data, shard, w, out):
        from ..._jit.rows import scores

        bias = w[-1] if self.intercept else 0.0
        scores(data.view, w, bias, shard.lo, shard.hi, out)

    def adjoint(self, data, shard, coefficients):
        from ..._jit.rows import adjoint

        g = np.zeros(self.n_params)
        adjoint(data.view, coefficients, shard.lo, shard.hi, g)
        if self.intercept:
            g[-1] = coefficients[shard.lo : shard.hi].sum()
        return g

    def cut(self, data, shard, S, coefficients):
        from ..._jit.scalar_loss import cut

        return cut(self.phi, data.y, data.weights, S, shard.lo, shard.hi, coefficients)

    def risk(self, data, shard, S):
        from ..._jit.scalar_loss import loss_sum

        return loss_sum(self.phi, data.y, data.weights, S, shard.lo, shard.hi)

    def along(self, data, shard, S, dS, t):
        from ..._jit.scalar_loss import along

        return along(self.phi, data.y, data.weights, S, dS, t, shard.lo, shard.hi)

    # Duals: p (n,), minus the slopes of the losses; above 0 where a score is too low.

    def coefficients(self, data, p):
        return data.weights * p

    def dual_loss(self, data, p):
        paid = np.sum(data.weights * self.phi.charge(data.y, p, 1.0))
        return float(np.einsum("i,i", data.weights * p, self.phi.target(data.y)) - paid)

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

    def rest(self, data, S, p):
        """How far each example is from moving its dual at scores S; 0 for those that may move."""
        from ..._jit.scalar_loss import resting

        out = np.empty(data.n)
        resting(self.phi, data.y, S, p, out)
        return out

    def merges(self, data, p):
        """Yield (mass, target, share): examples that may be merged, weighted by their duals, and what is then
        the target and the share of the dual."""
        for side in (-1.0, 1.0):
            mass = data.weights * np.maximum(side * p, 0.0)
            if mass.any():
                yield mass, side if self.phi.has_sides else float(mass @ data.y) / float(mass.sum()), side

    def dual_passes(self, data, C, seed, regulariser=None):
        from .scalar_dual import ScalarDual

        return ScalarDual(self, data, C, seed, regulariser)

    # The loss with its kinks rounded off by mu.

    def smooth_duals(self, data, shard, S, mu, p):
        from ..._jit.scalar_loss import smooth_duals

        return smooth_duals(self.phi, data.y, data.weights, S, mu, shard.lo, shard.hi, p)

    def smooth_slope(self, data, shard, S, dS, t, mu):
        from ..._jit.scalar_loss import smooth_slope

        return smooth_slope(self.phi, data.y, data.weights, S, dS, t, mu, shard.lo, shard.hi)

    def curvatures(self, data, p, mu):
        """(n,): s_i times the curvature of the loss where its dual is p_i."""
        from ..._jit.scalar_loss import curvatures

        out = np.empty(data.n)
        curvatures(self.phi, data.weights, p, mu, out)
        return out

    def smooth_hessian(self, data, shard, p, mu):
        from ..._jit.scalar_loss import smooth_hessian

        H = np.zeros((self.n_params, self.n_params))
        smooth_hessian(self.phi, data.view, data.weights, p, mu, shard.lo, shard.hi, self.intercept, H)
        return H

    # How large things are, for bounds that hold whatever rounding does (rounding.py).

    def sizes(self, data) -> Sizes:
        steepest = self.phi.steepest
        slopes = None if steepest == np.inf else steepest * data.weights
        return Sizes(data.lengths + self.intercept, self.phi.size(data.y), slopes)

    def dual_sizes(self, data, p):
        """(sum_i s_i |p_i| |x_i|, the sum of the sizes of all terms of `dual_loss`), rounded up."""
        s, up = data.weights, 1.0 + gamma(data.n + 16)
        terms = np.abs(p * self.phi.target(data.y)) + np.abs(self.phi.charge(data.y, p, 1.0))
        mass = np.einsum("i,i,i", s, np.abs(p), data.lengths + self.intercept)
        return up * float(mass), up * float(np.einsum("i,i", s, terms))

    def free_bound(self, data):
        """Where the best b can be, other weights fixed."""
        return float(np.max(self.phi.size(data.y))), float(data.lengths.max())

    def odds(self, data):
        """Weights of both sides, where the best b depends on them."""
        if not getattr(self.phi, "has_odds", False):
            return None
        return float(data.weights[data.y > 0].sum()), float(data.weights[data.y < 0].sum())

    def worsened(self, data, S, e):
        """Scores that have every example's loss raised by what an error of e (n,) can do."""
        from ..._jit.scalar_loss import worsened

        out = np.empty(data.n)
        worsened(self.phi, data.y, S, np.broadcast_to(e, out.shape), out)
        return out


def _ratio(part, whole):
    return part / whole if whole > 0 else 1.0


@dataclass(frozen=True)
class Linear(ScalarModel):
    """A target y under any loss `phi` of losses/; x (d,)."""

    n_features: int
    phi: Any
    intercept: bool = False
