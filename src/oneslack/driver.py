"""The driver: the only training loop.  Stopping, trace, budgets, callbacks and Ctrl-C live here."""

from __future__ import annotations

import time
import warnings
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from .certificate.rounding import floor_bound, prove
from .checks.first_look import check_first_examples, find_disagreement
from .engines.blas import single_blas_thread
from .errors import InconsistentWarning, Interrupted, users_level
from .objective import relative_gap
from .problems.any_risk import RiskProblem
from .problems.in_memory import Work
from .problems.regulariser_input import make_regulariser
from .result import Result, Status, Torn, Trace, TraceRow

#: Steps from a proof that rounding has spoilt to the next try, where the gap has not fallen either.
RETRY = 10
#: A share of the risk that may be nothing but rounding.
NEARLY = 1e-6


def solve(
    problem,
    solver="auto",
    *,
    tol=1e-3,
    epsilon=None,
    max_iter=100_000,
    time_limit=None,
    callbacks=(),
    start=None,
    seed=0,
    checkpoint=None,
    resume=False,
    keep_state=True,
    interrupt="raise",
) -> Result:
    """Minimise P to a relative duality gap of `tol`, or to the papers' `epsilon` when it is given.

    Parameters
    ----------
    problem : Problem or RiskProblem
    solver : a solver, "auto", or the name of one ("one_slack", "n_slack", "dual_cd", "newton", "streaming",
        "distributed_dual")
    tol : relative duality gap (P - D) / P to stop at
    epsilon : stop when no one-slack constraint is violated by more (mean loss) instead
    max_iter, time_limit : steps and seconds; the best w so far is returned with its gap
    callbacks : each called with the newest TraceRow; a true answer stops
    start : a Result to go on from (of the same problem, perhaps with another C; of any other only its w is
        taken), or a w
    seed : of a solver given by name
    checkpoint : a path, or a Checkpoint, where the run is written down every five minutes and when it is
        cut short; removed when it is done
    resume : go on from that checkpoint, if it is there; otherwise one that is there is refused
    keep_state : whether the result can be gone on from; without, a little time is spared
    interrupt : what Ctrl-C does: "raise" Interrupted, a KeyboardInterrupt with the `result` so far, or
        "return" that

    Returns
    -------
    Result

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> result = oneslack.solve(oneslack.Problem(oneslack.Binary(2), X, y, C=1.0), tol=1e-6)
    >>> result.dual <= result.primal and result.gap <= 1e-6
    True
    """
    from .memory.checkpoint import Keeper
    from .solvers.choose import choose_solver

    solver, reason = choose_solver(problem, solver, seed)
    _check(tol, epsilon, max_iter, time_limit, interrupt)
    check_first_examples(problem)
    run = _Run(problem, solver, time_limit, keep_state)
    start = _state_of(start, problem, solver)
    keeper = None
    if checkpoint is not None:
        keeper = Keeper(checkpoint, resume, problem, solver, run, (tol, epsilon))
        if keeper.done:
            return run.result(keeper.done, tol, solver.name, reason)
        if keeper.is_spent(max_iter):
            return run.result(Status.MAX_ITER, tol, solver.name, reason)
        start = keeper.state or start
    if start and "seen" in start:
        problem.see(start["seen"])
    status = Status.MAX_ITER
    run.is_torn = True  # until the first step is done
    steps = solver.steps(problem, start, 0.0 if epsilon is not None else tol)
    if keeper:
        steps = keeper.guarded(steps)
    uses_blas = not problem.sees_scores or not getattr(solver, "is_compiled", False)
    with single_blas_thread() if uses_blas else nullcontext():
        try:
            for step in steps:
                row = run.take(step)
                wishes = [callback(row) for callback in callbacks]
                status = run.status(step, tol, epsilon, any(wishes), max_iter)
                if keeper:
                    keeper.after(step, status)
                if status is not None:
                    break
                run.is_torn = True  # until the step is done
            else:
                run.is_torn = False  # there was no further step
        except KeyboardInterrupt:
            status = Status.INTERRUPTED  # in the middle of a step: the last checkpoint stands
        result = run.result(status, tol, solver.name, reason)
    if status is Status.INTERRUPTED and interrupt == "raise":
        raise Interrupted(result)
    return result


