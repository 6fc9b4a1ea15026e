"""P(w) = 1/2 |r (w - prior)|^2 + risk(w), or with sum_k r_k |w_k| (L1), for floats or rational numbers, and
what ways downhill from a w need.

A risk is one of scores F = X W' + b, (n, rows): a loss gives its value and its slope (n, rows) there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp


def rational(values) -> np.ndarray:
    """An array of floats as Fractions, which they are."""
    values = values.toarray() if sp.issparse(values) else np.asarray(values)
    return np.frompyfunc(lambda value: Fraction(float(value)), 1, 1)(values.astype(float)).astype(object)


def like(w, values):
    """The values in the numbers that w has."""
    return rational(values) if w.dtype == object else values


def weighted(w, C, s):
    """C s_i in the numbers that w has."""
    return like(w, np.array([C]))[0] * like(w, s)


class Penalised:
    """1/2 |r (w - prior)|^2 of something with w, prior, scale r and held (>= 0), each of one shape."""

    def penalty(self):
        offset = self.w if self.prior is None else self.w - like(self.w, self.prior)
        scaled = offset if self.scale is None else like(self.w, self.scale) * offset
        return (scaled * scaled).sum() / 2

    # For whoever looks for a better w: all weights, then the intercepts, as one vector.

    @property
    def v(self) -> np.ndarray:
        return self.w.ravel()

    @property
    def n_free(self) -> int:
        return 0

    #: What intercepts are multiplied by where they are penalised; whether weights are by their sizes.
    bias_scale, is_l1 = 0.0, False

    def _vector(self, values, default, free):
        values = np.full(self.w.shape, default) if values is None else np.asarray(values, dtype=float)
        return np.append(values.ravel(), np.full(self.n_free, free))

    @property
    def curvature(self) -> np.ndarray:
        """r^2, 0 for intercepts that are free."""
        return self._vector(self.scale, 1.0, self.bias_scale) ** 2

    @property
    def centre(self) -> np.ndarray:
        """Where the penalty is least but for signs."""
        return self._vector(self.prior, 0.0, 0.0)

    @property
    def held_mask(self) -> np.ndarray:
        """Which weights are held >= 0, as a mask."""
        return self._vector(self.held, 0.0, 0.0) > 0

    def feasible(self, v) -> np.ndarray:
        return np.where(self.held_mask, np.maximum(v, 0.0), v)


@dataclass(frozen=True)
class Objective(Penalised):
    """One convex problem and the w that an estimator has for it.

    X          (n, d) features, or the kernel of all examples
    loss       value(F), slope(F)
    w          (rows, d) fitted weights, or coefficients of the kernel
    bias       (rows,) fitted intercepts, where they are learned; else None
    scaling    what they are divided by where they are penalised; None where they are free
    is_l1      whether weights are penalised by their sizes, not by their squares
    is_kernel  whether |w|^2 is <w, X w'>
    is_rounded whether X is itself computed, or the loss no rational number: there is no exact value
    """

    X: Any
    loss: Any
    w: np.ndarray
    bias: np.ndarray | None = None
    prior: np.ndarray | None = None
    scale: np.ndarray | None = None
    held: np.ndarray | None = None
    scaling: float | None = None
    is_l1: bool = False
    is_kernel: bool = False
    is_rounded: bool = False

    @property
    def size(self) -> int:
        """Numbers that P is computed from."""
        return self.X.shape[0] * self.X.shape[1] * len(self.w) * self.loss.work

    def exactly(self) -> Objective:
        """The same weights as rational numbers."""
        return replace(self, w=rational(self.w), bias=None if self.bias is None else rational(self.bias))

    def scores(self) -> np.ndarray:
        """(n, rows)."""
        F = like(self.w, self.X) @ self.w.T
        return F if self.bias is None else F + self.bias

    @property
    def bias_scale(self) -> float:
        return 0.0 if self.scaling is None else 1.0 / self.scaling

    def penalty(self):
        if self.is_l1:
            sizes = np.abs(self.w) if self.scale is None else like(self.w, self.scale) * np.abs(self.w)
            total = sizes.sum()
        else:
            total = super().penalty()
        if self.scaling is None:
            return total
        shares = np.abs(self.bias) / like(self.w, np.array([self.scaling]))
        return total + (shares.sum() if self.is_l1 else (shares * shares).sum() / 2)

    def value(self):
        """P."""
        F = self.scores()
        if not self.is_kernel:
            return self.penalty() + self.loss.value(F)
        products = F if self.bias is None else F - self.bias
        return (self.w * products.T).sum() / 2 + self.loss.value(F)

    @property
    def v(self) -> np.ndarray:
        return self.w.ravel() if self.bias is None else np.append(self.w.ravel(), self.bias)

    @property
    def n_free(self) -> int:
        return 0 if self.bias is None else len(self.bias)

    def at(self, v) -> Objective:
        """The same problem at other weights."""
        size = self.w.size
        return replace(self, w=v[:size].reshape(self.w.shape), bias=None if self.bias is None else v[size:])

    def slope(self) -> np.ndarray:
        """A subgradient of the risk, as one vector."""
        G = self.loss.slope(self.scores())
        weights = np.asarray((self.X.T @ G).T).ravel()
        return weights if self.bias is None else np.append(weights, G.sum(axis=0))

    def linear(self) -> Objective:
        """With a kernel, the same problem with features X, <x_i, x_j> = k_ij but for rounding."""
        if not self.is_kernel:
            return self
        values, vectors = np.linalg.eigh(self.X)
        features = vectors * np.sqrt(np.maximum(values, 0.0))
        return replace(self, X=features, w=self.w @ features, is_kernel=False, is_rounded=True)
