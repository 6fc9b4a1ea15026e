"""Rows that are far from the origin or from each other, columns of very unequal size: no digits are lost.

The truth is computed by differences of the rows as they are, in float64, one pair at a time.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import Kernel, KernelFeatures, KernelSVC, load
from oneslack.estimators._shared import kernel_inputs
from oneslack.kernels import mercer

DISTANCE = {"rbf": np.square, "laplacian": np.abs}


def truth(name, A, B, gamma=1.0):
    A, B = np.asarray(A, np.float64), np.asarray(B, np.float64)
    with np.errstate(over="ignore"):
        return np.exp(-gamma * DISTANCE[name](A[:, None] - B[None]).sum(axis=2))


def clusters(apart, n=40, dtype=np.float64):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2 * n, 2))
    X[n:] += apart
    return X.astype(dtype), np.where(rng.random(2 * n) < 0.5, 1, -1)


SETS = {
    "near": (lambda dtype: clusters(1.0, dtype=dtype)[0], 1.0),
    "far from the origin": (lambda dtype: (1e8 + np.arange(60.0)[:, None] % 7).astype(dtype), 0.1),
    "two clusters": (lambda dtype: clusters(1e7, dtype=dtype)[0], 1.0),
    "a cluster of small numbers and a far one": (
        lambda dtype: np.vstack([1e-3 * clusters(0.0)[0], [[1e8, 1e8]]]).astype(dtype),
        1e6,
    ),
    "columns of unequal size": (lambda dtype: (clusters(0.0)[0] * [1e8, 1e-8]).astype(dtype), 1e-16),
    "one row far out": (lambda dtype: np.vstack([clusters(0.0)[0], [[1e30, 0.0]]]).astype(dtype), 1.0),
    "tiny": (lambda dtype: (1e-8 * clusters(2.0)[0]).astype(dtype), 1e16),
}


@pytest.mark.grid(2)
@pytest.mark.parametrize("values", [np.float64, np.float32])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", DISTANCE)
@pytest.mark.parametrize("rows", SETS)
def test_values_keep_their_digits(rows, name, form, dtype, values):
    make, gamma = SETS[rows]
    X = make(dtype)
    expected = truth(name, X, X, gamma)
    kernel = Kernel(name, gamma).fitted(form(X))
    kernel = kernel.narrowed(form(X)) if values == np.float32 else kernel
    a = kernel.inputs(form(X))
    tolerance = 1e-9 if kernel.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(kernel.values(a, a), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("wide", [100_000, 10])
@pytest.mark.parametrize("apart", [1e4, 1e7, 1e12])
@pytest.mark.parametrize("name", DISTANCE)
def test_the_certificate_is_of_the_kernel_that_was_asked_for(monkeypatch, name, apart, wide):
    """Two clusters 1e7 apart: the dual was above the true P."""
    monkeypatch.setattr(kernel_inputs, "WIDE", wide)  # float32 from here on
    X, y = clusters(apart)
    model = KernelSVC(kernel=name, gamma=1.0, C=0.2, tol=1e-6).fit(X, y)
    K, c = truth(name, X, X), np.zeros(len(X))
    c[model.support_] = model.dual_coef_[0]
    primal = 0.5 * c @ K @ c + 0.2 * np.maximum(1 - y * (K @ c), 0).sum()
    dual = float(c @ y) - 0.5 * c @ K @ c  # alpha_i = c_i y_i, of the box: feasible
    assert ((c * y >= 0) & (c * y <= 0.2 * (1 + 1e-12))).all()
    rough = 1e-9 if wide > 10 else 1e-5
    assert model.objective_ == pytest.approx(primal, rel=rough)
    assert model.dual_objective_ == pytest.approx(dual, rel=rough)
    np.testing.assert_allclose(model.decision_function(X), K @ c, atol=10 * rough)


def test_new_rows_are_seen_as_the_old_ones(monkeypatch, tmp_path):
    """Also from a file, also sparse ones that are not unpacked at once, also those that are far out."""
    for apart in (0.0, 1e7):
        X, y = clusters(apart)
        model = KernelSVC(gamma=1.0).fit(X, y)
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert again._kernel.direct == model._kernel.direct == (apart > 0)
        new = np.vstack([X + 0.1, [[1e300, -1e300], [1e200, 0.0], [1e5, 1e5]]])
        scores = truth("rbf", new, model.support_vectors_) @ model.dual_coef_[0]
        for form in (np.asarray, sp.csr_array):
            monkeypatch.setattr(mercer, "DENSE_BYTES", 0)
            np.testing.assert_allclose(model.decision_function(form(new)), scores, atol=1e-8)
            np.testing.assert_array_equal(
                again.decision_function(form(new)), model.decision_function(form(new))
            )


def test_features_of_a_basis_keep_their_digits():
    X, _ = clusters(1e7)
    Z = KernelFeatures(gamma=1.0, n_basis=80).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, truth("rbf", X, X), atol=1e-6)


def test_inner_products_are_narrow_only_about_the_origin():
    X, _ = clusters(0.0)
    assert Kernel("linear").narrowed(X).dtype == np.float32
    assert Kernel("linear").narrowed(X + 100.0).dtype == np.float64
    assert Kernel("linear").narrowed(sp.csr_array(X + 100.0)).dtype == np.float64
    K = X @ X.T
    assert Kernel("precomputed").narrowed(K).dtype == np.float64
    assert Kernel("precomputed").narrowed(K.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_variance_of_weighted_rows_keeps_its_digits(form):
    X, weights = 1e8 + np.arange(12.0).reshape(6, 2), np.array([1, 2, 3, 1, 2, 1])
    expected = np.var(np.repeat(X, weights, axis=0))
    assert kernel_inputs._variance(form(X), weights) == pytest.approx(expected, rel=1e-6)
    X[0] = 0.0
    expected = np.var(np.repeat(X, weights, axis=0))
    assert kernel_inputs._variance(form(X), weights) == pytest.approx(expected, rel=1e-6)


def test_values_that_are_no_numbers_are_refused():
    X, y = clusters(1.0)
    with pytest.raises(ValueError, match=r"degree=20 overflows where .* is 1\.\d+e\+\d+; scale X"):
        KernelSVC(kernel="poly", gamma=1.0, degree=20).fit(1e10 * X, y)
    model = KernelSVC(kernel="poly", gamma=0.1, degree=20, tol=0.1).fit(X, y)
    with pytest.raises(ValueError, match="scale X, or use a smaller gamma or degree"):
        model.predict(1e20 * X)


@pytest.mark.parametrize("method", ["linear", "constant"])
def test_values_beyond_float32_are_kept_as_they_are(method):
    X, y = clusters(1.0)
    model = KernelSVC(kernel="poly", gamma=1.0, degree=3, method=method, C=1e-40, max_iter=200, tol=0.5)
    model.fit(1e8 * X, y)
    assert model.result_.dual <= model.result_.primal < np.inf
    assert np.isfinite(model.decision_function(1e8 * X)).all()
