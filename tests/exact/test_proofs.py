"""What the checker proves of small problems is true, exactly: dual <= optimum <= P(w) <= primal.

From tests/ again, a kind and a seed:

    from exact.test_proofs import lies
    print(lies("two_classes", 12, "/tmp/model"))
"""

import warnings
from fractions import Fraction

import pytest
from exact.cases import case
from exact.linear import exact
from sklearn.exceptions import ConvergenceWarning

import oneslack

#: Kinds of `cases` that are estimators which carry a proof.
KINDS = (
    "two_classes", "many_classes", "one_against_the_rest", "regression", "logistic", "l1",
    "penalised_intercept", "ranking", "ordinal", "measure", "kernel", "tagger", "grammar",
)  # fmt: skip
#: Trainings of each kind: a few always, more where there is time.
QUICK, CHUNKS, CHUNK = 8, 4, 50


def lies(kind, seed, path) -> str | None:
    """What is proven of a training but not so, or "unproven" and why, or None where all is true."""
    one = case(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = one.run()
    if not hasattr(model, "save"):  # a Result of `solve`
        return "not written: no estimator"
    given = {name: one.given.get(name) for name in ("X", "y", "Y", "sample_weight", "groups")}
    targets = given["y"] if given["y"] is not None else given["Y"]
    try:
        model.save(path, proof=True)
        report = oneslack.check_proof(
            path, given["X"], targets, given["sample_weight"], groups=given["groups"]
        )
    except oneslack.ProofError as error:
        return f"unproven: {error}"
    except oneslack.OneslackError as error:  # a solver that holds no dual point, a kind without a checker
        return f"not written: {error}"
    claims = one.claims(model)
    optimum = sum(claim.problem.optimum()[0] for claim in claims)
    value = sum(claim.problem.definition(exact(claim.w)) for claim in claims)
    if not Fraction(report.dual) <= optimum:
        return f"{report.dual!r} is proven, but the optimum is lower by {float(report.dual - optimum)!r}"
    if not value <= Fraction(report.primal):
        return (
            f"{report.primal!r} is proven, but P(w) is higher by {float(value - Fraction(report.primal))!r}"
        )
    return None


def check(kind, seeds, path):
    found = {seed: said for seed in seeds if (said := lies(kind, seed, path))}
    false = {seed: said for seed, said in found.items() if not said.startswith(("unproven", "not written"))}
    assert not false
    # Numbers that differ by many orders of magnitude may need more digits than the checker has.
    unproven = {seed: said for seed, said in found.items() if said.startswith("unproven")}
    assert len(unproven) <= 1 + len(seeds) // 20, unproven


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_proven_is_true(kind, tmp_path):
    check(kind, range(QUICK), tmp_path / "model")


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("kind", KINDS)
def test_much_that_is_proven_is_true(kind, chunk, tmp_path):
    check(kind, range(QUICK + chunk * CHUNK, QUICK + (chunk + 1) * CHUNK), tmp_path / "model")
