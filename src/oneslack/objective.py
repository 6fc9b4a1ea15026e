"""The objective: primal, dual, gap.

    P(w) = 1/2 sum_{k not free} r_k^2 (w_k - prior_k)^2 + weight R(w)         R the (mean) risk
    D(a) = <a, b> + min_w (1/2 |r (w - prior)|^2 - <v, w>),     v = sum a_j g_j,
           for planes R(w) >= b_j - <g_j, w>,  a >= 0,  sum a = weight

The minimum over w is at w = prior + v / r^2, or 0 where that is negative and the weight is held >= 0.  Free
coordinates (the intercept) are not penalised: a dual point must then have no component along them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

#: Up to this length a BLAS takes one thread.
SHORT = 4096
#: Covers the rounding of a few operations.
SLIGHTLY_MORE = 1.0 + 2.0**-40
#: What lengths may lack where squares have underflown.
UNDERFLOWN = 1e-140
#: A ball around another point than w must be so much smaller to be worth its memory.
WORTH = 0.9


def squared_norm(v) -> float:
    """|v|^2."""
    return inner(v, v)


def inner(u, v) -> float:
    """<u, v>, without the threads of a BLAS, which stall when the cores are busy."""
    if u.size <= SHORT:
        return float(u.dot(v))
    if not (_is_plain(u) and _is_plain(v)):
        return float(np.einsum("i,i", u, v))
    from ._jit.vectors import dot

    return dot(u, v)


def _is_plain(v) -> bool:
    return v.flags.c_contiguous and v.dtype == np.float64


def relative_gap(primal: float, dual: float) -> float:
    """(P - D) / P: by what share of itself P may at most be lowered.  Below 0 the two contradict each
    other."""
    if not (-inf < primal < inf and -inf < dual < inf):
        return inf
    scale = max(abs(primal), abs(dual))
    return (primal - dual) / scale if scale > 0 else 0.0


def radius_of(gap: float, apart: float = np.inf) -> float:
    """No less than |r (w - w*)|, w* being the optimum, where P(w) - D <= gap and |r (w - w_v)| <= apart.

    P is strongly convex in r w, and a dual point with v = sum a_j g_j lies under P with a paraboloid:

        P(w) - min P >= 1/2 |r (w - w*)|^2
        min P >= D + 1/2 |r (w* - w_v)|^2             w_v = argmin_u 1/2 |r (u - prior)|^2 - <v, u>

    Added up, t^2 + (t - apart)^2 <= 2 gap for t = |r (w - w*)| >= apart.  So t is at most sqrt(gap) where the
    primal and the dual point are the same, and never more than sqrt(2 gap).
    """
    gap = SLIGHTLY_MORE * max(gap, 0.0)
    if apart * apart >= 2.0 * gap:
        return SLIGHTLY_MORE * sqrt(2.0 * gap)
    return SLIGHTLY_MORE * (0.5 * apart + sqrt(gap - 0.25 * apart * apart))


def middle_radius(gap: float, apart: float) -> float:
    """The same of the point halfway between w and w_v, which are at least `apart` from each other: the sum
    above is 2 |r (m - w*)|^2 + |r (w - w_v)|^2 / 2 there."""
    gap = SLIGHTLY_MORE * max(gap, 0.0)
    return SLIGHTLY_MORE * sqrt(max(gap - 0.25 * apart * apart, 0.0))


@dataclass(frozen=True)
class Regulariser:
    """1/2 |r (w - prior)|^2 over the penalised coordinates, some of them held >= 0.

    prior        (n_params,) or None for zeros; 0 where a coordinate is free
    scale        (n_params,) r > 0, or None for ones
    nonnegative  (n_params,) bool or None
    free         indices of the coordinates that are not penalised (nor held >= 0)
    """

    n_params: int
    prior: np.ndarray | None = None
    nonnegative: np.ndarray | None = None
    free: np.ndarray | None = None
    scale: np.ndarray | None = None

    #: Whether weights are penalised by their squares.
    is_squared = True

    @staticmethod
    def of(model) -> Regulariser:
        """The plain one of a model's weights: intercepts are free."""
        free = np.asarray(getattr(model, "free", ()), dtype=int)
        return Regulariser(model.n_params, free=free if len(free) else None)

    @property
    def n_free(self) -> int:
        return 0 if self.free is None else len(self.free)

    @property
    def is_plain(self) -> bool:
        """1/2 |w|^2, but for free coordinates."""
        return self.prior is None and self.scale is None and self.nonnegative is None

    @cached_property
    def curvature(self):
        """r^2, or None for ones."""
        return None if self.scale is None else self.scale**2

    @property
    def steepest(self) -> float:
        """The largest r."""
        return 1.0 if self.scale is None else float(self.scale.max())

    @property
    def curvatures(self) -> np.ndarray:
        """(n_params,): r^2, 0 where a coordinate is free."""
        r2 = np.ones(self.n_params) if self.scale is None else self.curvature.copy()
        if self.n_free:
            r2[self.free] = 0.0
        return r2

    @property
    def centre(self) -> np.ndarray:
        """(n_params,): the prior, zeros where there is none."""
        return np.zeros(self.n_params) if self.prior is None else self.prior

    @property
    def weakest(self) -> float:
        """The smallest r of the penalised coordinates."""
        if self.scale is None:
            return 1.0
        scale = np.delete(self.scale, self.free) if self.n_free else self.scale
        return float(scale.min(initial=np.inf)) if len(scale) else 1.0

    def start(self) -> np.ndarray:
        """The minimiser of the regulariser alone."""
        return self.point(np.zeros(self.n_params))

    def point(self, v, free_values=None) -> np.ndarray:
        """w that minimises 1/2 |r (w - prior)|^2 - <v, w>; free coordinates are given, or 0."""
        w = self.unclipped(v)
        if self.nonnegative is not None:
            np.maximum(w, 0.0, out=w, where=self.nonnegative)
        if self.n_free:
            w[self.free] = 0.0 if free_values is None else free_values
        return w

    def feasible(self, w) -> np.ndarray:
        """A copy of w with 0 instead of what is negative and may not be."""
        w = np.array(w, dtype=float)
        if self.nonnegative is not None:
            np.maximum(w, 0.0, out=w, where=self.nonnegative)
        return w

    def unclipped(self, v) -> np.ndarray:
        """prior + v / r^2: the point, were no weight held >= 0."""
        u = v.copy() if self.scale is None else v / self.curvature
        return u if self.prior is None else np.add(u, self.prior, out=u)

    def metric(self, v) -> np.ndarray:
        """v / r^2, 0 where a coordinate is free: <u, metric(v)> is the product that duals see."""
        v = self._masked(v)
        return v if self.scale is None else v / self.curvature

    def _masked(self, v):
        """v without its free coordinates."""
        if self.free is None:
            return v
        v = v.copy()
        v[self.free] = 0.0
        return v

    def _offset(self, w):
        return self._masked(w if self.prior is None else w - self.prior)

    def is_least_at(self, w) -> bool:
        """Whether all penalised weights are where they are drawn to."""
        return not self._offset(w).any()

    def value(self, w) -> float:
        return self.value_of(w if self.prior is None else w - self.prior)

    def value_of(self, offset) -> float:
        """1/2 |r offset|^2 over the penalised coordinates."""
        offset = self._masked(offset)
        return 0.5 * squared_norm(offset if self.scale is None else self.scale * offset)

    def gradient(self, w) -> np.ndarray:
        offset = self._offset(w)
        return offset if self.scale is None else self.curvature * offset

    def slope(self, w, direction) -> tuple[float, float]:
        """First and second derivative of t -> value(w + t direction) at t = 0."""
        direction = self._masked(direction)
        scaled = direction if self.scale is None else self.scale * direction
        return inner(self.gradient(w), direction), squared_norm(scaled)

    def dual(self, v, linear: float) -> float:
        """min_w 1/2 |r (w - prior)|^2 - <v, w> + linear: the dual value of v = sum a_j g_j, with
        linear = sum a_j b_j.  A bound only where v has no free component: it is taken as 0 here."""
        if self.is_plain:
            return linear - 0.5 * squared_norm(self._masked(v))
        w = self.point(v)
        return linear + self.value(w) - inner(self._masked(v), self._masked(w))

    def dual_at(self, unclipped, linear: float) -> float:
        """The same for v given by prior + v / r^2."""
        v = self.gradient(unclipped)
        return self.dual(v, linear)


