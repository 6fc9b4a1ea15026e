"""Passes over blocks of dense rows, through products of matrices, are the passes over single rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import LinearSVC, Multiclass, Problem, check_certificate, solve
from oneslack._jit.multiclass_blocks import block_pass, dense_scores
from oneslack._jit.multiclass_dual import dual_pass
from oneslack._jit.rows import class_scores
from oneslack.data.rows import compiled_view
from oneslack.models.linear.multiclass_dual import MulticlassDual
from oneslack.models.linear.rows import has_long_rows

N = 90


def drawn(K, d=40, dtype=float, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=N)
    X = (rng.normal(size=(N, d)) + rng.normal(size=(K, d))[y]).astype(dtype)
    X[3] = 0.0  # an empty row
    weights = rng.uniform(0.2, 2.0, N)
    weights[::11] = 0.0
    return X, y, weights


class Course:
    """Passes of one loop, from zero."""

    def __init__(self, loop, X, y, upper, L, W):
        n, K = len(y), len(L)
        self.loop, self.view, self.y, self.upper, self.L, self.W = loop, compiled_view(X), y, upper, L, W
        exact = (X.toarray() if sp.issparse(X) else X).astype(float)
        self.norm2 = (exact**2).sum(axis=1)
        self.alpha = np.zeros((n, K))
        self.alpha[np.arange(n), y] = upper
        self.bias = np.zeros(K)
        self.classes = np.tile(np.arange(K, dtype=np.int32), (n, 1))
        self.n_classes = np.full(n, K, np.int32)
        self.active, self.kept, self.count = np.arange(n), np.empty(n, np.int64), n
        self.zone, self.state = np.inf, np.array([12345], np.uint64)

    def run(self, scale, rate, block):
        self.count, *sums = self.loop(
            self.view, self.y, self.upper, self.L, self.norm2, scale, rate, self.alpha, self.W, self.bias,
            self.classes, self.n_classes, self.active, self.count, self.kept, block, self.zone, self.state,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        self.zone = 0.1 * sums[-1]
        return sums


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("K", "block"), [(3, 16), (24, 16), (24, 64), (60, 128)])
@pytest.mark.parametrize(
    ("scale", "rate", "has_costs"), [(1.0, 0.0, False), (0.3, 0.0, True), (1.0, 2.0, True)]
)
def test_a_block_pass_is_the_pass_row_by_row(kind, dtype, K, block, scale, rate, has_costs):
    X, y, weights = drawn(K, dtype=dtype)
    L = 1.0 - np.eye(K)
    if has_costs:
        L *= np.random.default_rng(1).uniform(0.5, 3.0, (K, K))
    d = X.shape[1]
    rows = X if kind == "dense" else sp.csr_array(X)
    one = Course(dual_pass, rows, y, 0.3 * weights, L, np.zeros((d, K)))
    other = Course(block_pass, X, y, 0.3 * weights, L, np.zeros((K, d)))
    for _ in range(6):
        np.testing.assert_allclose(
            one.run(scale, rate, block), other.run(scale, rate, block), rtol=1e-8, atol=1e-9
        )
        assert one.count == other.count
        np.testing.assert_array_equal(one.active[: one.count], other.active[: other.count])
        np.testing.assert_array_equal(one.n_classes, other.n_classes)
        np.testing.assert_allclose(one.alpha, other.alpha, atol=1e-9)
        np.testing.assert_allclose(one.W, other.W.T, atol=1e-9)
        np.testing.assert_allclose(one.bias, other.bias, atol=1e-9)
    assert np.ptp(other.n_classes) > 0  # some were left out


def test_weights_are_what_the_duals_sum_up_to():
    X, y, weights = drawn(30)
    K, upper = 30, 0.3 * weights
    course = Course(block_pass, X, y, upper, 1.0 - np.eye(K), np.zeros((K, X.shape[1])))
    for _ in range(4):
        course.run(1.0, 0.0, 32)
    shifted = upper[:, None] * np.eye(K)[y] - course.alpha
    np.testing.assert_allclose(course.W, shifted.T @ X, atol=1e-10)
    np.testing.assert_allclose(course.alpha.sum(axis=1), upper, rtol=1e-12)
    assert course.alpha.min() >= 0.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_by_products_are_scores(dtype):
    X, _, _ = drawn(7, dtype=dtype)
    rng = np.random.default_rng(2)
    W, bias = rng.normal(size=(X.shape[1], 7)), rng.normal(size=7)
    one, other = np.zeros((N, 7)), np.zeros((N, 7))
    class_scores(compiled_view(X), W, bias, 5, 81, one)
    dense_scores(compiled_view(X)[0], W, bias, 5, 81, other)
    np.testing.assert_allclose(one, other, atol=1e-12)
    assert not other[:5].any()
    assert not other[81:].any()


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_and_sparse_rows_have_one_optimum(dtype, intercept):
    X, y, weights = drawn(5, dtype=dtype)
    fitted = []
    for rows in (X, sp.csr_array(X)):
        assert has_long_rows(rows) == isinstance(rows, np.ndarray)
        model = LinearSVC(0.1, tol=1e-6, solver="dual_cd", fit_intercept=intercept)
        fitted.append(model.fit(rows, y, weights))
        check_certificate(model, rows, y, weights)
    assert max(m.dual_objective_ for m in fitted) <= min(m.objective_ for m in fitted)
    assert max(m.duality_gap_ for m in fitted) <= 1e-6


def test_an_interrupted_run_of_blocks_goes_on():
    X, y, _ = drawn(6)
    problem = Problem(Multiclass(X.shape[1], 6), X, y, C=1.0)
    whole = solve(problem, "dual_cd", tol=0.0, max_iter=20)
    part = solve(problem, "dual_cd", tol=0.0, max_iter=9)
    both = solve(problem, "dual_cd", tol=0.0, max_iter=11, start=part)
    np.testing.assert_allclose(whole.dual, both.dual, rtol=1e-12)


def test_rows_that_are_mapped_from_a_file(tmp_path):
    X, y, _ = drawn(4, dtype=np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    one, other = (LinearSVC(0.1, tol=1e-4).fit(rows, y) for rows in (X, mapped))
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_prior_scales_and_signs_go_row_by_row():
    X, y, _ = drawn(4)
    plain = Problem(Multiclass(X.shape[1], 4), X, y, C=0.1)
    held = Problem(Multiclass(X.shape[1], 4), X, y, C=0.1, nonnegative=True)
    assert MulticlassDual(plain.model, plain.data, 0.1, 1, plain.regulariser).has_blocks
    assert not MulticlassDual(held.model, held.data, 0.1, 1, held.regulariser).has_blocks
    prior = np.full((4, X.shape[1]), 0.1)
    model = LinearSVC(0.1, tol=1e-6, solver="dual_cd", fit_intercept=False, prior=prior).fit(X, y)
    check_certificate(model, X, y)
    assert model.duality_gap_ <= 1e-6
