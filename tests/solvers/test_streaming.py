"""Streaming: bounds hold at every step, forgetting costs nothing, the budget is kept, a run resumes."""

import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few
from reference import Reference

import oneslack
from oneslack import ConstraintProblem, DualCD, Problem, Streaming, solve
from oneslack.data.rows import Shard
from oneslack.engines.threads import Threads
from oneslack.models import Binary, Chain, Multiclass, Regression
from oneslack.objective import relative_gap
from oneslack.result import Status
from oneslack.solvers.streaming.read_points import BETWEEN, MeanPoint
from oneslack.solvers.streaming.reader import CAUTION, LIMIT, Reader, source_of

RULE = np.random.default_rng(5).normal(size=(40, 4))


def rows(n, d, sparse, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return (sp.csr_array(X * (rng.random((n, d)) < 0.3)), rng) if sparse else (X, rng)


def problem(kind, n=240, d=6, C=0.7, seed=0, **terms):
    """Examples that overlap; "sparse" ones have more weights than Newton steps are used for."""
    sparse = "sparse" in kind
    d = 220 if sparse and d == 6 else d
    X, rng = rows(n, d, sparse, seed)
    rule = np.resize(RULE, (d, 3))
    scores = X @ rule + 0.8 * rng.normal(size=(n, 3))
    intercept = "intercept" in kind
    weights = rng.uniform(0.5, 2.0, n) * (rng.random(n) < 0.9) if "weights" in kind else None
    if "multiclass" in kind:
        model, y = Multiclass(d, 3, intercept), scores.argmax(axis=1)
    elif "regression" in kind:
        model, y = Regression(d, 0.2, intercept), scores[:, 0] + 1.0
    else:
        model, y = Binary(d, intercept), np.where(scores[:, 0] > 0.3, 1.0, -1.0)
    return Problem(model, X, y, C, sample_weight=weights, **terms)


def tiny(problem, share=0.25):
    """A budget that holds a share of the examples."""
    probe = Streaming("1GB")
    whole = probe.bytes_in_memory(problem)
    low, high = 1000, whole
    while high - low > 100:  # what duals and weights take is inside: look for the rows wanted
        middle = (low + high) // 2
        try:
            enough = Streaming(middle).plan(problem).rows >= share * problem.n
        except ValueError:
            enough = False
        low, high = (low, middle) if enough else (middle, high)
    return Streaming(high)


KINDS = [
    "binary", "binary, intercept", "binary, weights", "regression", "regression, intercept", "multiclass",
    "multiclass, intercept, weights", "sparse binary", "sparse binary, intercept",
    "sparse regression, intercept", "sparse multiclass, intercept",
]  # fmt: skip


@pytest.mark.parametrize("kind", few(KINDS[::-1], 4))
def test_bounds_hold_at_every_step_and_meet(kind):
    exact = solve(problem(kind), tol=1e-5)
    part = problem(kind)
    solver = tiny(part, 0.4 if "sparse" in kind else 0.25)  # the sparse ones have almost as many weights
    assert solver.plan(part).rows < 0.5 * part.n
    result = solve(part, solver, tol=1e-3)
    assert result.status is Status.CONVERGED
    assert all(row.dual <= exact.primal for row in result.trace)
    assert all(row.primal >= exact.dual for row in result.trace)
    assert (np.diff(result.trace.column("dual")) >= 0).all()
    assert result.primal == pytest.approx(part.primal(result.w), rel=1e-9)
    assert result.state["streaming"]["read"] >= 1


@pytest.mark.grid(1)
@pytest.mark.parametrize(
    "kind", ["binary", "binary, intercept", "multiclass", "sparse binary", "sparse multiclass, intercept"]
)
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_an_independent_qp(kind, seed):
    part = problem(kind, n=60, C=10.0 ** (seed - 1), seed=seed)
    lower, upper, _ = Reference.of_problem(part).solve()
    result = solve(part, tiny(part, 0.5), tol=1e-4, max_iter=20_000)
    assert result.dual <= upper + 1e-6 * upper
    assert lower - 1e-6 * upper <= result.primal <= upper * (1 + 2e-4)


@pytest.mark.grid(1)
@pytest.mark.parametrize("terms", ["prior", "scale", "nonnegative"])
@pytest.mark.parametrize("kind", ["binary", "sparse binary, intercept"])
def test_other_regularisers_are_certified_too(kind, terms):
    d = problem(kind).n_params
    given = {
        "prior": {"prior": np.append(np.linspace(-1, 1, d - 1), 0.0)},
        "scale": {"scale": np.linspace(0.5, 2.0, d)},
        "nonnegative": {"nonnegative": np.arange(3)},
    }[terms]
    exact = solve(problem(kind, **given), tol=1e-6, max_iter=20_000)
    part = problem(kind, **given)
    result = solve(part, tiny(part, 0.4), tol=1e-3, max_iter=20_000)
    assert result.status is Status.CONVERGED
    assert result.dual <= exact.primal * (1 + 1e-9)
    assert exact.dual * (1 - 1e-9) <= result.primal <= exact.primal * (1 + 1.1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_forgetting_and_optimising_never_lower_the_dual(kind, monkeypatch):
    part = problem(kind)
    reader = Reader(part, source_of(part), tiny(part).plan(part), 0, 1e-3)
    forget, forgotten = Reader._forget, []

    def watched(self, rest):
        before, m = self.duals.lagrangian(self.w), self.rows.m
        forget(self, rest)
        assert self.duals.lagrangian(self.w) == before
        forgotten.append(m - self.rows.m)

    monkeypatch.setattr(Reader, "_forget", watched)
    change = reader.duals.change

    def raised(changed, index, new, old, w):
        before = reader.duals.lagrangian(w)
        found = change(changed, index, new, old, w)
        assert reader.duals.lagrangian(w) >= before
        return found

    reader.duals.change = raised
    for _, _step in zip(range(30), reader.steps(None), strict=False):
        v, loss = recomputed(part, reader)
        np.testing.assert_allclose(reader.duals.v, v, atol=1e-6 * np.abs(v).max())
        assert reader.duals.loss == pytest.approx(loss, rel=1e-6)
    assert sum(forgotten) > 0.5 * part.n  # again and again


def recomputed(part, reader):
    """v and sum alpha loss from the kept duals alone."""
    shares = reader.duals.shares(slice(0, part.n), part.data.y)
    v = part.C * part.scores.adjoint(part.model.coefficients(part.data, shares))
    return v, part.C * part.model.dual_loss(part.data, shares)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_only_what_may_move_is_taken_and_nothing_twice(n_jobs):
    part = problem("sparse binary, intercept", n=2000)
    part.engine = Threads(n_jobs)
    w = solve(part, tol=0.5).w
    reader = Reader(part, source_of(part), tiny(part, 0.9).plan(part), 0, 1e-3)
    reader.rows.add(part.data, np.arange(40), np.arange(40))
    order = list(range(len(reader.pieces)))
    place, moving = reader.scan.fill(reader.rows, order, (0, 0), w, None, reader.horizon)
    assert place[1] == 0
    seen = reader.pieces[place[0] - 1][1]
    rest = part.model.rest(part.data, part.scores(w), np.zeros(part.n))[:seen]
    assert moving == (rest == 0.0).sum() < 0.8 * seen
    wanted = np.union1d(np.arange(40), np.flatnonzero(rest <= reader.horizon))
    np.testing.assert_array_equal(np.sort(reader.rows.index), wanted)
    np.testing.assert_array_equal(reader.rows.data.y, part.data.y[reader.rows.index])


@pytest.mark.parametrize("kind", ["sparse binary, intercept", "sparse regression, intercept"])
def test_balanced_sums_are_those_of_balanced_duals(kind):
    part = problem(kind)
    reader = Reader(part, source_of(part), tiny(part, 0.4).plan(part), 0, 1e-3)
    for _, _step in zip(range(5), reader.steps(None), strict=False):
        v, loss = reader.duals.balanced()
        shares = part.model.balance(part.data, reader.duals.shares(slice(0, part.n), part.data.y))
        exact = part.C * part.scores.adjoint(part.model.coefficients(part.data, shares))
        np.testing.assert_allclose(v, exact, atol=1e-5 * np.abs(exact).max())
        assert loss == pytest.approx(part.C * part.model.dual_loss(part.data, shares), rel=1e-5)


def test_an_intercept_that_almost_all_examples_rest_by():
    """Few examples of one class, and a C so small that they all are at their bound: once the intercept is too
    far out, no other example would move, and it has to come back all the same."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(3000, 300)) * (rng.random((3000, 300)) < 0.05))
    X = sp.csr_array(X / np.maximum(sp.linalg.norm(X, axis=1), 1e-9)[:, None])
    part = Problem(Binary(300, True), X, np.where(np.arange(3000) % 150 == 7, 1.0, -1.0), 1e-3)
    result = solve(part, tiny(part, 0.1), tol=0.02, max_iter=200)
    assert result.status is Status.CONVERGED
    assert result.state["streaming"]["read"] <= 4


def test_an_intercept_beside_a_few_very_long_examples():
    """As word counts have them: the intercept's steps are those that suit most examples."""
    rng = np.random.default_rng(0)
    X = rng.poisson(2.0, (1500, 300)) * (rng.random((1500, 300)) < 0.05)
    count = X[:, :20].sum(axis=1)
    y = np.where(count + rng.normal(size=1500) > np.median(count), 1.0, -1.0)
    X[::50] *= 1000
    part = Problem(Binary(300, True), sp.csr_array(X.astype(float)), y, 0.01)
    result = solve(part, tiny(part, 0.3), tol=0.02, max_iter=300)
    assert result.status is Status.CONVERGED
    assert result.state["streaming"]["read"] <= 4


def test_the_horizon_shrinks_with_what_scores_move():
    part = problem("sparse binary", n=2000, C=0.02)
    reader = Reader(part, source_of(part), tiny(part, 0.3).plan(part), 0, 1e-3)
    steps = reader.steps(None)
    ends, horizons = [], []
    while reader.read < 4:
        next(steps)
        if reader.read_over:
            ends.append(part.model.new_scores(reader.probe.data))
            part.model.scores(reader.probe.data, Shard(0, reader.probe.data.n), reader.w, ends[-1])
            horizons.append(reader.horizon)
    moved = [np.quantile(np.abs(b - a), 0.9) for a, b in pairwise(ends)]
    assert horizons[1:] == pytest.approx(np.minimum.accumulate([0.5, *moved])[1:])
    assert horizons[-1] < 0.2 * horizons[0]


def test_a_promise_costs_no_read_while_reads_tell_smaller_gaps(monkeypatch):
    """The sample may lack the few examples whose losses are left."""
    part = problem("sparse binary", n=2000, C=0.02)
    reader = Reader(part, source_of(part), tiny(part, 0.3).plan(part), 0, 1e-3)
    reader.estimate = lambda: (-np.inf, 0.0)
    monkeypatch.delattr(Reader, "_certify")
    steps = reader.steps(None)
    while relative_gap(reader.best, reader.bound) > 0.02:
        next(steps)


def test_the_estimate_is_near_the_gap():
    part = problem("sparse binary", n=6000)
    reader = Reader(part, source_of(part), tiny(part, 0.6).plan(part), 0, 1e-3)
    reader.probe.index, reader.probe.data = np.arange(part.n), part.data
    steps = reader.steps(None)
    while reader.read < 1:
        next(steps)
    points = [reader.w + t * (reader.mean.value() - reader.w) for t in BETWEEN]
    primals = [part.primal(w) for w in points]
    gap, t = reader.estimate()
    assert gap == pytest.approx(min(primals) - reader.duals.dual, rel=1e-6)
    assert t == BETWEEN[int(np.argmin(primals))]


def test_the_mean_of_a_read_counts_later_points_more():
    points, mean = np.random.default_rng(0).normal(size=(5, 3)), MeanPoint()
    for w in points:
        mean.add(w)
    np.testing.assert_allclose(mean.value(), np.average(points, axis=0, weights=np.arange(1, 6) ** 2))


@pytest.mark.parametrize("kind", ["binary", "sparse binary", "sparse multiclass, intercept"])
def test_a_second_read_tells_the_objective_of_what_the_first_has_learnt(kind):
    part = problem(kind, n=600)
    reader = Reader(part, source_of(part), tiny(part, 0.5).plan(part), 0, 1e-9)
    reader.probe.index, reader.probe.data = np.arange(part.n), part.data  # the estimate is then exact
    reader.tol = -1.0  # and promises nothing
    steps = reader.steps(None)
    while not reader.read_over:
        first = next(steps)
    ends = reader.w.copy(), reader.mean.value()
    primals = [part.primal(ends[0] + t * (ends[1] - ends[0])) for t in BETWEEN]
    assert part.primal(first.w) in primals  # the one that the estimate takes for the best
    while not (reader.read == 2 and reader.read_over):
        second = next(steps)
    assert second.primal == pytest.approx(min(primals), rel=1e-12)
    assert second.primal == pytest.approx(part.primal(second.w), rel=1e-12)
    assert second.dual <= solve(problem(kind, n=600), tol=1e-4).primal


def test_after_one_read_the_mean_is_nearer_to_the_optimum_than_the_last_point():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.normal(size=(4000, 400)) * (rng.random((4000, 400)) < 0.05))
    y = np.where(X @ rng.normal(size=400) + rng.normal(size=4000) > 0, 1.0, -1.0)
    part = Problem(Binary(400), X, y, 1.0)
    reader = Reader(part, source_of(part), tiny(part, 0.15).plan(part), 0, 0.02)
    steps = reader.steps(None)
    while not reader.read_over:
        step = next(steps)
    optimum = solve(part, tol=1e-4).dual
    above = [part.primal(w) - optimum for w in (reader.w, reader.mean.value(), step.w)]
    assert above[1] < 0.7 * above[0]
    assert above[2] < 0.7 * above[0]


@pytest.mark.parametrize("kind", ["binary", "sparse binary"])
def test_memory_stays_within_the_budget(kind):
    part = problem(kind, n=20_000, d=40)
    solve(problem(kind, n=500, d=40), tiny(problem(kind, n=500, d=40)), tol=0.5)  # compiles
    solver = Streaming("3MB")
    plan = solver.plan(part)
    assert plan.bytes <= 3_000_000
    assert plan.rows < part.n
    tracemalloc.start()
    try:
        solve(part, solver, tol=0.02, max_iter=200)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.6 * 3_000_000 < peak < 1.25 * 3_000_000  # lists and other small things are not counted


def test_what_fits_is_trained_on_in_memory():
    mine = solve(problem("sparse binary"), Streaming("100MB"), tol=1e-4)
    other = solve(problem("sparse binary"), DualCD(), tol=1e-4)
    np.testing.assert_array_equal(mine.w, other.w)


@pytest.mark.parametrize("kind", ["binary, intercept", "sparse multiclass"])
def test_two_halves_of_a_run_are_the_whole(kind, tmp_path):
    part = problem(kind)
    solver = tiny(part)
    whole = solve(part, solver, tol=1e-9, max_iter=24)
    path = tmp_path / "run"
    solve(problem(kind), solver, tol=1e-9, max_iter=11, checkpoint=path)
    resumed = solve(problem(kind), solver, tol=1e-9, max_iter=24, checkpoint=path, resume=True)
    np.testing.assert_array_equal(resumed.w, whole.w)
    assert (resumed.dual, resumed.primal) == (whole.dual, whole.primal)


@pytest.mark.parametrize(("kind", "count"), [("binary", 4), ("sparse binary", 12)])
def test_a_run_may_be_cut_at_any_step(kind, count):
    """While it is still on its way: of two points that are the optimum, but for rounding, either is taken."""
    part = problem(kind)
    solver = tiny(part, 0.6)
    whole = solve(part, solver, tol=1e-15, max_iter=count)
    assert whole.state["streaming"]["read"] >= 2
    for first in range(1, count):
        half = solve(problem(kind), solver, tol=1e-15, max_iter=first)
        other = solve(problem(kind), solver, tol=1e-15, max_iter=count - first, start=half)
        np.testing.assert_array_equal(other.w, whole.w)


@pytest.mark.parametrize("kind", ["binary", "multiclass, intercept, weights", "sparse binary, intercept"])
def test_a_run_goes_on_with_another_budget(kind):
    exact = solve(problem(kind), tol=1e-5)
    shares = (0.8, 0.4) if "sparse" in kind else (0.6, 0.25)
    for first, second in (shares, shares[::-1]):
        part = problem(kind)
        before = solve(part, tiny(part, first), tol=1e-9, max_iter=1)
        assert before.state["streaming"]["read"] == 0 < before.state["streaming"]["place"][0]
        reader = Reader(part, source_of(part), tiny(part, second).plan(part), 0, 1e-3)
        steps = reader.steps(before.state)
        next(steps)
        np.testing.assert_allclose(reader.duals.v, recomputed(part, reader)[0], atol=1e-6)
        result = solve(problem(kind), tiny(part, second), tol=1e-3, start=before)
        assert result.status is Status.CONVERGED
        assert all(row.dual <= exact.primal for row in result.trace)
        assert result.primal >= exact.dual


def test_duals_survive_a_type_that_is_less_exact():
    part = problem("multiclass, intercept, weights")
    plans = [replace(tiny(part).plan(part), duals=np.dtype(name)) for name in ("float64", "float32")]
    before, reader = (Reader(part, source_of(part), plan, 0, 1e-3) for plan in plans)
    for _, _step in zip(range(9), before.steps(None), strict=False):
        pass
    reader._restore(before.state()["streaming"])
    v, loss = recomputed(part, reader)
    np.testing.assert_allclose(reader.duals.v, v, atol=1e-12)
    assert reader.duals.loss == pytest.approx(loss, rel=1e-12)
    assert reader.rows.m == 0


@pytest.mark.parametrize("kind", ["binary", "sparse binary"])
@pytest.mark.parametrize("promised", [True, False])
def test_only_a_promise_in_vain_calls_for_more_caution(kind, promised):
    part = problem(kind)
    reader = Reader(part, source_of(part), tiny(part, 0.6).plan(part), 0, 1e-9)
    reader.estimate = lambda: (-np.inf if promised else np.inf, 0.0)
    reader.tol = -1.0  # no certificate is enough
    before, steps = reader.optimiser.state(), reader.steps(None)
    while (reader.progress if promised else reader.read < LIMIT) or not reader.read_over:
        before = reader.optimiser.state()
        step = next(steps)
        assert reader.caution == 1.0
    before = reader.optimiser.state()
    step = next(steps)
    is_certificate = step.primal is not None and reader.place == (0, 0) and not reader.read_over
    assert is_certificate == promised  # reads that go on tell both bounds
    assert reader.caution == (CAUTION if promised else 1.0)
    assert reader.optimiser.state() != before  # but more is done in each read


def test_classes_with_intercepts_are_certified_now_and_then():
    """Their duals balance only where all are read for it."""
    part = problem("sparse multiclass, intercept")
    reader = Reader(part, source_of(part), tiny(part, 0.6).plan(part), 0, 1e-9)
    reader.estimate = lambda: (np.inf, 0.0)
    steps = reader.steps(None)
    while reader.read < LIMIT or not reader.read_over:
        assert next(steps).dual == -np.inf
    assert next(steps).dual > 0.0


def test_a_state_keeps_nothing_that_a_reader_computes():
    part = problem("sparse binary")
    state = solve(part, tiny(part, 0.6), tol=1e-9, max_iter=9).state["streaming"]
    assert "between" not in state
    assert set(state["optimiser"]) == {"runs", "passes", "reads"}


def test_another_tolerance_begins_anew():
    part = problem("binary")
    loose = solve(part, tiny(part), tol=0.1)
    at_once = solve(problem("binary"), tiny(part), tol=1e-4)
    result = solve(part, tiny(part), tol=1e-4, start=loose)
    assert result.state["streaming"]["optimiser"]["tol"] <= 1e-4
    assert result.n_iter <= at_once.n_iter
    same = solve(part, tiny(part), tol=1e-16, max_iter=60)
    again = solve(part, tiny(part), tol=1e-16, max_iter=1, start=same)
    tol = same.state["streaming"]["optimiser"]["tol"]
    assert again.state["streaming"]["optimiser"]["tol"] <= tol < 1e-12


@pytest.mark.parametrize("kind", ["binary", "binary, intercept", "sparse binary", "multiclass"])
def test_blocks_without_any_weight(kind):
    given, weights = problem(kind), np.zeros(240)
    weights[100:108] = 1.0

    def again():
        return Problem(given.model, given.data.X, given.data.y, 0.7, sample_weight=weights)

    exact = solve(again(), tol=1e-5)
    result = solve(again(), tiny(again(), 0.3), tol=1e-3)
    assert result.status is Status.CONVERGED
    assert result.dual <= exact.primal * (1 + 1e-9)
    assert exact.dual * (1 - 1e-9) <= result.primal <= exact.primal * (1 + 1.1e-3)


def test_ctrl_c_keeps_the_best_model_with_its_gap():
    def interrupt(row):
        if row.iteration == 9:
            raise KeyboardInterrupt

    part = problem("sparse binary")
    result = solve(part, tiny(part), tol=1e-9, callbacks=[interrupt], interrupt="return")
    assert result.status is Status.INTERRUPTED
    exact = solve(problem("sparse binary"), tol=1e-6)
    assert result.dual <= exact.primal
    assert result.primal >= exact.dual
    assert result.gap == relative_gap(result.primal, result.dual)


def test_too_little_memory_is_refused_with_what_is_needed():
    part = problem("binary")
    with pytest.raises(ValueError, match=r"memory=2 KB is too little: .* give at least \d+"):
        solve(part, Streaming(2000))
    advised = 1000 * float(str(refusal(part)).rsplit("at least ", 1)[1].split(" KB")[0])
    assert solve(part, Streaming(advised), tol=0.05).gap <= 0.05


def refusal(part):
    with pytest.raises(ValueError, match="too little") as caught:
        Streaming(2000).plan(part)
    return caught.value


def test_models_without_duals_of_single_examples_are_refused():
    general = ConstraintProblem(np.eye(3), np.ones(3), np.arange(3))
    with pytest.raises(ValueError, match="Streaming needs more than Constraints offers: it lacks rest"):
        solve(general, Streaming())
    with pytest.raises(ValueError, match="Streaming needs more than Ranking offers"):
        solve(Problem(oneslack.Ranking(2), np.eye(2), [1, 2]), Streaming())


# Models that are asked for worst outputs.


class Signs:
    """A model of three methods."""

    n_params = 30

    def joint_feature(self, x, y):
        return np.outer(x, y).ravel()

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def decode(self, w, x, y=None):
        scores = x @ w.reshape(10, 3) * 2.0 - (0.0 if y is None else y)
        return np.where(scores > 0, 1.0, -1.0)


class Lazy:
    """A sequence that makes an example when it is asked for."""

    def __init__(self, values):
        self.values, self.asked = values, 0

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        self.asked += 1
        return self.values[i].copy()


def labels_problem(lazy=False, n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    Y = np.where(X @ RULE[:10, :3] + rng.normal(size=(n, 3)) > 0, 1.0, -1.0)
    return Problem(Signs(), Lazy(X) if lazy else X, Lazy(Y) if lazy else Y, 0.3)


def chain_problem():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(m, 5)) for m in rng.integers(2, 8, 120)]
    Y = [np.argmax(x @ RULE[:5, :3] + rng.normal(size=(len(x), 3)), axis=1) for x in X]
    return Problem(Chain(5, 3), X, Y, 0.2)


