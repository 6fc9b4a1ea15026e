"""Bounds of the optimum's scores where these are sums of kernel values.

The strong convexity is that of 1/2 |w|^2 in the space of the kernel, where x has the length sqrt(k(x, x)): a
score of the optimum is within radius sqrt(k(x, x)).  Values, and sums of them, are rounded as
kernels/rounding.py says.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...certificate.rounding import SAFE, TINY, gamma
from ...engines.threads import Threads
from ...kernels.rounding import SPAN, value_error
from .bounded_intercept import NotSettled
from .given import INPUT, validated
from .settled import BoundedScores, Widths


class KernelBounds(BoundedScores):
    """What is known of the optimum of a KernelSVC."""

    @property
    def _has_one_score(self) -> bool:
        return len(self.dual_coef_) == 1

    def _why_unsettled(self):
        if self.fit_intercept:
            return (
                "the intercept is not penalised, so that the gap does not bound it; fit with "
                "fit_intercept=False, which is the default"
            )
        if self._kernel.is_precomputed:
            return "a precomputed kernel does not tell k(x, x) of new rows; give the kernel itself"
        return super()._why_unsettled()

    def _widths(self, X) -> Widths:
        check_is_fitted(self)
        why = self._why_unsettled()
        if why is not None:
            raise NotSettled(why)
        X = validated(self, X, reset=False, **INPUT)
        kernel, c = replace(self._kernel, dtype=np.float64), self.dual_coef_.T
        vectors = kernel.inputs(self.support_vectors_, self.support_)
        scores, roots = np.empty((X.shape[0], c.shape[1])), np.empty(X.shape[0])
        with Threads(self.n_jobs) as engine:
            for low in range(0, X.shape[0], SPAN):
                part = kernel.inputs(X[low : low + SPAN])
                scores[low : low + SPAN] = kernel.product(part, vectors, c, engine)
                roots[low : low + SPAN] = _roots(kernel, part)
        share = max(value_error(kernel, rows) for rows in (X, self.support_vectors_)) + gamma(len(c) + 16)
        sizes = _roots(kernel, vectors) @ np.abs(c)
        tiny = TINY * (X.shape[1] + 1) * (1.0 + SAFE * np.abs(c).sum(axis=0))
        # What `reduce` has changed of each row, and of all of them together.
        lost = getattr(self, "reduction_error_", 0.0) * sqrt(len(self.dual_coef_))
        reach = np.outer(SAFE * roots, SAFE * (np.array(self._radii) + lost))
        reach = np.broadcast_to(reach, scores.shape)
        return Widths(scores, reach, SAFE * (reach + 4.0 * share * np.outer(roots, sizes) + tiny))


def _roots(kernel, inputs):
    """sqrt(k(x, x)), rounded up."""
    return SAFE * np.sqrt(np.maximum(kernel.diagonal(inputs), 0.0))
