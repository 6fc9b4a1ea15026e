"""Proximal Newton: the optimum of other programs, its own certificate, and what is degenerate."""

import numpy as np
import pytest
import scipy.sparse as sp
from reference import sparse_logistic
from scipy.optimize import minimize
from sklearn.datasets import make_classification
from sklearn.svm import LinearSVC

import oneslack
from oneslack.losses import Huber, Logistic, SquaredHinge, SquaredTube
from oneslack.models.linear.scalar import Linear
from oneslack.problems import quadratic
from oneslack.solvers import feature_descent, proximal_newton

SMOOTH = [SquaredHinge(), Logistic(), SquaredTube(0.1), Huber(0.5)]
each_loss = pytest.mark.parametrize("phi", SMOOTH, ids=str)


@pytest.fixture(autouse=True)
def no_sprint(monkeypatch):
    """What small data are spared (test_l1_sprint.py)."""
    monkeypatch.setattr(proximal_newton, "can_sprint", lambda problem: False)


def data(phi, n=120, d=30, seed=0):
    X, y = make_classification(n, d, n_informative=5, n_redundant=0, flip_y=0.1, shift=0.3, random_state=seed)
    y = 2.0 * y - 1.0
    return X, y if phi.has_sides else X[:, 0] - 2.0 * X[:, 1] + y + 3.0


def solved(phi, X, y, C, tol=1e-8, intercept=False, start=None, **options):
    problem = oneslack.L1Problem(Linear(X.shape[1], phi, intercept), X, y, C=C, **options)
    result = oneslack.solve(problem, tol=tol, max_iter=200, start=start)
    assert result.status is oneslack.Status.CONVERGED, result
    assert result.certified
    assert result.gap <= tol
    assert result.primal == pytest.approx(problem.primal(result.w), rel=1e-6)
    return result


def reference(phi, X, y, C, intercept=True, s=None, r=1.0, held=False):
    """min P by L-BFGS-B on w = u - v with u, v >= 0."""
    n, d = X.shape
    s = np.ones(n) if s is None else s

    def objective(x):
        w, b = x[:d] - x[d : 2 * d], x[-1] if intercept else 0.0
        z = X @ w + b
        value = sum(s[i] * phi.value(y[i], z[i]) for i in range(n))
        a = C * s * np.array([phi.dual(y[i], z[i]) for i in range(n)])
        g = -(a @ X)
        return r * x[: 2 * d].sum() + C * value, np.concatenate([g + r, r - g, [-a.sum() * intercept]])

    bounds = [(0, None)] * d + [(0, 0 if held else None)] * d + [(None, None)]
    found = minimize(
        objective, np.zeros(2 * d + 1), jac=True, bounds=bounds, method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-10},
    )  # fmt: skip
    return found.fun


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 30.0])
def test_agrees_with_liblinear(C):
    for phi in SMOOTH[:2]:
        X, y = data(phi)
        options = {"C": C, "fit_intercept": False, "tol": 1e-10, "max_iter": 100_000, "random_state": 0}
        if isinstance(phi, Logistic):
            model = sparse_logistic(**options)
        else:
            model = LinearSVC(penalty="l1", dual=False, **options)
        w = model.fit(X, y).coef_.ravel()
        result = solved(phi, X, y, C)
        value = C * sum(phi.value(y[i], z) for i, z in enumerate(X @ w)) + np.abs(w).sum()
        assert result.dual <= value
        assert value == pytest.approx(result.primal, rel=1e-6)
        np.testing.assert_array_equal(result.w != 0, w != 0)
        np.testing.assert_allclose(result.w, w, atol=1e-3)


@each_loss
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_agrees_with_another_solver_with_intercept(phi, C):
    X, y = data(phi, 60, 10)
    s = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 60)
    result = solved(phi, X, y, C, intercept=True, sample_weight=s)
    least = reference(phi, X, y, C, s=s)
    assert result.dual <= least * (1 + 1e-9)
    assert result.primal == pytest.approx(least, rel=1e-5)