@pytest.mark.parametrize("make", [labels_problem, lambda: labels_problem(lazy=True), chain_problem])
def test_structured_models_stream(make, monkeypatch):
    monkeypatch.setattr("oneslack.solvers.streaming.structured.CHUNK", 16)
    exact = solve(make(), "dual_cd", tol=1e-6)
    part = make()
    result = solve(part, Streaming("1MB"), tol=1e-3)
    assert result.status is Status.CONVERGED
    assert all(row.dual <= exact.primal for row in result.trace)
    assert all(row.primal >= exact.dual for row in result.trace)
    assert result.primal == pytest.approx(part.primal(result.w), rel=1e-9)
    halves = solve(make(), Streaming("1MB"), tol=1e-3, max_iter=7)
    halves = solve(make(), Streaming("1MB"), tol=1e-3, start=halves)
    np.testing.assert_array_equal(halves.w, result.w)


def test_a_structured_run_may_be_cut_at_any_step(monkeypatch):
    monkeypatch.setattr("oneslack.solvers.streaming.structured.CHUNK", 64)
    whole = solve(chain_problem(), Streaming("1MB"), tol=1e-3)
    assert whole.n_iter > 4
    for first in range(1, whole.n_iter):
        half = solve(chain_problem(), Streaming("1MB"), tol=1e-3, max_iter=first)
        other = solve(chain_problem(), Streaming("1MB"), tol=1e-3, start=half)
        np.testing.assert_array_equal(other.w, whole.w)
        assert first + other.n_iter == whole.n_iter


