"""Kernels: values against their definition, products against whole matrices, precision, memory."""

import tracemalloc
from itertools import pairwise as neighbours

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise

from oneslack.datasets import make_checkers
from oneslack.engines import Threads
from oneslack.kernels import blocks, mercer
from oneslack.kernels.mercer import Kernel
from oneslack.kernels.shrink_expansion import shrink

rng = np.random.default_rng(0)
A, B = rng.normal(size=(30, 5)) + 3.0, rng.normal(size=(21, 5)) + 3.0
A[np.abs(A) < 2.5], B[np.abs(B) < 2.5] = 0.0, 0.0

TRUTH = {
    "linear": pairwise.linear_kernel,
    "poly": lambda a, b: (0.3 * a @ b.T + 1.0) ** 2,
    "rbf": lambda a, b: pairwise.rbf_kernel(a, b, gamma=0.3),
    "laplacian": lambda a, b: pairwise.laplacian_kernel(a, b, gamma=0.3),
    "function": lambda a, b: np.minimum(a.sum(1)[:, None], b.sum(1)),
}
FORMS = {"dense": np.asarray, "csr": sp.csr_matrix, "csr array": sp.csr_array}


def kernel_of(name, **options):
    return Kernel(TRUTH[name] if name == "function" else name, 0.3, 2, 1.0, **options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [name for name in TRUTH if name != "function"])
@pytest.mark.parametrize("unpacked", [True, False])
def test_values_are_those_of_the_definition(monkeypatch, name, form, unpacked):
    if not unpacked:
        monkeypatch.setattr(mercer, "DENSE_BYTES", 0)
    expected = TRUTH[name](A, B)
    kernel = kernel_of(name).fitted(FORMS[form](A))
    a, b = kernel.inputs(FORMS[form](A)), kernel.inputs(FORMS[form](B))
    np.testing.assert_allclose(kernel.values(a, b), expected, rtol=1e-11)
    np.testing.assert_allclose(kernel.diagonal(a), np.diag(TRUTH[name](A, A)), rtol=1e-11)
    narrow = kernel_of(name, dtype=np.float32).fitted(FORMS[form](A))
    values = narrow.values(narrow.inputs(FORMS[form](A)), narrow.inputs(FORMS[form](B)))
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, expected, rtol=2e-5)


def test_a_function_and_a_ready_made_matrix():
    kernel = kernel_of("function")
    a, b = kernel.inputs(A), kernel.inputs(B)
    np.testing.assert_array_equal(kernel.values(a, b), TRUTH["function"](A, B))
    np.testing.assert_array_equal(kernel.diagonal(a), np.diag(TRUTH["function"](A, A)))
    K = TRUTH["rbf"](A, A)
    ready = Kernel("precomputed")
    rows = ready.inputs(K, np.arange(30))
    part = np.array([4, 2, 9])
    np.testing.assert_array_equal(ready.values(rows, rows.take(part)), K[:, part])
    np.testing.assert_array_equal(ready.values(rows.take(part), rows), K[part])
    np.testing.assert_array_equal(ready.diagonal(rows.take(part)), np.diag(K)[part])


def test_a_function_that_returns_something_else_is_refused():
    kernel = Kernel(lambda a, b: np.zeros(3))
    with pytest.raises(ValueError, match=r"shape \(3,\) for 30 and 21 rows; expected \(30, 21\)"):
        kernel.values(kernel.inputs(A), kernel.inputs(B))
    with pytest.raises(ValueError, match="kernel='cosine' is not known; use one of linear, poly"):
        Kernel("cosine")


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", TRUTH)
def test_products_are_those_of_the_whole_matrix(monkeypatch, name, jobs):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 4)
    monkeypatch.setattr(blocks, "BLOCK_COLUMNS", 7)
    kernel, c = kernel_of(name), rng.normal(size=(21, 3))
    expected = TRUTH[name](A, B) @ c
    offsets = [0, 0, 3, 4, 15, 15, 21]
    with Threads(jobs) as engine:
        a, b = kernel.inputs(A), kernel.inputs(B)
        np.testing.assert_allclose(kernel.product(a, b, c, engine), expected, rtol=1e-10)
        groups = kernel.grouped_product(a, b, c, offsets, engine)
    for k, (lo, hi) in enumerate(neighbours(offsets)):
        part = TRUTH[name](A, B)[:, lo:hi] @ c[lo:hi]
        np.testing.assert_allclose(groups[k], part, rtol=1e-10, atol=1e-12)


