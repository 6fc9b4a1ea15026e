"""A run so far: its best point, its bounds and their proof, its trace, and what it would be resumed from."""

from __future__ import annotations

import warnings
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from .._jit.clock import now
from ..certificate.rounding import floor_bound, prove
from ..errors import InconsistentWarning, users_level
from ..objective import Ball, ball_of, relative_gap
from ..result import Result, Status, Torn, Trace, TraceRow

#: Steps from a proof that rounding has spoilt to the next try, where the gap has not fallen either.
RETRY = 10
#: A share of the risk that may be nothing but rounding.
NEARLY = 1e-6


class Bounds(NamedTuple):
    """P of the best w and a lower bound of the optimum, how much of their difference is rounding, and what
    it is without; the sum v of the dual point, where it is known."""

    primal: float
    dual: float
    rounding: float
    computed_gap: float
    v: np.ndarray | None = None

    def status(self, tol):
        """CONVERGED, or what stands in the way; None where there is still a way to go."""
        gap = relative_gap(self.primal, self.dual)
        if gap < 0:
            return Status.INCONSISTENT
        if gap <= tol:
            return Status.CONVERGED
        is_close = self.computed_gap <= tol * abs(self.primal)
        return Status.ROUNDING if is_close and self.rounding >= tol * abs(self.primal) else None


def point_of(step):
    """Its w, which may be known only to those who are asked."""
    return step.w() if callable(step.w) else step.w