def test_another_tolerance_has_a_target_of_its_own():
    from oneslack.solvers.streaming import structured as structured

    runs = [structured.StructuredRun(chain_problem(), 10**9, 0, tol) for tol in (0.1, 0.1, 1e-4)]
    runs[0].target *= 0.7
    targets = [run.target for run in runs]
    for run in runs[1:]:
        run.restore(runs[0].state()["reading"])
    assert [run.target for run in runs] == [targets[0], targets[0], targets[2]]


def test_merging_cuts_leaves_w_and_the_dual(monkeypatch):
    from oneslack.solvers.streaming import structured as structured

    monkeypatch.setattr(structured, "CHUNK", 16)
    run = structured.StructuredRun(labels_problem(), 10**9, 0, 1e-6)
    for _ in range(3):
        list(run.read())
    one = structured.merged(run.problem, run.store)
    assert len(one) < len(run.store)
    assert one.counts.max() == 1
    np.testing.assert_allclose(one.w, run.store.w, atol=1e-12)
    assert one.dual == pytest.approx(run.store.dual, rel=1e-12)


def test_a_budget_of_cuts_is_kept(monkeypatch):
    from oneslack.solvers.streaming import structured as structured

    monkeypatch.setattr(structured, "CHUNK", 16)
    run = structured.StructuredRun(labels_problem(), 10**9, 0, 1e-9)
    for _ in range(4):
        list(run.read())
    most = structured.n_bytes(run.store)
    exact = solve(labels_problem(), "dual_cd", tol=1e-6)
    bounded = structured.StructuredRun(labels_problem(), int(0.9 * most), 0, 1e-9)
    for _ in range(6):
        for step in bounded.read():
            assert structured.n_bytes(bounded.store) <= 0.9 * most
            assert step.dual <= exact.primal
    step = bounded.certify()
    assert relative_gap(step.primal, step.dual) < 0.02
    with pytest.raises(oneslack.OneslackError, match=r"the cuts of 150 examples take .*; give more"):
        solve(labels_problem(), Streaming("15KB"))
    with pytest.raises(oneslack.OneslackError, match=r"memory=10 KB is too little: 30 weights .*; give more"):
        solve(labels_problem(), Streaming("10KB"))


