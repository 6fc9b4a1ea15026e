"""Every certificate of small problems is true, exactly: dual <= optimum <= P(w) <= primal.

A message names kind and seed of what is not so, and all that was given; from tests/ again:

    from exact.case import violations
    from exact.cases import case
    print(violations(case("two_classes", 12)))
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from exact.case import Case, Claim, violations
from exact.cases import KINDS, case
from exact.linear import exact, two_classes

import oneslack

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
