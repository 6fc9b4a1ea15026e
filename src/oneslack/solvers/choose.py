"""Which solver: by name, or by what the problem looks like."""

from __future__ import annotations

import inspect

from .choose_kernel import choose_kernel_solver, refuse_plain
from .distributed.dual import DistributedDual
from .dual_cd import DualCD
from .n_slack import NSlack
from .newton import Newton
from .one_slack import OneSlack
from .streaming.reader import Streaming, is_out_of_core

BY_NAME = {
    "one_slack": OneSlack, "n_slack": NSlack, "dual_cd": DualCD, "newton": Newton, "streaming": Streaming,
    "distributed_dual": DistributedDual,
}  # fmt: skip

#: Newton wins where its Hessian is small beside the data (benchmarks/RESULTS.md).
NEWTON_PARAMS = 1000
FEW_PARAMS = 200
ROWS_A_PARAM = 32
#: But not where an example has this many weights, as a Hessian takes their square, and C |x|^2, by which dual
#: passes grow in number, is at most this, without and with intercepts (benchmarks/newton_or_dual.py).
LONG, MILD, MILD_WITH_INTERCEPTS = 100, 50.0, 5.0


def choose_solver(problem, solver="auto", seed=0):
    """(solver, why) for a name, "auto" or a solver."""
    if hasattr(problem, "chosen"):  # it knows better, as the examples are elsewhere
        return problem.chosen(solver, seed)
    if not isinstance(solver, str):
        _check_fit(problem, solver)
        return solver, "asked for"
    if solver == "auto":
        return _automatic(problem, seed)
    if solver == "dual_cd" and is_in_parts(problem):
        solver = "distributed_dual"
    if solver not in BY_NAME:
        names = ", ".join(["auto", *BY_NAME])
        raise ValueError(f"solver={solver!r} is not known; use one of {names}")
    chosen = _one_slack(problem) if solver == "one_slack" else BY_NAME[solver](seed=seed)
    _check_fit(problem, chosen)
    return chosen, "asked for"


def _automatic(problem, seed):
    if hasattr(problem, "kernel"):
        return choose_kernel_solver(problem, seed)
    if is_out_of_core(problem):
        return Streaming(seed=seed), "the examples lie on disk: they are read within a budget of memory"
    if is_in_parts(problem):
        return _for_parts(problem, seed)
    n, d = getattr(problem, "n", 0), problem.n_params
    is_signed = getattr(problem.regulariser, "nonnegative", None) is None
    if are_few(d, n) and is_signed and not missing(problem, Newton):
        if _is_long_and_mild(problem):
            return DualCD(seed), f"long rows, small C ({d} weights, {n} examples): dual passes are cheapest"
        return Newton(seed), f"few weights ({d}, {n} examples): Newton steps are cheap"
    if hasattr(getattr(problem, "model", None), "dual_passes") and problem.has_scores:
        return DualCD(seed), f"many weights ({d}, {n} examples): dual passes are cheapest"
    if getattr(problem, "has_batches", False) and not problem.regulariser.n_free:
        return DualCD(seed), "a compiled decoder: dual steps over remembered cuts need few passes"
    return _one_slack(problem), "the model offers no dual passes: cutting planes work for any model"


def are_few(d, n) -> bool:
    """Whether d weights are few beside n examples, for Newton steps."""
    return d <= FEW_PARAMS or (d <= NEWTON_PARAMS and n >= ROWS_A_PARAM * d)


def _is_long_and_mild(problem) -> bool:
    """Whether dual passes cost much less than Newton steps, and need not be many."""
    data, regulariser = problem.data, problem.regulariser
    is_matrix = hasattr(data, "n_entries") and hasattr(data, "norm2")
    if not (is_matrix and regulariser.is_plain and hasattr(problem.model, "dual_passes")):
        return False
    weights_a_row = data.n_entries / data.n * (problem.n_params / data.X.shape[1])
    mild = MILD_WITH_INTERCEPTS if regulariser.n_free else MILD
    return weights_a_row >= LONG and problem.C * float(data.weights @ data.norm2) <= mild * data.n


def is_in_parts(problem) -> bool:
    """Whether the examples lie with workers (split/problem.py)."""
    return hasattr(problem, "parts")


