"""Every certificate of small problems is true, exactly: dual <= optimum <= P(w) <= primal.

A message names kind and seed of what is not so, and all that was given; from tests/ again:

    from exact.case import violations
    from exact.cases import case
    print(violations(case("two_classes", 12)))
"""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from exact.case import Case, Claim, violations
from exact.cases import KINDS, case
from exact.linear import Penalty, exact, two_classes
from exact.logistic import LogisticProblem

import oneslack
from oneslack.losses import Logistic
from oneslack.models.linear.scalar import Linear
from oneslack.verify.losses import OneScore

#: Trainings of each kind: a few always, many (19 x 8 x 100) where there is time.
QUICK, CHUNKS, CHUNK = 6, 8, 100
#: So many are shown in a message.
SHOWN = 3


def check(kind, seeds):
    lies = {}
    for seed in seeds:
        one = case(kind, seed)
        try:
            found = violations(one)
        except Exception as error:  # whatever it is, the message is to name the seed
            found = [f"{type(error).__name__}: {error}"]
        if found:
            lies[seed] = "\n".join([f"--- violations(case({kind!r}, {seed}))", str(one), *found])
    assert not lies, f"{len(lies)} of {len(seeds)} are not true\n" + "\n".join(list(lies.values())[:SHOWN])


@pytest.mark.parametrize("kind", KINDS)
def test_certificates_are_true(kind):
    check(kind, range(QUICK))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("kind", KINDS)
def test_many_certificates_are_true(kind, chunk):
    check(kind, range(QUICK + chunk * CHUNK, QUICK + (chunk + 1) * CHUNK))


# The check itself: a true certificate passes, and the smallest lie does not.


def claimed(**changes):
    """x = 2, y = 1, C = 1: w = 1/2 and P = 1/8 are floats, so that bounds can be exact."""
    problem = two_classes(exact([[2.0]]), [1], [1], False)
    truth = oneslack.Result(
        w=np.array([0.5]), primal=0.125, dual=0.125, status=oneslack.Status.CONVERGED, certified=True,
        trace=[], n_iter=1, seconds=0.0, solver="by hand",
    )  # fmt: skip
    result = replace(truth, **changes)
    return Case("", {}, lambda: result, lambda _: [Claim(problem, result.w.tolist(), result)], tol=1e-3)


def test_the_truth_passes():
    assert violations(claimed()) == []
    assert violations(claimed(dual=0.1, status=oneslack.Status.MAX_ITER)) == []


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"dual": np.nextafter(0.125, 1)}, "dual"),
        ({"primal": np.nextafter(0.125, 0)}, "primal"),
        ({"w": np.array([np.nextafter(0.5, 0)])}, "primal"),
        ({"dual": 0.1}, "status"),
    ],
)
def test_the_smallest_lie_is_found(changes, what):
    (lie,) = violations(claimed(**changes))
    assert lie.startswith(what)


def test_what_is_not_certified_may_be_wrong():
    assert violations(claimed(dual=0.2, certified=False, status=oneslack.Status.MAX_ITER)) == []


def test_the_sums_of_an_estimator_are_checked_too():
    one = claimed()
    estimator = SimpleNamespace(objective_=0.125, dual_objective_=float(np.nextafter(0.125, 1)))
    (lie,) = violations(replace(one, run=lambda: estimator))
    assert "SimpleNamespace" in lie


# Certificates that were not true, or had no answer, before what underflows was paid for.


@pytest.mark.parametrize(
    ("kind", "seed"),
    [("logistic", 755), ("l1", 223), ("l1", 266), ("l1", 687), ("l1", 791), ("portions", 32)],
)
def test_certificates_that_once_were_not_true(kind, seed):
    check(kind, [seed])


@pytest.mark.parametrize("margin", [300.0, 700.0, 720.0, 744.0, 746.0, 900.0])
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e12])
def test_objectives_of_faint_losses_are_never_too_low(margin, C):
    """At its prior the penalty is 0, and P is nothing but the tail exp(-margin), be it no float."""
    X, s = np.array([[1.0], [-1.0], [1.5]]), np.array([0.3, 2.0, 1.0])
    y = np.array([1.0, -1.0, 1.0])
    model = Linear(1, Logistic(), False)
    w = np.array([margin])
    problem = oneslack.Problem(model, X, y, C, sample_weight=s, prior=w)
    reference = LogisticProblem(
        Penalty(1, 0, exact(w), exact([1.0])), exact(X), exact(y), exact([C * a for a in s]), False
    )
    upper = problem.upper(w, problem.primal(w), 0.0)
    slack = Fraction(1 + 1e-9) * reference.definition(exact(w)) + Fraction(1e-300)
    assert reference.definition(exact(w)) <= Fraction(upper) <= slack
    result = oneslack.solve(problem, tol=1e-3, max_iter=3)
    assert result.certified
    assert reference.definition(exact(result.w)) <= Fraction(result.primal)
    assert Fraction(result.dual) <= reference.definition(exact(result.w))
    checked = OneScore("logistic", y, C * s).risk(margin * X, np.zeros((3, 1)))
    assert reference.definition(exact(w)) <= Fraction(checked[0]) + Fraction(checked[1])
