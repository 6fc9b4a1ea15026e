"""L1Problem: a linear score under a smooth scalar loss, with an L1 penalty, which selects features.

    P(w, b) = sum_j r_j |w_j| + C sum_i s_i phi(y_i, <w, x_i> + b)              b is not penalised
    D(a) = sum_i [t_i a_i - charge(a_i)]     |v_j| <= r_j for all j,  v = sum_i a_i x_i,  sum_i a_i = 0

(the lasso, where phi is a square; Tibshirani 1996).  P is not strongly convex, but loss >= 0 bounds the best
weights, sum_j r_j |w*_j| <= min P, and so do duals that are not quite feasible:

    min P >= D(a) - <v, w*> + sum_j r_j |w*_j| - |v_b| |b*|
          >= D(a) - max_j (|v_j| / r_j - 1)_+ P(w) - |v_b| |b*|                        for any a and w

So rounding of v is paid for by P (`lower`), and a is divided by max_j |v_j| / r_j before, where that is
above 1.
"""

from __future__ import annotations

from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np

from ..certificate.rounding import SAFE, TINY, UNIT, Lower, Proof, gamma, rounded_down
from ..objective import Lasso
from .capabilities import Shares, lacks
from .columns import Columns
from .in_memory import Problem
from .regulariser_input import regulariser_of

_NEEDS = ("phi", "coefficients", "smooth_duals", "curvatures", "dual_sizes")


class L1Problem(Problem):
    """Examples (X, y) under a linear model with a smooth loss, and an L1 penalty.

    Parameters
    ----------
    model : Linear(n_features, phi, intercept), phi one of SquaredHinge, Logistic, SquaredTube, Huber
    X, Y : (n, d) dense or sparse, (n,)
    C : weight of the sum of the losses
    sample_weight : (n,) or None
    scale : r_j > 0, how strongly each weight is penalised: a number, (n_params,), or by groups
    nonnegative : weights held >= 0: True for all but the intercept, a mask, or indices

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> from oneslack.losses import SquaredHinge
    >>> from oneslack.models.linear.scalar import Linear
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> problem = oneslack.L1Problem(Linear(2, SquaredHinge(), True), X, y, C=1.0)
    >>> result = oneslack.solve(problem, tol=1e-6)
    >>> result.gap <= 1e-6, np.flatnonzero(result.w[:-1]).tolist()
    (True, [0])
    """

    def __init__(
        self, model: Any, X: Any, Y: Any, C: float = 1.0, *, sample_weight: Any = None, n_jobs: int = 1,
        engine: Any = None, prior: Any = None, scale: Any = None, nonnegative: Any = None,
    ) -> None:  # fmt: skip
        if prior is not None:
            raise ValueError("an L1 penalty draws weights to 0: it takes no prior; leave it out")
        if lacks(model, _NEEDS) or model.phi.stiffest == np.inf:
            what = type(getattr(model, "phi", model)).__name__
            raise ValueError(
                f"an L1 penalty needs a smooth loss, which {what} is not; use SquaredHinge, Logistic, "
                "SquaredTube or Huber"
            )
        super().__init__(model, X, Y, C, sample_weight=sample_weight, n_jobs=n_jobs, engine=engine)
        known = regulariser_of(model, None, scale, nonnegative)
        self.regulariser = Lasso(known.n_params, known.nonnegative, known.free, known.scale)

    def on(self, data, C=None) -> L1Problem:
        """The same problem on other packed examples, with another C where it is given."""
        part = super().on(data, C)
        part.__class__ = L1Problem
        return part

    def identity(self) -> dict:
        known = super().identity()
        return known | {"regulariser": f"L1 {known['regulariser']}"}

    @property
    def shares(self) -> L1Shares:
        return L1Shares(self)

    @property
    def columns(self) -> Columns:
        """All features."""
        return Columns(self.data.X, np.arange(self.model.n_features))

    def lower(self, proof, w, upper, enough=np.inf) -> Lower:
        """What a dual point proves, where P(w) <= upper."""
        lower = self._lower(proof, upper)
        while lower.rounding > enough and proof.refine is not None:
            proof = proof.refine()
            lower = max(lower, self._lower(proof, upper))
        return lower

    def _lower(self, proof, upper):
        regulariser = self.regulariser
        ratio = regulariser.ratio(proof.v)
        computed = proof.linear - max(ratio - 1.0, 0.0) * upper
        beyond = max(ratio * (1.0 + 4.0 * UNIT) + SAFE * proof.v_error - 1.0, 0.0)
        error = proof.linear_error + SAFE * beyond * upper
        if regulariser.n_free:
            residual = float(np.abs(proof.v[regulariser.free]).sum()) + proof.free_error
            if residual > 0.0:
                edge, slope = self.extent.free_bound
                error += SAFE * residual * (edge + slope * SAFE * upper / regulariser.weakest)
        return Lower(rounded_down(proof.linear, error), computed)


class L1Shares(Shares):
    """Duals whose sums are computed with twice the digits where rounding may matter."""

    def nearest(self, a) -> np.ndarray:
        """The shares that duals a (n,) are; where the losses' end before, those at the ends."""
        upper = self.problem.upper_duals
        p = np.divide(a, upper, out=np.zeros_like(a), where=upper > 0.0)
        return np.clip(p, *self.model.phi.bounds(self.data.y, np.ones(self.data.n)))

    def proof_at(self, v, linear, shares):
        proof = super().proof_at(v, linear, shares)

        def refined():
            return replace(proof.refine(), refine=lambda: self._exact_proof(linear, shares))

        return replace(proof, refine=refined)

    def _exact_proof(self, linear, shares):
        problem, model, data = self.problem, self.model, self.data
        c = model.coefficients(data, shares)
        v = np.zeros(problem.n_params)
        v[: model.n_features] = problem.columns.exact_adjoint(c)
        if model.intercept:
            v[-1] = fsum(c)
        mass, losses = (problem.C * size for size in model.dual_sizes(data, shares))
        # Of products and sums nothing is lost but the last digits of their results, and of c.
        share = gamma(16) + gamma(4 * data.n + 64) ** 2
        error, tiny = share * mass, 16.0 * TINY * data.n
        loss_error = gamma(data.n + 16) * losses + tiny
        return Proof(
            problem.C * v, linear, error / problem.regulariser.weakest + tiny, loss_error, error + tiny
        )