def _for_parts(problem, seed):
    """Few rounds, as these cost most: dual steps of workers; but these crawl where weights are few or there
    are intercepts."""
    if problem.has_scores and problem.n_params <= NEWTON_PARAMS:
        return _one_slack(problem), "examples in parts, few weights: cutting planes need few rounds"
    compiled = hasattr(problem.model, "dual_passes") if problem.has_scores else problem.is_compiled
    if compiled and not missing(problem, DistributedDual(seed)) and not problem.regulariser.n_free:
        return DistributedDual(seed), "examples in parts: dual steps of the workers need few rounds"
    return _one_slack(problem), "examples in parts: cutting planes need one answer of each worker a round"


def _one_slack(problem):
    """With the cache that the problem asks for.  Whether that pays is measured where decoders are Python."""
    is_compiled = getattr(problem, "has_batches", False) or getattr(problem, "is_compiled", False)
    size = getattr(problem, "cache_size", 0)
    return OneSlack(cache_size=size) if is_compiled else OneSlack(cache_size=size, enough=None)


def missing(problem, solver) -> list[str]:
    """What the problem's model lacks for a solver."""
    model = getattr(problem, "model", problem)
    lacking = [name for name in getattr(solver, "needs", ()) if not hasattr(model, name)]
    if is_in_parts(problem) and not isinstance(solver, OneSlack | NSlack | DistributedDual):
        lacking.append("examples on this machine")
    if isinstance(solver, DistributedDual):
        lacking += _lacks_for_workers(problem)
    if isinstance(solver, Streaming) and not hasattr(problem, "data"):
        lacking.append("examples in this process")
    elif isinstance(solver, Streaming) and problem.has_scores:
        lacking += [name for name in solver.needs_with_scores if not hasattr(model, name)]
    elif isinstance(solver, DualCD | NSlack | Newton) and is_out_of_core(problem):
        lacking.append("examples in memory")
    if isinstance(solver, DualCD | Streaming) and not _takes_regulariser(problem):
        lacking.append("dual passes for another regulariser than 1/2 |w|^2")
    if isinstance(solver, DualCD | NSlack | Streaming) and not _offers_rows(problem, solver):
        lacking.append("worst outputs of single examples without intercepts")
    return lacking


def _lacks_for_workers(problem) -> list[str]:
    if not is_in_parts(problem):
        return ["examples in parts (engine='ray')"]
    lacking = [] if problem.regulariser.is_plain else ["a plain 1/2 |w|^2"]
    model = problem.model
    has_duals = hasattr(model, "dual_passes") and hasattr(model, "flow") if problem.has_scores else (
        hasattr(model, "decode") and not problem.regulariser.n_free
    )  # fmt: skip
    return lacking if has_duals else [*lacking, "duals of single examples"]


def _takes_regulariser(problem):
    """Whether the model's own dual passes, where it has some, know the regulariser."""
    passes = getattr(getattr(problem, "model", None), "dual_passes", None)
    if passes is None or not problem.has_scores or problem.regulariser.is_plain:
        return True
    return "regulariser" in inspect.signature(passes).parameters


def _offers_rows(problem, solver):
    """Can the solver have duals: by the model's own passes, or by rows, one an example?"""
    if isinstance(solver, DualCD | Streaming) and hasattr(getattr(problem, "model", None), "dual_passes"):
        return problem.has_scores or not problem.regulariser.n_free
    return hasattr(getattr(problem, "model", None), "decode") and not problem.regulariser.n_free


def _check_fit(problem, solver):
    if hasattr(problem, "kernel") and isinstance(solver, tuple(BY_NAME.values())):
        refuse_plain(problem, solver)
    if isinstance(solver, Newton) and getattr(problem.regulariser, "nonnegative", None) is not None:
        raise ValueError("Newton cannot hold weights >= 0. Use DualCD or OneSlack.")
    lacking = missing(problem, solver)
    if lacking:
        model = type(getattr(problem, "model", problem)).__name__
        raise ValueError(
            f"{type(solver).__name__} needs more than {model} offers: it lacks "
            f"{', '.join(lacking)}. Use OneSlack."
        )
