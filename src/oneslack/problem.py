"""Problem: a model, its data and C; turns a w into cuts.

    P(w) = 1/2 |r (w - prior)|^2 + C sum_i s_i H_i(w)      H_i(w) = max_z loss(y_i, z) - <w, delta_i(z)>

The risk R is the weighted mean of the H_i, and `weight` = C sum_i s_i is what it counts in P.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from typing import NamedTuple

import numpy as np

from . import batches
from .cuts import Cuts, Plane
from .engines.processes import Processes
from .engines.threads import Threads
from .identity import Identified, regulariser_digest
from .objective import Regulariser
from .per_example import Examples, Oracle, parts_of, stack_rows
from .regulariser_input import regulariser_of
from .rows import equal_shards

_SCORES = ("pack", "new_scores", "scores", "risk", "cut", "adjoint")
_LINE = ("along", "cut_along")  # one of them


def check_C(C):
    """Raise unless C can weigh a risk."""
    if not np.isfinite(C) or C <= 0:
        raise ValueError(f"C must be a positive number; got {C!r}")


def lacks(model, names) -> list[str]:
    """Those of `names` that the model does not have."""
    return [name for name in names if not hasattr(model, name)]


@dataclass
class Work:
    """What finding worst outputs has cost so far; the trace shows it."""

    oracle_calls: int = 0
    oracle_seconds: float = 0.0
    cached: int = 0
    cached_seconds: float = 0.0

    def __add__(self, other) -> Work:
        return Work(*(mine + more for mine, more in zip(astuple(self), astuple(other), strict=True)))


def offers_scores(model) -> bool:
    """Whether examples are seen through scores that are linear in w (protocols.Scores)."""
    return not lacks(model, _SCORES) and len(lacks(model, _LINE)) < len(_LINE)


def is_compiled(model, rescaling="margin") -> bool:
    """Whether loops over examples are: through scores, or by a decoder of many examples."""
    return (offers_scores(model) and rescaling == "margin") or not lacks(model, batches.NEEDS)


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


class Look(NamedTuple):
    """The risk at a point of a line and its slope; with the cut there, where the model gives it."""

    risk: float
    slope: float
    loss: float
    coefficients: np.ndarray | None


class Problem(Identified):
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
        self, model, X, Y, C=1.0, *, sample_weight=None, rescaling="margin", cache_size=0,
        n_jobs=1, engine=None, prior=None, scale=None, nonnegative=None,
    ):  # fmt: skip
        check_C(C)
        self.model, self.X, self.Y, self.C = model, X, Y, float(C)
        self.cache_size = cache_size
        self.certified = bool(getattr(model, "exact", True))
        self.work = Work()
        self.rescaling = checked_rescaling(model, rescaling)
        self.has_scores = offers_scores(model) and rescaling == "margin"
        self.has_batches = not self.has_scores and not lacks(model, batches.NEEDS)
        compiled = self.has_scores or self.has_batches
        self.engine = engine or (Threads if compiled else Processes)(n_jobs)
        self.regulariser = regulariser_of(model, prior, scale, nonnegative)
        self._set_data(model.pack(X, Y, sample_weight) if compiled else Examples.pack(X, Y, sample_weight))
        if self.has_batches:
            self._oracle = batches.BatchOracle(model, self.data, rescaling, self.engine)
        else:
            self._oracle = Oracle(model, Examples(X, Y, self.data.weights), rescaling)

    def _set_data(self, data):
        self.data = data
        self.n = data.n
        total = float(data.weights.sum())
        if self.n == 0 or total <= 0:
            raise ValueError("there is no example with a positive weight")
        self.mean = 1.0 / total
        self.weight = self.C * total
        self.unit = getattr(data, "unit", 1.0)
        self.n_params = self.model.n_params

    def name_examples_from(self, first):
        """Errors call example i first + i: a worker counts its part of the examples from 0."""
        if self.names_examples:
            self._oracle = replace(self._oracle, first=first)

    @property
    def names_examples(self) -> bool:
        """Whether errors can call examples by other numbers."""
        return not (self.has_scores or self.has_batches)

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
        part.has_scores, part.has_batches = self.has_scores, self.has_batches
        part.X = part.Y = None
        part._set_data(data)
        return part

    # Values and cuts at w.

    def primal(self, w, weight=None) -> float:
        """P(w), or with another weight of the risk."""
        return self.regulariser.value(w) + (weight or self.weight) * self.risk(w)

    def risk(self, w) -> float:
        """R(w): the weighted mean of the hinges."""
        return self.risk_at(self.scores(w)) if self.has_scores else self.mean_cut(w).value(w)

    def mean_cut(self, w) -> Plane:
        """The plane under R that touches it at w."""
        if self.has_scores:
            return self.cut_at(self.scores(w))
        with self._asking(self.n):
            if self.has_batches:
                normal, offset = self._oracle.mean(w)
            else:
                tasks = [("sum", w, part) for part in parts_of(np.arange(self.n))]
                parts = self.engine.map(self._oracle, tasks)
                normal, offset = sum(g for g, _ in parts), sum(b for _, b in parts)
        return Plane(normal * self.mean, self.mean * offset)

    @contextmanager
    def _asking(self, n):
        """Questions about n examples, counted and timed."""
        start = time.perf_counter()
        yield
        self.work.oracle_calls += n
        self.work.oracle_seconds += time.perf_counter() - start

    @contextmanager
    def recalling(self, n):
        """Looks at the remembered cuts of n examples, counted and timed."""
        start = time.perf_counter()
        yield
        self.work.cached += n
        self.work.cached_seconds += time.perf_counter() - start

    def cuts(self, w, index=None) -> Cuts:
        """The most violated cuts at w, of the examples `index` (all by default) whose truth is not best."""
        index = np.arange(self.n) if index is None else np.asarray(index)
        with self._asking(len(index)):
            if self.has_batches:
                return self._batch_cuts(w, index)
            tasks = [("rows", w, part) for part in parts_of(index)]
            found = [cut for part in self.engine.map(self._oracle, tasks) for cut in part]
        index = index[[cut is not None for cut in found]]
        found = [cut for cut in found if cut is not None]
        rows = stack_rows([row for row, _, _ in found], self.n_params)
        losses = np.array([loss for _, loss, _ in found])
        return Cuts(index, rows, losses, [output for _, _, output in found])

    def _batch_cuts(self, w, index):
        lo, hi = int(index[0]), int(index[-1]) + 1
        if hi - lo == len(index):
            return self._oracle.cuts(w, lo, hi)
        part = replace(self._oracle, data=self.data.take(index))
        return part.cuts(w, 0, len(index), names=index)

    def cut_cache(self, size, enough):
        """Remembers `size` cuts of each example; see solvers/cut_cache.py."""
        from .solvers.cut_cache import CutCache

        return CutCache(self, size, enough)

    @property
    def has_dear_cuts(self) -> bool:
        """Whether a cut costs so much that one which a line search has seen is taken."""
        return hasattr(self.model, "cut_along")

    # Through scores: no pass over the data but in `scores` and the adjoint.

    def map_rows(self, function, *arguments):
        """A model's function over shards of the examples."""
        return self.engine.map(lambda shard: function(self.data, shard, *arguments), self.data.shards)

    def scores(self, w) -> np.ndarray:
        S = self.model.new_scores(self.data)
        self.map_rows(self.model.scores, w, S)
        return S

    def map_scores(self, function, S, *arguments):
        """A model's function of scores over shards of them."""
        shards = self.data.score_shards(S)
        if len(shards) == 1:  # it is worked on here, so the threads are free for its pieces
            shards = [replace(shards[0], map=self.engine.map)]
        return self.engine.map(lambda shard: function(self.data, shard, S, *arguments), shards)

    def risk_at(self, S) -> float:
        return self.mean * sum(self.map_scores(self.model.risk, S))

    def along(self, S, dS, t) -> Look:
        """R(S + t dS) and its slope in t."""
        if self.has_dear_cuts:
            c = np.empty_like(S)
            parts = self.map_scores(self.model.cut_along, S, dS, t, c)
        else:
            c = None
            parts = self.map_scores(self.model.along, S, dS, t)
        loss, risk, slope = (self.mean * sum(values) for values in zip(*parts, strict=True))
        return Look(risk, slope, loss, c)

    def cut_at(self, S) -> Plane:
        """The plane at scores S."""
        c = np.empty_like(S)
        offset = self.mean * sum(self.map_scores(self.model.cut, S, c))
        return Plane(self.adjoint(c) * self.mean, offset)

    def group_cuts_at(self, S, count) -> list[Plane]:
        """Planes under the parts of R that `count` groups of neighbouring examples make; R is their sum."""
        groups, c = equal_shards(0, self.n, self.groups(count)), np.empty_like(S)

        def plane(group):
            offset = self.model.cut(self.data, group, S, c)
            return Plane(self.model.adjoint(self.data, group, c) * self.mean, self.mean * offset)

        return self.engine.map(plane, groups)

    def groups(self, count) -> int:
        """How many planes `group_cuts_at` gives."""
        return max(1, min(count, self.n))

    def adjoint(self, coefficients) -> np.ndarray:
        """sum_i coefficients_i dS_i/dw."""
        parts = self.map_rows(self.model.adjoint, coefficients)
        return parts[0] if len(parts) == 1 else np.sum(parts, axis=0)

    def dual_of(self, shares) -> float:
        """D at the duals C s_i p_i: a lower bound of min P, whatever p is."""
        shares = self.model.balance(self.data, shares)
        v = self.C * self.adjoint(self.model.coefficients(self.data, shares))
        return self.regulariser.dual(v, self.C * self.model.dual_loss(self.data, shares))


