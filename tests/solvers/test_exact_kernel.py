"""Rows of the kernel in exact training: the same whether they are remembered or computed."""

import numpy as np
import pytest
from kernel_toys import IRIS, KIND, RBF, X, Y, problem_of

from oneslack import ExactKernel, Kernel
from oneslack._jit.kernel_dual import box_block, box_gaps
from oneslack.solvers.kernel import exact
from oneslack.solvers.kernel.exact import ComputedRows, RowCache

SETS = {"two classes": (X, Y), "three classes": (IRIS, KIND)}


@pytest.mark.parametrize("kind", [RowCache, ComputedRows])
@pytest.mark.parametrize("name", SETS)
def test_rows_add_the_product_with_the_kernel(kind, name):
    problem = problem_of(RBF, *SETS[name])
    index = np.array([3, 4, 20])
    change = np.random.default_rng(0).standard_normal((3, problem.slots))
    change[1, 0] = 0.0
    K, S = problem.kernel.values(problem.inputs, problem.inputs), np.ones((problem.n, problem.slots))
    rows = kind(problem, 16)
    rows.add(index, change, S)
    np.testing.assert_allclose(S, 1.0 + K[:, index] @ change, rtol=1e-12)
    np.testing.assert_allclose(rows.between(index), K[np.ix_(index, index)], rtol=1e-12)


def test_only_rows_of_examples_that_moved_are_computed(monkeypatch):
    monkeypatch.setattr(exact, "_rows_of", RowCache)
    problem = problem_of(RBF, X, Y)
    steps = ExactKernel(block=len(Y)).steps(problem)
    next(steps)
    moved = next(steps).w.index
    assert problem.n_values == len(moved) * problem.n < problem.n**2


def test_short_rows_take_no_memory():
    problem = problem_of(RBF, X, Y)
    assert isinstance(exact._rows_of(problem, 16), ComputedRows)
    wide = problem_of(RBF, np.hstack([X] * 40), Y)
    assert isinstance(exact._rows_of(wide, 16), RowCache)


def test_a_block_of_large_C_and_a_wide_kernel_is_solved():
    """Coordinate steps alone leave a fifth of the gap in as many passes."""
    problem = problem_of(Kernel("rbf", 0.05), X, Y, C=1e3)
    Q = problem.kernel.values(problem.inputs, problem.inputs)
    alpha, S, upper, gaps = np.zeros(len(Y)), np.zeros(len(Y)), np.full(len(Y), 1e3), np.empty(len(Y))
    y = problem.data.y
    box_gaps(y, upper, alpha, S, gaps)
    before = gaps.sum()
    box_block(Q, y, upper, alpha, S, 0.05, 1000)
    box_gaps(y, upper, alpha, Q @ (alpha * y), gaps)
    assert gaps.sum() <= 0.0501 * before
    assert alpha.min() >= 0.0
    assert alpha.max() <= 1e3
