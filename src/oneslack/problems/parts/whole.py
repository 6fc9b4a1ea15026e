"""WholeProblem: all examples lie with one worker, who takes the steps of any solver as one machine does.

On a cluster of one machine threads share everything and nobody waits for anybody, so a compiled model is
best trained as it would be here; only the answers travel.  The driver asks for one step at a time, and stops,
writes checkpoints and reports as ever.  A worker that dies comes back and goes on from the last state that
the driver has seen, or begins anew.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from ...certificate.rounding import prove
from ...data.identity import Identified
from ...engines.sums import LOST
from ...memory.run import point_of
from ..capabilities import Capable, offers_scores
from ..in_memory import check_C, checked_rescaling, is_certifiable
from ..per_example import count_of
from ..regulariser_input import regulariser_of
from ..work import Work
from .parts import MemoryPart, folder_parts
from .worker import Worker


class WholeProblem(Capable, Identified):
    """A Problem that lies with one worker; parameters as for SplitProblem."""

    #: As for Problem: the risk is never negative.
    floor = 0.0
    #: The examples are elsewhere.
    data = None

    def __init__(
        self, model, X, Y, C=1.0, *, engine, sample_weight=None, rescaling="margin", cache_size=0,
        prior=None, scale=None, nonnegative=None,
    ):  # fmt: skip
        check_C(C)
        self.model, self.rescaling = model, checked_rescaling(model, rescaling)
        self.sees_scores = offers_scores(model, rescaling)
        self.certified, self.work = is_certifiable(model, self.sees_scores, rescaling), Work()
        self.regulariser = regulariser_of(model, prior, scale, nonnegative)
        if hasattr(X, "manifest"):
            parts, _ = folder_parts(X, Y, sample_weight, 1)
        else:
            parts = [MemoryPart(0, count_of(X), X, Y, sample_weight)]
        options = {
            "C": float(C), "rescaling": rescaling, "cache_size": cache_size, "prior": prior, "scale": scale,
            "nonnegative": nonnegative,
        }  # fmt: skip
        self.engine = engine.start(WholeWorker, parts, model, options)
        try:
            self.n, self.weight, self.unit, self.n_params = self.ask("sizes")
        except BaseException:
            self.engine.close()
            raise

    def ask(self, method, *arguments):
        """The worker's answer; LOST where it has come back without what it is asked about."""
        answers = self.engine.ask(method, *arguments)
        return answers if answers == LOST else answers[0]

    def chosen(self, solver, seed):
        """(solver, why), as for the same examples on one machine."""
        solver, why = self.ask("chosen", solver, seed)
        return Away(solver), why

    def risk(self, w) -> float:
        return self.ask("risk_of", np.asarray(w))

    def primal(self, w, weight=None) -> float:
        """P(w), or with another weight of the risk."""
        return self.regulariser.value(w) + (weight or self.weight) * self.risk(w)

    def identity(self) -> dict:
        return self.ask("identity")

    def prove(self, step, w, primal, way, share):
        """Bounds by the worker's last step (rounding.prove)."""
        found = self.ask("prove", np.asarray(w), primal, way, share)
        return None if isinstance(found, str) else found


class Away:
    """A solver whose steps the worker of a WholeProblem takes; what else it says of itself holds here."""

    def __init__(self, solver):
        self._solver = solver

    def __getattr__(self, name):
        return getattr(vars(self)["_solver"], name)

    def __repr__(self):
        return repr(self._solver)

    def steps(self, problem, start=None, tol=1e-3):
        known, best = start, None  # the state to begin anew from, the best w so far

        def state():
            nonlocal known
            found = problem.ask("state")
            known = known if found == LOST else deepcopy(found)  # Ray's memory may not be written to
            return known or {}

        def newest():
            w = problem.ask("point")
            if isinstance(w, str):
                return problem.regulariser.start() if best is None else best
            return w

        def begin():
            problem.ask("begin", self._solver, known, tol)
            return problem.work

        before = begin()
        while (taken := problem.ask("advance")) is not None:
            if taken == LOST:
                before = begin()
                continue
            step, work, has_proof = taken
            problem.work = before + work
            if step.w is not None:
                best = np.array(step.w)
            w = newest if step.w is None else best
            yield replace(step, w=w, state=state, proof=state if has_proof else None)


class WholeWorker(Worker):
    """Answers for all examples."""

    _steps = _step = None

    def sizes(self):
        problem = self.problem
        return problem.n, problem.weight, problem.unit, problem.n_params

    def chosen(self, solver, seed):
        from ...solvers.choose import choose_solver

        return choose_solver(self.problem, solver, seed)

    def identity(self):
        return self.problem.identity()

    def risk_of(self, w):
        return self.problem.risk(w)

    def begin(self, solver, start, tol):
        self.problem.work = Work()
        self._steps, self._step, self._best = solver.steps(self.problem, deepcopy(start), tol), None, np.inf

    def advance(self):
        """(the next step as it travels, the work so far, whether it has a proof); None where there is none.
        Of w only one travels that is better than those before."""
        if self._steps is None:
            return LOST
        self._step = step = next(self._steps, None)
        if step is None:
            return None
        w = None
        if step.primal is not None and step.primal < self._best:
            w, self._best = point_of(step), step.primal
        travels = replace(step, w=w, state=None, proof=None, within=None)
        return travels, self.problem.work, step.proof is not None

    def prove(self, w, primal, way, share):
        if self._step is None:
            return LOST
        return prove(self._step.within or self.problem, self._step, w, primal, way, share)

    def point(self):
        """That of the last step."""
        return LOST if self._step is None else point_of(self._step)

    def state(self):
        return LOST if self._step is None else self._step.state()
