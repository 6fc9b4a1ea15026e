"""Kernels that are not positive semi-definite: nothing is certified, and a warning says why."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_toys import problem_of
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from oneslack import ExactKernel, Kernel, KernelSVC, solve
from oneslack.kernels import definite
from oneslack.kernels.definite import why_indefinite

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.where(rng.random(60) < 0.5, 1, -1)


def sigmoid(A, B):
    return np.tanh(A @ B.T - 1.0)


def why(K):
    kernel = Kernel("precomputed")
    return why_indefinite(kernel, kernel.inputs(K, np.arange(len(K))))


def swapped(K, i, j, value):
    K = K.copy()
    K[i, j] = K[j, i] = value
    return K


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", ["exact", "linear"])
@pytest.mark.parametrize("kernel", ["precomputed", sigmoid])
def test_an_indefinite_kernel_certifies_nothing(kernel, method, intercept):
    """Its dual was above its primal, "certified"."""
    rows = sigmoid(X, X) if kernel == "precomputed" else X
    model = KernelSVC(kernel=kernel, method=method, fit_intercept=intercept, max_iter=3)
    with pytest.warns(
        UserWarning, match=r"not positive semi-definite, so that no bound is certified: k\(x, x\)"
    ):
        model.fit(rows, Y)
    assert not model.certified_


def test_it_is_said_once_for_all_classes():
    many = np.arange(60) % 4
    with pytest.warns(UserWarning, match="no bound is certified") as warned:
        model = KernelSVC(kernel=sigmoid, multi_class="ovr", max_iter=20, tol=1.0).fit(X, many)
    assert [warning.category for warning in warned] == [UserWarning]
    assert warned[0].filename == __file__
    assert not model.certified_


DEFINITE = {
    "linear, of low rank": X @ X.T,
    "rbf": rbf_kernel(X),
    "twice the same rows": rbf_kernel(np.vstack([X, X])),
    "laplacian": laplacian_kernel(X),
    "zeros": np.zeros((5, 5)),
    "ones": np.ones((50, 50)),
    "large and small": (X * [1e8, 1.0, 1e-8]) @ (X * [1e8, 1.0, 1e-8]).T,
    "of unequal scales": rbf_kernel(X)
    * np.outer(10.0 ** (np.arange(60) % 17 - 8), 10.0 ** (np.arange(60) % 17 - 8)),
    "float32": rbf_kernel(X.astype(np.float32)),
    "whole numbers": np.eye(4, dtype=int) + 1,
    "one": np.ones((1, 1)),
}


@pytest.mark.parametrize("name", DEFINITE)
def test_what_rounding_does_is_forgiven(name):
    assert why(DEFINITE[name]) is None


@pytest.mark.parametrize("name", [name for name in DEFINITE if name not in ("one", "zeros")])
def test_more_than_rounding_is_not(name):
    K = np.asarray(DEFINITE[name], dtype=float)
    i, j = 1, 2
    K = swapped(K, i, j, -K[i, j] - 1e-3 * np.sqrt(K[i, i] * K[j, j]) - (2.0 * np.sqrt(K[i, i] * K[j, j])))
    assert "negative square" in why(K)


def test_what_shows_it_is_said():
    K = rbf_kernel(X)
    assert why(swapped(K, 3, 3, -1e-9)) == "k(x, x) is -1e-09 for row 3"
    lame = K.copy()
    lame[4, 7] += 0.5
    assert why(lame) == "k(a, b) and k(b, a) differ for rows 4 and 7"
    assert why(swapped(K, 2, 5, np.nan)) == "k is nan for rows 2 and 5"
    # No pair of rows shows this one: its eigenvalue is 1 - 2 * 0.6.
    ring = np.array([[1.0, -0.6, -0.6], [-0.6, 1.0, -0.6], [-0.6, -0.6, 1.0]])
    assert why(ring) == "some combination of its rows has a negative square"
    assert "negative square" in why(
        np.block([[1e20 * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), ring]])
    )


def test_of_many_rows_a_sample_and_every_pair(monkeypatch):
    monkeypatch.setattr(definite, "CHECKED", 20)
    monkeypatch.setattr(definite, "BLOCK", 7)
    K = rbf_kernel(X)
    assert why(K) is None
    pair = swapped(K, 41, 43, 1.5)  # not of the sample
    assert why(pair) == "k(a, b)^2 is larger than k(a, a) k(b, b) for rows 41 and 43"
    assert why(K - 0.9) == "some combination of its rows has a negative square"


def test_training_that_meets_a_negative_square_says_so(monkeypatch):
    monkeypatch.setattr(definite, "why_indefinite", lambda kernel, inputs: None)
    monkeypatch.setattr("oneslack.problems.kernel.why_indefinite", lambda kernel, inputs: None)
    with pytest.warns(UserWarning, match=r"\|w\|\^2 is -"):
        result = solve(problem_of(Kernel(sigmoid), X, Y), ExactKernel(), max_iter=50)
    assert not result.certified


def test_polynomials():
    for kernel in (
        Kernel("poly", 1.0, 3, 0.0),
        Kernel("poly", 1.0, 2.0, 1.0),
        Kernel("linear"),
        Kernel("rbf"),
    ):
        assert kernel.is_definite
    for kernel in (
        Kernel("poly", 1.0, 3, -1.0),
        Kernel("poly", 1.0, 2.5, 50.0),
        Kernel("poly", -1.0, 3, 0.0),
    ):
        assert not kernel.is_definite
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        assert not KernelSVC(kernel="poly", coef0=-1.0, max_iter=50).fit(X, Y).certified_
    with pytest.raises(ValueError, match=r"degree=2.5 has no value where gamma <a, b> \+ coef0 is negative"):
        KernelSVC(kernel="poly", degree=2.5).fit(X, Y)
    with pytest.raises(ValueError, match="kernel='rbf' needs a gamma >= 0; got -1"):
        Kernel("rbf", -1.0)


def test_a_sparse_matrix_of_values():
    K = rbf_kernel(X) * (np.abs(np.subtract.outer(np.arange(60), np.arange(60))) < 1)
    dense, sparse = (KernelSVC(kernel="precomputed").fit(form(K), Y) for form in (np.asarray, sp.csr_array))
    assert sparse.certified_
    np.testing.assert_allclose(sparse.dual_coef_, dense.dual_coef_)
    np.testing.assert_allclose(sparse.decision_function(sp.csr_array(K)), dense.decision_function(K))
