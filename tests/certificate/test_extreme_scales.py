"""Very short rows, empty ones, and weights near 0: steps are taken, bounds are finite and true."""

import numpy as np
import pytest

from oneslack import (
    Binary,
    Chain,
    ConstraintProblem,
    DualCD,
    ExactKernel,
    Kernel,
    KernelProblem,
    LinearSVC,
    Multiclass,
    OneSlack,
    Problem,
    Regression,
    solve,
)
from oneslack._jit.multiclass import project_simplex

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
SIGNS, CLASSES = np.where(np.arange(12) % 2, 1, -1), np.arange(12) % 3
#: Each row has a scale of its own, some of them none.
MIXED = X * np.array([1e-200, 1e-160, 1e-6, 1, 1e6, 1e3, 0, 1e-320, 1e-3, 1e-10, 1e-100, 1])[:, None]
ROWS = {"1e-6": 1e-6 * X, "1e-160": 1e-160 * X, "denormal": 1e-320 * X, "0": 0 * X, "mixed": MIXED}
WEIGHTS = {"1": None, "some 0": np.arange(12) % 2 * 1.0, "wide": 10.0 ** np.linspace(-300, 0, 12)}

KINDS = {
    "binary": lambda X, C, s: Problem(Binary(3), X, SIGNS, C, sample_weight=s),
    "multiclass": lambda X, C, s: Problem(Multiclass(3, 3), X, CLASSES, C, sample_weight=s),
    "intercepts": lambda X, C, s: Problem(Multiclass(3, 3, intercept=True), X, CLASSES, C, sample_weight=s),
    "regression": lambda X, C, s: Problem(Regression(3), X, 3.0 * RNG.normal(size=12), C, sample_weight=s),
    "constraints": lambda X, C, s: ConstraintProblem(X, np.ones(12), C=C, weights=s),
    "groups": lambda X, C, s: ConstraintProblem(
        X, np.ones(12), np.arange(12) // 2, C=C, weights=None if s is None else s[6:]
    ),
    "chain": lambda X, C, s: Problem(
        Chain(3, 3), np.split(X, 4), np.split(CLASSES, 4), C, sample_weight=None if s is None else s[8:]
    ),
}  # fmt: skip


@pytest.mark.grid(1)
@pytest.mark.parametrize("C", [1e-4, 1e6])
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("kind", KINDS)
def test_dual_steps(kind, rows, C):
    check(KINDS[kind](ROWS[rows], C, None), DualCD())


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("kind", KINDS)
def test_weights_near_0(kind, weights):
    problem = KINDS[kind](X, 1.0, WEIGHTS[weights])
    for solver in (DualCD(), OneSlack()):
        check(problem, solver)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_kernel_blocks(rows, weights):
    kernel = Kernel("linear")
    check(
        KernelProblem(Multiclass(3, 3), kernel, ROWS[rows], CLASSES, sample_weight=WEIGHTS[weights]),
        ExactKernel(),
    )


def check(problem, solver):
    result = solve(problem, solver, tol=1e-3, max_iter=30)
    assert np.isfinite([result.primal, result.dual]).all()
    assert result.dual <= result.primal * (1.0 + 1e-9)
    room = 1e-12 * problem.weight + result.rounding
    assert result.primal == pytest.approx(problem.primal(result.w), rel=1e-6, abs=room)


def test_the_reported_case():
    svm = LinearSVC(C=1e-4, solver="dual_cd").fit(1e-6 * X, CLASSES)
    assert svm.duality_gap_ <= 1e-3


@pytest.mark.parametrize("total", [1e-320, 5e-324, 1e-4, 1.0, 1e12])
@pytest.mark.parametrize(
    "v", [[1e12, 1e12, 3.0], [1.0, 1.0 - 1e-16, 0.0], [-np.inf, 2.0, 2.0], [5.0, 1e-300, 5.0]]
)
def test_projections_stay_on_the_simplex(v, total):
    v, work = np.array(v, float), np.empty(3)
    largest = v == v.max()
    project_simplex(v, total, 3, work)
    assert (v >= 0.0).all()
    assert v.sum() == pytest.approx(total, rel=1e-12, abs=1e-323)
    assert v[largest].min() >= v[~largest].max(initial=0.0)
