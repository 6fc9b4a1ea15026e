"""Samples that stand for a cut: the right mean, and less noise where they are spread."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from oneslack import Binary, Kernel, KernelProblem, Multiclass
from oneslack.datasets import make_checkers
from oneslack.kernels.near_rows import coordinates, near_order
from oneslack.solvers.kernel.cut_samples import SpreadSample, random_sample, sampler_of

X, Y = make_checkers(2000, random_state=0)


def test_every_first_one_together_give_the_cut_itself():
    rng = np.random.default_rng(1)
    c = rng.normal(size=(60, 2)) * rng.exponential(size=(60, 1))
    c[::3] = 0.0
    lacking = np.flatnonzero(c.any(axis=1))
    sample, total, rounds = SpreadSample(rng.permutation(60)), np.zeros_like(c), 4000
    for k in range(rounds):
        first = SimpleNamespace(random=lambda k=k: (k + 0.5) / rounds)
        support, coefficients = sample(first, lacking, c, 7)
        assert len(np.unique(support)) == len(support) <= 7
        np.add.at(total, support, coefficients / rounds)
    np.testing.assert_allclose(total, c, atol=1e-2 * np.abs(c).max())


def test_all_are_taken_where_they_are_few():
    c = np.ones((5, 1))
    support, coefficients = SpreadSample(np.arange(5))(None, np.arange(5), c, 10)
    np.testing.assert_array_equal(support, np.arange(5))
    np.testing.assert_array_equal(coefficients, c)


def noise(problem, draw, c, size=100):
    """The mean squared error of a sample's scores."""
    exact = problem.product(None, np.arange(problem.n), c)
    lacking, errors = np.flatnonzero(c.any(axis=1)), []
    for seed in range(10):
        support, coefficients = draw(np.random.default_rng(seed), lacking, c, size)
        errors.append(np.mean((problem.product(None, support, coefficients) - exact) ** 2))
    return np.mean(errors)


@pytest.mark.parametrize("form", ["dense", "sparse", "wide"])
def test_spread_samples_are_less_noisy(form):
    rows = {
        "dense": X,
        "sparse": sp.csr_array(X + 1.0),
        "wide": X @ np.random.default_rng(0).normal(size=(2, 20)) / 20**0.5,
    }[form]
    problem = KernelProblem(Binary(0), Kernel("rbf", 5.0), rows, Y)
    c = np.where(np.random.default_rng(2).random(2000) < 0.6, Y, 0.0)[:, None] / 2000
    spread = sampler_of(problem, 100, True)
    assert isinstance(spread, SpreadSample)
    assert noise(problem, spread, c) < 0.4 * noise(problem, random_sample, c)


def test_many_classes_are_kept_apart():
    y = np.arange(2000) % 5
    spread = sampler_of(KernelProblem(Multiclass(0, 5), Kernel("rbf", 5.0), X, y), 100, True)
    c = np.zeros((2000, 5))
    c[np.arange(2000), y] = 1.0
    support, _ = spread(np.random.default_rng(0), np.arange(2000), c, 100)
    assert np.bincount(y[support]).tolist() == [20] * 5


@pytest.mark.parametrize("kernel", ["matrix", "function"])
def test_without_rows_of_numbers_samples_are_drawn(kernel):
    K = X[:300] @ X[:300].T
    name, rows = ("precomputed", K) if kernel == "matrix" else (lambda A, B: A @ B.T, X[:300])
    problem = KernelProblem(Binary(0), Kernel(name), rows, Y[:300])
    assert sampler_of(problem, 100, True) is random_sample


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
def test_the_order_has_everyone_once_and_neighbours_near(n):
    Z = np.random.default_rng(3).random((n, 2))
    order = near_order(Z, 256)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    if n == 1000:
        steps = np.linalg.norm(np.diff(Z[order], axis=0), axis=1)
        assert steps.mean() < 0.25 * np.linalg.norm(np.diff(Z, axis=0), axis=1).mean()


def test_sparse_rows_have_the_coordinates_of_dense_ones():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(500, 30)) * 0.8 ** np.arange(30) * (rng.random((500, 30)) < 0.3)
    dense, sparse = coordinates(rows), coordinates(sp.csr_array(rows))
    assert sparse.shape == dense.shape == (500, 8)
    for Z in (dense, sparse):
        Z -= Z.mean(axis=0)
    shared = np.abs(dense.T @ sparse) / np.outer(*(np.linalg.norm(Z, axis=0) for Z in (dense, sparse)))
    np.testing.assert_allclose(shared.max(axis=0), 1.0, atol=1e-6)
    np.testing.assert_allclose(np.sort(dense.var(axis=0)), np.sort(sparse.var(axis=0)), rtol=1e-6)


def test_alike_rows_have_an_order():
    rows = sp.csr_array(np.ones((50, 20)))
    np.testing.assert_array_equal(np.sort(near_order(coordinates(rows), 16)), np.arange(50))
