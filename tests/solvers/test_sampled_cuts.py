"""Kernel solvers: the same optimum by every method, true certificates, the bounds of the theorems."""

from dataclasses import replace

import numpy as np
import pytest
from grids import few
from kernel_toys import IRIS, KIND, RBF, X, Y, problem_of
from reference import Reference
from sklearn.svm import SVC

from oneslack import (
    BasisFunctions,
    Binary,
    ExactKernel,
    Kernel,
    KernelProblem,
    Multiclass,
    Problem,
    SampledCuts,
    solve,
)
from oneslack.datasets import make_checkers
from oneslack.problems import kernel as kernel_problem
from oneslack.solvers.kernel.basis_functions import choose_basis, features, pivoted_cholesky
from oneslack.solvers.kernel.sampled_cuts import best_duals
from oneslack.solvers.kernel.sampled_planes import SampledPlanes

ALL = {
    "exact": ExactKernel(block=32),
    "linear": SampledCuts("linear", 1000),
    "plain": SampledCuts("linear", 1000, line_search=False, touch=False),
    "constant": SampledCuts("constant", 1000),
    "plain constant": SampledCuts("constant", 1000, line_search=False),
    "basis": BasisFunctions(1000),
    "pivoted": BasisFunctions(1000, "pivoted"),
}


def feature_map(kernel, X):
    """Explicit features with the kernel's products: K = Z Z'."""
    inputs = kernel.inputs(X)
    values, vectors = np.linalg.eigh(kernel.values(inputs, inputs))
    return vectors * np.sqrt(np.maximum(values, 0.0))


def reference(kernel, X, y, C, weights=None, intercept=False):
    """(lower, upper) of the optimum by an independent QP on explicit features."""
    Z = feature_map(kernel, X)
    model = Binary(Z.shape[1], intercept)
    if len(np.unique(y)) > 2:
        model = Multiclass(Z.shape[1], len(np.unique(y)), intercept)
    problem = Problem(model, Z, y, C, sample_weight=weights)
    return Reference.of_problem(problem, weights).solve()[:2]


CASES = {
    "two classes": (RBF, X, Y, 1.0, {}),
    "large C": (RBF, X, Y, 30.0, {}),
    "intercept": (RBF, X, np.where(np.arange(150) % 5, Y, 1), 1.0, {"intercept": True}),
    "weights": (RBF, X, Y, 1.0, {"sample_weight": np.arange(150) % 4 / 2.0}),
    "laplacian": (Kernel("laplacian", 1.0), X, Y, 1.0, {}),
    "poly": (Kernel("poly", 0.1, 3, 1.0), X, Y, 1.0, {}),
    "three classes": (Kernel("rbf", 0.3), IRIS, KIND, 1.0, {}),
    "three weighted": (Kernel("rbf", 0.3), IRIS, KIND, 1.0, {"sample_weight": np.arange(75) % 3 + 0.5}),
}


@pytest.fixture(scope="module")
def optima():
    known = {}

    def optimum(case):
        if case not in known:
            kernel, data, y, C, options = CASES[case]
            weights = options.get("sample_weight")
            known[case] = reference(kernel, data, y, C, weights, options.get("intercept", False))
        return known[case]

    return optimum


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ALL)
def test_every_method_reaches_the_optimum_when_samples_are_everything(optima, name, case):
    kernel, data, y, C, options = CASES[case]
    problem = problem_of(kernel, data, y, C, **options)
    if "constant" in name:
        result = solve(problem, ALL[name], epsilon=1e-5 if name == "constant" else 1e-4, max_iter=1000)
    else:
        result = solve(problem, ALL[name], tol=5e-4, max_iter=1000)
    lower, upper = optima(case)
    assert result.status.ok
    assert result.primal <= upper * (1 + 1e-3) + 1e-9
    assert result.primal >= lower * (1 - 1e-6)
    assert result.dual <= upper * (1 + 1e-5)
    assert problem.primal(result.w) == pytest.approx(result.primal, rel=1e-5)


