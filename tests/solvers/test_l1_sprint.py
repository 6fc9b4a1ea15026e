"""Proximal Newton steps in one call: the optimum of rounds on working sets, feasible duals, going on."""

import numpy as np
import pytest
import scipy.sparse as sp

import oneslack
from oneslack import L1Problem, Linear, solve
from oneslack.losses import Huber, Logistic, SquaredHinge, SquaredTube
from oneslack.solvers import proximal_newton

SMOOTH = [SquaredHinge(), Logistic(), SquaredTube(0.1), Huber(0.5)]


def made(phi, intercept=False, is_sparse=False, C=1.0, n=150, d=12, **options):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, d)) * np.geomspace(1.0, 3.0, d)
    X[rng.random((n, d)) < 0.3] = 0.0
    score = X[:, :4] @ rng.normal(size=4) + rng.normal(size=n) + 0.5
    y = np.where(score > 0, 1.0, -1.0) if phi.has_sides else score
    weights = rng.integers(0, 3, size=n).astype(float)
    X = sp.csr_array(X) if is_sparse else X
    return L1Problem(Linear(d, phi, intercept), X, y, C, sample_weight=weights, **options)


def in_rounds(problem, monkeypatch, tol=1e-9):
    """By Descent alone."""
    with monkeypatch.context() as patch:
        patch.setattr(proximal_newton, "can_sprint", lambda problem: False)
        return solve(problem, tol=tol)


KINDS = {
    "plain": {},
    "intercept": {"intercept": True},
    "sparse, intercept": {"is_sparse": True, "intercept": True},
    "scale": {"scale": np.geomspace(0.5, 2.0, 12)},
    "held": {"nonnegative": True, "is_sparse": True},
    "small C": {"C": 0.02, "intercept": True},
    "large C": {"C": 100.0},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("phi", SMOOTH, ids=str)
def test_one_call_reaches_the_optimum(phi, kind, monkeypatch):
    problem = made(phi, **KINDS[kind])
    result, other = solve(problem, tol=1e-6), in_rounds(problem, monkeypatch)
    assert result.status is oneslack.Status.CONVERGED
    assert result.certified
    assert result.n_iter == 1
    assert result.dual <= other.primal
    assert other.dual <= result.primal
    assert result.primal == pytest.approx(problem.primal(result.w), rel=1e-9)
    assert result.gap <= 1e-6


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("phi", SMOOTH, ids=str)
def test_duals_are_feasible_after_any_number_of_steps(phi, intercept):
    problem = made(phi, intercept)
    optimum = solve(problem, tol=1e-9).primal
    start = problem.regulariser.start()
    for steps in range(6):
        w, primal, dual, shares = problem.model.lasso_path(
            problem.data, problem.C, problem.regulariser, start, 1e-12, steps
        )
        assert primal == pytest.approx(problem.primal(w), rel=1e-12)
        low, high = phi.bounds(problem.data.y, np.ones(problem.n))
        assert ((low <= shares) & (shares <= high)).all()
        v = problem.shares.sum(shares)
        assert problem.regulariser.ratio(v) <= 1.0 + 1e-12
        assert abs(v[problem.regulariser.free].sum() if intercept else 0.0) <= 1e-9 * problem.weight
        assert dual == pytest.approx(problem.shares.linear(shares), rel=1e-9, abs=1e-9 * primal)
        assert dual <= optimum * (1 + 1e-9)


@pytest.mark.parametrize("phi", SMOOTH[:2], ids=str)
def test_alike_columns_and_empty_ones(phi, monkeypatch):
    problem = made(phi)
    X = problem.data.X.copy()
    X[:, 5], X[:, 6], X[:, 7] = X[:, 0], -2.0 * X[:, 1], 0.0
    for C in (0.1, 1e4):
        alike = L1Problem(problem.model, X, problem.data.y, C)
        result = solve(alike, tol=1e-5)
        assert result.certified
        assert result.gap <= 1e-5
        assert result.primal == pytest.approx(in_rounds(alike, monkeypatch, 1e-7).primal, rel=1e-5)


def test_where_nothing_curves_any_more():
    # All examples are beyond the margin at the start, and no Hessian is left: weights must fall all the same.
    phi = SquaredHinge()
    problem = made(phi, C=1.0)
    far = 1e3 * solve(problem, tol=1e-3).w
    assert solve(problem, tol=1e-6, start=far).gap <= 1e-6


@pytest.mark.parametrize("phi", SMOOTH[:2], ids=str)
def test_a_call_that_does_not_end_it_is_gone_on_from(phi, monkeypatch):
    monkeypatch.setattr(proximal_newton, "STEPS", 2)
    problem = made(phi)
    whole = solve(problem, tol=1e-6)
    cut = solve(problem, tol=1e-6, max_iter=1)
    assert not cut.status.ok
    assert cut.certified
    assert cut.dual <= whole.primal
    resumed = solve(problem, tol=1e-6, start=cut)
    assert resumed.primal == whole.primal
    np.testing.assert_array_equal(resumed.w, whole.w)
    tighter = solve(problem, tol=1e-8, start=whole)
    assert tighter.gap <= 1e-8


@pytest.mark.parametrize("C", [1e2, 1e4])
@pytest.mark.parametrize("phi", SMOOTH[:2], ids=str)
def test_columns_that_are_nearly_alike(phi, C):
    # Sweeps over their Gram matrix do not end; exact steps that put many weights to 0 at once do.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 25)) + 0.01 * rng.normal(size=(400, 25))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, 1.0, -1.0)
    result = solve(L1Problem(Linear(25, phi), X, y, C), tol=1e-3)
    assert result.certified
    assert result.gap <= 1e-3
    assert result.n_iter == 1


def test_models_prove_sooner_than_losses():
    # Those of the losses need a step more to close a gap of a thousandth.
    problem = made(Logistic())
    start = problem.regulariser.start()
    _, primal, dual, _ = problem.model.lasso_path(
        problem.data, problem.C, problem.regulariser, start, 1e-3, 5
    )
    assert primal - dual <= 1e-3 * primal


def test_samples_are_eighths_of_what_is_not_small():
    problem = made(Logistic(), n=40_000, d=12)
    parts = list(proximal_newton.samples(problem, 1e-3))
    assert [(part.n, tol) for part, tol in parts] == [
        (78, pytest.approx(24 / 78)), (625, pytest.approx(24 / 625)), (5000, pytest.approx(24 / 5000)),
    ]  # fmt: skip
    assert not list(proximal_newton.samples(made(Logistic()), 1e-3))