def test_a_product_never_holds_the_matrix():
    X = rng.normal(size=(6000, 3))
    kernel = Kernel("rbf", 0.5, dtype=np.float32).fitted(X)
    inputs = kernel.inputs(X)
    with Threads(1) as engine:
        tracemalloc.start()
        try:
            kernel.product(inputs, inputs, np.ones((6000, 1)), engine)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 6000 * 6000 * 4 / 20


def test_float32_only_where_it_is_good_enough():
    assert Kernel("rbf", 1.0).narrowed(A).dtype == np.float32
    assert Kernel("rbf", 1e6).narrowed(A).dtype == np.float64
    far = A + 1e4
    assert Kernel("rbf", 1.0).narrowed(far).dtype == np.float64
    moved = Kernel("rbf", 1.0).fitted(far).narrowed(far)
    assert moved.dtype == np.float32
    values = moved.values(moved.inputs(far), moved.inputs(far))
    np.testing.assert_allclose(values, pairwise.rbf_kernel(A, gamma=1.0), atol=1e-5)


@pytest.mark.parametrize("bound", [1.0, 0.1, 0.02])
def test_a_shrunk_expansion_keeps_its_promise(bound):
    X, _ = make_checkers(400, random_state=0)
    kernel, c = Kernel("rbf", 1.0), np.random.default_rng(5).normal(size=(400, 2))
    a = kernel.inputs(X)
    with Threads(1) as engine:
        chosen, d, lost = shrink(kernel, a, c, bound, None, engine)
    assert len(set(chosen.tolist())) == len(chosen) < 400
    K = kernel.values(a, a)
    rest = c.copy()
    rest[chosen] -= d
    norms = np.sqrt(np.maximum(np.einsum("ij,ij->j", rest, K @ rest), 0.0))
    assert norms.max() <= lost + 1e-6 <= bound + 1e-4
    everywhere = kernel.values(kernel.inputs(rng.uniform(-3, 3, (500, 2))), a) @ rest
    assert np.abs(everywhere).max() <= lost + 1e-6


def test_a_shrunk_expansion_obeys_its_size():
    X, _ = make_checkers(200, random_state=0)
    kernel = Kernel("rbf", 1.0)
    with Threads(1) as engine:
        chosen, _, lost = shrink(kernel, kernel.inputs(X), rng.normal(size=(200, 1)), 1e-6, 10, engine)
        nothing, d, gone = shrink(kernel, kernel.inputs(X), np.zeros((200, 1)), 1e-6, 10, engine)
    assert len(chosen) == 10
    assert lost > 1e-6
    assert len(nothing) == len(d) == 0
    assert gone == 0.0


def test_checkers():
    X, y = make_checkers(20_000, noise=0.0, random_state=0)
    assert set(y.tolist()) == {-1, 1}
    assert abs(y.mean()) < 0.03
    assert np.abs(X).max() <= 2.0
    np.testing.assert_array_equal(y, np.where((np.floor(X[:, 0]) + np.floor(X[:, 1])) % 2 == 0, 1, -1))
    noisy, labels = make_checkers(20_000, noise=0.02, random_state=0)
    flipped = np.mean(labels != np.where(np.floor(noisy).sum(axis=1) % 2 == 0, 1, -1))
    assert 0.018 < flipped < 0.032
    again, _ = make_checkers(20_000, noise=0.02, random_state=0)
    np.testing.assert_array_equal(noisy, again)
