"""Scores of new examples, and classes of scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .described import described
from .given import INPUT, is_shards, validated

#: Rows that are scored at once when X must be widened to float64.
BLOCK = 8192


class LinearScores:
    """Scores X coef_' + intercept_."""

    coef_: np.ndarray
    intercept_: Any  # a number, or one a row of coef_

    def _shapes(self):
        """The learned arrays and their shapes, for reading a file."""
        if not hasattr(self, "classes_"):
            return {"coef": (self.n_features_in_,), "intercept": ()}
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        return {"coef": (rows, self.n_features_in_), "intercept": (rows,)}

    def _scores(self, X):
        """(n, rows) of new examples."""
        check_is_fitted(self)
        if is_shards(X):
            return np.concatenate([self._scores(shard.X) for shard in X])
        return self._scores_of(self._inputs(X))

    def _inputs(self, X):
        """The features that `coef_` weighs."""
        return validated(self, X, reset=False, **INPUT)

    def _scores_of(self, features):
        return products(features, np.atleast_2d(self.coef_).T) + self.intercept_


@described
class Classifies(ClassifierMixin):
    """The class of the highest score; of two classes there is one score, positive where the second wins."""

    classes_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row.

        Returns
        -------
        y : ndarray of shape (n,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


def products(X, W):
    """X @ W in float64, without a float64 copy of all X."""
    if X.dtype == W.dtype:
        return np.asarray(X @ W)
    out = np.empty((X.shape[0], W.shape[1]))
    for low in range(0, len(out), BLOCK):
        rows = X[low : low + BLOCK]
        out[low : low + BLOCK] = rows.astype(np.float64) @ W
    return out
