"""Chains with a kernel: the same optimum as on explicit features, true bounds, decoding, messages."""

import doctest
import importlib
from dataclasses import replace

import numpy as np
import pytest

from oneslack import (
    BasisFunctions,
    Binary,
    Chain,
    ExactKernel,
    Kernel,
    KernelChainProblem,
    Problem,
    SampledCuts,
    solve,
)
from oneslack.data.rows import Ragged
from oneslack.solvers.kernel.sampled_cuts import best_duals
from oneslack.solvers.kernel.sampled_planes import SampledPlanes


def words(n, seed, n_labels=3):
    """Tokens of a ring whose label is that of the angle, or of the token before."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 6, n))])
    values = rng.normal(size=(offsets[-1], 2))
    labels = ((np.arctan2(*values.T) + np.pi) / (2 * np.pi + 1e-9) * 2 * n_labels).astype(int) % n_labels
    return Ragged(values, offsets), Ragged(labels, offsets)


X, Y = words(30, 0)
KERNELS = {"rbf": Kernel("rbf", 1.0), "linear": Kernel("linear"), "poly": Kernel("poly", 0.5, 2, 1.0)}
CHAINS = {
    "pairs": Chain(2, 3),
    "triples": Chain(2, 3, order=2, start=True, end=True),
    "costs": Chain(2, 3, label_losses=np.array([[0.0, 1, 2], [3, 0, 1], [1, 1, 0]])),
}


def explicit(kernel, rows):
    """Features with the kernel's products."""
    inputs = kernel.inputs(rows)
    values, vectors = np.linalg.eigh(kernel.values(inputs, inputs))
    return vectors * np.sqrt(np.maximum(values, 0.0))


@pytest.mark.parametrize(
    ("name", "chain"),
    [("rbf", "pairs"), ("rbf", "triples"), ("rbf", "costs"), ("linear", "pairs"), ("poly", "triples")],
)
def test_it_is_the_chain_on_explicit_features(name, chain):
    Z = explicit(KERNELS[name], X.values)
    model, weights = CHAINS[chain], np.arange(30) % 3 / 2.0
    features = Ragged(Z, X.offsets)
    linear = solve(
        Problem(replace(model, n_features=Z.shape[1]), features, Y, 0.5, sample_weight=weights), tol=1e-4
    )
    problem = KernelChainProblem(model, KERNELS[name], X, Y, 0.5, sample_weight=weights)
    result = solve(problem, SampledCuts("linear", 1000), tol=1e-3, max_iter=2000)
    assert result.status.ok
    assert not result.certified
    assert linear.dual * (1 - 1e-6) <= result.primal <= linear.primal * (1 + 2e-3)
    bound = best_duals(problem, SampledPlanes.of_state(result.state["planes"]), 1e9)[2]
    assert 0.9 * linear.dual <= bound <= linear.primal * (1 + 1e-6)
    assert problem.primal(replace(result.w, norm2=None)) == pytest.approx(result.primal, rel=1e-5)


def test_slopes_are_those_of_the_risk():
    problem, rng = KernelChainProblem(CHAINS["triples"], KERNELS["rbf"], X, Y), np.random.default_rng(1)
    S, dS = rng.normal(size=(2, problem.n, 3))
    c, loss = problem.cut_at(S)
    assert loss - np.sum(c * S) == pytest.approx(problem.risk_at(S))
    risk, slope = problem.along(S, dS, 0.3)
    assert risk == pytest.approx(problem.risk_at(S + 0.3 * dS))
    h = 1e-7
    between = (problem.risk_at(S + (0.3 + h) * dS) - problem.risk_at(S + (0.3 - h) * dS)) / (2 * h)
    assert slope == pytest.approx(between, abs=1e-4)


def test_products_are_those_of_the_whole_matrix():
    problem, rng = KernelChainProblem(CHAINS["pairs"], KERNELS["rbf"], X, Y), np.random.default_rng(2)
    N, K = problem.n_nodes, np.eye(problem.n)
    K[:N, :N] = KERNELS["rbf"].values(problem.inputs, problem.inputs)
    index, rows = rng.integers(0, problem.n, (2, 20))
    c = rng.normal(size=(20, 4))
    np.testing.assert_allclose(problem.product(None, index, c), K[:, index] @ c, atol=1e-12)
    np.testing.assert_allclose(problem.product(rows, index, c), K[np.ix_(rows, index)] @ c, atol=1e-12)


def test_samples_learn_what_no_linear_chain_does():
    train, labels = words(300, 3)
    new, truth = words(100, 4)
    problem = KernelChainProblem(Chain(2, 3), Kernel("rbf", 1.0), train, labels, 3.0, n_jobs=2)
    with problem.engine:
        result = solve(problem, SampledCuts("linear", 100), epsilon=0.02, max_iter=500)
        assert result.status.ok
        right = np.mean(problem.decode(result.w, new).values == truth.values)
        assert right > 0.9
        assert problem.decode(result.w, []).values.shape == (0,)
    linear = solve(Problem(Chain(2, 3), train, labels, 3.0), tol=1e-2)
    assert np.mean([np.mean(Chain(2, 3).decode(linear.w, new[i]) == truth[i]) for i in range(100)]) < 0.7


def test_sentences_for_what_does_not_fit():
    with pytest.raises(ValueError, match="kernels on tokens need a chain; Binary lacks n_labels"):
        KernelChainProblem(Binary(2), KERNELS["rbf"], X, Y)
    with pytest.raises(ValueError, match="a chain needs the rows of its tokens"):
        KernelChainProblem(Chain(2, 3), Kernel("precomputed"), X, Y)
    with pytest.raises(ValueError, match="sentence 0 has tokens without a label"):
        KernelChainProblem(Chain(2, 3), KERNELS["rbf"], X, Ragged(np.full(len(Y.values), -1), Y.offsets))
    with pytest.raises(ValueError, match="C must be a positive number"):
        KernelChainProblem(Chain(2, 3), KERNELS["rbf"], X, Y, 0.0)
    problem = KernelChainProblem(Chain(2, 3), KERNELS["rbf"], X, Y)
    for solver in (ExactKernel(), BasisFunctions(5), SampledCuts("constant")):
        with pytest.raises(
            ValueError, match=r"lacks examples that are one row each. Use SampledCuts\('linear'\)"
        ):
            solve(problem, solver)


def test_the_example_of_the_docstring():
    outcome = doctest.testmod(importlib.import_module("oneslack.problems.kernel_chains"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
