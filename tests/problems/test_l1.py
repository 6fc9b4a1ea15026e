"""L1Problem: its bounds hold in rational numbers, and it refuses what it cannot do."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few

import oneslack
from oneslack.losses import Hinge, Huber, Logistic, Pinball, SquaredHinge, SquaredTube, Tube
from oneslack.models.linear.scalar import Linear

ZERO = Fraction(0)


def exact(values):
    return [Fraction(float(value)) for value in values]


def exact_primal(X, y, C, s, w, intercept, r=None):
    """P(w) under the squared hinge, of the very numbers that the floats are."""
    d = X.shape[1]
    w, r = exact(w), [Fraction(1)] * d if r is None else exact(r[:d])
    total = sum((r[j] * abs(w[j]) for j in range(d)), ZERO)
    for i in range(len(y)):
        x = exact(X[i])
        z = sum((a * b for a, b in zip(x, w[:d], strict=True)), ZERO) + (w[d] if intercept else ZERO)
        total += Fraction(C) * Fraction(float(s[i])) * max(ZERO, 1 - Fraction(float(y[i])) * z) ** 2
    return total


def draw(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 7), rng.integers(1, 5)
    X = rng.choice(
        [rng.normal(size=(n, d)), rng.integers(-2, 3, (n, d)) * 1.0, rng.normal(size=(n, d)) * 1e3]
    )
    y = rng.choice([-1.0, 1.0], n)
    s = rng.choice([0.0, 0.5, 1.0, 3.0], n) if seed % 2 else np.ones(n)
    s[0] = 1.0
    return X, y, s, float(rng.choice([0.01, 1.0, 100.0])), bool(rng.integers(2))


@pytest.mark.parametrize("seed", few(range(60), 20))
def test_bounds_hold_in_rational_numbers(seed):
    """P of the result is at most `primal`; no rational point near it is below `dual`."""
    X, y, s, C, intercept = draw(seed)
    problem = oneslack.L1Problem(Linear(X.shape[1], SquaredHinge(), intercept), X, y, C=C, sample_weight=s)
    result = oneslack.solve(problem, tol=1e-9, max_iter=60)
    assert result.certified
    assert exact_primal(X, y, C, s, result.w, intercept) <= Fraction(result.primal)
    rng = np.random.default_rng(seed)
    for scale in (0.0, 1e-12, 1e-6, 1e-3, 1.0):
        w = result.w + scale * rng.normal(size=len(result.w))
        assert exact_primal(X, y, C, s, w, intercept) >= Fraction(result.dual)


@pytest.mark.parametrize("seed", few(range(30), 10))
def test_any_dual_point_proves_a_true_bound(seed):
    """Also one that is far from feasible, or not balanced."""
    X, y, s, C, intercept = draw(seed)
    problem = oneslack.L1Problem(Linear(X.shape[1], SquaredHinge(), intercept), X, y, C=C, sample_weight=s)
    least = oneslack.solve(problem, tol=1e-9, max_iter=60)
    upper = problem.upper(least.w, problem.primal(least.w))
    rng = np.random.default_rng(seed)
    for scale in (1e-3, 0.1, 1.0, 10.0):
        proof = problem.shares.proof(y * rng.random(len(y)) * scale)
        for enough in (np.inf, 0.0):
            assert problem.lower(proof, least.w, upper, enough).proven <= least.primal


def test_sums_with_twice_the_digits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * 10.0 ** rng.integers(-8, 8, (50, 4))
    c = rng.normal(size=50) * 10.0 ** rng.integers(-8, 8, 50)
    true = [float(sum(Fraction(a) * Fraction(b) for a, b in zip(c, X[:, j], strict=True))) for j in range(4)]
    for matrix in (X, sp.csr_array(X)):
        problem = oneslack.L1Problem(Linear(4, SquaredHinge()), matrix, np.sign(c))
        np.testing.assert_allclose(problem.columns.exact_adjoint(c), true, rtol=1e-15)


def test_the_certificate_survives_large_cancelling_sums():
    """Where the rounding of plain sums would be larger than the gap that is asked for."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(4000, 3)), rng.choice([-1.0, 1.0], 4000)
    problem = oneslack.L1Problem(Linear(3, SquaredHinge()), X, y, C=1e6)
    result = oneslack.solve(problem, tol=1e-4)
    assert result.status is oneslack.Status.CONVERGED
    assert result.certified
    proof = problem.shares.proof(problem.smooth.duals(problem.scores(result.w), 1.0)[0])
    assert problem.lower(proof, result.w, result.primal).rounding > 1e-4 * result.primal


@pytest.mark.parametrize("phi", [Hinge(), Tube(0.1), Pinball(0.5)], ids=str)
def test_a_loss_with_kinks_is_refused(phi):
    with pytest.raises(ValueError, match=f"smooth loss, which {type(phi).__name__} is not; use SquaredHinge"):
        oneslack.L1Problem(Linear(2, phi), np.eye(2), [1.0, -1.0])


def test_a_model_that_is_no_score_under_a_loss_is_refused():
    with pytest.raises(ValueError, match="smooth loss, which Multiclass is not"):
        oneslack.L1Problem(oneslack.Multiclass(2, 3), np.eye(2), [0, 1])


def test_a_prior_is_refused():
    with pytest.raises(ValueError, match="takes no prior; leave it out"):
        oneslack.L1Problem(Linear(2, SquaredHinge()), np.eye(2), [1, -1], prior=[1.0, 0.0])


@pytest.mark.parametrize("solver", ["one_slack", "n_slack", "dual_cd", "newton", "streaming"])
def test_solvers_for_squared_weights_are_refused(solver):
    problem = oneslack.L1Problem(Linear(2, SquaredHinge()), np.eye(2), [1, -1])
    with pytest.raises(ValueError, match=r"it lacks a penalty of squared weights\. Use ProximalNewton\."):
        oneslack.solve(problem, solver)


def test_proximal_newton_refuses_squared_weights():
    problem = oneslack.Problem(Linear(2, SquaredHinge()), np.eye(2), [1, -1])
    with pytest.raises(ValueError, match=r"ProximalNewton needs more .* lacks an L1 penalty \(L1Problem\)"):
        oneslack.solve(problem, "proximal_newton")


def test_a_state_of_the_other_penalty_is_not_taken():
    X, y = np.eye(3), np.array([1, -1, 1])
    model = Linear(3, SquaredHinge())
    ridge = oneslack.solve(oneslack.Problem(model, X, y), tol=1e-6)
    problem = oneslack.L1Problem(model, X, y)
    assert problem.identity() != oneslack.Problem(model, X, y).identity()
    assert oneslack.solve(problem, tol=1e-6, start=ridge).gap <= 1e-6


@pytest.mark.parametrize("phi", [SquaredHinge(), Logistic(), SquaredTube(0.1), Huber(0.5)], ids=str)
def test_the_largest_curvature_is_one(phi):
    y = np.ones(201)
    z = np.linspace(-4, 4, 201)
    p = np.array([phi.dual(1.0, value) for value in z])
    assert max(phi.curvature(value, 1.0) for value in p) <= phi.stiffest
    slopes = np.diff(p) / np.diff(z)
    assert np.abs(slopes).max() == pytest.approx(phi.stiffest, rel=0.01)
    assert len(y) == len(p)
