"""Regression: the tube loss by its definition, extensions by theirs, every solver by an independent QP."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import Reference

from oneslack import DualCD, Newton, NSlack, OneSlack, Problem, Regression, Status, solve
from oneslack.data.rows import Shard

TOL = 1e-6
SOLVERS = {
    "one_slack": OneSlack(),
    "plain": OneSlack(line_search=False),
    "dual_cd": DualCD(),
    "newton": Newton(),
}
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())


def reference_of(X, y, C, epsilon, intercept, weights=None):
    """Every example has three cuts: none, too low, too high."""
    X = X.toarray() if sp.issparse(X) else np.asarray(X, float)
    n = len(y)
    if intercept:
        X = np.column_stack([X, np.ones(n)])
    deltas = np.vstack([np.zeros_like(X), X, -X])
    losses = np.concatenate([np.zeros(n), y - epsilon, -y - epsilon])
    s = np.ones(n) if weights is None else weights
    free = [X.shape[1] - 1] if intercept else ()
    return Reference.of_cuts(deltas, losses, np.tile(np.arange(n), 3), C * s, free=free)


class Case:
    """A problem with its reference; `change` edits (X, y)."""

    def __init__(self, n=30, d=4, C=1.0, epsilon=0.2, *, intercept=False, weights=False, seed=0, noise=0.5,
                 change=None, rows=np.asarray):  # fmt: skip
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, d))
        y = X @ rng.normal(size=d) + 0.7 + noise * rng.normal(size=n)
        if change is not None:
            X, y = change(X, y)
        self.X, self.y, self.C = rows(X), y, C
        self.s = rng.uniform(0, 3, n) * (rng.random(n) < 0.7) if weights else None
        self.model = Regression(d, epsilon, intercept)

    def problem(self, **options):
        return Problem(self.model, self.X, self.y, self.C, sample_weight=self.s, **options)

    @cache  # noqa: B019
    def reference(self):
        X = self.X.astype(np.float64) if hasattr(self.X, "astype") else self.X
        reference = reference_of(X, self.y, self.C, self.model.epsilon, self.model.intercept, self.s)
        return reference, *reference.solve()[:2]


def float32(X):
    return X.astype(np.float32)


def csr32(X):
    return sp.csr_array(X.astype(np.float32))


def sparse_rows(X, y):
    X = X * (np.random.default_rng(9).random(X.shape) < 0.4)
    X[3] = 0
    return X, y


def repeated(X, y):
    return X[np.random.default_rng(9).integers(0, len(X) // 3, len(X))], y


def empty_rows(X, y):
    X[:3] = 0
    return X, y


def nothing(X, y):
    return 0 * X, y


def constant(X, y):
    return X, np.full_like(y, 3.0)


def thousands(X, y):
    return X, 1000 * y


def thousandths(X, y):
    return X, 0.001 * y


def uneven_scales(X, y):
    return X * 10.0 ** np.linspace(-0.5, 0.5, X.shape[1]), y


def very_uneven_scales(X, y):
    return X * 10.0 ** np.linspace(-2, 2, X.shape[1]), y


CASES = {
    "plain": Case(),
    "no tube": Case(epsilon=0.0),
    "wide tube": Case(epsilon=1.0),
    "tube around all": Case(epsilon=100.0),
    "tube around all, intercept": Case(epsilon=100.0, intercept=True),
    "csr": Case(rows=sp.csr_matrix, change=sparse_rows),
    "float32": Case(rows=float32),
    "csr float32, intercept": Case(rows=csr32, change=sparse_rows, intercept=True),
    "small C": Case(C=0.01),
    "large C": Case(C=100.0),
    "exact line": Case(noise=0.0, C=10.0, epsilon=0.0, intercept=True),
    "intercept": Case(n=40, intercept=True),
    "intercept, no tube": Case(n=41, intercept=True, epsilon=0.0),
    "intercept, small C": Case(n=25, intercept=True, C=0.01),
    "intercept, large C": Case(n=25, intercept=True, C=100.0),
    "weights": Case(weights=True),
    "weights, intercept": Case(weights=True, intercept=True),
    "one feature": Case(d=1, noise=2.0),
    "one feature, intercept": Case(d=1, noise=2.0, intercept=True),
    "one example": Case(n=1),
    "one example, intercept": Case(n=1, intercept=True),
    "two examples, intercept": Case(n=2, intercept=True),
    "repeated": Case(change=repeated),
    "repeated, no tube, intercept": Case(change=repeated, epsilon=0.0, intercept=True),
    "empty rows": Case(change=empty_rows),
    "empty rows, intercept": Case(change=empty_rows, intercept=True),
    "nothing but zeros": Case(n=6, change=nothing),
    "nothing but zeros, intercept": Case(n=7, change=nothing, intercept=True, epsilon=0.0),
    "constant target": Case(change=constant),
    "constant target, intercept": Case(change=constant, intercept=True),
    "thousands": Case(change=thousands, epsilon=100.0),
    "thousands, intercept": Case(change=thousands, epsilon=0.0, intercept=True),
    "thousandths, intercept": Case(change=thousandths, epsilon=1e-4, C=1e-3, intercept=True),
    "uneven scales": Case(n=40, change=uneven_scales, intercept=True),
}
#: Where dual steps need a hundred thousand passes.
HARD = {
    "very uneven scales": Case(n=40, change=very_uneven_scales, intercept=True),
    "huge C": Case(C=1e4, intercept=True),
    "huge C, no tube": Case(C=1e4, epsilon=0.0),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def check_converged(problem, result, reference, lower, upper, tol=TOL):
    """dual <= optimum <= primal at every step, P(w) as reported, and the gap asked for."""
    slack = 1e-10 * problem.weight + 1e-9 * upper
    trace = result.trace
    assert trace.column("dual").max() <= upper + slack
    assert trace.column("primal").min() >= lower - slack
    assert (np.diff(trace.column("dual")) >= 0).all()
    assert result.primal == pytest.approx(reference.primal(result.w), rel=1e-10, abs=slack)
    assert result.certified
    # An optimum of 0 has no relative gap: rounding may end the search for it.
    is_zero = result.primal - result.dual <= 1e-10 * problem.weight
    assert is_zero or (result.status is Status.CONVERGED and result.gap <= tol), str(result)
    assert result.primal - upper <= tol * result.primal + slack


@every_solver
@every_case
def test_the_certificate_is_true_and_tight(case, solver):
    problem = case.problem()
    check_converged(problem, solve(problem, solver, tol=TOL), *case.reference())


@pytest.mark.parametrize("solver", ["one_slack", "newton"])
@pytest.mark.parametrize("case", HARD.values(), ids=HARD.keys())
def test_hard_problems(case, solver):
    problem = case.problem()
    check_converged(problem, solve(problem, SOLVERS[solver], tol=TOL), *case.reference())


drawn = given(st.integers(0, 10**6), st.integers(1, 25), st.integers(1, 5), st.booleans(), st.booleans())


@settings(max_examples=15, deadline=None)
@drawn
def test_random_problems(seed, n, d, intercept, weighted):
    check_random_problem(seed, n, d, intercept, weighted)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@drawn
def test_more_random_problems(seed, n, d, intercept, weighted):
    check_random_problem(seed, n, d, intercept, weighted)


def check_random_problem(seed, n, d, intercept, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    y = 10.0 ** rng.uniform(-2, 2) * (rng.normal(size=n) + rng.normal())
    epsilon = float(rng.choice([0.0, 0.1, 1.0]) * np.abs(y).mean())
    C = 10.0 ** rng.uniform(-2, 1) * np.abs(y).mean()  # C in units of y is what makes a problem hard
    s = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    s[0] = 1.0
    lower, upper, _ = reference_of(X, y, C, epsilon, intercept, s).solve()
    problem = Problem(Regression(d, epsilon, intercept), X, y, C, sample_weight=s)
    for solver in (DualCD(), Newton(), OneSlack()):
        result = solve(problem, solver, tol=1e-5)
        slack = 1e-9 * (problem.weight * problem.unit + upper)
        # A fit almost without loss is found up to rounding only.
        tiny = result.primal - result.dual <= 1e-9 * problem.weight * problem.unit
        assert tiny or result.status is Status.CONVERGED, str(result)
        assert result.dual <= upper + slack
        assert lower - slack <= result.primal <= (1 + 2e-5) * upper + slack


# Extensions, each against its definition.


@pytest.fixture(params=[(0.3, True), (0.3, False), (0.0, False)], ids=["tube, intercept", "tube", "no tube"])
def setting(request):
    epsilon, intercept = request.param
    rng = np.random.default_rng(3)
    X, y, s = rng.normal(size=(25, 3)), 2 * rng.normal(size=25), rng.uniform(0, 2, 25)
    s[4] = 0.0
    problem = Problem(Regression(3, epsilon, intercept), X, y, 0.7, sample_weight=s)
    return problem, X, y, s, rng


def losses(problem, X, y, w):
    bias = w[-1] if problem.model.intercept else 0.0
    return np.maximum(0.0, np.abs(y - X @ w[: X.shape[1]] - bias) - problem.model.epsilon)


def test_risk_and_plane(setting):
    problem, X, y, s, rng = setting
    points = rng.normal(size=(6, problem.n_params))
    for w in points:
        assert problem.risk(w) == pytest.approx(s @ losses(problem, X, y, w) / s.sum())
        plane = problem.mean_cut(w)
        assert plane.value(w) == pytest.approx(problem.risk(w))
        assert all(plane.value(v) <= problem.risk(v) + 1e-12 for v in points)


def test_single_rows_of_a_shard(setting):
    problem, X, y, s, rng = setting
    w = rng.normal(size=problem.n_params)
    S, expected = problem.scores(w), s * losses(problem, X, y, w)
    for i in range(problem.n):
        shard, c = Shard(i, i + 1), np.full(problem.n, np.nan)
        assert problem.model.risk(problem.data, shard, S) == pytest.approx(expected[i])
        offset = problem.model.cut(problem.data, shard, S, c)
        assert offset - c[i] * S[i] == pytest.approx(expected[i])
        assert np.isnan(np.delete(c, i)).all()


def test_slope_along_a_line(setting):
    problem, _, _, _, rng = setting
    v, w = rng.normal(size=(2, problem.n_params))
    S, dS, h = problem.scores(w), problem.scores(v), 1e-6
    for t in rng.uniform(-1, 1, 5):
        look = problem.scores.along(S, dS, t)
        left, middle, right = (problem.risk(w + (t + k) * v) for k in (-h, 0, h))
        assert look.risk == pytest.approx(middle)
        assert (middle - left) / h - 1e-5 <= look.slope <= (right - middle) / h + 1e-5
        assert look.loss == pytest.approx(problem.mean_cut(w + t * v).offset)


@pytest.mark.parametrize("mu", [0.01, 0.3, 2.0])
def test_the_smoothed_loss(setting, mu):
    """One convex function above the tube loss: its duals, slope and curvature fit together."""
    problem, X, y, s, rng = setting
    model, data, everything = problem.model, problem.data, Shard(0, problem.n)
    v, w = rng.normal(size=(2, problem.n_params))
    S, dS, h = problem.scores(w), problem.scores(v), 1e-6

    def smoothed(S):
        p = np.empty_like(S)
        loss, tube, error = model.smooth_duals(data, everything, S, mu, p)
        assert loss == pytest.approx(model.dual_loss(data, p))
        assert error >= 0
        return loss - np.sum(model.coefficients(data, p) * S) + error, p, tube

    value, p, tube = smoothed(S)
    assert tube == pytest.approx(s @ losses(problem, X, y, w))
    assert tube <= value <= tube + s.sum() * mu / 4 + 1e-12
    assert np.abs(p).max() <= 1
    slope, curvature = model.smooth_slope(data, everything, S, dS, 0.0, mu)
    assert slope == pytest.approx(-np.sum(model.coefficients(data, p) * dS))
    left, right = smoothed(S - h * dS)[0], smoothed(S + h * dS)[0]
    assert (value - left) / h - 1e-4 <= slope <= (right - value) / h + 1e-4
    H = model.smooth_hessian(data, everything, p, mu)
    H = np.tril(H) + np.tril(H, -1).T
    assert v @ H @ v == pytest.approx(curvature)
    assert problem.shares.value(p) <= problem.primal(w)


def test_balanced_duals_touch_no_intercept(setting):
    problem, _, _, s, rng = setting
    for _ in range(5):
        p = problem.model.balance(problem.data, rng.uniform(-1, 1, problem.n))
        assert np.abs(p).max() <= 1
        if problem.model.intercept:
            assert s @ p == pytest.approx(0, abs=1e-12)
        assert problem.shares.value(p) <= min(
            problem.primal(w) for w in rng.normal(size=(5, problem.n_params))
        )


def test_dual_passes_keep_what_they_say(setting):
    problem, _, _, _, _ = setting
    model, data = problem.model, problem.data
    rate = 1.0 if model.intercept else 0.0
    passes, copy = (model.dual_passes(data, problem.C, 1) for _ in range(2))
    dual = -np.inf
    for _ in range(6):
        before = passes.linear() - problem.regulariser.value(passes.point)
        _, growth = passes.run(rate)
        shares = passes.shares
        expected = problem.C * problem.scores.adjoint(model.coefficients(data, shares))
        np.testing.assert_allclose(passes.point[:3], expected[:3], atol=1e-12)
        assert passes.linear() == pytest.approx(problem.C * model.dual_loss(data, shares))
        assert np.abs(shares).max() <= 1
        if not model.intercept:
            after = passes.linear() - problem.regulariser.value(passes.point)
            assert growth == pytest.approx(after - before)
            assert after >= dual
            dual = after
        passes.reopen(problem.scores(passes.point))
        copy.restore({key: np.copy(value) for key, value in passes.state().items()})
    passes.run(rate)
    copy.run(rate)
    np.testing.assert_array_equal(copy.point, passes.point)


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_the_running_gap_is_the_gap_where_nothing_moves(epsilon):
    problem = Case(epsilon=epsilon, C=0.3).problem()
    passes = problem.model.dual_passes(problem.data, problem.C, 1)
    for _ in range(20):
        passes.run(0.0)
    for _ in range(3):
        passes.reopen(problem.scores(passes.point))
        before = passes.point.copy()
        gap = problem.primal(before) - passes.linear() + problem.regulariser.value(before)
        running, _ = passes.run(0.0)
        assert running == pytest.approx(gap, rel=1.0, abs=1e-9)  # w moves a little while it is summed
        assert running > 0 or gap < 1e-9


@every_solver
def test_a_stopped_run_goes_on(solver):
    problem = CASES["intercept"].problem()
    upper = CASES["intercept"].reference()[2]
    half = solve(problem, solver, tol=1e-5, max_iter=3)
    again = solve(problem, solver, tol=1e-5, start=half)
    whole = solve(problem, solver, tol=1e-5)
    assert again.n_iter < whole.n_iter
    assert again.gap <= 1e-5
    assert again.dual <= upper * (1 + 1e-9)


@every_solver
def test_the_unit_of_the_target_does_not_matter(solver):
    """y, epsilon and C in other units: the objective moves as the formula says."""
    case, k = CASES["intercept"], 250.0
    model = Regression(4, k * case.model.epsilon, True)
    other = solve(Problem(model, case.X, k * case.y, k * case.C), solver, tol=TOL)
    expected = solve(case.problem(), solver, tol=TOL)
    assert other.primal == pytest.approx(k**2 * expected.primal, rel=3 * TOL)


def test_threads_and_samples_keep_the_problem(monkeypatch):
    import oneslack.data.rows

    monkeypatch.setattr(oneslack.data.rows, "SHARD_SIZE", 50)
    case = Case(n=400, d=3, intercept=True)
    one, two = (solve(case.problem(n_jobs=jobs), Newton(), tol=TOL) for jobs in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
    part = case.problem().sample(np.arange(0, 400, 4))
    assert part.unit == case.problem().unit
    assert part.weight == pytest.approx(case.problem().weight)


def test_bad_input_is_named():
    X = np.ones((3, 2))
    with pytest.raises(ValueError, match="example 1: y is nan, expected a finite number"):
        Problem(Regression(2), X, [1.0, np.nan, 2.0])
    with pytest.raises(ValueError, match="epsilon must be a number >= 0; got -1"):
        Problem(Regression(2, -1), X, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="X has 3 rows but y has 2 labels"):
        Problem(Regression(2), X, [1.0, 2.0])
    with pytest.raises(ValueError, match="NSlack needs more than Regression offers"):
        solve(Problem(Regression(2), X, [1.0, 2.0, 3.0]), NSlack())
