"""The bounds on rounding themselves: each term of them is needed, in rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

import oneslack
from oneslack.certificate.rounding import (
    UNIT,
    Extent,
    Sizes,
    dual_proof,
    gamma,
    norm_up,
    primal_error,
    rounded_down,
    rounded_up,
)
from oneslack.objective import Regulariser

U = Fraction(UNIT)


@pytest.mark.parametrize("k", [1, 2, 3, 10, 1000, 10**6, 10**9, 10**12])
def test_gamma_is_k_u_over_1_minus_k_u_and_hardly_more(k):
    exact = k * U / (1 - k * U)
    assert exact <= Fraction(gamma(k)) <= exact * Fraction(10001, 10000)


def test_gamma_knows_nothing_of_sums_without_end():
    assert gamma(10**15) == np.inf


@pytest.mark.parametrize("value", [0.1, -7.3e-300, 1e300])
def test_what_is_rounded_is_on_its_side(value):
    error = abs(value) * 3e-16
    assert Fraction(rounded_up(value, error)) >= Fraction(value) + Fraction(error)
    assert Fraction(rounded_down(value, error)) <= Fraction(value) - Fraction(error)
    assert rounded_up(value, 0.0) == value == rounded_down(value, 0.0)


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1.0, 1e90])
@pytest.mark.parametrize("seed", range(5))
def test_a_length_is_never_too_short(seed, size):
    values = size * np.random.default_rng(seed).normal(size=50)
    square = sum(Fraction(value) ** 2 for value in values.tolist())
    found = Fraction(norm_up(values))
    assert square <= found**2 <= square * Fraction(10001, 10000)


def naive_sum(values):
    total = 0.0
    for value in values:
        total += value
    return total


@pytest.mark.parametrize("seed", range(10))
def test_sums_of_a_dual_point_are_as_near_as_their_proof_says(seed):
    """Sums of 2,000 numbers, one after the other: neither error may be left out."""
    rng = np.random.default_rng(seed)
    alpha, losses, x = rng.random(2000), rng.random(2000), rng.normal(size=2000)
    linear, v = naive_sum(alpha * losses), naive_sum(alpha * x)
    proof = dual_proof(
        Regulariser(1),
        np.array([v]),
        linear,
        float(np.abs(alpha * x).sum()),
        float((alpha * losses).sum()),
        2000,
    )
    pairs = [(linear, losses, proof.linear_error), (v, x, proof.v_error)]
    for computed, factors, error in pairs:
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(alpha.tolist(), factors.tolist(), strict=True))
        off = abs(exact - Fraction(computed))
        assert 0 < off <= Fraction(error)


@pytest.mark.parametrize("seed", range(10))
def test_small_shares_of_classes_are_as_near_as_their_refined_proof_says(seed):
    """Beside 1 - 1e-14 a share of 1e-14 is known by two digits only."""
    rng = np.random.default_rng(seed)
    X, y, C = rng.normal(size=(4, 2)), rng.integers(3, size=4), 1e9
    P = rng.random((4, 3)) * 1e-14
    rows = np.arange(4)
    P[rows, y] = 0.0
    truth = np.array([[sum(map(Fraction, p)) if z == y[i] else -Fraction(p[z]) for z in range(3)]
                      for i, p in enumerate(P.tolist())])  # fmt: skip
    P[rows, y] = 1.0 - P.sum(axis=1)
    problem = oneslack.Problem(oneslack.Multiclass(2, 3), X, y, C)
    proof = problem.shares.proof(P).refine()
    exact = np.vectorize(Fraction)(X).T @ truth * Fraction(C)
    off = sum((v - Fraction(float(found))) ** 2 for v, found in zip(exact.ravel(), proof.v, strict=True))
    assert 0 < off <= Fraction(proof.v_error) ** 2


@pytest.mark.parametrize("seed", range(10))
def test_an_objective_is_as_near_as_its_error_says(seed):
    """Rows that cancel in the scores, so that rounding is most of what is left of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 30)) * 1e6
    y = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    w = rng.normal(size=30)
    X[:, 0] = (1.0 - X[:, 1:] @ w[1:]) / w[0]
    problem = oneslack.Problem(oneslack.Binary(30), X, y)
    primal = problem.primal(w)
    exact = sum(Fraction(a) ** 2 for a in w.tolist()) / 2
    for row, sign in zip(X.tolist(), y.tolist(), strict=True):
        score = sum(Fraction(a) * Fraction(b) for a, b in zip(row, w.tolist(), strict=True))
        exact += max(Fraction(0), 1 - int(sign) * score)
    off = abs(exact - Fraction(primal))
    assert 0 < off <= Fraction(primal_error(problem.extent, problem.regulariser, w, primal, 1.0))


def test_extents_of_parts_add_up():
    one, two = Extent(3, 5, 1.0, 2.0, (1.0, 4.0)), Extent(7, 2, 0.5, 0.25, (2.0, 3.0), is_sum=False)
    assert one + two == Extent(7, 7, 1.5, 2.25, (2.0, 4.0), is_sum=False)
    assert (one + Extent(1, 1, 0.0, 0.0)).free is None


def test_totals_are_weighted_and_not_too_small():
    sizes = Sizes(np.array([1.0, 2.0]), 3.0, np.array([0.5, 4.0]))
    reach, losses = sizes.totals()
    assert 8.5 <= reach <= 8.5 * 1.0001
    assert 13.5 <= losses <= 13.5 * 1.0001