@each_loss
def test_scales_and_signs(phi):
    X, y = data(phi, 60, 10)
    result = solved(phi, X, y, 1.0, intercept=True, nonnegative=True, scale=2.5)
    assert (result.w[:-1] >= 0).all()
    assert result.primal == pytest.approx(reference(phi, X, y, 1.0, r=2.5, held=True), rel=1e-5)


@each_loss
def test_dense_sparse_and_single_precision(phi):
    X, y = data(phi)
    X[np.abs(X) < 0.5] = 0.0
    X = X.astype(np.float32)
    results = [
        solved(phi, matrix, y, 1.0, tol=1e-6, intercept=True)
        for matrix in (X, sp.csr_array(X), X.astype(float), sp.csc_array(X.astype(float)))
    ]
    assert max(result.dual for result in results) <= min(result.primal for result in results)


def test_single_precision_stays():
    X, y = data(SquaredHinge())
    problem = oneslack.L1Problem(Linear(30, SquaredHinge()), sp.csr_array(X.astype(np.float32)), y)
    assert problem.columns.turned.matrix.dtype == np.float32
    assert problem.columns.rows(np.arange(3), np.ones(120))[0].dtype == np.float32


@pytest.mark.parametrize("phi", SMOOTH[:2], ids=str)
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_working_sets_and_screening(phi, is_sparse, intercept, monkeypatch):
    """With more features than the first working set has, and by columns instead of a Gram matrix."""
    X, y = data(phi, 80, 400, seed=1)
    X[np.abs(X) < 1.0] = 0.0
    if is_sparse:
        X = sp.csr_array(X)
    results = [solved(phi, X, y, 10.0, intercept=intercept)]
    monkeypatch.setattr(quadratic, "LARGEST_GRAM", 0)
    results.append(solved(phi, X, y, 10.0, intercept=intercept))
    monkeypatch.setattr(feature_descent, "FEW", 1000)
    results.append(solved(phi, X, y, 10.0, intercept=intercept))
    assert max(result.dual for result in results) <= min(result.primal for result in results)


def test_bounds_at_every_step():
    X, y = data(SquaredHinge(), 80, 400, seed=1)
    problem = oneslack.L1Problem(Linear(400, SquaredHinge(), True), X, y, C=10.0)
    result = oneslack.solve(problem, tol=1e-9)
    assert all(row.dual <= result.primal and row.primal >= result.dual for row in result.trace)
    assert (np.diff(result.trace.column("dual")) >= 0).all()
    assert (np.diff(result.trace.column("primal")) <= 0).all()


def test_features_that_are_screened_are_0():
    X, y = data(Logistic(), 80, 400, seed=2)
    problem = oneslack.L1Problem(Linear(400, Logistic()), X, y, C=0.1)
    result = oneslack.solve(problem, tol=1e-10)
    alive = result.state["alive"]
    assert len(alive) < 400
    tight = solved(Logistic(), X, y, 0.1, tol=1e-12)
    assert set(np.flatnonzero(tight.w)) <= set(alive)


@pytest.mark.parametrize("C", [1e-6, 1e-3])
@each_loss
def test_no_weight_at_small_C(phi, C):
    """w = 0 is best, and the first step proves it but for rounding."""
    X, y = data(phi)
    result = solved(phi, X, y, C, tol=1e-9, intercept=True)
    assert not result.w[:-1].any()
    assert result.n_iter == 1


@pytest.mark.parametrize("phi", SMOOTH[:2], ids=str)
def test_degenerate_columns_and_rows(phi):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.choice([-1.0, 1.0], 40)
    X[:, 0] = 0.0
    X[:, 2] = X[:, 1]
    X[:, 3] = 1.0
    X[:5] = 0.0
    for intercept in (False, True):
        for C in (0.1, 10.0, 1e4):
            for matrix in (X, sp.csr_array(X)):
                result = solved(phi, matrix, y, C, tol=1e-6, intercept=intercept)
                assert result.w[0] == 0
        assert result.primal == pytest.approx(reference(phi, X, y, 1e4, intercept), rel=1e-5)


