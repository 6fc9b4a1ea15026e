"""P and D of models whose scores are F = X w' + b, with one row of w a score: linear models.

A free intercept (not penalised) has no minimum unless its duals balance: what is left over in floats is paid
for as if duals were scaled, or taken back, until they do (losses.py).
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .claim import Bounds
from .penalty import Penalty
from .sums import SAFE, TINY, adjoint, gamma, numbers, product


class Linear(NamedTuple):
    """A problem and the weights of a model: X (n, d), a loss, w (rows, d), bias (rows,) where it is free or
    None, its penalty."""

    X: Any
    loss: Any
    w: np.ndarray
    bias: np.ndarray | None = None
    penalty: Penalty = Penalty()

    def bounds(self, proof) -> Bounds:
        F, E = product(self.X, self.w.T)
        if self.bias is not None:
            F = F + self.bias
            E = SAFE * E + gamma(4) * (np.abs(F) + np.abs(self.bias))
        regular, risk = self.penalty.value(self.w), self.loss.risk(F, E)
        primal, error = regular[0] + risk[0], regular[1] + risk[1] + gamma(8) * (regular[0] + risk[0])
        return Bounds(primal - error, primal + error * SAFE, *self._dual(proof))

    def _dual(self, proof):
        """(at most D, at least D) at the dual point of a proof."""
        point = self.loss.duals(proof, lambda j: self._plane_scores(proof, j), self.bias is not None)
        V, sizes = adjoint(self.X, point.A)
        error = SAFE * (gamma(self.X.shape[0] + 16) + point.excess) * sizes + TINY * self.X.shape[0]
        gain = point.gain - SAFE * point.excess * point.size - SAFE * point.cost * point.taken
        if point.taken:
            error = error + SAFE * point.taken * _largest(self.X)
        low = self.penalty.dual(V, error, gain)
        middle = point.gain if self.penalty.is_l1 else self.penalty.dual(V, np.zeros_like(V), point.gain)
        # No dual at all proves P >= 0, too; D is concave, so that it is no farther above than below.
        return max(low, 0.0), middle + SAFE * abs(middle - low) + gamma(256) * (abs(middle) + point.size)

    def _plane_scores(self, proof, j):
        """(n, rows): the scores where plane j was taken."""
        rows = len(self.w)
        point = numbers(proof, "points", (None, self.w.size + (rows if self.bias is not None else 0)))[j]
        weights, bias = point[: self.w.size], point[self.w.size :]
        return np.asarray(self.X @ weights.reshape(-1, rows)) + (bias if len(bias) else 0.0)


def _largest(X):
    """(d,): the largest number of each column, by its size."""
    largest = abs(X).max(axis=0)
    return largest.toarray().ravel() if sp.issparse(largest) else np.asarray(largest)
