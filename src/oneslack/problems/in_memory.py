"""Problem: a model, its data and C; turns a w into cuts.

    P(w) = 1/2 |r (w - prior)|^2 + C sum_i s_i H_i(w)      H_i(w) = max_z loss(y_i, z) - <w, delta_i(z)>

The risk R is the weighted mean of the H_i, and `weight` = C sum_i s_i is what it counts in P.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._jit.clock import now
from ..certificate.rounding import (
    SAFE,
    Extent,
    Lower,
    Sizes,
    extent_of,
    gamma,
    lower_bound,
    primal_error,
    rounded_up,
)
from ..certificate.worst import worst_primal, worst_scores
from ..cuts import Cuts, Plane
from ..data.identity import Identified
from ..data.lazy import lazy
from ..data.rows import check_total, check_weights
from ..engines.processes import Processes
from ..engines.threads import Threads
from ..objective import Regulariser
from . import batches, per_example
from .capabilities import Capable, Scores, Shares, Smooth, lacks, offers_scores, passes_of
from .per_example import Examples, Oracle, parts_of, stack_rows
from .regulariser_input import regulariser_of
from .work import Work


def check_C(C):
    """Raise unless C can weigh a risk."""
    if not 0.0 < C < np.inf:
        raise ValueError(f"C must be a positive number; got {C!r}")


def check_width(model, X):
    """Raise where a matrix has other columns than the model has features: compiled loops do not look."""
    expected = getattr(model, "n_features", None)
    if expected is not None and len(getattr(X, "shape", ())) == 2 and X.shape[1] != expected:
        raise ValueError(
            f"X has {X.shape[1]} columns, but {type(model).__name__} was made for {expected} features; "
            "make it for as many as X has columns"
        )


def is_certifiable(model, has_scores, rescaling="margin") -> bool:
    """Whether bounds of its problems can be proven: a decoder that is not exact must tell bounds, and without
    `sizes` nothing bounds the rounding of scores."""
    if has_scores:
        return bool(getattr(model, "exact", True)) and not lacks(model, ["sizes"])
    gives = per_example.gives_bounds if lacks(model, batches.NEEDS) else batches.gives_bounds
    return bool(getattr(model, "exact", True)) or gives(model, rescaling)


def is_compiled(model, rescaling="margin") -> bool:
    """Whether loops over examples are: through scores, or by a decoder of many examples."""
    return offers_scores(model, rescaling) or not lacks(model, batches.NEEDS)


def checked_rescaling(model, rescaling):
    """The name of a way that the loss enters, if the model has it."""
    if rescaling not in ("margin", "slack"):
        raise ValueError(f"rescaling={rescaling!r} is not known; use 'margin' or 'slack'")
    if rescaling == "slack" and not hasattr(model, "decode_slack"):
        raise ValueError(
            f"rescaling='slack' needs a method decode_slack(w, x, y) of {type(model).__name__}: "
            "argmax_z loss(y, z) (1 - <w, psi(x, y) - psi(x, z)>)"
        )
    return rescaling


class Problem(Capable, Identified):
    """Examples (X, Y) under a model.

    Parameters
    ----------
    model : a Model (protocols.py)
    X, Y : sequences of n examples; a matrix and a vector for the linear models
    C : weight of the sum of the examples' hinges
    sample_weight : (n,) or None
    rescaling : "margin": H = max_z loss - <w, delta>; "slack": max_z loss (1 - <w, delta>)
    cache_size : cuts of each example that cutting planes remember, where the model has no scores
    n_jobs : threads, or processes for a model of three methods; None for all cores
    prior : where weights are drawn to instead of 0: (n_params,), or by groups (regulariser_input.py)
    scale : how strongly each is, r > 0: a number, (n_params,), or by groups
    nonnegative : weights held >= 0: True for all but intercepts, a mask, indices, or names of blocks

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> problem = oneslack.Problem(oneslack.Binary(2), X, y, C=1.0)
    >>> result = oneslack.solve(problem, tol=1e-6)
    >>> bool(np.isclose(problem.primal(result.w), result.primal))
    True
    """

    #: The risk is never negative, so the zero plane lies under it.
    floor = 0.0
    #: How large a loss is: 1 but where the packed data have a `unit` of their own (targets in thousands).
    unit = 1.0

    def __init__(
        self, model: Any, X: Any, Y: Any, C: float = 1.0, *, sample_weight: Any = None,
        rescaling: str = "margin", cache_size: int = 0, n_jobs: int = 1, engine: Any = None,
        prior: Any = None, scale: Any = None, nonnegative: Any = None,
    ) -> None:  # fmt: skip
        check_C(C)
        self.model, self.X, self.Y, self.C, self.cache_size = model, X, Y, float(C), cache_size
        self.work = Work()
        self.rescaling = checked_rescaling(model, rescaling)
        self.sees_scores = offers_scores(model, rescaling)
        self.has_batches = not self.sees_scores and not lacks(model, batches.NEEDS)
        self.certified = is_certifiable(model, self.sees_scores, rescaling)
        compiled = self.sees_scores or self.has_batches
        self.engine = engine or (Threads if compiled else Processes)(n_jobs)
        is_plain = prior is None and scale is None and nonnegative is None
        self.regulariser = (
            Regulariser.of(model) if is_plain else regulariser_of(model, prior, scale, nonnegative)
        )
        data = model.pack(X, Y, sample_weight) if compiled else Examples.pack(X, Y, sample_weight)
        if self.sees_scores:
            check_width(model, getattr(data, "X", None))
        if hasattr(data, "check_finite"):
            data.check_finite()
        self._set_data(data)
        self._largest = np.zeros(2)  # length and loss of the cuts that the oracle has given

    def _set_data(self, data):
        self.data = data
        self.n = data.n
        total = check_weights(data.weights)
        check_total(total, self.C)
        self.mean = 1.0 / total
        self.weight = self.C * total
        self.unit, self.n_params = getattr(data, "unit", None) or 1.0, self.model.n_params

    @lazy
    def _oracle(self):
        if self.has_batches:
            return batches.BatchOracle(self.model, self.data, self.rescaling, self.engine)
        return Oracle(self.model, Examples(self.X, self.Y, self.data.weights), self.rescaling)

    def name_examples_from(self, first):
        """Errors call example i first + i: a worker counts its part of the examples from 0."""
        if self.names_examples:
            self._oracle = replace(self._oracle, first=first)

    @property
    def names_examples(self) -> bool:
        """Whether errors can call examples by other numbers."""
        return self.scores is None and not self.has_batches

    # What it can do (capabilities.py).  Made when asked for: kept, they would keep the problem alive.

    @property
    def scores(self) -> Scores | None:
        return Scores(self) if self.sees_scores else None

    @lazy
    def _offers_shares(self):
        return self.sees_scores and not lacks(self.model, Shares.needs)

    @lazy
    def _offers_smooth(self):
        return self.sees_scores and not lacks(self.model, Smooth.needs)

    @property
    def shares(self) -> Shares | None:
        return Shares(self) if self._offers_shares else None

    @property
    def passes(self):
        return passes_of(self) if self.sees_scores else None

    @property
    def smooth(self) -> Smooth | None:
        return Smooth(self) if self._offers_smooth else None

    @property
    def oracle(self):
        """The worst outputs of single examples."""
        return self._oracle if hasattr(self.model, "decode") else None

    @property
    def upper_duals(self) -> np.ndarray:
        """(n,): C s_i, what the duals of an example sum to at most."""
        return self.C * self.data.weights

    @property
    def stiffness(self) -> float:
        """sum_i s_i |x_i|^2."""
        return float(self.data.weights @ self.data.norm2)

    @property
    def sample_weights(self) -> np.ndarray:
        """(n,): s_i."""
        return self.data.weights

    def sample(self, index) -> Problem:
        """The same problem on some examples, with C raised so that the total weight stays."""
        data = self.data.take(index)
        return self.on(data, C=self.weight / max(float(data.weights.sum()), 1e-300))

    def on(self, data, C=None) -> Problem:
        """The same problem on other packed examples, with another C where it is given."""
        part = object.__new__(Problem)
        part.work, part.certified, part.rescaling = self.work, self.certified, self.rescaling
        part.model, part.engine, part.regulariser = self.model, self.engine, self.regulariser
        part.C = self.C if C is None else C
        part.sees_scores, part.has_batches = self.sees_scores, self.has_batches
        part.X = part.Y = None
        part._set_data(data)
        return part

    def with_C(self, C) -> Problem:
        """The same problem with another C."""
        return self.on(self.data, C)

    # What rounding can have done to bounds (rounding.py).

    @property
    def extent(self) -> Extent:
        """How large the numbers are."""
        if self.sees_scores:
            return self._scored_extent
        # Values of outputs are differences of sums.
        lengths, losses, terms = self._cut_sizes()
        reach, losses = Sizes(lengths, losses, self.data.weights).totals()
        return Extent(terms, self.n, reach, losses, is_sum=False)

    @lazy
    def _scored_extent(self):
        return extent_of(self.model, self.data)

    @property
    def seen(self):
        return self._largest.tolist() if self.names_examples else None

    def see(self, seen):
        largest = np.asarray(seen, float)
        if largest.shape != (2,):
            raise ValueError("what was seen of the model's answers is not a length and a loss")
        np.maximum(self._largest, largest, out=self._largest)

    def cut_lengths(self):
        """No cut is longer: (n,), or one number for all."""
        return self._cut_sizes()[0]

    def _cut_sizes(self):
        """(lengths of cuts, losses, numbers to sum up for a score): as the model tells, or as met so far."""
        if not self.has_batches:
            return *(SAFE * self._largest), self.n_params
        if not hasattr(self.model, "sizes"):
            return *self._batch_largest, self.n_params
        sizes = self.model.sizes(self.data)
        factors = np.maximum(sizes.losses, 1.0) if self.rescaling == "slack" else 1.0
        return factors * sizes.lengths, sizes.losses, self.data.depth

    @lazy
    def _batch_largest(self):
        """Of a user's batches, from their cuts at w = 0, four times as long."""
        cuts = self._oracle.cuts(np.zeros(self.n_params), 0, self.n)
        rows = sp.csr_array(cuts.deltas)
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)))
        return 4.0 * float(lengths.max(initial=0.0)), float(cuts.losses.max(initial=0.0))

    def upper(self, w, primal, enough=np.inf, way=0.0) -> float:
        """At least P(w), where it was computed as `primal`, from w or from scores of such a `way`.  Where its
        rounding may be more than `enough`, it is computed anew, and examples that are beyond their margin
        whatever rounding does are told apart."""
        error = primal_error(self.extent, self.regulariser, w, primal, self.C, way)
        if not self.sees_scores:
            error += gamma(self.extent.rows + 16) * abs(primal)  # bounds may be above all values
        if error <= enough or not self.sees_scores or lacks(self.model, ["worsened", "is_zero"]):
            return rounded_up(primal, error)
        return worst_primal(self, w, *self.worst_risk(w))

    def worst_risk(self, w) -> tuple[float, bool]:
        """(R(w), were every score as wrong as rounding can have made it; whether a loss is above 0 then)."""
        S = worst_scores(self.model, self.data, self.scores(w), w, self.extent.terms)
        risk = self.scores.risk(S)
        return risk, risk > 0.0 or not self.model.is_zero(self.data, S)

    def lower(self, proof, w, upper, enough=np.inf) -> Lower:
        """What a dual point proves, where P(w) <= upper."""
        return lower_bound(self.regulariser, proof, self.extent.free_bound, w, upper, enough)

    def plane_errors(self, lowest) -> tuple[float, float]:
        """By how much a plane's normal, as a vector, and its offset may be off, where no offset is below
        `lowest`."""
        extent = self.extent
        share = self.mean * gamma(extent.terms + extent.rows + 64)
        mass, losses = extent.dual_sizes(1.0, lowest / self.mean)
        return share * mass, share * losses

    # Values and cuts at w.

    def primal(self, w, weight=None) -> float:
        """P(w), or with another weight of the risk."""
        return self.regulariser.value(w) + (weight or self.weight) * self.risk(w)

    def primal_parts(self, w) -> tuple[float, float]:
        """(P(w), what it is by real outputs alone)."""
        risk, excess = self._risk_parts(w)
        primal = self.regulariser.value(w) + self.weight * risk
        return primal, primal - self.weight * excess

    def risk(self, w) -> float:
        """R(w): the weighted mean of the hinges; at least that where the decoder gives bounds."""
        return self._risk_parts(w)[0]

    def _risk_parts(self, w):
        """(R(w), how much of it is above what real outputs have)."""
        if self.scores is not None:
            return self.scores.risk(self.scores(w)), 0.0
        plane = self.mean_cut(w)
        return plane.value(w) + plane.excess, plane.excess

    def mean_cut(self, w) -> Plane:
        """The plane under R that touches it at w."""
        if self.scores is not None:
            return self.scores.cut(self.scores(w))
        with self._asking(self.n):
            place = None
            if self.has_batches:
                normal, offset, excess, outputs = self._oracle.mean(w)
                place = None if outputs is None else ("outputs", outputs)
            else:
                parts = self._ask([("sum", w, part, 0.0) for part in parts_of(np.arange(self.n))])
                normal, offset, excess = (sum(each) for each in zip(*parts, strict=True))
        normal *= self.mean  # in place: it is as long as w
        return Plane(normal, self.mean * offset, place, excess=self.mean * excess)

    def _ask(self, tasks):
        """The oracle's answers, example by example; how large they are is noted."""
        answers = self.engine.map(self._oracle, tasks)
        for _, largest in answers:
            np.maximum(self._largest, largest, out=self._largest)
        return [found for found, _ in answers]

    @contextmanager
    def _asking(self, n):
        """Questions about n examples, counted and timed."""
        start = now()
        yield
        self.work.oracle_calls += n
        self.work.oracle_seconds += now() - start

    @contextmanager
    def recalling(self, n):
        """Looks at the remembered cuts of n examples, counted and timed."""
        start = now()
        yield
        self.work.cached += n
        self.work.cached_seconds += now() - start

    def cuts(self, w, index=None, precision=0.0) -> Cuts:
        """The most violated cuts at w, of the examples `index` (all by default) whose truth is not best."""
        index = np.arange(self.n) if index is None else np.asarray(index)
        with self._asking(len(index)):
            if self.has_batches:
                return self._batch_cuts(w, index, precision)
            parts = self._ask([("rows", w, part, precision) for part in parts_of(index)])
            found = [answer for part in parts for answer in part]
        excess = np.array([more for _, more in found])
        excess = excess if per_example.gives_bounds(self.model, self.rescaling) else None
        index = index[[cut is not None for cut, _ in found]]
        found = [cut for cut, _ in found if cut is not None]
        rows = stack_rows([row for row, _, _ in found], self.n_params)
        losses = np.array([loss for _, loss, _ in found])
        return Cuts(index, rows, losses, [output for _, _, output in found], excess)

    def _batch_cuts(self, w, index, precision):
        lo, hi = int(index[0]), int(index[-1]) + 1
        oracle = self._oracle.at_precision(precision)
        if hi - lo == len(index):
            return oracle.cuts(w, lo, hi)
        return replace(oracle, data=self.data.take(index)).cuts(w, 0, len(index), names=index)

    def cut_cache(self, size, enough):
        """Remembers `size` cuts of each example; see memory/cut_cache.py."""
        from ..memory.cut_cache import CutCache

        return CutCache(self, size, enough)