def test_separable_at_huge_C():
    X, y = np.array([[1.0, 0.3], [2.0, -0.1], [-1.0, 0.2], [-0.5, -0.4]]), np.array([1.0, 1, -1, -1])
    for phi in SMOOTH[:2]:
        for intercept in (False, True):
            result = solved(phi, X, y, 1e6, tol=1e-4, intercept=intercept)
            assert (np.sign(X @ result.w[:2] + (result.w[2] if intercept else 0.0)) == y).all()


@pytest.mark.parametrize("phi", SMOOTH[:2], ids=str)
@pytest.mark.parametrize("intercept", [False, True])
def test_one_example(phi, intercept):
    one = np.array([[2.0, 1.0]]), np.array([1.0])
    if intercept and isinstance(phi, Logistic):  # the least P is 0 and is not reached: no relative gap
        result = oneslack.solve(oneslack.L1Problem(Linear(2, phi, True), *one, C=10.0), tol=1e-6)
        assert result.status is oneslack.Status.ROUNDING
        assert result.certified
        assert 0 <= result.primal < 1e-300
        return
    result = solved(phi, *one, 10.0, tol=1e-6, intercept=intercept)
    assert result.w[1] == 0


def test_one_class_only():
    X = np.random.default_rng(0).normal(size=(10, 3))
    result = solved(SquaredHinge(), X, np.ones(10), 1.0, intercept=True)
    assert result.primal == 0
    solved(SquaredHinge(), X, np.ones(10), 1.0)
    solved(Logistic(), X, np.ones(10), 1.0)


def test_no_features_at_all():
    X = sp.csr_array((5, 3))
    result = solved(SquaredHinge(), X, np.array([1.0, 1, 1, -1, -1]), 1.0, intercept=True)
    assert not result.w[:-1].any()


@pytest.mark.parametrize("phi", SMOOTH[:2], ids=str)
def test_a_run_that_is_cut_ends_as_one_that_is_not(phi):
    X, y = data(phi, 80, 400, seed=1)
    for matrix in (X, sp.csr_array(X)):
        problem = oneslack.L1Problem(Linear(400, phi, True), matrix, y, C=10.0)
        whole = oneslack.solve(problem, tol=1e-9)
        for cut in range(1, whole.n_iter, 2):
            first = oneslack.solve(problem, tol=1e-9, max_iter=cut)
            rest = oneslack.solve(problem, tol=1e-9, start=first)
            assert first.n_iter + rest.n_iter == whole.n_iter
            np.testing.assert_array_equal(rest.state["w"], whole.state["w"])


def test_checkpoints(tmp_path):
    X, y = data(Logistic(), 80, 400, seed=1)
    problem = oneslack.L1Problem(Linear(400, Logistic(), True), X, y, C=10.0)
    path = tmp_path / "run"
    whole = oneslack.solve(problem, tol=1e-9)
    oneslack.solve(problem, tol=1e-9, max_iter=4, checkpoint=path)
    rest = oneslack.solve(problem, tol=1e-9, checkpoint=path, resume=True)
    assert rest.n_iter == whole.n_iter
    np.testing.assert_array_equal(rest.w, whole.w)


def test_a_path_over_C():
    X, y = data(SquaredHinge(), 100, 60)
    start, counts = None, []
    for C in (0.01, 0.03, 0.1, 0.3, 1.0):
        problem = oneslack.L1Problem(Linear(60, SquaredHinge(), True), X, y, C=C)
        start = oneslack.solve(problem, tol=1e-6, start=start)
        assert start.gap <= 1e-6
        counts.append(np.count_nonzero(start.w[:-1]))
    assert counts[0] < counts[-1]


def test_auto_takes_it_and_says_why():
    X, y = data(SquaredHinge())
    result = oneslack.solve(oneslack.L1Problem(Linear(30, SquaredHinge()), X, y))
    assert result.solver == "proximal_newton"
    assert "L1 penalty" in result.reason


