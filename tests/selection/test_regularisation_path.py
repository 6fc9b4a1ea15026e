"""Starts at another C: the same optimum, bounds that hold, and less work."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import oneslack
from oneslack import Binary, Chain, DualCD, Multiclass, Newton, NSlack, OneSlack, Problem, Regression, solve


def _binary(rng, C, intercept=False):
    X = rng.normal(size=(60, 5))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, 1, -1)
    return Problem(Binary(5, intercept), X, y, C)


def _multiclass(rng, C):
    X = rng.normal(size=(60, 4))
    return Problem(Multiclass(4, 3), X, (X[:, :3] + rng.normal(size=(60, 3))).argmax(axis=1), C)


def _regression(rng, C):
    X = rng.normal(size=(50, 4))
    return Problem(Regression(4, epsilon=0.1), X, X @ np.ones(4) + rng.normal(size=50), C)


def _chain(rng, C):
    X = [rng.normal(size=(4, 3)) for _ in range(12)]
    return Problem(Chain(3, 3), X, [rng.integers(0, 3, 4) for _ in X], C)


PLANES = [OneSlack(), OneSlack(line_search=False), DualCD()]
CASES = [(make, solver) for make in (_binary, _multiclass, _regression) for solver in (*PLANES, Newton())]
CASES += [(_chain, solver) for solver in (*PLANES, NSlack())]


@pytest.mark.grid(2)
@pytest.mark.parametrize(("make", "solver"), CASES)
@pytest.mark.parametrize("ratio", [0.1, 1.5, 30.0])
def test_a_start_at_another_C_ends_at_the_optimum(make, solver, ratio):
    first = solve(make(np.random.default_rng(0), 0.3), solver, tol=1e-4)
    problem = make(np.random.default_rng(0), 0.3 * ratio)
    cold = solve(problem, solver, tol=1e-6)
    warm = solve(problem, solver, tol=1e-6, start=first)
    assert warm.status.name == cold.status.name == "CONVERGED"
    assert warm.primal == pytest.approx(cold.primal, rel=3e-6)
    duals = [row.dual for row in warm.trace]
    assert max(duals) <= cold.primal * (1 + 1e-12)


def test_planes_of_another_C_are_used():
    first = solve(_binary(np.random.default_rng(1), 1.0), OneSlack(), tol=1e-6)
    problem = _binary(np.random.default_rng(1), 1.01)
    cold = solve(problem, OneSlack(), tol=1e-6)
    warm = solve(problem, OneSlack(), tol=1e-6, start=first)
    assert warm.n_iter < cold.n_iter / 3


def test_duals_of_another_C_are_used():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 30))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, 1, -1)
    first = solve(Problem(Binary(30), X, y, 0.1), DualCD(), tol=1e-5)
    problem = Problem(Binary(30), X, y, 0.1001)
    cold, warm = solve(problem, DualCD(), tol=1e-3), solve(problem, DualCD(), tol=1e-3, start=first)
    assert warm.n_iter < cold.n_iter


def test_duals_that_would_overshoot_are_shortened():
    """From a tiny C to a huge one, duals as the same shares of their bounds lie far below zero."""
    first = solve(_binary(np.random.default_rng(3), 1e-3), DualCD(), tol=1e-6)
    problem = _binary(np.random.default_rng(3), 1e3)
    warm = solve(problem, DualCD(), tol=1e-5, start=first)
    assert warm.primal == pytest.approx(solve(problem, DualCD(), tol=1e-5).primal, rel=2e-5)


@pytest.mark.parametrize("solver", ["dual_cd", "one_slack", "newton"])
@pytest.mark.parametrize("data", [load_breast_cancer, load_iris])
def test_every_model_of_a_path_is_certified(data, solver):
    X, y = data(return_X_y=True)
    X = X / X.max(axis=0)
    grid = [10.0, 0.1, 1.0]
    path = oneslack.path(oneslack.LinearSVC(solver=solver, tol=1e-4), X, y, grid)
    assert path.C.tolist() == [0.1, 1.0, 10.0]
    for model in path:
        cold = oneslack.LinearSVC(C=model.C, solver=solver, tol=1e-4).fit(X, y)
        assert model.duality_gap_ <= 1e-4
        assert model.objective_ == pytest.approx(cold.objective_, rel=2e-4)
        assert model.dual_objective_ <= cold.objective_
        assert not model.warm_start
    assert path.coef.shape[0] == len(path) == 3


def test_a_path_of_structures():
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(4, 3)) for _ in range(10)]
    Y = [rng.integers(0, 3, 4) for _ in X]
    path = oneslack.path(oneslack.StructuralSVM(Chain(3, 3), tol=1e-4), X, Y, [0.1, 1.0])
    cold = oneslack.StructuralSVM(Chain(3, 3), C=1.0, tol=1e-4).fit(X, Y)
    assert path[1].objective_ == pytest.approx(cold.objective_, rel=2e-4)


def test_warm_starts_of_other_data_are_no_certificate():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    model = oneslack.LinearSVC(warm_start=True, solver="dual_cd", tol=1e-4).fit(X, y)
    model.set_params(C=3.0).fit(X[::2], y[::2])
    cold = oneslack.LinearSVC(C=3.0, solver="dual_cd", tol=1e-4).fit(X[::2], y[::2])
    assert model.objective_ == pytest.approx(cold.objective_, rel=2e-4)


def test_regression_has_a_path():
    X, y = load_diabetes(return_X_y=True)
    path = oneslack.path(oneslack.LinearSVR(tol=1e-3), X, y, [0.1, 10.0])
    assert (path.gap <= 1e-3).all()


@pytest.mark.parametrize("C", [[], [0.0, 1.0], [-1.0], [np.nan], [np.inf]])
def test_what_is_no_grid_of_C_is_refused(C):
    with pytest.raises(ValueError, match="C must be positive numbers"):
        oneslack.path(oneslack.LinearSVC(), np.eye(3), [0, 1, 0], C)


def test_an_estimator_without_warm_start_is_refused():
    with pytest.raises(TypeError, match="KernelSVC has no warm_start"):
        oneslack.path(oneslack.KernelSVC(), np.eye(3), [0, 1, 0])


@pytest.mark.parametrize("solver", ["newton", "dual_cd"])
def test_a_penalised_intercept_goes_along(solver):
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    model = oneslack.LinearSVC(solver=solver, penalize_intercept=True, intercept_scaling=3.0, tol=1e-4)
    for one in oneslack.path(model, X, y, [0.1, 1.0, 10.0]).models:
        alone = clone(model).set_params(C=one.C).fit(X, y)
        assert one.coef_.shape == (1, X.shape[1])
        assert one.dual_objective_ <= alone.objective_
        assert alone.dual_objective_ <= one.objective_
