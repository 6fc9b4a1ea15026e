"""Slow, obvious references: the whole problem as one QP, and bounds recomputed from scratch.

min_{w, xi}  1/2 sum_{k not free} scale_k^2 (w_k - prior_k)^2 + sum_i weight_i xi_i
xi_i >= losses_j - <deltas_j, w>   for every cut j of block i,      w_k >= 0 where asked
"""

from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from oneslack.checks.brute import all_cuts


@dataclass(frozen=True)
class Reference:
    """Every cut of a problem; `weights` (one a block) are C s_i."""

    deltas: np.ndarray
    losses: np.ndarray
    index: np.ndarray
    weights: np.ndarray
    prior: np.ndarray
    free: np.ndarray
    nonnegative: np.ndarray
    scale: np.ndarray

    @classmethod
    def of_problem(cls, problem, sample_weight=None):
        """All cuts of a `Problem`, found by enumeration, example by example."""
        cuts = all_cuts(problem.model, problem.X, problem.Y)
        s = np.ones(problem.n) if sample_weight is None else np.asarray(sample_weight, float)
        deltas = cuts.deltas.toarray() if sp.issparse(cuts.deltas) else cuts.deltas
        return cls.of_cuts(deltas, cuts.losses, cuts.index, problem.C * s, free=problem.model.free)

    @classmethod
    def of_cuts(cls, deltas, losses, index, weights, prior=None, free=(), nonnegative=None, scale=None):
        d = deltas.shape[1]
        is_free = np.isin(np.arange(d), free)
        prior = np.zeros(d) if prior is None else prior
        nonnegative = np.zeros(d, bool) if nonnegative is None else nonnegative
        scale = np.ones(d) if scale is None else scale
        return cls(deltas, losses, index, weights, prior, is_free, nonnegative, scale)

    def primal(self, w) -> float:
        """P(w), from the definition."""
        worst = np.full(len(self.weights), -np.inf)
        np.maximum.at(worst, self.index, self.losses - self.deltas @ w)
        return float(0.5 * np.sum((self.scale * (w - self.prior))[~self.free] ** 2) + self.weights @ worst)

    def dual(self, alpha) -> float:
        """D(alpha) for alpha >= 0 with the right sums: min over w of the Lagrangian."""
        v = alpha @ self.deltas
        w = self.prior + v / self.scale**2
        w = np.where(self.nonnegative, np.maximum(w, 0.0), w)
        part = 0.5 * (self.scale * (w - self.prior)) ** 2 - v * w
        return float(alpha @ self.losses + np.sum(part[~self.free]))

    def solve(self):
        """(lower, upper) around the optimum and the w of the upper bound, by Clarabel."""
        m, d = self.deltas.shape
        n = len(self.weights)
        curvature = np.where(self.free, 0.0, self.scale**2)
        P = sp.diags_array(np.append(curvature, np.zeros(n)), format="csc")
        q = np.append(-curvature * self.prior, self.weights)
        blocks = sp.csr_array((np.ones(m), (np.arange(m), self.index)), shape=(m, n))
        cuts = sp.hstack([sp.csr_array(-self.deltas), -blocks])
        held = np.flatnonzero(self.nonnegative)
        bounds = sp.csr_array((-np.ones(len(held)), (np.arange(len(held)), held)), shape=(len(held), d + n))
        A = sp.vstack([cuts, bounds], format="csc")
        b = np.append(-self.losses, np.zeros(len(held)))
        options = clarabel.DefaultSettings()
        options.verbose = False
        options.max_threads = 1
        options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
        cone = [clarabel.NonnegativeConeT(len(b))]
        solution = clarabel.DefaultSolver(P, q, A, b, cone, options).solve()
        w = np.where(self.nonnegative, np.maximum(solution.x[:d], 0.0), solution.x[:d])
        alpha = np.maximum(solution.z[:m], 0.0)
        sums = np.bincount(self.index, alpha, minlength=n)[self.index]
        alpha *= np.divide(self.weights[self.index], sums, out=np.ones(m), where=sums > 0)
        lower, upper = self.dual(alpha), self.primal(w)
        assert upper - lower <= 1e-6 * max(1.0, abs(upper)), f"the reference is loose: {lower} {upper}"
        return lower, upper, w


def sparse_logistic(**options):
    """LIBLINEAR's logistic loss with an L1 penalty, which scikit-learn has another name for since 1.8."""
    is_new = LogisticRegression().penalty == "deprecated"
    penalty = {"l1_ratio": 1.0} if is_new else {"penalty": "l1"}
    return LogisticRegression(solver="liblinear", **penalty, **options)