def test_duals_of_the_model_are_balanced_before_they_bound():
    """Where the squared hinge ends, the model's duals lean to one side."""
    height = np.concatenate([np.arange(8) * 0.2 + base for base in (0.0, 5.0, 10.0)])
    X, y = np.column_stack([np.tile(1.0 + 0.1 * np.arange(8), 3), height]), np.repeat([-1.0, -1.0, 1.0], 8)
    result = oneslack.solve(oneslack.L1Problem(Linear(2, SquaredHinge(), True), X, y, C=0.1), tol=1e-8)
    assert result.status is oneslack.Status.CONVERGED
    assert all(row.dual <= result.primal for row in result.trace)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_sums_over_features_are_those_over_rows(is_sparse):
    """Whether features were turned or not, of all of them and of a part."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 9)) < 0.5, rng.normal(size=(50, 9)), 0.0)
    matrix = sp.csr_array(X) if is_sparse else X
    problem = oneslack.L1Problem(Linear(9, Logistic()), matrix, np.sign(rng.normal(size=50)))
    c, d, s = rng.normal(size=50), rng.normal(size=9), rng.random(50)
    plain, turned = problem.columns, problem.columns
    assert turned.turned.matrix.shape == (9, 50)
    places = np.array([1, 4, 5])
    for columns, part in ((plain, X), (turned, X), (turned.part(places), X[:, places])):
        np.testing.assert_allclose(columns.adjoint(c), c @ part)
        np.testing.assert_allclose(columns.scores(d[: part.shape[1]]), part @ d[: part.shape[1]])
        np.testing.assert_allclose(columns.squares(s, False), s @ part**2)
    h = np.where(np.arange(50) % 3, 0.0, s)
    gram = quadratic.Gram(turned, places, h)
    np.testing.assert_allclose(gram.H, (X[:, places].T * h) @ X[:, places])
    np.testing.assert_allclose(gram.cross, h @ X[:, places])


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_the_minimum_of_a_model_is_one(is_sparse, has_bias):
    """No subgradient of m is far from 0, of the features that a Gram matrix was made of where it was, and the
    duals ahead are those of the model.  Losses that are straight lines have a slope but no curvature."""
    rng = np.random.default_rng(3)
    X = np.where(rng.random((200, 80)) < 0.3, rng.normal(size=(200, 80)), 0.0)
    problem = oneslack.L1Problem(
        Linear(80, Logistic(), has_bias), sp.csr_array(X) if is_sparse else X, np.sign(rng.normal(size=200))
    )
    columns, a = problem.columns, rng.normal(size=200)
    h = np.where(rng.random(200) < 0.3, rng.random(200), 0.0)
    w, r, held = np.where(rng.random(80) < 0.2, 1.0, 0.0), np.full(80, 2.0), rng.random(80) < 0.2
    damp = np.full(80, 0.1)
    earlier = (np.arange(80), h, np.inf, 0.0)
    for known in (columns.known(), columns.known(earlier)):
        found = columns.minimum(
            a, h, (w, r, held), damp, has_bias, known, share=0.3, tight=1e-9, far=np.inf, sweeps=10_000
        )
        z = X @ found.d + found.b
        np.testing.assert_allclose(found.z, z, atol=1e-10)
        np.testing.assert_allclose(found.ahead, a - h * z, atol=1e-10)
        q = -(found.ahead @ X) + damp * found.d
        part = np.arange(80) if known.start[0] is None else known.start[0]
        assert quadratic.violations(w + found.d, q, r, held)[part].max() <= 1e-8
        assert not has_bias or abs(found.ahead.sum()) <= 1e-8
    assert len(part) == 80


def test_a_gram_matrix_is_due_where_few_examples_are_curved():
    """Sweeps over so few numbers cost less than those over their Gram matrix, but do not end."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 60)) + 0.01 * rng.normal(size=(300, 60))
    problem = oneslack.L1Problem(Linear(60, SquaredHinge()), sp.csr_array(X), np.sign(rng.normal(size=300)))
    h = np.where(np.arange(300) < 30, 2.0, 0.0)
    penalty = np.zeros(60), np.ones(60), np.zeros(60, bool)
    known = problem.columns.known()
    problem.columns.minimum(
        100.0 * h * rng.normal(size=300), h, penalty, np.full(60, 1e-9), False, known,
        share=0.3, tight=1e-9, far=np.inf, sweeps=10_000,
    )  # fmt: skip
    assert known.start[0] is not None
