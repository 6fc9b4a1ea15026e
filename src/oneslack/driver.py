"""The driver: the only training loop, with callbacks and Ctrl-C.  `memory/run.py` says when it stops."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from .checks.first_look import check_first_examples, find_disagreement
from .engines.crew import Crew
from .engines.threads import single_blas_thread
from .errors import Interrupted, MachineLost, OneslackError
from .memory.run import Run
from .problems.any_risk import RiskProblem
from .problems.regulariser_input import make_regulariser
from .result import OutOfTime, Result, Status

NOBODY_ANSWERED = (
    "the training ended before machines of the cluster had answered once, so there is no model; give it more "
    "time, or leave out machines that do not answer."
)


def solve(
    problem: Any, solver: Any = "auto", *, tol: float = 1e-3, epsilon: float | None = None,
    max_iter: int = 100_000, time_limit: float | None = None, callbacks: Any = (), start: Any = None,
    seed: int = 0, checkpoint: Any = None, resume: bool = False, keep_state: bool = True,
    interrupt: str = "raise", validated: Any = None,
) -> Result:  # fmt: skip
    """Minimise P to a relative duality gap of `tol`, or to the papers' `epsilon` when it is given.

    Parameters
    ----------
    problem : Problem or RiskProblem
    solver : a solver, "auto", or the name of one ("one_slack", "n_slack", "dual_cd", "newton", "dual_newton",
        "proximal_newton", "streaming", "distributed_dual")
    tol : relative duality gap (P - D) / P to stop at
    epsilon : stop when no one-slack constraint is violated by more (mean loss) instead
    max_iter, time_limit : steps and seconds; the best w so far is returned with its gap
    callbacks : each called with the newest TraceRow; a true answer stops.  One that has a method `on_end` is
        given the Result there
    start : a Result to go on from (of the same problem, perhaps with another C; of any other only its w is
        taken), or a w
    seed : of a solver given by name
    checkpoint : a path, or a Checkpoint, where the run is written down every five minutes and when it is
        cut short; removed when it is done
    resume : go on from that checkpoint, if it is there; otherwise one that is there is refused
    keep_state : whether the result can be gone on from; without, a little time is spared
    interrupt : what Ctrl-C does: "raise" Interrupted, a KeyboardInterrupt with the `result` so far, or
        "return" that
    validated : a Validated (memory/validated.py), which scores points, ends the run, and says which one is
        returned; None for the one with the least P

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
    from .solvers.choose import choose_solver

    solver, reason = choose_solver(problem, solver, seed)
    _check(tol, epsilon, max_iter, time_limit, interrupt)
    if problem.is_compiled:
        from ._jit import compiler  # noqa: F401 (loads numba before the run's clock is looked at)
    else:  # models of three methods are users' own
        check_first_examples(problem)
    run = Run(problem, solver, time_limit, keep_state, find_disagreement)
    start = _state_of(start, problem, solver)
    keeper = _keeper_of(checkpoint, resume, problem, solver, run, (tol, epsilon))
    if keeper:
        if keeper.done:
            return run.result(keeper.done, tol, solver.name, reason)
        if keeper.is_spent(max_iter):
            return run.result(Status.MAX_ITER, tol, solver.name, reason)
        start = keeper.state or start
    if start and "seen" in start:
        problem.see(start["seen"])
    status = Status.MAX_ITER
    run.is_torn = True  # until the first step is done
    steps = solver.steps(problem, start, tol if epsilon is None else _aim(solver, problem, epsilon))
    if keeper:
        steps = keeper.guarded(steps)
    crew = _crew_of(problem)
    crew.keep_to(time_limit)
    with single_blas_thread() if _uses_blas(problem, solver) else nullcontext():
        try:
            for step in steps:
                is_asked_to_stop = _told_of(step, run, callbacks, validated)
                crew.between_steps()
                status = run.status(step, tol, epsilon, is_asked_to_stop, max_iter)
                if keeper:
                    keeper.after(step, status)
                if status is not None:
                    break
                run.is_torn = True  # until the step is done
            else:
                run.is_torn = False  # there was no further step
        except KeyboardInterrupt:
            status = Status.INTERRUPTED  # in the middle of a step: the last checkpoint stands
            crew.hurry()
        except OutOfTime:
            status = Status.TIME_LIMIT
        except MachineLost as error:
            raise error.advised(keeper and keeper.written) from error.__cause__
        if validated is not None:
            status = validated.choose(run, status)
        try:
            result = run.result(status, run.tolerance(tol, epsilon), solver.name, reason)
        except OutOfTime:  # a run that is over may still ask for a bound
            raise OneslackError(NOBODY_ANSWERED) from None
    crew.keep_to(None)
    _tell(result, callbacks)
    if status is Status.INTERRUPTED and interrupt == "raise":
        raise Interrupted(result)
    return result


def _keeper_of(checkpoint, *run):
    """Who writes the run down, or None."""
    if checkpoint is None:
        return None
    from .memory.checkpoint import Keeper

    return Keeper(checkpoint, *run)


def _tell(result, callbacks):
    """Tell those callbacks of the end that want to know."""
    for callback in callbacks:
        if hasattr(callback, "on_end"):
            callback.on_end(result)


def _uses_blas(problem, solver) -> bool:
    return not problem.sees_scores or not getattr(solver, "is_compiled", False) or _multiplies(problem)


class _Nobody:
    """Workers elsewhere where there are none: nobody to wait for."""

    keep_to = between_steps = hurry = staticmethod(lambda *seconds: None)


def _crew_of(problem):
    engine = getattr(problem, "engine", None)
    return engine if isinstance(engine, Crew) else _Nobody


def _aim(solver, problem, epsilon):
    """The gap that a solver works for: most go on as if for ever, some must know where to."""
    return solver.aim(problem, epsilon) if hasattr(solver, "aim") else 0.0


def _told_of(step, run, callbacks, validated) -> bool:
    """Whether somebody who is told of the step asks to stop."""
    row = run.take(step)
    if validated is not None:
        row = validated.look(run)
    is_asked_to_stop = validated is not None and validated.is_over
    for callback in callbacks:
        is_asked_to_stop |= bool(callback(row))
    return is_asked_to_stop


def minimize(
    risk: Any, n_params: int, *, C: float = 1.0, tol: float = 1e-3, w0: Any = None, scale: Any = None,
    nonnegative: Any = None, floor: Any = None, max_iter: int = 100_000, time_limit: float | None = None,
    callbacks: Any = (), start: Any = None, interrupt: str = "raise",
) -> Result:  # fmt: skip
    """Minimise 1/2 |scale (w - w0)|^2 + C risk(w) for any convex risk given by value and subgradient.

    Parameters
    ----------
    risk : risk(w) -> (value, subgradient (n_params,)), or (value, subgradient, upper) of an oracle that is
        not exact: the plane by value and subgradient lies under the risk, which at w is at most `upper`
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


def _multiplies(problem):
    """Whether the model's own loops take products of matrices."""
    data, multiplies = getattr(problem, "data", None), getattr(problem.model, "multiplies", None)
    return data is not None and multiplies is not None and multiplies(data)


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