class Ball(NamedTuple):
    """|r (m - w*)| <= radius, where m is `middle`, or w itself where that is None."""

    radius: float
    middle: np.ndarray | None = None


def ball_of(regulariser, w, gap, v=None) -> Ball:
    """A ball that the weights of the optimum are in, where P(w) - D <= gap, D being proven by a dual point
    with the sum v, where that is known.  Rounding is paid for: w_v is rounded, what is halfway once more, and
    lengths are off by a share."""
    if not getattr(regulariser, "is_squared", True):
        return Ball(np.inf)
    if v is None:
        return Ball(radius_of(gap))
    point = regulariser.point(v, w[regulariser.free] if regulariser.n_free else None)
    apart = sqrt(2.0 * regulariser.value_of(w - point))
    share = (len(w) + 64) * 2.0**-52
    sizes = sqrt(squared_norm(w)) + sqrt(squared_norm(point))
    if not regulariser.is_plain:
        sizes += sqrt(squared_norm(v)) + (
            0.0 if regulariser.prior is None else sqrt(squared_norm(regulariser.prior))
        )
        sizes *= max(regulariser.steepest, 1.0 / regulariser.weakest)
    error = share * (apart + sizes) + UNDERFLOWN
    around_w, between = radius_of(gap, apart + error), middle_radius(gap, max(apart - error, 0.0)) + error
    return Ball(around_w) if between > WORTH * around_w else Ball(between, 0.5 * (w + point))


