"""The objective: primal, dual, gap.

    P(w) = 1/2 sum_{k not free} (w_k - prior_k)^2 + weight R(w)         R the (mean) risk
    D(a) = <a, b> - <G a, prior> - 1/2 |G a|^2     for planes R(w) >= b_j - <g_j, w>,
                                                    a >= 0, sum a = weight

Free coordinates (the intercept) are not penalised: a dual point must then have no component along
them.  Coordinates held >= 0 take w = max(prior + G a, 0); their dual is given by `Regulariser`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


def squared_norm(v) -> float:
    """|v|^2, without the threads of a BLAS, which stall when the cores are busy."""
    return float(np.einsum("i,i", v, v))


def inner(u, v) -> float:
    """<u, v>, likewise."""
    return float(np.einsum("i,i", u, v))


def relative_gap(primal: float, dual: float) -> float:
    """(P - D) / P: by what share of itself P may at most be lowered."""
    if not np.isfinite(primal) or not np.isfinite(dual):
        return float("inf")
    gap = max(primal - dual, 0.0)
    scale = max(abs(primal), abs(dual))
    return gap / scale if scale > 0 else 0.0


@dataclass(frozen=True)
class Regulariser:
    """1/2 |w - prior|^2 over the penalised coordinates, some of them held >= 0.

    prior        (n_params,) or None for zeros
    nonnegative  (n_params,) bool or None
    free         indices of the coordinates that are not penalised (nor held >= 0)
    """

    n_params: int
    prior: np.ndarray | None = None
    nonnegative: np.ndarray | None = None
    free: np.ndarray | None = None

    @property
    def n_free(self) -> int:
        return 0 if self.free is None else len(self.free)

    def start(self) -> np.ndarray:
        """The minimiser of the regulariser alone."""
        return self.point(np.zeros(self.n_params))

    def point(self, v, free_values=None) -> np.ndarray:
        """w that minimises 1/2 |w - prior|^2 - <v, w>; free coordinates are given, or 0."""
        w = v.copy() if self.prior is None else v + self.prior
        if self.nonnegative is not None:
            np.maximum(w, 0.0, out=w, where=self.nonnegative)
        if self.n_free:
            w[self.free] = 0.0 if free_values is None else free_values
        return w

    def _masked(self, v):
        """v without its free coordinates."""
        if not self.n_free:
            return v
        v = v.copy()
        v[self.free] = 0.0
        return v

    def _offset(self, w):
        return self._masked(w if self.prior is None else w - self.prior)

    def value(self, w) -> float:
        return 0.5 * squared_norm(self._offset(w))

    def gradient(self, w) -> np.ndarray:
        return self._offset(w)

    def slope(self, w, direction) -> tuple[float, float]:
        """First and second derivative of t -> value(w + t direction) at t = 0."""
        direction = self._masked(direction)
        return inner(self._offset(w), direction), squared_norm(direction)

    def dual(self, v, linear: float) -> float:
        """min_w 1/2 |w - prior|^2 - <v, w> + linear: the dual value of v = sum a_j g_j, with
        linear = sum a_j b_j.  A bound only where v has no free component: it is taken as 0 here."""
        w = self.point(v)
        return linear + self.value(w) - inner(self._masked(v), self._masked(w))
