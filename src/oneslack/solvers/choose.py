"""Which solver: by name, or the first rule that fits the problem.  The one place where that is decided.

A solver lists in `needs` what it needs of a problem; each name is a question to what the problem can do, and
its words.  "a|b" is met by either.  So nobody asks for the class of a problem, a model or a solver, and one
sentence refuses whatever does not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..kernels.rounding import lacks_duals
from .choose_kernel import choose_kernel_solver
from .distributed.dual import DistributedDual
from .dual_cd import DualCD
from .dual_newton import DualNewton, newton_forecast
from .kernel.basis_functions import BasisFunctions
from .kernel.exact import ExactKernel
from .kernel.sampled_cuts import SampledCuts
from .n_slack import NSlack
from .newton import Newton
from .newton_sprint import is_short
from .one_slack import OneSlack
from .proximal_newton import ProximalNewton
from .streaming.reader import Streaming

#: Newton wins where its Hessian is small beside the data (benchmarks/RESULTS.md).
NEWTON_PARAMS = 1000
FEW_PARAMS = 200
ROWS_A_PARAM = 32
#: Dual passes are seldom fewer, without and with intercepts.
FEW_PASSES, FEW_WITH_INTERCEPTS = 40.0, 120.0


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
    """The first thing that a problem lacks for a solver, or a class of them, in words; None where nothing
    does."""
    for need in getattr(solver, "needs", ()):
        if need in NEEDS and NEEDS[need].is_met(problem):
            continue
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


def _one_slack(problem, seed=0):
    """With the cache that the problem asks for.  Where workers have it, the clock tells whether looks at it
    pay beside decoders in Python."""
    is_measured = problem.parts is not None and not problem.is_compiled
    return OneSlack(cache_size=problem.cache_size, **({"enough": None} if is_measured else {}))


#: make(problem, seed) of each name.
BY_NAME = {
    "one_slack": _one_slack,
    "n_slack": lambda problem, seed: NSlack(seed=seed),
    "dual_cd": lambda problem, seed: (DualCD if problem.parts is None else DistributedDual)(seed=seed),
    "newton": lambda problem, seed: Newton(seed=seed),
    "dual_newton": lambda problem, seed: DualNewton(seed=seed),
    "proximal_newton": lambda problem, seed: ProximalNewton(),
    "streaming": lambda problem, seed: Streaming(seed=seed),
    "distributed_dual": lambda problem, seed: DistributedDual(seed=seed),
}
#: What a refusal may name in place of what does not fit.
PUBLIC = (
    OneSlack(), NSlack(), DualCD(), Newton(), ProximalNewton(), DistributedDual(), ExactKernel(),
    SampledCuts("linear"), BasisFunctions(),
)  # fmt: skip


class Rule(NamedTuple):
    """Take the solver of a name where it fits the problem and holds(problem); `why` may name its sizes."""

    name: str
    holds: Callable
    why: str


#: The first that holds is taken.
RULES = [
    Rule(
        "proximal_newton",
        lambda problem: problem.columns is not None,
        "an L1 penalty: proximal Newton steps on working sets of features",
    ),
    Rule(
        "streaming",
        lambda problem: problem.storage is not None,
        "the examples lie on disk: they are read within a budget of memory",
    ),
    # Rounds cost most where examples lie with workers; dual steps crawl where weights are few.
    Rule(
        "one_slack",
        lambda problem: (
            problem.parts is not None and problem.scores is not None and problem.n_params <= NEWTON_PARAMS
        ),
        "examples in parts, few weights: cutting planes need few rounds",
    ),
    Rule(
        "distributed_dual",
        lambda problem: problem.parts is not None and problem.is_compiled and not problem.regulariser.n_free,
        "examples in parts: dual steps of the workers need few rounds",
    ),
    Rule(
        "one_slack",
        lambda problem: problem.parts is not None,
        "examples in parts: cutting planes need one answer of each worker a round",
    ),
    Rule(
        "newton",
        lambda problem: _has_one_score(problem) and is_short(problem),
        "small ({d} weights, {n} examples): Newton steps, many in one call",
    ),
    Rule(
        "newton",
        lambda problem: _may_take_either(problem) and newton_forecast(problem) <= _few_passes(problem),
        "few weights ({d}, {n} examples): Newton steps cost as much as {forecast:.0f} passes",
    ),
    Rule(
        "dual_newton",
        lambda problem: _may_take_either(problem),
        "{d} weights, {n} examples: dual passes, or Newton steps if more than {forecast:.0f} are left",
    ),
    # Several scores an example.
    Rule(
        "dual_newton",
        lambda problem: _newton_fits(problem),
        "{d} weights, {n} examples: dual passes, or Newton steps if more than {forecast:.0f} are left",
    ),
    Rule(
        "newton",
        lambda problem: _newton_fits(problem),
        "few weights ({d}, {n} examples): Newton steps are cheap",
    ),
    Rule(
        "dual_cd",
        lambda problem: problem.passes is not None,
        "many weights ({d}, {n} examples): dual passes are cheapest",
    ),
    Rule(
        "dual_cd",
        lambda problem: problem.has_batches,
        "a compiled decoder: dual steps over remembered cuts need few passes",
    ),
    Rule(
        "one_slack",
        lambda problem: True,
        "the model offers no dual passes: cutting planes work for any model",
    ),
]


def choose_solver(problem, solver="auto", seed=0):
    """(solver, why) for a name, "auto" or a solver."""
    if hasattr(problem, "chosen"):  # it knows better, as the examples are elsewhere
        return problem.chosen(solver, seed)
    if solver == "auto":
        return _automatic(problem, seed)
    if isinstance(solver, str):
        if solver not in BY_NAME:
            names = ", ".join(["auto", *BY_NAME])
            raise ValueError(f"solver={solver!r} is not known; use one of {names}")
        solver = BY_NAME[solver](problem, seed)
    refuse(problem, solver, PUBLIC)
    return solver, "asked for"


def _automatic(problem, seed):
    if problem.kernel is not None:
        return choose_kernel_solver(problem, seed)
    for rule in RULES:
        if rule.holds(problem):
            solver = BY_NAME[rule.name](problem, seed)
            if not missing(problem, solver):
                forecast = newton_forecast(problem) if "{forecast" in rule.why else None
                return solver, rule.why.format(d=problem.n_params, n=problem.n, forecast=forecast)
    raise AssertionError("one_slack solves any problem")


def are_few(d, n) -> bool:
    """Whether d weights are few beside n examples, for Newton steps."""
    return d <= FEW_PARAMS or (d <= NEWTON_PARAMS and n >= ROWS_A_PARAM * d)


def _newton_fits(problem):
    return are_few(problem.n_params, problem.n) and not missing(problem, Newton)


def _may_take_either(problem) -> bool:
    """Whether both dual passes and Newton steps are at hand, of one score an example."""
    return _has_one_score(problem) and not missing(problem, DualNewton)


def _has_one_score(problem) -> bool:
    """Whether examples have one score, whose loss can be rounded off, and weights are not many."""
    may = problem.n_params <= NEWTON_PARAMS and problem.smooth is not None
    return may and problem.scores.shape == (problem.n,)


def _few_passes(problem):
    return FEW_WITH_INTERCEPTS if problem.regulariser.n_free else FEW_PASSES