@dataclass(frozen=True)
class Lasso:
    """sum_k r_k |w_k| over the penalised coordinates (L1), some of them held >= 0; as for Regulariser.

    D(a) = <a, b>      where |v_k| <= r_k for all k, or v_k <= r_k for those held >= 0
    """

    n_params: int
    nonnegative: np.ndarray | None = None
    free: np.ndarray | None = None
    scale: np.ndarray | None = None

    prior = None
    is_plain = is_squared = False

    n_free = Regulariser.n_free
    weakest = Regulariser.weakest
    feasible = Regulariser.feasible

    @cached_property
    def strength(self) -> np.ndarray:
        """(n_params,): r, 0 where a coordinate is free."""
        r = np.ones(self.n_params) if self.scale is None else self.scale.copy()
        if self.n_free:
            r[self.free] = 0.0
        return r

    @cached_property
    def held(self) -> np.ndarray:
        """(n_params,) of bool: the weights held >= 0."""
        return np.zeros(self.n_params, bool) if self.nonnegative is None else self.nonnegative

    def start(self) -> np.ndarray:
        return np.zeros(self.n_params)

    def value(self, w) -> float:
        return inner(self.strength, np.abs(w))

    def is_least_at(self, w) -> bool:
        return not (self.strength * w).any()

    def ratio(self, v) -> float:
        """The largest |v_k| / r_k: v divided by it is feasible where it is above 1."""
        size = np.abs(v) if self.nonnegative is None else np.where(self.nonnegative, v, np.abs(v))
        penalised = self.strength > 0.0
        return float(np.max(size[penalised] / self.strength[penalised], initial=0.0))

    def dual(self, v, linear: float) -> float:
        """min_w sum_k r_k |w_k| - <v, w> + linear; free coordinates of v are taken as 0."""
        return linear if self.ratio(v) <= 1.0 else -np.inf


class KeptWeights:
    """The point of v = sum_j alpha_j x_j, which compiled loops keep up to date while duals alpha move: w (of
    any shape: the first weights of the regulariser), and what loops add rows to; see _jit/held.py.

    w      the point
    u      the point before weights are held >= 0; the same array where none is
    loops  w itself, or a Held: what compiled loops take
    q      1 / r^2 where weights are scaled or held, else None
    """

    def __init__(self, shape, regulariser=None):
        self.w = np.zeros(shape)
        self.u = self.loops = self.w
        self.q = self._prior = None
        if regulariser is None or regulariser.is_plain:
            return

        def mine(values):
            return values[: self.w.size].reshape(shape)

        if regulariser.prior is not None:
            self._prior = mine(regulariser.prior)
        if regulariser.scale is not None or regulariser.nonnegative is not None:
            self._hold(
                np.ones(shape) if regulariser.scale is None else 1.0 / mine(regulariser.curvature),
                np.zeros(shape, bool) if regulariser.nonnegative is None else mine(regulariser.nonnegative),
            )
        self.reset()

    def _hold(self, q, nonnegative):
        from ._jit.held import Held

        self.q = q
        if nonnegative.any():
            self.u = np.zeros_like(self.w)
        self.loops = Held(self.w, self.u, q, np.where(nonnegative, 0.0, -np.inf))

    def lay_by_columns(self):
        """Let the weights of a column of w lie side by side; for plain weights, before loops take them."""
        self.w = self.u = self.loops = np.asfortranarray(self.w)

    def reset(self, v=0.0):
        """The point at the sum v."""
        self.u[...] = v if self.q is None else self.q * v
        if self._prior is not None:
            self.u[...] += self._prior
        if self.q is not None:
            np.maximum(self.u, self.loops.low, out=self.w)

    def room(self):
        """Zeros to add single rows to: what is then read there is x / r^2."""
        if self.q is None:
            return np.zeros_like(self.w)
        from ._jit.held import Held

        nothing = np.full_like(self.w, -np.inf)
        return Held(np.zeros_like(self.w), np.zeros_like(self.w), self.q, nothing)

    def norms(self, data):
        """(n,): |x_i / r|^2 of a matrix's rows; the largest over the columns of w where it has several."""
        from ._jit.held import metric_norms

        columns = self.q.reshape(len(self.q), -1)
        if (columns == columns[:, :1]).all():
            columns = columns[:, :1]
        largest = np.zeros(data.n)
        for q in columns.T:
            norms = np.empty(data.n)
            metric_norms(data.view, np.ascontiguousarray(q), norms)
            np.maximum(largest, norms, out=largest)
        return largest

    def state(self):
        return {"w": self.w} if self.q is None else {"w": self.w, "u": self.u}

    def restore(self, state):
        for name in self.state():
            getattr(self, name)[...] = state[name]
