"""Bounds of kernel problems against exact arithmetic: P is rounded up and D down, whatever the scales.

Values, scores, hinges and sums are fractions here; of rbf and laplacian, decimals of 80 digits.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from oneslack import Binary, ExactKernel, Kernel, KernelProblem, KernelSVC, Multiclass, solve
from oneslack.estimators._shared import kernel_inputs
from oneslack.kernels.expansion import Expansion
from oneslack.kernels.rounding import box_point, dual_down, primal_up, scores_of_both, simplex_point

SCALES = [1e-8, 1e-3, 1.0, 1e4, 1e8]
WEIGHTS = [1e-6, 1.0, 1e3, 1e12]
N = 14


def fraction(values):
    return [[Fraction(float(value)) for value in row] for row in values]


def exp(value):
    """exp of a fraction, but for 1e-70 of itself."""
    with localcontext() as context:
        context.prec, context.Emin = 80, -(10**9)
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).exp())


def exact_matrix(kernel, X):
    """K of the rows X, as fractions."""
    rows, g = fraction(X), Fraction(float(kernel.gamma))
    if kernel.is_precomputed:
        return rows
    value = {
        "linear": lambda a, b: sum(p * q for p, q in zip(a, b, strict=True)),
        "poly": lambda a, b: (
            (g * sum(p * q for p, q in zip(a, b, strict=True)) + Fraction(kernel.coef0)) ** int(kernel.degree)
        ),
        "rbf": lambda a, b: exp(-g * sum((p - q) ** 2 for p, q in zip(a, b, strict=True))),
        "laplacian": lambda a, b: exp(-g * sum(abs(p - q) for p, q in zip(a, b, strict=True))),
    }[kernel.name]
    return [[value(a, b) for b in rows] for a in rows]


def exact_square(K, c):
    """sum over slots of c'Kc."""
    c, n = fraction(c), len(c)
    slots = range(len(c[0]))
    return sum(c[i][z] * K[i][j] * c[j][z] for z in slots for i in range(n) for j in range(n))


def exact_primal(problem, K, w):
    full = np.zeros((problem.n, problem.slots))
    full[w.index] = w.coefficients
    c, bias, n = fraction(full), [Fraction(float(b)) for b in w.bias], problem.n
    risk = Fraction(0)
    for i in range(n):
        f = [sum(K[i][j] * c[j][z] for j in range(n)) + bias[z] for z in range(problem.slots)]
        y = int(problem.data.y[i])
        if problem.slots == 1:
            hinge = max(Fraction(0), 1 - y * f[0])
        else:
            losses = [Fraction(float(loss)) for loss in problem.model.losses[y]]
            hinge = max(loss + value - f[y] for loss, value in zip(losses, f, strict=True))
        risk += Fraction(float(problem.data.weights[i])) * hinge
    return exact_square(K, full) / 2 + Fraction(problem.C) * risk


def toy(kernel, scale, C, classes=2, intercept=False, weighted=True, seed=0):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(N, 3))
    if kernel.is_precomputed:
        whole = rng.integers(-1000, 1000, (N, 6)).astype(float)
        X = whole @ whole.T * scale  # definite as it stands, and exact but for a power of ten
    y = np.arange(N) % classes
    weights = rng.uniform(0.3, 2.0, N) if weighted else None
    model = Binary(3) if classes == 2 else Multiclass(3, classes, losses=(1.0 - np.eye(classes)) * 0.7)
    y = 2 * y - 1 if classes == 2 else y
    return KernelProblem(model, kernel, X, y, C, intercept=intercept, sample_weight=weights), X


def kernels(scale):
    return {
        "precomputed": Kernel("precomputed"),
        "linear": Kernel("linear"),
        "poly": Kernel("poly", 0.7 / scale**2, 3, 0.3),
        "rbf": Kernel("rbf", 0.3 / scale**2),
        "rbf, narrow": Kernel("rbf", 0.3 / scale**2, dtype=np.float32),
        "rbf, by differences": Kernel("rbf", 0.3 / scale**2, direct=True),
        "laplacian": Kernel("laplacian", 0.3 / scale),
    }


def expansion(problem, c, bias):
    return Expansion(np.arange(problem.n), c, bias)


@pytest.mark.grid(2)
@pytest.mark.parametrize("C", WEIGHTS)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", kernels(1.0))
def test_any_expansion_and_any_duals(name, scale, C):
    for classes, intercept in ((2, False), (2, True), (3, False)):
        problem, X = toy(kernels(scale)[name], scale, C, classes, intercept)
        K, rng = exact_matrix(problem.kernel, X), np.random.default_rng(1)
        shape, root = (N, problem.slots), float(np.sqrt(float(max(K[i][i] for i in range(N)))))
        for size in (0.0, 1.0 / root**2, 1e6 / root**2):
            bias = rng.normal(size=problem.slots) if intercept else np.zeros(problem.slots)
            w = expansion(problem, size * rng.normal(size=shape), bias)
            true, found = exact_primal(problem, K, w), Fraction(primal_up(problem, w))
            assert true <= found <= true * (1 + Fraction(1, 10**9))
        least = Fraction(primal_up(problem, expansion(problem, np.zeros(shape), np.zeros(problem.slots))))
        alpha = rng.uniform(0.0, 1.0, N) * problem.C * problem.data.weights
        if problem.slots == 1:
            point = box_point(problem, np.round(alpha, 3) if C == 1.0 else alpha)
            linear = sum(Fraction(float(a)) for a in point.coefficients[:, 0] * problem.data.y)
        else:
            shares = rng.dirichlet(np.ones(classes), N)
            point = simplex_point(problem, shares)
            linear = Fraction(0.7) * Fraction(problem.C) * sum(
                Fraction(float(problem.data.weights[i])) * Fraction(float(shares[i, z]))
                for i in range(N) for z in range(classes) if z != problem.data.y[i]
            )  # fmt: skip
        square = exact_square(K, point.coefficients)
        true, found = linear - square / 2, Fraction(dual_down(problem, point, float(least)))
        assert found <= true
        if not intercept:  # where the duals need not balance
            assert true - found <= Fraction(1, 10**9) * (linear + square + least)


