"""Which solver: by name, or by what the problem looks like."""

from __future__ import annotations

from .dual_cd import DualCD
from .n_slack import NSlack
from .newton import Newton
from .one_slack import OneSlack

BY_NAME = {"one_slack": OneSlack, "n_slack": NSlack, "dual_cd": DualCD, "newton": Newton}

#: Newton wins where its Hessian is small beside the data (benchmarks/RESULTS.md).
NEWTON_PARAMS = 1000
FEW_PARAMS = 200
ROWS_A_PARAM = 32


def choose_solver(problem, solver="auto", seed=0):
    """(solver, why) for a name, "auto" or a solver."""
    if not isinstance(solver, str):
        _check_fit(problem, solver)
        return solver, "asked for"
    if solver == "auto":
        return _automatic(problem, seed)
    if solver not in BY_NAME:
        names = ", ".join(["auto", *BY_NAME])
        raise ValueError(f"solver={solver!r} is not known; use one of {names}")
    chosen = _one_slack(problem) if solver == "one_slack" else BY_NAME[solver](seed=seed)
    _check_fit(problem, chosen)
    return chosen, "asked for"


def _automatic(problem, seed):
    n, d = getattr(problem, "n", 0), problem.n_params
    small = d <= FEW_PARAMS or (d <= NEWTON_PARAMS and n >= ROWS_A_PARAM * d)
    if small and not missing(problem, Newton):
        return Newton(seed), f"few weights ({d}, {n} examples): Newton steps are cheap"
    if hasattr(getattr(problem, "model", None), "dual_passes") and problem.has_scores:
        return DualCD(seed), f"many weights ({d}, {n} examples): dual passes are cheapest"
    if getattr(problem, "has_batches", False) and not problem.regulariser.n_free:
        return DualCD(seed), "a compiled decoder: dual steps over remembered cuts need few passes"
    return _one_slack(problem), "the model offers no dual passes: cutting planes work for any model"


def _one_slack(problem):
    """With the cache that the problem asks for.  Whether that pays is measured where decoders are Python."""
    is_compiled = getattr(problem, "has_batches", False)
    size = getattr(problem, "cache_size", 0)
    return OneSlack(cache_size=size) if is_compiled else OneSlack(cache_size=size, enough=None)


def missing(problem, solver) -> list[str]:
    """What the problem's model lacks for a solver."""
    model = getattr(problem, "model", problem)
    lacking = [name for name in getattr(solver, "needs", ()) if not hasattr(model, name)]
    if isinstance(solver, DualCD | NSlack) and not _offers_rows(problem, solver):
        lacking.append("worst outputs of single examples without intercepts")
    return lacking


def _offers_rows(problem, solver):
    """Can the solver have duals: by the model's own passes, or by rows, one an example?"""
    if isinstance(solver, DualCD) and hasattr(getattr(problem, "model", None), "dual_passes"):
        return problem.has_scores or not problem.regulariser.n_free
    return hasattr(getattr(problem, "model", None), "decode") and not problem.regulariser.n_free


def _check_fit(problem, solver):
    lacking = missing(problem, solver)
    if lacking:
        model = type(getattr(problem, "model", problem)).__name__
        raise ValueError(
            f"{type(solver).__name__} needs more than {model} offers: it lacks "
            f"{', '.join(lacking)}. Use OneSlack."
        )