def minimize(
    risk,
    n_params,
    *,
    C=1.0,
    tol=1e-3,
    w0=None,
    scale=None,
    nonnegative=None,
    floor=None,
    max_iter=100_000,
    time_limit=None,
    callbacks=(),
    start=None,
    interrupt="raise",
) -> Result:
    """Minimise 1/2 |scale (w - w0)|^2 + C risk(w) for any convex risk given by value and subgradient.

    Parameters
    ----------
    risk : risk(w) -> (value, subgradient (n_params,))
    n_params : number of weights
    w0 : (n_params,) prior mean, zeros by default
    scale : (n_params,) how strongly each weight is drawn to it, ones by default
    nonnegative : mask, indices or True: weights held >= 0
    floor : a known lower bound of the risk, if there is one

    Examples
    --------
    >>> import numpy as np, oneslack
    >>> result = oneslack.minimize(lambda w: (abs(w[0] - 2), np.sign(w - 2)), 1, C=1.0, tol=1e-6)
    >>> bool(abs(result.w[0] - 1.0) < 1e-3)
    True
    """
    from .solvers.one_slack import OneSlack

    if w0 is not None and np.shape(w0) != (n_params,):
        raise ValueError(f"w0 has shape {np.shape(w0)}, expected ({n_params},)")
    regulariser = make_regulariser(n_params, prior=w0, scale=scale, nonnegative=nonnegative)
    problem = RiskProblem(risk, n_params, C, regulariser=regulariser, floor=floor)
    return solve(
        problem, OneSlack(), tol=tol, max_iter=max_iter, time_limit=time_limit,
        callbacks=callbacks, start=start, interrupt=interrupt,
    )  # fmt: skip


class Bounds(NamedTuple):
    """P of the best w and a lower bound of the optimum, how much of their difference is rounding, and what
    it is without."""

    primal: float
    dual: float
    rounding: float
    computed_gap: float

    def status(self, tol):
        """CONVERGED, or what stands in the way; None where there is still a way to go."""
        gap = relative_gap(self.primal, self.dual)
        if gap < 0:
            return Status.INCONSISTENT
        if gap <= tol:
            return Status.CONVERGED
        is_close = self.computed_gap <= tol * abs(self.primal)
        return Status.ROUNDING if is_close and self.rounding >= tol * abs(self.primal) else None


