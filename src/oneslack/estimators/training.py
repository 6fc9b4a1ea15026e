"""From a matrix and codes to problems, and from their results back to one weight row a class.

Two classes are one binary problem.  More are one problem with Crammer and Singer's hinge, or one
binary problem a class ("ovr"): class k against the rest.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .. import driver
from ..models import Binary, Multiclass
from ..problem import Problem
from ..result import Result, Status


@dataclass(frozen=True)
class Task:
    """Models with their coded labels: one, or one a class.

    codes    (n,) 0 .. K-1
    weights  (n,) or None
    cost     (K, K) or None
    """

    codes: np.ndarray
    n_classes: int
    n_features: int
    intercept: bool
    weights: np.ndarray | None
    cost: np.ndarray | None
    one_vs_rest: bool

    @property
    def is_binary(self) -> bool:
        return self.n_classes == 2 or self.one_vs_rest

    @property
    def n_problems(self) -> int:
        return self.n_classes if self.n_classes > 2 and self.one_vs_rest else 1

    def models(self):
        """(model, y, weights) of each problem."""
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
        """(coef (K or 1, d), intercept (K or 1,)) from the results' w."""
        d = self.n_features
        if self.is_binary:
            w = np.array([result.w for result in results])
            return w[:, :d].copy(), w[:, d].copy() if self.intercept else np.zeros(len(w))
        K = self.n_classes
        W = results[0].w.reshape(-1, K)
        # All K intercepts may rise together without effect: let them sum to zero.
        return W[:d].T.copy(), W[d] - W[d].mean() if self.intercept else np.zeros(K)

    def flat(self, coef, intercept) -> list[np.ndarray]:
        """The w of each problem: the inverse of `rows`."""
        W = np.column_stack([coef, intercept]) if self.intercept else coef
        return list(W) if self.is_binary else [W.T.ravel()]


def solve_all(task, X, starts, *, C, n_jobs, time_limit, max_iter, **options) -> list[Result]:
    """Solve each problem of the task; `time_limit` is for all of them together."""
    results = []
    begin = time.perf_counter()
    for (model, y, weights), start in zip(task.models(), starts, strict=True):
        if time_limit is not None:
            options["time_limit"] = max(time_limit - (time.perf_counter() - begin), 1e-9)
        problem = Problem(model, X, y, C, sample_weight=weights, n_jobs=n_jobs)
        with problem.engine:
            results.append(driver.solve(problem, start=start, max_iter=max_iter, **options))
        if results[-1].status is Status.INTERRUPTED:
            max_iter = 1  # Ctrl-C is for all classes: the others get what one step gives
    return results
