"""A training with what it claims, and the check of the claims in rational numbers.

dual <= optimum <= P(w) <= primal        with no tolerance
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from sklearn.exceptions import ConvergenceWarning

from oneslack import Status

from .linear import exact
from .optimum import Small


@dataclass(frozen=True)
class Claim:
    """What a Result says of a small problem; w as the problem's definition takes it."""

    problem: Small
    w: list
    result: object


@dataclass(frozen=True)
class Case:
    """A training that can be run, and read.

    what    the estimator or the call, by name
    given   all it gets, for the reader of a message
    run     -> what is trained: an estimator or a Result
    claims  (what is trained) -> list of Claims
    """

    what: str
    given: dict
    run: Callable
    claims: Callable
    tol: float

    def __str__(self):
        return (
            self.what + "\n" + "\n".join(f"  {name} = {_shown(value)}" for name, value in self.given.items())
        )


def _shown(value):
    value = value.toarray() if hasattr(value, "toarray") else value
    return f"np.array({value.tolist()!r}, {str(value.dtype)!r})" if hasattr(value, "tolist") else repr(value)


def violations(case) -> list[str]:
    """What is not so, in words; none where every claim is true."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        trained = case.run()
    claims = case.claims(trained)
    optima = [claim.problem.optimum()[0] for claim in claims]
    values = [claim.problem.definition(exact(claim.w)) for claim in claims]
    found = []
    for claim, optimum, value in zip(claims, optima, values, strict=True):
        result = claim.result
        assert optimum <= value, "the reference is no minimum"
        if result.certified:
            found += _compare(result.dual, optimum, value, result.primal, result.solver)
        if result.status is Status.CONVERGED and not result.gap <= case.tol:
            found.append(f"status: {result.solver} says converged at a gap of {result.gap!r} > {case.tol!r}")
    if hasattr(trained, "objective_") and all(claim.result.certified for claim in claims):
        bounds = trained.dual_objective_, sum(optima), sum(values), trained.objective_
        found += _compare(*bounds, type(trained).__name__)
    return found


def _compare(dual, optimum, value, primal, who):
    found = []
    if not Fraction(dual) <= optimum:
        found.append(f"dual: {who} says {dual!r}, but the optimum is lower by {_excess(dual, optimum)}")
    if not value <= Fraction(primal):
        found.append(f"primal: {who} says {primal!r}, but P(w) is higher by {_excess(value, primal)}")
    return found


def _excess(larger, smaller):
    """The difference, absolutely and as a share."""
    larger, smaller = Fraction(larger), Fraction(smaller)
    share = (larger - smaller) / max(abs(larger), abs(smaller))
    return f"{float(larger - smaller):.3g}, a share of {float(share):.2g}"
