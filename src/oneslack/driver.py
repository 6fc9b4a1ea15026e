"""The driver: the only training loop.  Stopping, trace, budgets, callbacks and Ctrl-C live here."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from .engines.blas import single_blas_thread
from .objective import relative_gap
from .problem import RiskProblem, Work
from .regulariser_input import make_regulariser
from .result import Result, Status, Trace, TraceRow


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
    from .checkpoint import Keeper
    from .solvers.choose import choose_solver

    solver, reason = choose_solver(problem, solver, seed)
    _check(tol, epsilon, max_iter, time_limit)
    run = _Run(problem, solver, time_limit, keep_state)
    start = _state_of(start, problem, solver)
    keeper = None
    if checkpoint is not None:
        keeper = Keeper(checkpoint, resume, problem, solver, run, (tol, epsilon))
        if keeper.done:
            return run.result(keeper.done, tol, solver.name, reason)
        start = keeper.state or start
    status = Status.MAX_ITER
    run.is_torn = True  # until the first step is done
    steps = solver.steps(problem, start, 0.0 if epsilon is not None else tol)
    uses_blas = not (getattr(solver, "is_compiled", False) and problem.has_scores)
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
        return run.result(status, tol, solver.name, reason)


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
        callbacks=callbacks, start=start,
    )  # fmt: skip


class _Run:
    """Bounds and best point so far."""

    def __init__(self, problem, solver, time_limit, keep_state):
        self.problem, self.time_limit, self.keep_state = problem, time_limit, keep_state
        self.proves = proves(solver)
        self.clock = time.perf_counter()
        self.earlier = 0.0  # seconds of a run that this one goes on with
        self.w, self.primal, self.error, self.dual = None, np.inf, 0.0, -np.inf
        if problem.floor is not None:
            # The risk is never below its floor: a bound before the first step.
            nothing = np.zeros(problem.n_params)
            self.dual = problem.regulariser.dual(nothing, problem.weight * problem.floor)
        self.step, self.before, self.trace = None, None, Trace()
        self.is_torn = False  # whether the solver is in the middle of a step: its state is then of no use

    def take(self, step) -> TraceRow:
        self.step, self.is_torn = step, False
        self.dual = max(self.dual, step.dual)
        if step.primal is not None and step.primal < self.primal:
            self.w, self.primal, self.error = step.point(), step.primal, 0.0
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
        self.error, self.before = saved.error, saved.state
        last = saved.trace[-1]
        self.earlier = last.seconds
        if hasattr(self.problem, "work"):
            self.problem.work = Work(last.oracle_calls, last.oracle_seconds, last.cached)
        crew = getattr(self.problem, "engine", None)
        if hasattr(crew, "rounds"):
            crew.rounds, crew.bytes_moved = last.rounds, last.bytes_moved

    def _work(self):
        work = getattr(self.problem, "work", None)
        if not work:
            return ()
        # Of workers elsewhere: how often everybody was waited for, and what travelled.
        crew = getattr(self.problem, "engine", None)
        travel = (getattr(crew, "rounds", 0), getattr(crew, "bytes_moved", 0))
        return work.oracle_calls, work.oracle_seconds, work.cached, *travel

    def status(self, step, tol, epsilon, stopped, max_iter):
        if epsilon is None and self._is_tight(tol):
            return Status.CONVERGED
        if epsilon is not None and self._within(step, epsilon):
            return Status.EPSILON
        if stopped:
            return Status.STOPPED
        if step.stalled:
            return Status.STALLED
        if self.time_limit is not None and self.trace[-1].seconds - self.earlier >= self.time_limit:
            return Status.TIME_LIMIT
        return Status.MAX_ITER if len(self.trace) >= max_iter else None

    def _is_tight(self, tol):
        """The gap asked for, or a difference that is only rounding (an optimum of 0 has no relative gap)."""
        rounding = 1e-13 * self.problem.weight * getattr(self.problem, "unit", 1.0)
        return relative_gap(self.primal, self.dual) <= tol or self.primal - self.dual <= rounding

    def _within(self, step, epsilon):
        """The papers' rule; P - D <= weight epsilon says the same of a solver without planes."""
        if step.violation is not None and step.violation <= epsilon:
            return True
        return self.primal - self.dual <= epsilon * self.problem.weight

    def settle(self):
        """P at the newest point, where the solver did not pay for it: it may be the best one."""
        step = self.step
        if step is None and self.w is None:
            self.w = self.problem.regulariser.start()
            self.primal = self.problem.primal(self.w)
        elif step is not None and (self.w is None or step.primal is None):
            w = step.point()
            primal, error = self._primal(w)
            self.step = replace(step, primal=primal)
            if primal < self.primal:
                self.w, self.primal, self.error = w.copy(), primal, error

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
        probe = {"probe": self.problem.probe()} if self.problem.needs_probe(self.w) else {}
        return {**state, **probe, "of": self.problem.identity()}

    def result(self, status, tol, name, reason) -> Result:
        self.settle()
        if status is Status.MAX_ITER and self._is_tight(tol):
            status = Status.CONVERGED
        return Result(
            w=self.w, primal=float(self.primal), dual=float(self.dual), status=status,
            certified=self.proves and self.problem.certified, trace=self.trace, n_iter=len(self.trace),
            seconds=self.seconds, solver=name, reason=reason, primal_error=self.error, state=self._state(),
        )  # fmt: skip


def proves(solver) -> bool:
    """Whether its bounds are true ones and its P exact; it says so where they are not."""
    return getattr(solver, "certifies", True)


def _check(tol, epsilon, max_iter, time_limit):
    if not tol >= 0:
        raise ValueError(f"tol must be >= 0; got {tol!r}")
    if epsilon is not None and not epsilon > 0:
        raise ValueError(f"epsilon must be positive or None; got {epsilon!r}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1; got {max_iter!r}")
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be positive seconds or None; got {time_limit!r}")


def _state_of(start, problem, solver):
    """What a solver starts from.  With another C the cuts are still cuts, and duals still tell who is at a
    bound; of the result of another problem only w is of use."""
    if isinstance(start, Result):
        there, here = start.state.get("of"), problem.identity()
        is_same_C = there == here
        knows_other_C = there and hasattr(solver, "at_other_C")
        is_alike = is_same_C or (knows_other_C and _but_for_C(there) == _but_for_C(here))
        if not is_alike or (proves(solver) and not _is_of(start, problem)):
            return {"w": start.w}
        if is_same_C:
            return {"w": start.w, **start.state}
        return {"w": start.w, **solver.at_other_C(start.state, here["weight"] / there["weight"])}
    if start is None or isinstance(start, dict):
        return start
    return {"w": np.asarray(start, dtype=float)}


def _is_of(result, problem):
    """Whether a result is of this problem, whose identity may not see everything."""
    weight, probe = result.state["of"]["weight"], result.state.get("probe")
    if probe is not None:
        return problem.is_close(problem.probe(weight), probe)
    return problem.has_objective(result.w, result.primal, weight)


def _but_for_C(identity):
    return identity | {"weight": None}
