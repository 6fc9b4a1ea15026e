"""What solvers need of a problem, by name: each a question to what the problem can do, and its words.

A solver lists names in `needs`; "a|b" is met by either.  So nobody asks for the class of a problem, a model
or a solver, and one sentence refuses whatever does not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..kernels.rounding import lacks_duals


class Need(NamedTuple):
    """`words` follow "it lacks"; they may be a function of the problem."""

    words: str | Callable
    is_met: Callable

    def told(self, problem) -> str:
        return self.words(problem) if callable(self.words) else self.words


def _has_rows(problem):
    return problem.oracle is not None and not problem.regulariser.n_free


def _has_dual_steps(problem):
    """By the model's own passes, or, where there are no scores, by rows, one an example."""
    return _has_rows(problem) if problem.scores is None else problem.passes is not None


def _can_be_read(problem):
    shares = problem.shares
    return _has_dual_steps(problem) and (problem.scores is None or (shares is not None and shares.can_rest))


NEEDS = {
    "weights": Need("weights that are numbers", lambda problem: problem.kernel is None),
    "kernel": Need("a kernel (KernelProblem)", lambda problem: problem.kernel is not None),
    "single rows": Need("examples that are one row each", lambda problem: problem.is_plain),
    "kernel duals": Need(lacks_duals, lambda problem: lacks_duals(problem) is None),
    "here": Need("examples on this machine", lambda problem: problem.parts is None),
    "memory": Need("examples in memory", lambda problem: problem.storage is None),
    "parts": Need("examples in parts (engine='ray')", lambda problem: problem.parts is not None),
    "rows": Need("worst outputs of single examples without intercepts", _has_rows),
    "passes": Need("dual passes that know the regulariser", lambda problem: problem.passes is not None),
    "dual steps": Need("duals of single examples", _has_dual_steps),
    "reads": Need("rest, or dual passes, for examples that are read and forgotten", _can_be_read),
    "smooth": Need("smooth_duals, smooth_slope, smooth_hessian", lambda problem: problem.smooth is not None),
    "squares": Need("a penalty of squared weights", lambda problem: problem.regulariser.is_squared),
    "columns": Need("an L1 penalty (L1Problem)", lambda problem: problem.columns is not None),
    "plain": Need("a plain 1/2 |w|^2", lambda problem: problem.regulariser.is_plain),
    "any sign": Need(
        "weights of any sign, as Newton cannot hold weights >= 0",
        lambda problem: problem.regulariser.nonnegative is None,
    ),
}


def missing(problem, solver) -> str | None:
    """The first thing that a problem lacks for a solver, in words; None where nothing does."""
    for need in getattr(solver, "needs", ()):
        if not any(NEEDS[name].is_met(problem) for name in need.split("|")):
            return " or ".join(NEEDS[name].told(problem) for name in need.split("|"))
    return None


def refuse(problem, solver, others):
    """Raise unless the problem has what the solver needs; `others` are solvers to name in its place."""
    lacking = missing(problem, solver)
    if lacking is None:
        return
    what = type(getattr(problem, "model", problem)).__name__
    fitting = [_name(other) for other in others if not missing(problem, other)]
    raise ValueError(
        f"{type(solver).__name__} needs more than {what} offers: it lacks {lacking}. Use {_listed(fitting)}."
    )


def _name(solver):
    return getattr(solver, "label", type(solver).__name__)


def _listed(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
