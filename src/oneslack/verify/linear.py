"""P and D of models whose scores are F = X w' + b, with one row of w a score: linear models.

A free intercept (not penalised) has no minimum unless its duals balance: what is left over in floats is paid
for as if duals were scaled, or taken back, until they do (losses.py).
"""

from typing import Any, NamedTuple

import numpy as np

from .ball import length
from .claim import Bounds
from .penalty import Penalty
from .sums import SAFE, TINY, adjoint, dense, gamma, numbers, product


class Linear(NamedTuple):
    """A problem and the weights of a model: X (n, d), a loss, w (rows, d), bias (rows,) where it is free or
    None, its penalty."""

    X: Any
    loss: Any
    w: np.ndarray
    bias: np.ndarray | None = None
    penalty: Penalty = Penalty()

    def bounds(self, proof) -> Bounds:
        risk = self.loss.risk(*shifted(*product(self.X, self.w.T), self.bias))
        point = self.loss.duals(proof, lambda j: self._scores_at(proof, j), self.bias is not None)
        V, sizes = adjoint(self.X, point.A)
        largest = dense(abs(self.X).max(axis=0)).ravel() if point.taken else 0.0
        error = SAFE * ((gamma(self.X.shape[0] + 16) + point.excess) * sizes + point.taken * largest)
        error = error + TINY * self.X.shape[0]
        lost = SAFE * (point.excess * point.size + point.cost * point.taken)
        low = self.penalty.dual(V, error, point.gain - lost)
        middle = point.gain if self.penalty.is_l1 else self.penalty.dual(V, np.zeros_like(V), point.gain)
        bounds = Bounds.of(self.penalty.value(self.w), risk, low, middle, point.size)
        if self.penalty.is_l1:  # not strongly convex
            return bounds
        u = self.penalty.point(V)
        return bounds._replace(point=u, apart=length(self.penalty.scale * (self.w - u)))

    def _scores_at(self, proof, j):
        """(n, rows): the scores where plane j was taken."""
        rows, size = len(self.w), self.w.size
        point = numbers(proof, "points", (None, size + (rows if self.bias is not None else 0)))[j]
        return np.asarray(self.X @ point[:size].reshape(-1, rows)) + (
            point[size:] if len(point) > size else 0.0
        )


def shifted(F, E, bias):
    """Scores F that are within E, with an intercept."""
    return (F, E) if bias is None else (F + bias, SAFE * E + gamma(4) * (np.abs(F) + 2.0 * np.abs(bias)))
