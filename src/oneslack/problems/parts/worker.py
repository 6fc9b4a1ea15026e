"""A worker: some of the examples as a problem of their own, and answers for them.

Answers are sums over the worker's examples, so that those of all workers add up.
"""

from __future__ import annotations

from functools import wraps

import numpy as np

from ...engines.scores import Recipe, ScoreShelf, Slot
from ...engines.sums import LOST, packed, unpacked
from ...engines.threads import Threads
from ...errors import ModelError, OneslackError
from ..capabilities import Scores
from ..in_memory import Problem
from .local_duals import new_duals


class _Unknown(Exception):
    """Scores that this worker does not have."""


def _with_scores(method):
    """Names of scores become scores; LOST where they are not known."""

    @wraps(method)
    def answered(self, *arguments):
        try:
            return method(self, *(self._scores(each) for each in arguments))
        except _Unknown:
            return LOST

    return answered


def _with_duals(method):
    """LOST where this worker was started anew, and has none."""

    @wraps(method)
    def answered(self, *arguments):
        return LOST if self._duals is None else method(self, *arguments)

    return answered


class Worker:
    """Answers for one part (parts.py).  `options` are those of Problem."""

    def __init__(self, part, model, options):
        self.part, self.model, self.options = part, model, options
        self._problem = self._shelf = self._duals = self._cache = self._seed = None

    def do(self, method, arguments, *vectors):
        """Answer a message; vectors come beside it, and a Slot says where one belongs."""
        filled = [_filled(each, vectors) for each in arguments]
        try:
            return getattr(self, method)(*filled)
        except ValueError as error:
            # A compiled model counts the examples of its part from 0.
            is_named = self._problem is not None and self._problem.names_examples
            kind = ModelError if isinstance(error, ModelError) else ValueError
            if self.part.lo == 0 or is_named or (isinstance(error, OneslackError) and kind is ValueError):
                raise
            raise kind(f"counted from example {self.part.lo} on: {error}") from error

    @property
    def problem(self) -> Problem:
        if self._problem is None:
            X, Y, weights = self.part.load()
            problem = Problem(self.model, X, Y, sample_weight=weights, **self.options)
            problem.name_examples_from(self.part.lo)
            self._problem, self._shelf = problem, ScoreShelf(problem)
        return self._problem

    @property
    def total(self) -> float:
        """Sum of the examples' weights."""
        return 1.0 / self.problem.mean

    def _scores(self, recipe):
        if not isinstance(recipe, Recipe):
            return recipe
        self.problem  # noqa: B018  loads the part, and makes the shelf
        S = self._shelf.get(recipe)
        if S is None:
            raise _Unknown
        return S

    # What the driver asks for.

    def about(self):
        """(examples, sum of weights, sum of s_i unit, sum of s_i |x_i|^2 or 0)."""
        problem = self.problem
        norms = getattr(problem.data, "norm2", None)
        stiffness = 0.0 if norms is None else float(problem.data.weights @ norms)
        return problem.n, self.total, self.total * problem.unit, stiffness

    def seen(self):
        return self.problem.seen

    def see(self, seen):
        self.problem.see(seen)

    def extent(self):
        """How large the numbers are (rounding.Extent)."""
        return self.problem.extent

    def cut_lengths(self):
        """(n,): no cut of an example is longer."""
        return np.broadcast_to(self.problem.cut_lengths(), self.problem.n)

    @_with_scores
    def risk(self, S):
        return (self.total * self.problem.scores.risk(S),)

    def worst_risk(self, w):
        risk, is_positive = self.problem.worst_risk(w)
        return self.total * risk, float(is_positive)

    @_with_scores
    def along(self, S, dS, t):
        look = self.problem.scores.along(S, dS, t)
        return self.total * look.loss, self.total * look.risk, self.total * look.slope

    @_with_scores
    def cut(self, S):
        return self._answer(self.problem.scores.cut(S))

    @_with_scores
    def cuts_of_groups(self, S, count):
        """A tuple (normal, offset) for each of `count` groups of neighbouring examples."""
        return [self._answer(plane) for plane in self.problem.scores.group_cuts(S, count)]

    def mean_cut(self, w):
        plane = self.problem.mean_cut(w)
        return *self._answer(plane), plane.excess * self.total

    def cut_and_remember(self, w, size):
        """The plane of cuts that are remembered, `size` of each example, the sum of the hinges, and how much
        of it inference left open."""
        from ...memory.cut_cache import CutCache

        if self._cache is None:
            self._cache = CutCache(self.problem, size)
        plane, risk, inference = self._cache.ask(w)
        return *self._answer(plane), risk * self.total, inference * self.total

    def remembered_cut(self, w):
        """The best plane that the remembered cuts give; 0 where there are none."""
        if self._cache is None or not len(self._cache.store):
            return np.zeros(self.problem.n_params), 0.0
        return self._answer(self._cache.plane(w))

    def cuts(self, w, index):
        """(index, rows, losses, outputs, excess) of the worst cuts of single examples, numbered as in the
        whole."""
        index = np.asarray(index) - self.part.lo
        if not len(index):
            return index, np.empty((0, self.problem.n_params)), np.empty(0), [], np.empty(0)
        found = self.problem.cuts(w, index)
        return found.index + self.part.lo, found.deltas, found.losses, list(found.outputs), found.excess

    def scores_of(self, w):
        """Scores themselves, for a risk that is no sum over examples."""
        return self.problem.scores(w)

    def adjoint_of(self, coefficients, lo):
        """sum_i c_i dS_i/dw; the worker takes its own of all coefficients."""
        first = self.part.lo - lo
        return (packed(self.problem.scores.adjoint(coefficients[first : first + self.problem.n])),)

    def _answer(self, plane):
        return packed(plane.normal * self.total), plane.offset * self.total

    def look(self, function, *arguments):
        """function(problem, ...) of this worker's examples: for what is no business of a worker's."""
        return (function(self.problem, *arguments),)

    def hand_over(self):
        """What another worker of the same part goes on with; None where there is nothing."""
        return None if self._duals is None else (self._seed, self._duals.state())

    def take_over(self, kept):
        if kept is not None:
            seed, state = kept
            self.dual_begin(seed, None if state is None else {self.part.lo: state})

    # Duals of the worker's own examples (local_duals.py).

    def dual_begin(self, seed, states=None):
        """New duals, or those of a state; a worker that had lost them when it was written has none there."""
        self._seed, self._duals = seed, new_duals(self.problem, seed + self.part.lo)
        if states and self.part.lo in states:
            self._duals.restore(states[self.part.lo])
        return (self._duals.spread,)

    def dual_regain(self, seed, state):
        """Duals for a worker that has lost them: those of the last state, or 0."""
        if self._duals is None:
            self.take_over((seed, state))
        return ()

    @_with_duals
    def dual_round(self, point, bias, scale, rate, passes):
        change, *rest = self._duals.round(np.asarray(unpacked(point)), bias, scale, rate, passes)
        return packed(change), *rest

    def dual_settle(self, step):
        """Take only a share of the last round's change: sum alpha loss after it.  A worker that was started
        anew begins at 0."""
        return 0.0 if self._duals is None else self._duals.settle(step)

    def dual_sum(self, seed=None):
        """(v, sum alpha loss, imbalance) of the worker's duals, without the rounding of many steps; with a
        seed, a worker that has none begins at 0."""
        if self._duals is None and seed is None:
            return LOST
        if self._duals is None:
            self.dual_begin(seed)
        v, *rest = self._duals.sum()
        return packed(v), *rest

    @_with_duals
    def dual_balance(self):
        """What the model needs to know of all duals to balance them."""
        return (self._duals.flow(),)

    @_with_duals
    def dual_balanced(self, flow):
        """(v, sum alpha loss) of the balanced duals."""
        v, linear = self._duals.balanced(flow)
        return packed(v), linear

    @_with_scores
    @_with_duals
    def dual_lean(self, point, S):
        change, *rest = self._duals.lean(np.asarray(unpacked(point)), S)
        return packed(change), *rest

    def dual_point(self, flow=None):
        """{first example: the duals as they are written down}; they balance by the flow of all workers."""
        return {self.part.lo: self._duals.written(flow)} if self._duals is not None else {}

    def dual_state(self):
        """{first example: state} of the duals."""
        return {self.part.lo: self._duals.state()} if self._duals is not None else {}

    # Where cuts are remembered (local_duals.py).

    @_with_duals
    def cuts_agree(self, change, shares, number):
        """What came of the last round: the change of v, and the share that is taken of each worker's own."""
        share = shares[self.part.lo] if isinstance(shares, dict) else shares
        return () if self._duals.agree(change, share, number) else LOST

    def cuts_round(self, change, shares, number, *how):
        """The next round, after hearing what came of the last."""
        agreed = self.cuts_agree(change, shares, number)
        return agreed if agreed == LOST else self._duals.round(*how)

    @_with_duals
    def cuts_place(self, point, number):
        self._duals.place(unpacked(point), number)
        return ()

    def cuts_look(self, number, back):
        """(C sum_i s_i H_i, how much of it inference left open) at the v that is agreed upon, before a share
        of its last change."""
        agreed = self.cuts_agree(None, None, number)
        return agreed if agreed == LOST else self._duals.look(back)


class RowsWorker(Worker):
    """Rows of a matrix under a model whose risk is found elsewhere: scores and their adjoint alone."""

    @property
    def problem(self):
        if self._problem is None:
            self._problem = _Rows(self.model, *self.part.load()[:2], self.options.get("n_jobs", 1))
        return self._problem


class _Rows:
    """As much of a Problem as RowsWorker needs."""

    def __init__(self, model, X, y, n_jobs):
        from ...models.linear.rows import LinearData

        self.model, self.data, self.n = model, LinearData(X, y, np.ones(X.shape[0])), X.shape[0]
        self.engine = Threads(n_jobs)

    @property
    def scores(self):
        return Scores(self)


def _filled(argument, vectors):
    if isinstance(argument, Slot):
        return vectors[argument.number]
    if isinstance(argument, Recipe):
        terms = tuple((factor, _filled(part, vectors)) for factor, part in argument.terms)
        return argument._replace(terms=terms, w=_filled(argument.w, vectors))
    return argument
