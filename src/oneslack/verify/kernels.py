"""P and D where w = sum_i c_i phi(x_i) is an expansion over the examples, <phi(x), phi(z)> = k(x, z).

    |w|^2 = <c, K c>,   scores K c + b,   |v|^2 = <A, K A> for duals A

Values of the kernel are off by at most `doubt`, so products with them by doubt (sum |c|) each.  That k is
positive semi-definite, so that there are such phi, is taken at its word for a matrix that is given.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from .claim import Bounds
from .sums import SAFE, gamma

#: Rows of the kernel matrix that are held at a time.
BLOCK = 1024


class Kernel(NamedTuple):
    """X (n, d), or K where the kernel is "precomputed"; name, gamma, coef0, degree of the kernel; a loss;
    the coefficients (n, rows) of w, and bias (rows,) where it is free, or None."""

    X: Any
    kind: tuple
    loss: Any
    w: np.ndarray
    bias: np.ndarray | None = None

    def bounds(self, proof) -> Bounds:
        point = self.loss.duals(proof, free=self.bias is not None)
        A = point.A.toarray() if sp.issparse(point.A) else point.A
        F, V, doubt, largest = self._products(np.hstack([self.w, A]))
        share = doubt + gamma(len(F) + 8) * largest
        mass, given = (np.abs(part).sum(axis=0) for part in (self.w, A))
        norm, off = 0.5 * float((self.w * F).sum()), 0.5 * SAFE * share * float((mass**2).sum())
        E = np.tile(SAFE * share * mass, (len(F), 1))
        if self.bias is not None:
            F, E = F + self.bias, E + gamma(4) * (np.abs(F) + np.abs(self.bias))
        risk, error = self.loss.risk(F, E)
        primal, error = norm + risk, error + off + gamma(16) * (abs(norm) + risk)
        square, off = float((A * V).sum()), SAFE * share * float((given**2).sum())
        length = sqrt(max(square, 0.0) + off)
        # Duals that are scaled or taken back move v by no more than this.
        moved = SAFE * sqrt(largest) * (point.excess * float(given.sum()) + 2.0 * point.taken)
        pays = SAFE * (0.5 * off + moved * (length + moved) + gamma(16) * abs(square))
        low = point.gain - 0.5 * square - pays - SAFE * (point.excess * point.size + point.cost * point.taken)
        high = point.gain - 0.5 * square + pays + gamma(16) * abs(point.gain)
        return Bounds(primal - error, primal + SAFE * error, max(low, 0.0), high)

    def _products(self, C):
        """(K w, K A, how far a value of K may be off, the largest of them)."""
        rows, parts, largest, doubt = C.shape[1] // 2, [], 0.0, 0.0
        X = self.X.toarray() if sp.issparse(self.X) else np.asarray(self.X, dtype=float)
        for start in range(0, len(X), BLOCK):
            K, off = self._values(X, slice(start, start + BLOCK))
            parts.append(K @ C)
            largest, doubt = max(largest, float(np.abs(K).max())), max(doubt, off)
        S = np.concatenate(parts)
        return S[:, :rows], S[:, rows:], doubt, largest

    def _values(self, X, some):
        name, g, coef0, degree = self.kind
        d = X.shape[1]
        if name == "precomputed":
            return X[some], 0.0
        if name in ("rbf", "laplacian"):  # t exp(-t) <= 1: a relative error of t does no more to exp(-t)
            return np.exp(-g * cdist(X[some], X, "sqeuclidean" if name == "rbf" else "cityblock")), gamma(
                d + 64
            )
        products, off = X[some] @ X.T, gamma(d + 4) * float((np.abs(X[some]) @ np.abs(X.T)).max())
        if name == "linear":
            return products, off
        base = g * products + coef0
        size = float(np.abs(base).max()) + abs(coef0) + g * off
        return base**degree, SAFE * degree * size ** (degree - 1) * (g * off + gamma(4 * degree + 16) * size)