class OnShards:
    """Examples of packed rows, each read when it is asked for: x, or the signs that its label stands for."""

    def __init__(self, shards, what):
        self.shards, self.what = shards, what

    def __len__(self):
        return self.shards.n_rows

    def __getitem__(self, i):
        k = int(np.searchsorted(self.shards.offsets, i, side="right")) - 1
        with self.shards[k] as shard:
            rows = shard.rows(i - shard.lo, i - shard.lo + 1)
            if self.what == "x":
                return np.array(rows.X[0], float)
            return np.where((int(rows.y[0]) >> np.arange(3)) & 1, 1.0, -1.0)


@pytest.mark.parametrize("n", few([50, 150], 1))
def test_a_model_of_ones_own_streams_from_shards(tmp_path, monkeypatch, n):
    from oneslack.formats import ShardWriter, open_shards

    monkeypatch.setattr("oneslack.solvers.streaming.structured.CHUNK", 16)
    whole = labels_problem(n=n)
    signs = np.array([whole.Y[i] for i in range(whole.n)]) > 0
    with ShardWriter(tmp_path / "packed", dtype="float64", shard_size="1KB") as writer:
        writer.append(np.asarray(whole.X), signs @ [1, 2, 4])
    shards = open_shards(tmp_path / "packed")
    assert len(shards) > 3
    exact = solve(whole, "dual_cd", tol=1e-6)
    for solver in (Streaming("1MB"), "one_slack"):
        part = Problem(Signs(), OnShards(shards, "x"), OnShards(shards, "y"), 0.3)
        result = solve(part, solver, tol=1e-3)
        assert result.status is Status.CONVERGED
        assert result.dual <= exact.primal * (1 + 1e-9)
        assert exact.dual * (1 - 1e-9) <= result.primal