CASES = ((2, False), (2, True), (3, False))


def trained(name, scale, C, classes, intercept):
    """(problem, K, w, point) where training ends that cannot end well."""
    problem, X = toy(kernels(scale)[name], scale, C, classes, intercept)
    result = solve(problem, ExactKernel(), tol=1e-15, max_iter=60)
    duals = result.state["duals"]
    point = box_point(problem, duals) if problem.slots == 1 else simplex_point(problem, duals)
    return problem, exact_matrix(problem.kernel, X), result.w.merged(), point


@pytest.mark.grid(2)
@pytest.mark.parametrize("C", WEIGHTS)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", kernels(1.0))
def test_what_training_ends_with(name, scale, C):
    """The bound is below the exact P, also where the gap has closed to the last digits."""
    for classes, intercept in CASES:
        problem, K, w, point = trained(name, scale, C, classes, intercept)
        upper, true = primal_up(problem, w), exact_primal(problem, K, w)
        lower = dual_down(problem, point, upper)
        assert Fraction(lower) <= true <= Fraction(upper)
        # Coefficients that are large beside their w are added up with errors by their own size.
        roots = np.sqrt([float(K[i][i]) for i in range(N)])
        size = float(roots[w.index] @ np.abs(w.coefficients).sum(axis=1))
        dual_size = float(roots @ np.abs(point.coefficients).sum(axis=1))
        assert upper - float(true) <= 1e-9 * (float(true) + C) + 1e-14 * size * (size + C * N * roots.max())
        assert (
            lower
            >= float(point.linear) * (1 - 1e-6)
            - 0.5 * float(exact_square(K, point.coefficients))
            - 1e-6
            - 1e-14 * dual_size**2
        )


def test_without_the_errors_the_bounds_would_lie():
    """P and D as computed are on the wrong side of the exact ones about as often as not."""
    above = below = 0
    for name in ("linear", "rbf", "rbf, narrow"):
        for classes, intercept in CASES:
            problem, K, w, point = trained(name, 1.0, 1.0, classes, intercept)
            above += Fraction(problem.primal(w)) < exact_primal(problem, K, w)
            c = point.coefficients
            computed = point.linear - 0.5 * np.sum(c * problem.product(None, np.arange(N), c))
            below += Fraction(computed) > Fraction(point.linear) - exact_square(K, c) / 2
    assert above > 0
    assert below > 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("wide", [10, 1000])
def test_sampled_cuts_that_are_certified(monkeypatch, wide, classes):
    """Their planes and scores are float32, whatever the kernel is; their bounds are not."""
    monkeypatch.setattr(kernel_inputs, "WIDE", wide)
    for seed in range(3):
        X, y = np.random.default_rng(seed).normal(size=(N, 3)), np.arange(N) % classes
        model = KernelSVC(C=100.0, gamma=0.3, method="linear", epsilon=1e-4).fit(X, y)
        y = 2 * y - 1 if classes == 2 else y
        problem = KernelProblem(
            Binary(3) if classes == 2 else Multiclass(3, 3), Kernel("rbf", 0.3), X, y, 100.0
        )
        w = Expansion(model.support_, model.dual_coef_.T, model.intercept_)
        true = exact_primal(problem, exact_matrix(problem.kernel, X), w)
        assert model.certified_
        assert Fraction(model.dual_objective_) <= true <= Fraction(model.objective_)
        assert model.duality_gap_ < 0.1


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_of_a_model_and_a_dual_point_at_once(classes):
    problem, _ = toy(kernels(1.0)["rbf"], 1.0, 1.0, classes, False)
    rng, shape = np.random.default_rng(0), (N, problem.slots)
    if classes == 2:
        point = box_point(problem, np.where(np.arange(N) % 2, rng.uniform(0.0, 0.7, N), 0.0))
    else:
        point = simplex_point(problem, rng.dirichlet(np.ones(classes), N))
    index = np.arange(0, N, 3)
    w = Expansion(index, rng.normal(size=shape)[index], np.zeros(problem.slots))
    before = problem.n_values
    at_w, at_point = scores_of_both(problem, w, point)
    n_vectors = len(np.union1d(index, np.flatnonzero(point.coefficients.any(axis=1))))
    assert problem.n_values - before == N * n_vectors
    apart = primal_up(problem, w)
    np.testing.assert_allclose(primal_up(problem, w, at_w), apart, rtol=1e-12)
    np.testing.assert_allclose(
        dual_down(problem, point, apart, at_point), dual_down(problem, point, apart), rtol=1e-11
    )