@pytest.mark.parametrize("case", CASES)
def test_the_exact_dual_never_falls_and_stays_below(optima, case):
    kernel, data, y, C, options = CASES[case]
    problem = problem_of(kernel, data, y, C, **options)
    duals = []
    for step in ExactKernel(block=16).steps(problem, None, 1e-7):
        duals.append(step.dual)
        assert step.dual <= optima(case)[1] * (1 + 1e-6) + 1e-9
        assert step.primal >= optima(case)[0] * (1 - 1e-6)
        if step.primal - step.dual <= 1e-6 * step.primal or len(duals) > 3000:
            break
    assert len(duals) < 3000
    assert (np.diff(duals) >= -1e-9 * np.abs(duals[-1])).all()


def test_exact_training_is_that_of_scikit_learn():
    theirs = SVC(C=3.0, gamma=2.0, tol=1e-7).fit(X, Y)
    problem = problem_of(RBF, X, Y, 3.0, intercept=True)
    result = solve(problem, ExactKernel(block=40), tol=1e-9)
    np.testing.assert_allclose(problem.scores_of(result.w)[:, 0], theirs.decision_function(X), atol=1e-3)
    assert result.certified


@pytest.mark.parametrize("name", ALL)
def test_a_linear_kernel_gives_the_linear_optimum(name):
    data = np.column_stack([IRIS, np.ones(len(IRIS))])
    y = np.where(KIND == 1, 1, -1)
    linear = solve(Problem(Binary(5), data, y, 1.0), tol=1e-6)
    options = {"epsilon": 1e-4} if "constant" in name else {"tol": 5e-4}
    result = solve(problem_of(Kernel("linear"), data, y), ALL[name], max_iter=1000, **options)
    assert result.primal == pytest.approx(linear.primal, rel=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_small_cache_of_rows_changes_nothing(dtype):
    kernel, wide = (
        Kernel("rbf", 2.0 / 40, dtype=dtype),
        np.hstack([X] * 40),
    )  # rows of few columns are not kept
    whole, small = problem_of(kernel, wide, Y), problem_of(kernel, wide, Y, memory=20 * 150 * 4)
    results = [solve(problem, ExactKernel(block=64), tol=1e-5) for problem in (whole, small)]
    assert results[0].primal == pytest.approx(results[1].primal, rel=2e-5)
    assert small.n_values > whole.n_values
    fresh = problem_of(Kernel("rbf", 2.0), X, Y)
    assert fresh.primal(results[1].w) == pytest.approx(results[1].primal, rel=1e-5)


# Samples.

SAMPLED = {
    "linear": SampledCuts("linear", 30),
    "line search alone": SampledCuts("linear", 30, touch=False, spread=False),
    "paper": SampledCuts("linear", 30, line_search=False, touch=False, spread=False),
    "constant": SampledCuts("constant", 60, checked=40),
    "paper, constant": SampledCuts("constant", 60, line_search=False),
}


def seeded(solver, seed):
    return SampledCuts(**{**vars(solver), "seed": seed})


@pytest.mark.parametrize("name", SAMPLED)
def test_same_seed_same_model(name):
    first, second, other = (
        solve(problem_of(RBF, X, Y, n_jobs=jobs), seeded(SAMPLED[name], seed), epsilon=0.01, max_iter=300)
        for jobs, seed in ((1, 3), (2, 3), (1, 4))
    )
    np.testing.assert_array_equal(first.w.index, second.w.index)
    np.testing.assert_array_equal(first.w.coefficients, second.w.coefficients)
    assert first.w.index.shape != other.w.index.shape or (first.w.index != other.w.index).any()


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_fifty_seeds_stay_within_the_theorems(name):
    """P(w) <= P* + C n (eps + gamma), gamma by Hoeffding's inequality, with probability 1 - delta: a bound so
    wide that not one of 50 seeds may break it, and a narrower one that an ill-scaled sample does break."""
    solver, epsilon, C, delta = SAMPLED[name], 0.02, 0.5, 0.05
    data, y = X[:80], Y[:80]
    upper = reference(RBF, data, y, C)[1]
    weight, R, loss = C * 80, 1.0, 1.0
    T = 8 * weight * loss * R**2 / epsilon**2
    if solver.scheme == "linear":
        gamma = np.sqrt(4 * weight * loss * R**2 / solver.sample_size * np.log(T / delta))
    else:
        span = (loss + 2 * np.sqrt(2 * weight * loss) * R) ** 2
        gamma = 2 * np.sqrt(span / (2 * solver.sample_size) * np.log(T / delta))
    values = []
    for seed in range(50):
        problem = problem_of(RBF, data, y, C)
        result = solve(problem, seeded(solver, seed), epsilon=epsilon, max_iter=500)
        assert result.status.ok
        assert not result.certified
        values.append(problem.primal(result.w))
    assert max(values) <= upper + weight * (epsilon + gamma)
    assert np.mean(values) <= 1.15 * upper
    assert min(values) >= upper * (1 - 1e-6)


@pytest.mark.parametrize("case", ["two classes", "large C", "intercept", "weights", "three classes"])
def test_the_certificate_of_sampled_cuts_is_true_and_useful(optima, case):
    kernel, data, y, C, options = CASES[case]
    problem = problem_of(kernel, data, y, C, **options)
    result = solve(problem, SampledCuts("linear", 25), epsilon=1e-3, max_iter=400)
    planes = SampledPlanes.of_state(result.state["planes"])
    dual = best_duals(problem, planes, 1e9)[2]
    lower, upper = optima(case)
    assert dual <= upper * (1 + 1e-6)
    assert dual >= 0.8 * lower
    assert best_duals(problem, planes, 10) is None


def test_touching_planes_come_nearer_to_the_optimum():
    data, y = make_checkers(600, random_state=1)
    problem = problem_of(RBF, data, y)
    best = solve(problem, ExactKernel(), tol=1e-4).primal
    excess = {}
    for touch in (True, False):
        solvers = [SampledCuts("linear", 40, touch=touch, seed=seed) for seed in range(3)]
        excess[touch] = np.mean([solve(problem, one, epsilon=1e-3).primal for one in solvers]) - best
    assert excess[True] < 0.6 * excess[False]


def test_the_primal_of_many_examples_is_estimated_with_its_error(monkeypatch):
    data, y = make_checkers(12_000, random_state=2)
    problem = problem_of(RBF, data, y)
    result = solve(problem, SampledCuts("constant", 200, checked=2000), epsilon=1e-2)
    monkeypatch.setattr(kernel_problem, "ESTIMATE", 1.0)
    estimate, error = problem.estimate(result.w)
    exact = problem.primal(replace(result.w, norm2=None))
    assert 0 < error < 0.05 * exact
    assert abs(estimate - exact) < 4 * error


def test_the_norm_that_planes_know_is_that_of_the_expansion():
    problem = problem_of(RBF, X, Y)
    for solver in (SampledCuts("linear", 30), SampledCuts("constant", 60)):
        w = solve(problem, solver, epsilon=1e-2).w
        K = RBF.values(problem.inputs.take(w.index), problem.inputs.take(w.index))
        c = w.coefficients[:, 0]
        assert w.norm2 == pytest.approx(c @ K @ c, rel=1e-5)


def test_idle_planes_are_dropped():
    problem = problem_of(RBF, X, Y)
    keep = solve(problem, SampledCuts("linear", 30, drop_after=10_000), epsilon=1e-9, max_iter=120)
    drop = solve(problem, SampledCuts("linear", 30, drop_after=5), epsilon=1e-9, max_iter=120)
    assert len(drop.state["planes"]["offsets"]) < len(keep.state["planes"]["offsets"]) == 122
    assert problem.primal(drop.w) == pytest.approx(drop.primal, rel=1e-4)


# Basis functions.


def test_pivoted_cholesky_ends_where_rounding_hides_the_rank(monkeypatch):
    points, _ = make_checkers(1000, random_state=0)
    kernel = Kernel("rbf", 20.0, dtype=np.float32).fitted(points)
    looks, values = [], Kernel.values

    def counted(self, A, B):
        looks.append(len(B))
        assert sum(looks) <= 2 * len(points), "the same columns again and again"
        return values(self, A, B)

    monkeypatch.setattr(Kernel, "values", counted)
    inputs = kernel.inputs(points)
    _, L = pivoted_cholesky(kernel, inputs, 1000, 1e-5)
    K = values(kernel, inputs, inputs)
    assert np.linalg.norm(L @ L.T - K) <= 1e-2 * np.linalg.norm(K)


def test_pivoted_cholesky_rebuilds_the_matrix():
    inputs = RBF.inputs(X)
    K = RBF.values(inputs, inputs)
    order, L = pivoted_cholesky(RBF, inputs, 150, 1e-10)
    np.testing.assert_allclose(L @ L.T, K, atol=1e-8)
    assert len(set(order.tolist())) == len(order)
    few, L = pivoted_cholesky(RBF, inputs, 40, 1e-10)
    np.testing.assert_allclose((L @ L.T)[few], K[few], atol=1e-9)
    twice, _ = pivoted_cholesky(RBF, RBF.inputs(np.vstack([X, X])), 300, 1e-10)
    assert len(twice) <= 150


@pytest.mark.parametrize("choice", few(["pivoted", "random"], 1))
def test_features_of_a_low_rank_are_not_made_of_rounding(choice):
    """|z(x)|^2 <= k(x, x), up to rounding: it was 1e11 where float32 hid how low the rank of K is."""
    X, y = make_checkers(4000, random_state=0)
    kernel = Kernel("rbf", 20.0, dtype=np.float32).fitted(X)
    problem = KernelProblem(Binary(0), kernel, X, y)
    Z = features(problem, *choose_basis(kernel, problem.inputs, 1500, choice, 0))
    lengths = np.square(Z, dtype=float).sum(axis=1)
    assert lengths.max() <= 1.2
    assert lengths.mean() >= 0.99  # and nearly all of k(x, x) is there
    result = solve(problem, BasisFunctions(1500, choice), tol=0.01, max_iter=200)
    assert result.gap <= 0.01


def test_basis_functions_bound_the_optimum_from_above(optima):
    lower, _ = optima("two classes")
    values = [solve(problem_of(RBF, X, Y), BasisFunctions(k), tol=1e-5).primal for k in (5, 20, 80, 150)]
    assert all(value >= lower for value in values)
    assert values[-1] <= lower * (1 + 1e-3) < values[0]


# Sentences.


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="scheme='quadratic' is not known; use 'linear' or 'constant'"):
        SampledCuts("quadratic")
    with pytest.raises(ValueError, match="choice='best' is not known"):
        BasisFunctions(5, "best")
    with pytest.raises(ValueError, match="sample_size, patience and checked must be at least 1"):
        SampledCuts(sample_size=0)
    linear = Problem(Binary(2), X, Y)
    for solver in (SampledCuts(), ExactKernel(), BasisFunctions()):
        with pytest.raises(ValueError, match=rf"{type(solver).__name__} .* lacks a kernel .*\. Use OneSlack"):
            solve(linear, solver)
    with pytest.raises(ValueError, match=r"80 basis functions .* raise memory"):
        solve(problem_of(RBF, X, Y, memory=1000), BasisFunctions(80))
    with pytest.raises(ValueError, match="a kernel needs a model with scores; object lacks pack"):
        KernelProblem(object(), RBF, X, Y)
    with pytest.raises(ValueError, match="it lacks intercepts for more than two classes"):
        solve(problem_of(RBF, IRIS, KIND, intercept=True), ExactKernel())
