"""What rounding can have done to the bounds: how the reported P is rounded up and the reported D down.

Numbers are floats with unit roundoff u.  A sum of k products, in any order, is off by at most gamma(k) times
the sum of their sizes (Higham 2002, section 3.1).  So with |w| and the lengths of rows, which are known:

    P     a score is off by gamma(terms) |w| |x|, a hinge by no more, the sum of the hinges by gamma(rows) of
          itself.  Weighted and summed over the examples the first is `reach` = sum_i s_i max_z |delta_i(z)|.
          Scores that were moved along with w are off by more: gamma(terms) way |x|, where `way` adds up
          the lengths of all vectors whose scores went into them (`moved`).

    D     For any alpha that is feasible, and v~ and l~ the computed sums of alpha delta and alpha loss,

              P(w) >= l - <v, w> + reg(w) >= D(v~, l~) - |l - l~| - <v - v~, w>      for all w,

          so at the optimum w*:   min P >= D(v~, l~) - e_l - e_v W,        W >= |w*|.

          By strong convexity |r (w* - w)|^2 <= 2 (P(w) - min P) for the w that was found, and both together
          are a quadratic inequality for W: see `lower_bound`.

    free  A free weight (intercept) adds <v_free, b*>, where v_free should be 0: it is charged |v_free| B,
          with B >= |b*| of an optimum.  At one some example lies on a kink (b moves until one does), which
          bounds b* by losses, |w*| and the longest row: B = free[0] + free[1] W.

Nothing here looks at an example twice; where the bounds are too loose they are refined (`Proof.refine`,
`Problem.upper` by worst.py).  Overflow is an error elsewhere; underflow adds TINY for each number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import fsum, inf, log, nextafter, sqrt
from typing import Any, NamedTuple

import numpy as np

from ..objective import inner

#: Half the distance of 1 to the next float.
UNIT = 2.0**-53
#: What a product that underflows is off by.
TINY = 2.0**-1074
#: Squares that underflow are nothing beside a sum of this.
NO_UNDERFLOW = 1e-250
#: A square below this may have lost digits.
UNDERFLOW = 1e-290
#: A rounding of a number of this size is more than any that underflows.
FAINT = 1e-300
#: The errors are computed in floats, too: so much more covers that.
SAFE = 1.0 + 2.0**-20


def gamma(k) -> float:
    """By what share of the sum of their sizes a sum of k products may be off."""
    if k * UNIT >= 0.01:
        return inf
    return SAFE * k * UNIT / (1.0 - k * UNIT)


def rounded_up(value, error) -> float:
    """At least value + error; a value without error is exact, as a sum of zeros is."""
    return nextafter(value + SAFE * error, inf) if error else value


def rounded_down(value, error) -> float:
    """At most value - error."""
    return -rounded_up(-value, error)


def sum_up(values) -> float:
    """At least the sum of the numbers."""
    return nextafter(fsum(values), inf) if len(values) > 1 else values[0]


def sum_down(values) -> float:
    """At most the sum of the numbers."""
    return -sum_up([-value for value in values])


@dataclass(frozen=True)
class Extent:
    """How large the numbers of a problem are, and how many are summed up.

    terms    numbers in a score, or in the score of an output
    rows     numbers in the sum of the hinges, or in a component of a sum of cuts
    reach    sum_i s_i max_z |delta_i(z)|
    losses   sum_i s_i max_z loss_i(z)
    free     |b*| of an optimum is at most free[0] + free[1] |w*|; None where nothing is known
    is_sum   whether the risk is a sum of numbers >= 0; else it is a difference of sums
    odds     weights (for, against) whose log-odds, in size, are to be added to free[0]
    """

    terms: int
    rows: int
    reach: float
    losses: float
    free: tuple[float, float] | None = None
    is_sum: bool = True
    odds: tuple[float, float] | None = None

    @property
    def free_bound(self) -> tuple[float, float] | None:
        """`free`, with the odds of all examples."""
        if self.odds is None or self.free is None:
            return self.free
        up, down = self.odds
        far = SAFE * abs(log(up / down)) if up > 0.0 and down > 0.0 else inf
        return self.free[0] + far, self.free[1]

    def __add__(self, other) -> Extent:
        """Of examples of the same problem together."""
        free = None
        if self.free is not None and other.free is not None:
            free = tuple(max(pair) for pair in zip(self.free, other.free, strict=True))
        odds = self.odds and tuple(sum(pair) for pair in zip(self.odds, other.odds, strict=True))
        return Extent(
            max(self.terms, other.terms), self.rows + other.rows, self.reach + other.reach,
            self.losses + other.losses, free, self.is_sum and other.is_sum, odds,
        )  # fmt: skip

    def primal_size(self, length, risk) -> float:
        """Rounding of scores, off by a share of `length` times their rows, adds that share of this to the sum
        of the losses."""
        return self.losses + self.reach * length

    def dual_sizes(self, C, linear) -> tuple[float, float]:
        """At least (sum alpha |delta|, sum alpha loss), each term by its size, of duals whose losses sum to
        `linear`."""
        return C * self.reach, C * self.losses


@dataclass(frozen=True)
class SquaredExtent(Extent):
    """Of losses without a largest slope, like (t - z)^2, whose duals pay at least a^2 / 4 C s.

    reach, losses   sqrt(sum_i s_i |x_i|^2) and T = sqrt(sum_i s_i t_i^2)

    By Cauchy and Schwarz:

    P   sum s (phi(z + e) - phi(z)) <= 2 sqrt(R) E + E^2          R the sum of the losses, E^2 = sum s e^2
    D   sum |a| |x| <= 2 sqrt(K C) reach                          K = sum a^2 / 4 C s
        linear <= sum |t a| - K <= 2 sqrt(K C) T - K,   so   sqrt(K) <= sqrt(C) T + sqrt(C T^2 - linear)
    """

    def __add__(self, other) -> SquaredExtent:
        both = super().__add__(other)
        lengths = SAFE * sqrt(self.reach**2 + other.reach**2), SAFE * sqrt(self.losses**2 + other.losses**2)
        return SquaredExtent(both.terms, both.rows, *lengths, both.free, both.is_sum)

    def primal_size(self, length, risk) -> float:
        E = self.losses + self.reach * length
        return 2.0 * SAFE * E * sqrt(max(risk, 0.0)) + gamma(self.terms + 64) * E * E

    def dual_sizes(self, C, linear) -> tuple[float, float]:
        T = sqrt(C) * self.losses
        root = SAFE * (T + sqrt(T * T + max(-linear, 0.0)))
        return 2.0 * root * sqrt(C) * self.reach, 2.0 * root * T + root * root


@dataclass(eq=False)
class Proof:
    """A dual point as its sums, v = sum alpha delta and linear = sum alpha loss, and how far off they are
    from those of a feasible point.

    v_error, linear_error   bounds of |(v - v~) / r| over the penalised weights and of |linear - linear~|
    free_error   a bound of sum_k |v_k - v~_k| over the free weights
    free         as for Extent, where the dual point itself tells
    refine       a proof of a dual point that is as good, with smaller errors
    point        gives the dual point itself as named arrays (memory/dual_points.py); to be called before the
                 next step
    """

    v: np.ndarray
    linear: float
    v_error: float
    linear_error: float
    free_error: float = 0.0
    free: tuple[float, float] | None = None
    refine: Callable[[], Proof] | None = None
    point: Callable[[], dict] | None = None

    def sums(self) -> tuple:
        """Its numbers, without the point."""
        return self.v, self.linear, self.v_error, self.linear_error, self.free_error

    def kept(self) -> tuple:
        """What a state holds of it; `taken_up` is the way back."""
        return *self.sums(), None if self.point is None else self.point()

    @staticmethod
    def taken_up(kept) -> Proof | None:
        """The proof that a state holds, if it holds one."""
        if not kept:
            return None
        sums, point = kept[:5], kept[5] if len(kept) > 5 else None
        return Proof(*sums, point=None if point is None else lambda: point)


def dual_proof(regulariser, v, linear, mass, losses, sums, excess=0.0, refine=None, point=None) -> Proof:
    """Of sums of at most `sums` numbers each, whose sizes add up to `mass` and `losses`; `excess` is the
    share by which the duals may be too large to be feasible."""
    share, tiny = gamma(sums + 16) + excess, TINY * sums
    error = share * mass + tiny
    v_error = error / regulariser.weakest
    return Proof(v, linear, v_error, share * losses + tiny, error, refine=refine, point=point)


def floor_bound(regulariser, risk) -> float:
    """At most min_w 1/2 |r (w - prior)|^2 + risk over the w that are allowed."""
    nothing = np.zeros(regulariser.n_params)
    error = gamma(4) * abs(risk)
    if regulariser.nonnegative is not None and regulariser.prior is not None:
        error += _evaluation_error(regulariser, nothing, risk)
    return regulariser.dual(nothing, risk) - SAFE * error


def floor_proof(problem) -> Proof | None:
    """The dual point that the floor of the risk makes, if it has one."""
    if problem.floor is None:
        return None
    risk = problem.weight * problem.floor
    point = dict if risk == 0.0 else None  # no dual at all
    return Proof(np.zeros(problem.n_params), risk, 0.0, gamma(4) * abs(risk), point=point)


class Lower(NamedTuple):
    """A lower bound that holds whatever rounding does, what it was before that was taken off, and the sum v
    of the dual point that it is of."""

    proven: float
    computed: float
    v: Any = None

    @property
    def rounding(self) -> float:
        return self.computed - self.proven


def lower_bound(regulariser, proof, free, w, upper, enough=inf) -> Lower:
    """What a dual point proves where P(w) <= upper; refined while rounding may be more than `enough`."""
    lower = _lower_bound(regulariser, proof, free, w, upper)
    while lower.rounding > enough and proof.refine is not None:
        proof = proof.refine()
        lower = _lower_bound(regulariser, proof, free, w, upper)
    return lower._replace(v=proof.v)


def _lower_bound(regulariser, proof, free, w, upper) -> Lower:
    dual = regulariser.dual(proof.v, proof.linear)
    length = _length(regulariser, w)
    fixed, v_error = _evaluation_error(regulariser, proof.v, proof.linear) + proof.linear_error, proof.v_error
    if regulariser.n_free:
        residual = float(np.abs(proof.v[regulariser.free]).sum()) + proof.free_error
        known = proof.free or free
        if residual > 0.0 and known is None:
            return Lower(-inf, dual)
        if residual > 0.0:
            fixed += SAFE * residual * known[0]
            v_error += SAFE * residual * known[1] / regulariser.weakest
    # W <= |w| + sqrt(2 (upper - min P)) and min P >= dual - fixed - v_error W.
    behind = SAFE * max(upper - dual + fixed, 0.0)
    reach = length + v_error + sqrt(v_error**2 + 2.0 * length * v_error + 2.0 * behind)
    return Lower(rounded_down(dual, fixed + v_error * SAFE * reach), dual)


def _evaluation_error(regulariser, v, linear):
    """How far off regulariser.dual(v, linear) may be, of these very numbers."""
    w = regulariser.point(v)
    size = abs(linear) + regulariser.value(w) + inner(np.abs(v), np.abs(w))
    return gamma(len(v) + 32) * size + TINY * len(v)


def _length(regulariser, w):
    """|r w| over the penalised weights, rounded up."""
    scaled = w if regulariser.scale is None else regulariser.scale * w
    if regulariser.n_free:
        scaled = scaled.copy()
        scaled[regulariser.free] = 0.0
    return norm_up(scaled)


def norm_up(values) -> float:
    """At least the length of a vector."""
    share = 1.0 + gamma(len(values) + 8)
    if (square := inner(values, values)) > NO_UNDERFLOW:
        return share * sqrt(square)
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    scaled = values / largest
    return share * largest * sqrt(inner(scaled, scaled))


def upper_lengths(norm2, depth) -> np.ndarray:
    """At least the lengths of vectors of `depth` numbers whose squares were summed up."""
    lengths = np.sqrt(norm2 + depth * UNDERFLOW)
    lengths *= 1.0 + gamma(depth + 8)
    return lengths


def moved(way, w, t, direction) -> float:
    """The way of scores S + t dS, beside w + t direction, where `way` is that of what was added up.

    Rounding of S + t dS, of w + t direction, and of both differences where the direction is one, adds
    u (2 |w| + 6 |t direction|) |x|, and gamma(terms + 64) is 64 u or more.
    """
    return way + 0.125 * (_euclidean(w) + 2.0 * abs(t) * _euclidean(direction))


def _euclidean(w) -> float:
    return sqrt(inner(w, w))


def primal_error(extent, regulariser, w, primal, C, way=0.0) -> float:
    """How far off P(w) may be, where losses and rows are as large as `extent` says; it was computed from w,
    or from scores that have come such a `way`."""
    regular, length = regulariser.value(w), max(norm_up(w), way)
    error = gamma(len(w) + 16) * regular + gamma(16) * abs(primal)
    if length == 0.0:  # all scores are 0 exactly
        faint = TINY * (1.0 + C) * (len(w) + extent.rows) if primal else 0.0
        return error + gamma(extent.rows + 16) * abs(primal) + faint
    size = C * extent.primal_size(length, (primal - regular) / C)
    if extent.is_sum:
        error += gamma(extent.terms + 64) * size + gamma(extent.rows + 16) * max(primal - regular, 0.0)
    else:
        error += 4.0 * gamma(extent.terms + extent.rows + 64) * size
    return error + TINY * (len(w) + extent.rows)


class Sizes(NamedTuple):
    """How large the examples of a model with scores are, each as an array (n,) or one number for all.

    lengths   |dS_i / dw|, or that of the longest of its scores
    losses    the largest |loss|
    slopes    the largest sum of |coefficients| of a cut: s_i times what its scores count; None where none is
              the largest (SquaredExtent)
    """

    lengths: Any
    losses: Any
    slopes: Any

    def totals(self, slopes=None) -> tuple[float, float]:
        """(reach, losses), of cuts with these sums of |coefficients|, or the largest."""
        slopes = self.slopes if slopes is None else slopes
        return _weighted(slopes, self.lengths), _weighted(slopes, self.losses)


def _weighted(slopes, values):
    total = inner(slopes, values) if isinstance(values, np.ndarray) else float(slopes.sum()) * values
    return (1.0 + gamma(len(slopes) + 8)) * total


def extent_of(model, data) -> Extent:
    """Of the packed examples of a model with scores, which tells their `sizes`."""
    sizes = model.sizes(data)
    free = model.free_bound(data) if hasattr(model, "free_bound") else None
    is_sum = not hasattr(model, "cut_along")  # as Scores in protocols.py says
    if sizes.slopes is None:
        reach, losses = (_root_square(data.weights, values) for values in (sizes.lengths, sizes.losses))
        return SquaredExtent(data.depth + 1, data.n, reach, losses, free, is_sum)
    odds = model.odds(data) if hasattr(model, "odds") else None
    return Extent(data.depth + 1, data.n, *sizes.totals(), free, is_sum, odds)


def _root_square(weights, values):
    """sqrt(sum_i s_i value_i^2), rounded up."""
    if isinstance(values, np.ndarray):
        total = inner(weights, values * values)
    else:
        total = float(weights.sum()) * float(values) ** 2
    return (1.0 + gamma(len(weights) + 16)) * sqrt(total)


class Proven(NamedTuple):
    """P(w) as it was computed and rounded up, and what a dual point proves; `point` gives it, as in Proof."""

    primal: float
    upper: float
    lower: Lower
    point: Callable[[], dict] | None = None

    @property
    def rounding(self) -> float:
        return self.upper - self.primal + self.lower.rounding


def prove(problem, step, w, primal, way, share) -> Proven | None:
    """Bounds of the optimum by the best w and the dual point of a step, whatever rounding does; refined where
    that may be more than `share` of P.  Where the step has no dual point yet, that of the floor of the risk;
    None where it has none.  `way` as in Step."""
    proof = step.proof() or floor_proof(problem)
    if proof is None:
        return None
    if way is None:
        primal, way = float(problem.primal(w)), 0.0
    enough = share * abs(primal)
    upper = problem.upper(w, primal, enough, way)
    return Proven(primal, upper, problem.lower(proof, w, upper, enough), proof.point)
