"""Integer programmes: HiGHS against brute force, bounds that hold, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import oneslack
from oneslack.models.programme import IntegerCosts, Programme, Truth
from oneslack.models.programme.highs import dual_bound


def knapsack(rng, m=6, d=3):
    A = rng.integers(1, 5, size=(2, m))
    return Programme(rng.normal(size=(m, d)), A, ub=rng.integers(3, 9, size=2))


def assignment(rng, n=3, d=2):
    """Each of n rows has one of n columns."""
    ones = np.ones(n)
    A = np.vstack([np.kron(np.eye(n), ones), np.kron(ones, np.eye(n))])
    return Programme(rng.normal(size=(n * n, d)), sp.csr_array(A), lb=1, ub=1)


def shortest_path(rng, d=2):
    """From 0 to 3, over 1 or 2."""
    edges = [(0, 1), (0, 2), (1, 2), (2, 1), (1, 3), (2, 3), (0, 3)]
    A = np.zeros((4, len(edges)))
    for j, (a, b) in enumerate(edges):
        A[a, j], A[b, j] = 1, -1
    flow = [1, 0, 0, -1]
    return Programme(rng.uniform(size=(len(edges), d)), A, lb=flow, ub=flow)


def whole_numbers(rng, d=2):
    """Some variables are no 0/1: they have no weight in the loss."""
    upper = np.array([1, 1, 3, 2])
    return Programme(rng.normal(size=(4, d)), [[2, 3, 1, 1]], ub=5, upper=upper)


KINDS = [knapsack, assignment, shortest_path, whole_numbers]


def truth_of(rng, model, x):
    outputs = list(model.outputs(x))
    return outputs, Truth(outputs[rng.integers(len(outputs))], x.weights * rng.uniform(0.5, 2.0, size=x.m))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_worst_solution_and_its_bound(kind, seed):
    rng = np.random.default_rng(seed)
    x = kind(rng)
    model, w = IntegerCosts(x.n_features), rng.normal(size=x.n_features) * rng.choice([1e-3, 1, 1e3])
    outputs, y = truth_of(rng, model, x)
    exact = [_exact_value(w, x, y, z) for z in outputs]
    z, upper = model.decode_bound(w, x, y)
    assert x.fault(z) is None
    assert Fraction(upper) >= max(exact)
    assert upper - float(max(exact)) <= 1e-6 * (1 + np.abs(x.features @ w).max())
    assert float(_exact_value(w, x, y, z)) == pytest.approx(float(max(exact)), rel=1e-9, abs=1e-9)
    plain = model.decode(w, x)
    costs = [x.features @ w @ out for out in outputs]
    assert x.features @ w @ plain == pytest.approx(min(costs), rel=1e-9, abs=1e-9)


def _exact_value(w, x, y, z):
    """loss + score, in rational numbers."""
    score = -sum(
        Fraction(float(f)) * Fraction(float(v)) * Fraction(float(z[j]))
        for j, row in enumerate(x.features)
        for f, v in zip(row, w, strict=True)
    )
    return score + sum(Fraction(float(s)) for s, a, b in zip(y.weights, y.values, z, strict=True) if a != b)


@pytest.mark.parametrize("kind", KINDS)
def test_any_multipliers_prove_a_bound(kind):
    rng = np.random.default_rng(7)
    x = kind(rng)
    g = rng.normal(size=x.m)
    best = max(float(g @ z) for z in IntegerCosts(x.n_features).outputs(x))
    assert all(dual_bound(x, g, rng.normal(size=x.k)) >= best for _ in range(50))


def test_a_search_that_may_stop_early_still_bounds():
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = knapsack(rng, m=8)
        model = IntegerCosts(3, mip_gap=0.5)
        outputs, y = truth_of(rng, model, x)
        w = rng.normal(size=3)
        upper = model.decode_bound(w, x, y)[1]
        assert upper >= max(model.joint_feature(x, z) @ w + model.loss(y, z) for z in outputs) - 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_model(kind):
    rng = np.random.default_rng(1)
    X = [kind(rng) for _ in range(2)]
    model = IntegerCosts(X[0].n_features)
    oneslack.check_model(model, X, [truth_of(rng, model, x)[1] for x in X])


def test_sparse_features_are_dense_ones():
    rng = np.random.default_rng(2)
    x = knapsack(rng)
    other = Programme(sp.csr_matrix(x.features), x.A, x.lb, x.ub)
    w = rng.normal(size=3)
    assert np.array_equal(IntegerCosts(3).decode(w, x), IntegerCosts(3).decode(w, other))


def test_continuous_variables():
    """At most 1.5 in all: the cheaper one whole, half of the other, which is no whole number."""
    x = Programme([[-2.0], [-1.0]], [[1, 1]], ub=1.5, integrality=[True, False])
    assert x.weights.tolist() == [1, 0]
    assert IntegerCosts(1).decode(np.ones(1), x).tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"features": [1.0, 2.0]}, "features has 1 dimension"),
        ({"features": [[1.0], [np.nan]]}, "features has numbers that are not finite"),
        ({"A": [[1, 1, 1]], "ub": 1}, "A has 3 columns but features has 2 rows"),
        ({"A": [[1, 1]], "ub": [1, 2]}, r"ub has shape \(2,\), expected \(1,\)"),
        ({"A": [[1, 1]], "lb": 2, "ub": 1}, "constraint 0 allows nothing: lb is 2 and ub 1"),
        ({"upper": [1, -1]}, "variable 1 allows nothing: lower is 0 and upper -1"),
        ({"upper": [1, np.inf]}, "variable 1 has features but no finite bounds"),
        ({"upper": 2, "weights": 1}, "variable 0 has a weight in the loss but is not 0 or 1"),
        ({"weights": -1}, "weights of the loss must be finite numbers >= 0"),
    ],
)
def test_what_is_no_programme(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Programme(**{"features": [[1.0], [2.0]]} | given)


def test_an_infeasible_programme():
    x = Programme([[1.0], [1.0]], [[1, 1]], lb=3)
    with pytest.raises(ValueError, match="no solution obeys the constraints"):
        IntegerCosts(1).decode(np.ones(1), x)
