"""The reference itself: known optima, an independent QP, degenerate problems, and proofs that can fail."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from exact import draws
from exact.lemke import solve_lcp
from exact.linear import Penalty, exact, many_classes, planes, tube, two_classes
from exact.optimum import Block, Cut, Small
from reference import Reference

THIRD = Fraction(1, 3)


def test_two_points():
    """w = 2/3 by hand: both duals are at their bound of 1/3, and each hinge is 1/3."""
    problem = two_classes(exact([[1], [-1]]), [1, -1], [THIRD, THIRD], False)
    assert problem.optimum() == (Fraction(4, 9), [Fraction(2, 3)])


def test_an_intercept_is_free():
    problem = two_classes(exact([[10], [12]]), [-1, 1], [Fraction(5), Fraction(5)], True)
    assert problem.optimum() == (Fraction(1, 2), [Fraction(1), Fraction(-11)])


def test_a_risk_without_a_floor():
    """1/2 w^2 + 2 (3 - w) has its minimum at 2."""
    assert planes(exact([[-1]]), exact([3]), Fraction(2)).optimum() == (Fraction(4), [Fraction(2)])


def brute_lcp(M, q):
    """All solutions, by trying every basis."""
    m = len(q)
    for basis in product((False, True), repeat=m):
        A = np.array([[-M[i][j] if basis[j] else float(i == j) for j in range(m)] for i in range(m)], float)
        if abs(np.linalg.det(A)) > 1e-9:
            values = np.linalg.solve(A, np.array(q, float))
            if (values >= -1e-9).all():
                yield np.where(basis, values, 0.0)


@pytest.mark.parametrize("seed", range(20))
def test_lemke_solves_what_brute_force_solves(seed):
    rng = np.random.default_rng(seed)
    B, q = rng.integers(-2, 3, size=(4, 2)), rng.integers(-4, 5, size=4)
    M, skew = B @ B.T, rng.integers(-1, 2, size=(4, 4))
    M = M + skew - skew.T
    solutions = list(brute_lcp(M.tolist(), q.tolist()))
    if not solutions:
        with pytest.raises(ArithmeticError, match="ray"):
            solve_lcp(M.tolist(), q.tolist())
        return
    z = solve_lcp(M.tolist(), q.tolist())
    s = [sum(int(a) * b for a, b in zip(row, z, strict=True)) + int(c) for row, c in zip(M, q, strict=True)]
    assert all(a >= 0 and b >= 0 and a * b == 0 for a, b in zip(s, z, strict=True))


@pytest.mark.parametrize("seed", range(15))
def test_the_optimum_is_that_of_a_qp_solver(seed):
    rng = np.random.default_rng(seed)
    n, d = 6, 3
    X, y = rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], n)
    c, prior, scale = rng.uniform(0.1, 2, n), rng.normal(size=d), rng.uniform(0.5, 2, d)
    problem = two_classes(
        exact(X), y.astype(int).tolist(), exact(c), True, prior=prior, scale=scale, nonnegative=[0, 2]
    )
    deltas = np.vstack([y[:, None] * np.column_stack([X, np.ones(n)]), np.zeros((n, d + 1))])
    reference = Reference.of_cuts(
        deltas, np.append(np.ones(n), np.zeros(n)), np.tile(np.arange(n), 2), c, prior=np.append(prior, 0.0),
        free=[d], nonnegative=np.array([True, False, True, False]), scale=np.append(scale, 1.0),
    )  # fmt: skip
    lower, upper, _ = reference.solve()
    optimum, w = problem.optimum()
    assert lower - 1e-7 <= float(optimum) <= upper + 1e-7
    assert all(w[k] >= 0 for k in (0, 2))


@pytest.mark.parametrize("X", [[[0, 0]] * 4, [[1, 2]] * 4, [[0, 0], [1, 1], [1, 1], [0, 0]]])
@pytest.mark.parametrize("y", [[1, 1, 1, 1], [1, -1, 1, -1]])
def test_degenerate_data(X, y):
    """Zero rows, equal rows, one class: the proof inside `optimum` is the test."""
    c = [Fraction(10**12), Fraction(0), THIRD, THIRD]
    for intercept in (False, True):
        two_classes(exact(X), y, c, intercept).optimum()
        many_classes(exact(X), [0, 1, 2, 0], c, 3, exact((1.0 - np.eye(3)).tolist()), intercept).optimum()
        tube(exact(X), exact(y), c, Fraction(0), intercept).optimum()


def test_cuts_that_are_not_those_of_the_definition_are_found_out():
    right = two_classes(exact([[1.0], [-0.5]]), [1, -1], [THIRD, THIRD], False)
    wrong = Small([*right.blocks[:1], Block(THIRD, [Cut(Fraction(2), {})])], right.definition, [1], [0])
    with pytest.raises(ArithmeticError, match="but the dual is"):
        wrong.optimum()


def test_draws_are_as_unpleasant_as_promised():
    matrices = [draws.matrix(np.random.default_rng(seed), 4, 3) for seed in range(300)]
    sizes = [np.abs(X[X != 0]) for X in matrices if X.any()]
    assert min(size.min() for size in sizes) < 1e-7
    assert max(size.max() for size in sizes) > 1e7
    assert any((np.ptp(X, axis=0) == 0).all() for X in matrices)
    assert any((X == 0).all(axis=1).any() for X in matrices)
    weights = [draws.weight_of_risk(np.random.default_rng(seed)) for seed in range(300)]
    assert min(weights) < 1e-5
    assert max(weights) > 1e11


def test_a_penalty_counts_scale_and_prior():
    assert Penalty(2, prior=[1.0, 0.0], scale=[2.0, 0.5])(exact([2.0, 4.0])) == 2 + 2