class _Run:
    """Bounds and best point so far."""

    def __init__(self, problem, solver, time_limit, keep_state):
        self.problem, self.time_limit, self.keep_state = problem, time_limit, keep_state
        self.proves = proves(solver)
        self.clock = time.perf_counter()
        self.earlier = 0.0  # seconds of a run that this one goes on with
        self.w, self.primal, self.error, self.dual = None, np.inf, 0.0, -np.inf
        self.way = 0.0  # of the scores behind `primal`, as in Step
        self.blame = nullcontext  # whom a point is blamed on whose P cannot be computed
        self.proven = None  # bounds that hold whatever rounding does
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
            self.w, self.primal, self.error = step.point(), step.primal, 0.0
            self.way = step.way
        row = TraceRow(
            len(self.trace) + 1, self.seconds, self.primal, self.dual,
            relative_gap(self.primal, self.dual), int(step.n_cuts), *self._work(),
        )  # fmt: skip
        self.trace.append(row)
        return row

    @property
    def seconds(self) -> float:
        return self.earlier + time.perf_counter() - self.clock

    def go_on_with(self, saved):
        """Take over what a checkpoint holds."""
        self.w, self.primal, self.dual, self.trace = saved.w, saved.primal, saved.dual, saved.trace
        self.error, self.before, self.kept, self.end = saved.error, saved.state, saved.proven, saved.end
        self.way = saved.way if self._believes(saved) else None
        if saved.seen is not None:
            self.problem.see(saved.seen)
        last = saved.trace[-1]
        self.earlier = last.seconds
        if hasattr(self.problem, "work"):
            self.problem.work = Work(last.oracle_calls, last.oracle_seconds, last.cached)
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
        if epsilon is not None and self._within(step, epsilon):
            return Status.EPSILON
        if epsilon is None and (found := self._reached(tol)):
            return found
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
        # Now and then: it costs a look at all examples.
        may_fall = gap > tol and len(self.trace).bit_count() == 1 and self._falls_to_floor()
        if (gap > tol and not may_fall) or not self._is_time(gap):
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
    def _rests_on_floor(self):
        """Whether P, as computed, is the least that there can be: no gap is left, but rounding may have
        hidden one, and nobody can say how large it is beside nothing."""
        return self.primal == self.dual == self.floor

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

    def _is_time(self, gap):
        """Whether another try to prove the bounds may have another result than the last one."""
        last, at = self.tried
        return not self._is_provable or gap <= 0.9 * last or len(self.trace) >= at + RETRY

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
        dual = max(found.lower.proven, self.floor)
        return Bounds(found.upper, dual, found.rounding, found.primal - found.lower.computed)

    def _within(self, step, epsilon):
        """The papers' rule; P - D <= weight epsilon says the same of a solver without planes."""
        if step.violation is not None and step.violation <= epsilon:
            return True
        return self.primal - self.dual <= epsilon * self.problem.weight

    def settle(self):
        """P at the newest point, where the solver did not pay for it: it may be the best one."""
        step = self.step
        if step is None and self.end is not None:
            self.w, self.primal, self.error = self.end
        elif step is None and self.w is None:
            self.w = self.problem.regulariser.start()
            self.primal = self.problem.primal(self.w)
        elif step is not None and (self.w is None or step.primal is None):
            w = step.point()
            with self.blame():
                primal, error = self._primal(w)
            self.step = replace(step, primal=primal)
            if primal < self.primal:
                self.w, self.primal, self.error = w.copy(), primal, error
                self.way, self.proven = 0.0, None

    def _primal(self, w):
        """P(w) and its standard error: where no bound is proved and P is dear, an estimate will do."""
        if self.proves or not hasattr(self.problem, "estimate"):
            return self.problem.primal(w), 0.0
        return self.problem.estimate(w)

    def _state(self):
        """What to go on from: of the last step, or what was gone on from where there was none."""
        if not self.keep_state or self.is_torn:
            return {}
        state = self.before if self.step is None else self.step.state()
        if state is None:
            return {}
        seen = {} if self.problem.seen is None else {"seen": self.problem.seen}
        return {**state, **seen, "of": self.problem.identity()}

    def result(self, status, tol, name, reason) -> Result:
        self.settle()
        bounds = self.prove(tol)
        is_proven = bounds is not None and not (
            bounds.status(tol) is Status.ROUNDING and self._rests_on_floor
        )
        if not is_proven:
            bounds = Bounds(float(self.primal), float(self.dual), 0.0, float(self.primal - self.dual))
        found = bounds.status(tol) if is_proven or not self._is_provable else None
        # The solver's own bounds decide when a run is over: one that is resumed ends as one that is not.
        is_close = relative_gap(self.primal, self.dual) <= tol
        if is_close and found and status in (Status.MAX_ITER, Status.STALLED):
            status = found
        if self.problem.certified and self.proves:
            status = self._consistent(status, found)
        return Result(
            w=self.w, primal=bounds.primal, dual=bounds.dual, status=status, rounding=bounds.rounding,
            certified=is_proven and status is not Status.INCONSISTENT, trace=self.trace,
            n_iter=len(self.trace), seconds=self.seconds, solver=name, reason=reason,
            primal_error=self.error, state=self._state(),
        )  # fmt: skip

    def _consistent(self, status, found):
        """The status, or INCONSISTENT where bounds or answers of the model contradict each other."""
        fault = find_disagreement(self.problem, self.w)
        if found is not Status.INCONSISTENT and fault is None:
            return status
        text = Status.INCONSISTENT.advice if fault is None else f"the model's methods disagree: {fault}"
        warnings.warn(f"{text}. Nothing is certified.", InconsistentWarning, stacklevel=users_level())
        return Status.INCONSISTENT


def proves(solver) -> bool:
    """Whether its bounds are true ones and its P exact; it says so where they are not."""
    return getattr(solver, "certifies", True)


def _check(tol, epsilon, max_iter, time_limit, interrupt):
    if not tol >= 0:
        raise ValueError(f"tol must be >= 0; got {tol!r}")
    if epsilon is not None and not epsilon > 0:
        raise ValueError(f"epsilon must be positive or None; got {epsilon!r}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1; got {max_iter!r}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be positive seconds or None; got {time_limit!r}")
    if interrupt not in ("raise", "return"):
        raise ValueError(f"interrupt must be 'raise' or 'return'; got {interrupt!r}")


def _state_of(start, problem, solver):
    """What a solver starts from.  With another C the cuts are still cuts, and duals still tell who is at a
    bound; of the result of another problem only w is of use."""
    if isinstance(start, Result):
        there, here = start.state.get("of"), problem.identity()
        is_same_C = there == here
        knows_other_C = there and hasattr(solver, "at_other_C")
        is_alike = is_same_C or (knows_other_C and _but_for_C(there) == _but_for_C(here))
        if not is_alike or (
            here["unseen"] and not problem.vouches_for(start.w, start.primal, there["weight"])
        ):
            return {"w": start.w}
        if is_same_C:
            return {"w": start.w, **start.state}
        return {"w": start.w, **solver.at_other_C(start.state, here["weight"] / there["weight"])}
    if start is None or isinstance(start, dict):
        return start
    return {"w": np.asarray(start, dtype=float)}


def _but_for_C(identity):
    return identity | {"weight": None}