class RiskProblem(Identified):
    """Any convex risk given by value and subgradient: risk(w) -> (value, subgradient)."""

    has_scores, certified = False, True
    unit = 1.0

    def __init__(self, risk, n_params, C=1.0, *, regulariser=None, floor=None):
        check_C(C)
        self._risk, self.n_params, self.weight, self.floor = risk, n_params, float(C), floor
        self.regulariser = regulariser or Regulariser(n_params)

    def mean_cut(self, w) -> Plane:
        value, subgradient = self._risk(w.copy())
        value, subgradient = float(value), np.asarray(subgradient, dtype=np.float64)
        if subgradient.shape != (self.n_params,):
            raise ValueError(
                f"risk(w) returned a subgradient of shape {subgradient.shape}, expected ({self.n_params},)"
            )
        if not (np.isfinite(value) and np.isfinite(subgradient).all()):
            raise ValueError("risk(w) returned a value or subgradient that is not finite")
        return Plane(-subgradient, value - float(subgradient @ w))

    def risk(self, w) -> float:
        return float(self._risk(w.copy())[0])

    def primal(self, w, weight=None) -> float:
        """P(w), or with another weight of the risk."""
        return self.regulariser.value(w) + (weight or self.weight) * self.risk(w)

    def identity(self) -> dict:
        """Of the risk nothing is known: `has_objective` compares."""
        return {
            "model": "RiskProblem",
            "parameters": self.n_params,
            "weight": self.weight,
            "regulariser": regulariser_digest(self.regulariser),
        }
