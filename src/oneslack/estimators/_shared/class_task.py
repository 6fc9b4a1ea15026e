"""Classification as problems: from coded labels to models, and from their results to weight rows.

Two classes are one binary problem.  More are one problem with Crammer and Singer's hinge, or one
binary problem a class ("ovr"): class k against the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...certificate.rounding import gamma
from ...models import Binary, Multiclass


@dataclass(frozen=True)
class ClassTask:
    """Models with their coded labels: one, or one a class.

    classes  (K,) the labels
    codes    (n,) 0 .. K-1
    weights  (n,) or None
    cost     (K, K) or None
    """

    classes: np.ndarray
    codes: np.ndarray
    n_features: int
    intercept: bool
    weights: np.ndarray | None = None
    cost: np.ndarray | None = None
    one_vs_rest: bool = False

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_binary(self) -> bool:
        return self.n_classes == 2 or self.one_vs_rest

    @property
    def n_problems(self) -> int:
        return self.n_classes if self.n_classes > 2 and self.one_vs_rest else 1

    def models(self):
        d, K = self.n_features, self.n_classes
        if not self.is_binary:
            yield Multiclass(d, K, self.intercept, self.cost), self.codes, self.weights
            return
        weights = self.weights
        if self.cost is not None:
            # Two classes: a cost scales the hinge of its class, as a weight does.
            of_class = np.array([self.cost[0, 1], self.cost[1, 0]])[self.codes]
            weights = of_class if weights is None else weights * of_class
        for k in [1] if K == 2 else range(K):
            yield Binary(d, self.intercept), np.where(self.codes == k, 1.0, -1.0), weights

    def rows(self, results) -> tuple[np.ndarray, np.ndarray]:
        if self.is_binary:
            return binary_rows(results, self.n_features)
        K, d = self.n_classes, self.n_features
        W = results[0].w.reshape(-1, K)
        # All K intercepts may rise together without effect: let them sum to zero.
        return W[:d].T.copy(), W[d] - W[d].mean() if self.intercept else np.zeros(K)

    def rounding(self, result, problem):
        """Intercepts that are moved to sum to zero."""
        if self.is_binary or not self.intercept:
            return 0.0, 0.0
        moved = gamma(self.n_classes + 2) * float(np.abs(result.w[-self.n_classes :]).max())
        return 2.0 * problem.weight * moved, 0.0

    def flat(self, coef, intercept) -> list[np.ndarray]:
        W = np.column_stack([coef, intercept]) if self.intercept else coef
        return list(W) if self.is_binary else [W.T.ravel()]

    def identity(self):
        values = (self.n_classes, self.intercept, self.one_vs_rest)
        return values, [self.codes, self.weights, self.cost]


def binary_rows(results, d):
    """(coef (rows, d), intercept (rows,)) of problems whose w has d weights and perhaps a bias."""
    w = np.array([result.w for result in results])
    return w[:, :d].copy(), w[:, d].copy() if w.shape[1] > d else np.zeros(len(w))