class Run:
    """Bounds and best point so far.

    look(problem, w)  a sentence where answers of the model contradict each other at w, or None
    """

    def __init__(self, problem, solver, time_limit, keep_state, look):
        self.problem, self.time_limit, self.keep_state = problem, time_limit, keep_state
        self.look = look
        self.proves = proves(solver)
        self.clock = now()
        self.earlier = 0.0  # seconds of a run that this one goes on with
        self.w, self.primal, self.error, self.dual = None, np.inf, 0.0, -np.inf
        self.found = np.inf  # the least that P was by real outputs alone
        self.way = 0.0  # of the scores behind `primal`, as in Step
        self.blame = nullcontext  # whom a point is blamed on whose P cannot be computed
        self.proven = None  # bounds that hold whatever rounding does
        self.point = None  # gives the dual point behind them
        self.kept = self.end = None  # those of a checkpoint, and the point (w, P, error) that they are of
        self.tried = (np.inf, 0)  # the gap and the step at the last try to prove them
        self.floor = -np.inf
        if problem.floor is not None:
            # The risk is never below its floor: a bound before the first step.
            self.floor = floor_bound(problem.regulariser, problem.weight * problem.floor)
        self.dual = self.floor
        self.step, self.before, self.trace = None, None, Trace()
        self.is_torn = False  # whether the solver is in the middle of a step: its state is then of no use

    def take(self, step) -> TraceRow:
        self.step, self.is_torn, self.proven = step, False, None
        self.dual = max(self.dual, step.dual)
        if step.primal is not None and step.primal < self.primal:
            self.w, self.primal, self.error = point_of(step), step.primal, 0.0
            self.way = step.way
        if step.primal is not None:
            self.found = min(self.found, step.primal if step.found is None else step.found)
        row = TraceRow(
            len(self.trace) + 1, self.seconds, self.primal, self.dual,
            relative_gap(self.primal, self.dual), int(step.n_cuts), *self._work(), inference=self.inference,
        )  # fmt: skip
        self.trace.append(row)
        return row

    @property
    def seconds(self) -> float:
        return self.earlier + now() - self.clock

    def go_on_with(self, saved):
        """Take over what a checkpoint holds."""
        self.w, self.primal, self.dual, self.trace = saved.w, saved.primal, saved.dual, saved.trace
        self.error, self.before, self.kept, self.end = saved.error, saved.state, saved.proven, saved.end
        self.way = saved.way if self._believes(saved) else None
        if saved.seen is not None:
            self.problem.see(saved.seen)
        last = saved.trace[-1]
        self.found = last.primal - last.inference
        self.earlier = last.seconds
        if hasattr(self.problem, "work"):
            work = (last.oracle_calls, last.oracle_seconds, last.cached)
            self.problem.work = type(self.problem.work)(*work)
        crew = getattr(self.problem, "engine", None)
        if hasattr(crew, "rounds"):
            crew.rounds, crew.bytes_moved = last.rounds, last.bytes_moved

    def _believes(self, saved):
        """Whether P of a checkpoint is that of its w, but for rounding; else it will be computed anew.  So
        it will where that is dear."""
        is_cheap = saved.w is not None and self.problem.sees_scores
        return is_cheap and self.problem.has_objective(saved.w, saved.primal)

    def _work(self):
        work = getattr(self.problem, "work", None)
        if not work:
            return ()
        # Of workers elsewhere: how often everybody was waited for, and what travelled.
        crew = getattr(self.problem, "engine", None)
        travel = (getattr(crew, "rounds", 0), getattr(crew, "bytes_moved", 0))
        return work.oracle_calls, work.oracle_seconds, work.cached, *travel

    def status(self, step, tol, epsilon, stopped, max_iter):
        if epsilon is not None and step.violation is not None and step.violation <= epsilon:
            return Status.EPSILON
        tol = self.tolerance(tol, epsilon)
        if found := self._reached(tol):
            return Status.EPSILON if epsilon is not None and found is Status.CONVERGED else found
        if self.found < self.primal and self._is_left_to_inference(tol):
            return Status.INFERENCE
        if stopped:
            return Status.STOPPED
        if step.stalled:
            return Status.STALLED
        if self.time_limit is not None and self.trace[-1].seconds - self.earlier >= self.time_limit:
            return Status.TIME_LIMIT
        return Status.MAX_ITER if len(self.trace) >= max_iter else None

    def _reached(self, tol):
        """The status of a run whose bounds are within `tol`; None where they are not, or not proven yet."""
        gap = relative_gap(self.primal, self.dual)
        # Now and then, as it costs a look at all examples; and before a run is given up.
        is_turn = len(self.trace).bit_count() == 1 or self.step.stalled
        may_fall = gap > tol and is_turn and self._falls_to_floor()
        if (gap > tol and not may_fall) or not self._is_time(gap, tol):
            return None
        self.tried = gap, len(self.trace)
        bounds = self.prove(tol)
        if bounds is None:
            return None if self._is_provable else Status.CONVERGED
        found = bounds.status(tol)
        if found is Status.ROUNDING and self._falls_to_floor():
            found = self.prove(tol).status(tol)
        return Status.CONVERGED if found is Status.ROUNDING and self._rests_on_floor else found

    @property
    def inference(self) -> float:
        """What of P - D a decoder that is not exact left open."""
        return self.primal - self.found if self.found < self.primal else 0.0

    def _is_left_to_inference(self, tol):
        """Whether training has reached what was asked for, but for what a decoder that is not exact left
        open, and the bounds are proven."""
        if self.found - self.dual > tol * abs(self.primal):
            return False
        return not self._is_provable or self.prove(tol) is not None

    @property
    def _rests_on_floor(self):
        """Whether P, as computed, is the least that there can be: no gap is left, but rounding may have
        hidden one, and nobody can say how large it is beside nothing."""
        return self.primal == self.dual == self.floor and self.problem.reaches_floor

    def _falls_to_floor(self):
        """Whether intercepts alone reach the least P that there can be, which has no relative gap: then all
        other weights are put where the regulariser is least."""
        problem, regulariser = self.problem, self.problem.regulariser
        is_near = self.w is not None and self.primal - self.floor <= NEARLY * problem.weight
        if not (is_near and regulariser.n_free):
            return False
        w = regulariser.start()
        w[regulariser.free] = (1.0 + NEARLY) * self.w[regulariser.free]  # a little beyond the margin
        primal = float(problem.primal(w))
        if primal > self.floor:
            return False
        self.w, self.primal, self.way, self.proven = w, primal, 0.0, None
        return True

    @property
    def _is_provable(self):
        """Whether solver and problem have what proves bounds."""
        return (
            self.proves and self.problem.certified and self.step is not None and self.step.proof is not None
        )

    def _is_time(self, gap, tol):
        """Whether another try to prove the bounds may have another result than the last one.  A proof is of
        this step's dual point, while the gap may be that of an earlier one."""
        if not self._is_provable or self.step.stalled:
            return True
        last, at = self.tried
        is_here = relative_gap(self.primal, max(self.step.dual, self.floor)) <= tol
        return is_here and (gap <= 0.9 * last or len(self.trace) >= at + RETRY)

    def prove(self, tol):
        """Bounds that hold whatever rounding does, of the best w and the last dual point; None where there is
        no proof."""
        if self.step is None:
            return self.kept and Bounds(*self.kept)
        if self.proven is None and self._is_provable and self.w is not None:
            with suppress(Torn), self.blame():
                self.proven = self._proven(0.05 * tol)
        return self.proven

    def _proven(self, share):
        problem = self.step.within or self.problem
        found = getattr(problem, "prove", partial(prove, problem))(
            self.step, self.w, self.primal, self.way, share
        )
        if found is None:
            return None
        if self.way is None:
            self.primal, self.way = found.primal, 0.0
        self.point = found.point
        lower = found.lower
        # The floor is a bound without that dual point.
        dual, v = (lower.proven, lower.v) if lower.proven >= self.floor else (self.floor, None)
        return Bounds(found.upper, dual, found.rounding, found.primal - lower.computed, v)

    def tolerance(self, tol, epsilon):
        """The relative gap to stop at.  The papers' rule, no constraint violated by more than epsilon, says
        of a solver without planes that P - D <= weight epsilon; estimates do not show that."""
        if epsilon is None:
            return tol
        return epsilon * self.problem.weight / max(abs(self.primal), 1e-200) if self.proves else -np.inf

    def settle(self):
        """P at the newest point, where the solver did not pay for it: it may be the best one."""
        step = self.step
        if step is None and self.end is not None:
            self.w, self.primal, self.error = self.end
        elif step is None and self.w is None:
            self.w = self.problem.regulariser.start()
            self.primal = self.problem.primal(self.w)
        elif step is not None and (self.w is None or step.primal is None):
            try:
                w = point_of(step)
                with self.blame():
                    primal, error, found = self._primal(w)
            except Torn:  # as there
                if self.w is None:
                    raise
                return
            self.step, self.found = replace(step, primal=primal), min(self.found, found)
            if primal < self.primal:
                self.w, self.primal, self.error = w.copy(), primal, error
                self.way, self.proven = 0.0, None

    def end_at(self, point):
        """Let the run end at an earlier point; the bounds are then its own."""
        left_open = self.inference
        self.w, self.primal, self.error, self.way = point
        self.found, self.proven = self.primal - left_open, None
        self.is_torn = True  # the solver's state is that of another point

    def _primal(self, w):
        """P(w), its standard error, and what P is by real outputs alone: where no bound is proved and P is
        dear, an estimate will do."""
        if not self.proves and hasattr(self.problem, "estimate"):
            primal, error = self.problem.estimate(w)
            return primal, error, primal
        if hasattr(self.problem, "primal_parts"):
            primal, found = self.problem.primal_parts(w)
            return primal, 0.0, found
        primal = self.problem.primal(w)
        return primal, 0.0, primal

    def _state(self):
        """What to go on from: of the last step, or what was gone on from where there was none."""
        if not self.keep_state or self.is_torn:
            return {}
        state = None
        with suppress(Torn):  # workers elsewhere that do not answer
            state = self.before if self.step is None else self.step.state()
        if state is None:
            return {}
        seen = {} if self.problem.seen is None else {"seen": self.problem.seen}
        return {**state, **seen, "of": self.problem.identity()}

    def result(self, status, tol, name, reason) -> Result:
        self.settle()
        bounds = self.prove(tol)
        found = bounds and bounds.status(tol)
        if found is Status.ROUNDING and self._falls_to_floor():
            bounds = self.prove(tol)
            found = bounds.status(tol)
        is_proven = bounds is not None and not (found is Status.ROUNDING and self._rests_on_floor)
        if not is_proven:
            bounds = Bounds(float(self.primal), float(self.dual), 0.0, float(self.primal - self.dual))
            found = None if self._is_provable else bounds.status(tol)
        # The solver's own bounds decide when a run is over: one that is resumed ends as one that is not.
        if found and status in (Status.MAX_ITER, Status.STALLED):
            status = found if relative_gap(self.primal, self.dual) <= tol else status
        if status is Status.INFERENCE and found is Status.CONVERGED:
            status = found
        if self.problem.certified and self.proves:
            status = self._consistent(status, found)
        certified, ball = is_proven and status is not Status.INCONSISTENT, Ball(np.inf)
        if certified:
            ball = ball_of(self.problem.regulariser, self.w, bounds.primal - bounds.dual, bounds.v)
        return Result(
            w=self.w, primal=bounds.primal, dual=bounds.dual, status=status, rounding=bounds.rounding,
            certified=certified, radius=ball.radius, middle=ball.middle, trace=self.trace,
            n_iter=len(self.trace), seconds=self.seconds, solver=name, reason=reason,
            primal_error=self.error, state=self._state(), inference=float(self.inference),
            duals=self.point() if certified and self.point is not None else None,
        )  # fmt: skip

    def _consistent(self, status, found):
        """The status, or INCONSISTENT where bounds or answers of the model contradict each other."""
        fault = None if self.problem.is_compiled else self.look(self.problem, self.w)
        if found is not Status.INCONSISTENT and fault is None:
            return status
        text = Status.INCONSISTENT.advice if fault is None else f"the model's methods disagree: {fault}"
        warnings.warn(f"{text}. Nothing is certified.", InconsistentWarning, stacklevel=users_level())
        return Status.INCONSISTENT


def proves(solver) -> bool:
    """Whether its bounds are true ones and its P exact; it says so where they are not."""
    return getattr(solver, "certifies", True)
