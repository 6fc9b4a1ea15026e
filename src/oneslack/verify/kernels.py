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
        S, r, share = self._products(np.hstack([self.w, A]))
        F, V, share = S[:, : A.shape[1]], S[:, A.shape[1] :], SAFE * (share + gamma(len(S) + 8))
        mass, given = (SAFE * (r[:, None] * np.abs(part)).sum(axis=0) for part in (self.w, A))
        norm, off = 0.5 * float((self.w * F).sum()), 0.5 * share * float((mass**2).sum())
        E = share * r[:, None] * mass
        if self.bias is not None:
            F, E = F + self.bias, E + gamma(4) * (np.abs(F) + 2.0 * np.abs(self.bias))
        risk, error = self.loss.risk(F, E)
        primal, error = norm + risk, error + off + gamma(16) * (abs(norm) + risk)
        square, off = float((A * V).sum()), share * float((given**2).sum())
        # Duals that are scaled or taken back move v by no more than this.
        moved = SAFE * (point.excess * float(given.sum()) + 2.0 * point.taken * float(r.max()))
        pays = SAFE * (0.5 * off + moved * (sqrt(max(square, 0.0) + off) + moved) + gamma(16) * abs(square))
        low = point.gain - 0.5 * square - pays - SAFE * (point.excess * point.size + point.cost * point.taken)
        high = point.gain - 0.5 * square + pays + gamma(256) * point.size
        return Bounds(primal - error, primal + SAFE * error, max(low, 0.0), high)

    def _products(self, C):
        """(K C, r (n,) from above, by which share of r_i r_j a value of K may be off)."""
        name, g, coef0, degree = self.kind
        X = self.X.toarray() if sp.issparse(self.X) else np.asarray(self.X, dtype=float)
        parts = [self._values(X, slice(at, at + BLOCK)) @ C for at in range(0, len(X), BLOCK)]
        squares, power, share = np.einsum("ij,ij->i", X, X), 1, gamma(X.shape[1] + 64)
        if name == "precomputed":
            squares, share = np.maximum(X.diagonal(), 0.0), 0.0
        elif name in ("rbf", "laplacian"):
            squares = np.ones(len(X))
        elif name == "poly":
            squares, power, share = g * squares + abs(coef0), degree, (degree + 1) * gamma(X.shape[1] + 64)
        return np.concatenate(parts), SAFE * np.sqrt(squares) ** power, share

    def _values(self, X, some):
        name, g, coef0, degree = self.kind
        if name == "precomputed":
            return X[some]
        if name in ("rbf", "laplacian"):  # t exp(-t) <= 1: a relative error of t does no more to exp(-t)
            return np.exp(-g * cdist(X[some], X, "sqeuclidean" if name == "rbf" else "cityblock"))
        products = X[some] @ X.T
        return products if name == "linear" else (g * products + coef0) ** degree
