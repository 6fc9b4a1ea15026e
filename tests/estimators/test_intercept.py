"""The objective LinearSVC says it minimises, against a QP over all its constraints by another solver."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import LinearSVC
from oneslack.estimators.linear_svc import ClassTask

clarabel = pytest.importorskip("clarabel")

SOLVERS = ["newton", "dual_cd", "one_slack"]


def quadratic_program(rows, rhs, quadratic, linear):
    """min 1/2 u' diag(quadratic) u + linear' u   subject to rows u >= rhs; returns (value, u)."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solver = clarabel.DefaultSolver(
        sp.csc_matrix(sp.diags(quadratic)), linear, sp.csc_matrix(-rows), -rhs,
        [clarabel.NonnegativeConeT(len(rhs))], settings,
    )  # fmt: skip
    solution = solver.solve()
    return solution.obj_val, np.array(solution.x)


def binary_optimum(X, y, C, weights, intercept=True):
    """u = (w, b, xi): y (<w, x> + b) + xi >= 1, xi >= 0."""
    n, d = X.shape
    bias = np.ones((n, 1)) if intercept else np.zeros((n, 1))
    margins = sp.hstack([sp.csr_matrix(y[:, None] * np.hstack([X, bias])), sp.identity(n)])
    slacks = sp.hstack([sp.csr_matrix((n, d + 1)), sp.identity(n)])
    quadratic = np.r_[np.ones(d), np.zeros(1 + n)]
    linear = np.r_[np.zeros(d + 1), C * weights]
    return quadratic_program(sp.vstack([margins, slacks]), np.r_[np.ones(n), np.zeros(n)], quadratic, linear)


def multiclass_optimum(X, codes, C, weights, cost, intercept=True):
    """u = (W (K, d) row by row, b (K,), xi): score_y - score_z + xi >= cost[y, z] for all z."""
    (n, d), K = X.shape, len(cost)
    rows = np.zeros((n * K, K * d + K + n))
    rhs = np.zeros(n * K)
    for i in range(n):
        for z in range(K):
            row, y = rows[i * K + z], codes[i]
            row[y * d : (y + 1) * d] += X[i]
            row[z * d : (z + 1) * d] -= X[i]
            if intercept:
                row[K * d + y] += 1
                row[K * d + z] -= 1
            row[K * d + K + i] = 1
            rhs[i * K + z] = cost[y, z]
    quadratic = np.r_[np.ones(K * d), np.zeros(K + n)]
    linear = np.r_[np.zeros(K * d + K), C * weights]
    return quadratic_program(sp.csr_matrix(rows), rhs, quadratic, linear)


def blobs(n_classes, seed=0, n=60, d=4):
    """Overlapping groups far from the origin, so that the intercept matters."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    centres = rng.normal(size=(n_classes, d)) * 1.5 + 4.0
    return centres[codes] + rng.normal(size=(n, d)), codes, rng.uniform(0.2, 2.0, n)


COST = np.array([[0, 1, 3], [2, 0, 1], [0.5, 4, 0]])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", [True, False])
def test_two_classes(solver, intercept):
    X, codes, weights = blobs(2)
    optimum, u = binary_optimum(X, 2.0 * codes - 1, 0.7, weights, intercept)
    model = LinearSVC(C=0.7, solver=solver, tol=1e-6, fit_intercept=intercept).fit(X, codes, weights)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)
    assert model.dual_objective_ <= optimum * (1 + 1e-8) <= model.objective_ * (1 + 2e-8)
    # A gap of 1e-6 leaves |w - w*| <= sqrt(2 gap P).
    np.testing.assert_allclose(model.coef_[0], u[:4], atol=np.sqrt(2e-6 * optimum))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cost", [None, COST], ids=["hinge", "cost"])
@pytest.mark.parametrize("intercept", [True, False])
def test_crammer_and_singer(solver, cost, intercept):
    X, codes, weights = blobs(3)
    losses = 1.0 - np.eye(3) if cost is None else cost
    optimum, u = multiclass_optimum(X, codes, 0.7, weights, losses, intercept)
    model = LinearSVC(
        C=0.7, solver=solver, tol=1e-6, fit_intercept=intercept, loss="hinge" if cost is None else cost
    ).fit(X, codes, weights)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)
    assert model.dual_objective_ <= optimum * (1 + 1e-8) <= model.objective_ * (1 + 2e-8)
    np.testing.assert_allclose(model.coef_.ravel(), u[:12], atol=np.sqrt(2e-6 * optimum))


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_against_the_rest_is_the_sum_of_binary_optima(solver):
    X, codes, weights = blobs(3)
    optima = [binary_optimum(X, np.where(codes == k, 1.0, -1.0), 1.0, weights)[0] for k in range(3)]
    model = LinearSVC(solver=solver, multi_class="ovr", tol=1e-6).fit(X, codes, weights)
    assert model.objective_ == pytest.approx(sum(optima), rel=1e-5)
    assert [result.primal for result in model.result_.parts] == pytest.approx(optima, rel=1e-5)


def test_cost_of_two_classes_is_a_weight_of_the_hinge():
    X, codes, weights = blobs(2)
    cost = np.array([[0.0, 3.0], [0.5, 0.0]])
    optimum, _ = binary_optimum(X, 2.0 * codes - 1, 1.0, weights * np.where(codes == 1, 0.5, 3.0))
    model = LinearSVC(loss=cost, tol=1e-6).fit(X, codes, weights)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)


def test_class_weights_multiply_sample_weights():
    X, codes, weights = blobs(2)
    optimum, _ = binary_optimum(X, 2.0 * codes - 1, 1.0, weights * np.where(codes == 1, 0.5, 3.0))
    model = LinearSVC(class_weight={0: 3.0, 1: 0.5}, tol=1e-6).fit(X, codes, weights)
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_moving_all_features_moves_nothing_but_the_intercept(solver, n_classes):
    X, codes, _ = blobs(n_classes)
    shift = np.array([1.0, -2.0, 0.5, 3.0])
    tol = 1e-6 if solver == "newton" else 1e-9  # Newton's bound is far behind its point
    here, there = (
        LinearSVC(solver=solver, tol=tol).fit(data, codes).decision_function(data) for data in (X, X + shift)
    )
    np.testing.assert_allclose(here, there, atol=1e-4)


def test_intercepts_of_many_classes_sum_to_zero():
    X, codes, _ = blobs(3)
    assert LinearSVC().fit(X, codes).intercept_.sum() == pytest.approx(0.0, abs=1e-9)
    task = ClassTask(np.arange(3), codes, 1, True)
    coef, intercept = task.rows([SimpleNamespace(w=np.array([1.0, 2.0, 3.0, 10.0, 11.0, 15.0]))])
    np.testing.assert_array_equal(coef, [[1], [2], [3]])
    np.testing.assert_array_equal(intercept, [-2, -1, 3])


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_without_intercept_it_is_zero(multi_class):
    X, codes, _ = blobs(3)
    model = LinearSVC(fit_intercept=False, multi_class=multi_class).fit(X, codes)
    np.testing.assert_array_equal(model.intercept_, np.zeros(3))
