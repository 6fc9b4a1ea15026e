"""P and D where w = sum_i c_i phi(x_i) is an expansion over the examples, <phi(x), phi(z)> = k(x, z).

    |w|^2 = <c, K c>,   scores K c + b,   |v|^2 = <A, K A> for duals A

By Cauchy and Schwarz |k(x, z)| <= r(x) r(z), r(x)^2 = k(x, x), and a computed value is off by at most a share
of that, so that products with c are off by a share of r_i sum_j |c_j| r_j.  That k is positive semi-definite,
so that there are such phi, is taken at its word for a matrix that is given, and for other than the usual
kernels.
"""

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from .claim import Bounds
from .linear import shifted
from .sums import SAFE, dense, gamma

#: Rows of the kernel matrix that are held at a time.
BLOCK = 1024


class Kernel(NamedTuple):
    """X (n, d), or K where the kernel is "precomputed"; name, gamma, coef0, degree of the kernel, the linear
    one being "poly", 1, 0, 1; a loss; the coefficients (n, rows) of w, and bias (rows,) where it is free, or
    None."""

    X: Any
    kind: tuple
    loss: Any
    w: np.ndarray
    bias: np.ndarray | None = None

    def bounds(self, proof) -> Bounds:
        point = self.loss.duals(proof, free=self.bias is not None)
        A = dense(point.A)
        S, r, share = self._products(np.hstack([self.w, A]))
        F, V, share = S[:, : A.shape[1]], S[:, A.shape[1] :], SAFE * (share + gamma(len(S) + 8))
        (norm, off, mass), (square, lost, given) = self._norm(self.w, F, r, share), self._norm(A, V, r, share)
        risk = self.loss.risk(*shifted(F, share * r[:, None] * mass, self.bias))
        # Duals that are scaled or taken back move v by no more than this.
        moved = SAFE * (point.excess * float(given.sum()) + 2.0 * point.taken * float(r.max()))
        pays = 0.5 * lost + moved * (sqrt(max(square, 0.0) + lost) + moved) + gamma(16) * abs(square)
        pays += point.excess * point.size + point.cost * point.taken
        middle = point.gain - 0.5 * square
        bounds = Bounds.of((0.5 * norm, 0.5 * off), risk, middle - SAFE * pays, middle, point.size)
        return bounds._replace(apart=sqrt(max(norm + square - 2.0 * float((A * F).sum()), 0.0)))

    @staticmethod
    def _norm(C, KC, r, share):
        """(<C, K C>, how far off, sum_i r_i |C_i|)."""
        mass = SAFE * (r[:, None] * np.abs(C)).sum(axis=0)
        return float((C * KC).sum()), share * float((mass**2).sum()), mass

    def _products(self, C):
        """(K C, r (n,) from above, by which share of r_i r_j a value of K may be off)."""
        X, (name, g, coef0, degree) = dense(self.X), self.kind
        K_C = np.concatenate([self._values(X, X[at : at + BLOCK]) @ C for at in range(0, len(X), BLOCK)])
        if name == "precomputed":
            return K_C, SAFE * np.sqrt(np.maximum(X.diagonal(), 0.0)), 0.0
        if name in ("rbf", "laplacian"):
            return K_C, np.full(len(X), SAFE), gamma(X.shape[1] + 64)
        squares = abs(g) * np.einsum("ij,ij->i", X, X) + abs(coef0)
        return K_C, SAFE * np.sqrt(squares) ** degree, (degree + 1) * gamma(X.shape[1] + 64)

    def _values(self, X, some):
        name, g, coef0, degree = self.kind
        if name in ("rbf", "laplacian"):  # t exp(-t) <= 1: a relative error of t does no more to exp(-t)
            return np.exp(-g * cdist(some, X, "sqeuclidean" if name == "rbf" else "cityblock"))
        return some if name == "precomputed" else (g * (some @ X.T) + coef0) ** degree
