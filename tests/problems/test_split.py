"""A problem in parts gives what the problem in one piece gives: workers in threads of this process."""

import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from oneslack import (  # fmt: skip
    Binary,
    Chain,
    DistributedDual,
    DualCD,
    LinearSVC,
    Multiclass,
    NSlack,
    OneSlack,
    OneslackError,
    Problem,
    Ranking,
    Regression,
    SplitProblem,
    StructuralSVM,
    ThreadCrews,
    solve,
)
from oneslack.data.rows import Ragged
from oneslack.engines import scores, sums
from oneslack.engines.crew import ThreadCrew
from oneslack.engines.sums import LOST, SparseVector, add_up, packed, unpacked
from oneslack.formats import ShardWriter, open_shards
from oneslack.memory.arenas import SparseArena
from oneslack.models.measures import measure_model
from oneslack.problems.new import new_problem
from oneslack.problems.parts import local_duals
from oneslack.problems.parts.local_duals import CutDuals, PassDuals
from oneslack.problems.parts.parts import memory_parts, neighbours
from oneslack.problems.parts.problem import GatheredProblem
from oneslack.solvers.distributed import cuts as distributed_cuts
from oneslack.solvers.distributed.cuts import TeamCuts
from oneslack.solvers.distributed.dual import TeamDuals
from oneslack.solvers.distributed.team import PATIENCE, Bounds, best_shares, shares_to_take


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16.0, y[:600]


def cases(X, y):
    signs = np.where(y % 2, 1.0, -1.0)
    return {
        "binary": (Binary(64), X, signs),
        "intercept": (Binary(64, True), X, signs),
        "sparse": (Binary(64), sp.csr_array(X), signs),
        "classes": (Multiclass(64, 10), X, y),
        "numbers": (Regression(64, 0.5, True), X, y.astype(float)),
    }


KINDS = ("binary", "intercept", "sparse", "classes", "numbers")


def agree(one, other, tol):
    """Both intervals hold the optimum."""
    assert other.status.name == "CONVERGED"
    assert max(one.dual, other.dual) <= min(one.primal, other.primal) * (1 + 1e-9)
    assert abs(one.primal - other.primal) <= 2.0 * tol * one.primal


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", [OneSlack(), OneSlack(planes=6), DistributedDual()], ids=repr)
def test_workers_reach_the_same_optimum(digits, kind, solver):
    model, X, Y = cases(*digits)[kind]
    weights = np.random.default_rng(0).integers(1, 4, len(Y)).astype(float)
    whole = solve(Problem(model, X, Y, 0.01, sample_weight=weights), OneSlack(), tol=1e-3)
    problem = SplitProblem(model, X, Y, 0.01, sample_weight=weights, engine=ThreadCrews(3))
    with problem.engine:
        found = solve(problem, solver, tol=1e-3, max_iter=3000)
    agree(whole, found, 1e-3)
    # What is reported is what the problem in one piece says of that w.
    assert found.primal == pytest.approx(Problem(model, X, Y, 0.01, sample_weight=weights).primal(found.w))
    assert found.trace[-1].rounds > 0
    assert found.trace[-1].bytes_moved > 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_single_examples_answers_with_the_change_of_v(digits, kind):
    model, X, Y = cases(*digits)[kind]
    problem = Problem(model, X, Y, 0.01)
    duals = PassDuals(problem, 0)
    rng = np.random.default_rng(0)
    for w in rng.normal(size=(2, problem.n_params)):
        before = duals.sum()
        change, linear, *_ = duals.lean(w, problem.scores(w))
        after = duals.sum()
        assert np.abs(change).max() > 0
        np.testing.assert_allclose(change, after[0] - before[0], atol=1e-12)
        assert linear == pytest.approx(after[1] - before[1])


def test_no_change_where_no_dual_moves():
    X, y = np.ones((12, 1)), np.repeat([0, 1, 2], [8, 2, 2])
    duals = PassDuals(Problem(Multiclass(1, 3), X, y, 0.1), 0)
    change, linear, *_ = duals.lean(np.zeros(3), 10.0 * np.eye(3)[y])  # every truth wins by far
    assert np.abs(change).max() <= 1e-13
    assert abs(linear) <= 1e-13


def test_bounds_are_true_where_each_worker_has_classes_of_its_own():
    X, y = np.ones((12, 1)), np.repeat([0, 1, 2], [8, 2, 2])
    optimum = solve(Problem(Multiclass(1, 3), X, y, 0.1), DualCD(), tol=1e-10).primal
    problem = SplitProblem(Multiclass(1, 3), X, y, 0.1, engine=ThreadCrews(3))
    with problem.engine:
        found = solve(problem, DistributedDual(), tol=1e-6, max_iter=300)
    assert found.trace.column("dual").max() <= optimum * (1 + 1e-9)
    assert found.gap <= 1e-6


def test_one_slack_takes_the_same_steps_in_parts(digits):
    model, X, Y = cases(*digits)["intercept"]
    whole = solve(Problem(model, X, Y, 0.1), OneSlack(), tol=1e-4)
    problem = SplitProblem(model, X, Y, 0.1, engine=ThreadCrews(4))
    with problem.engine:
        found = solve(problem, OneSlack(), tol=1e-4)
    assert found.n_iter == whole.n_iter
    assert found.w == pytest.approx(whole.w, abs=1e-9)


def sentences(n=60, seed=0):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, n)
    X = [rng.normal(size=(T, 5)) for T in lengths]
    Y = [(x[:, :3] + 0.4 * rng.normal(size=(len(x), 3))).argmax(axis=1) for x in X]
    return Ragged.from_list(X), Ragged.from_list(Y)


@pytest.mark.parametrize(
    "solver", [DistributedDual(), OneSlack(), OneSlack(cache_size=5), NSlack()], ids=repr
)
def test_chains_in_parts(solver):
    X, Y = sentences()
    whole = solve(Problem(Chain(5, 3), X, Y, 0.3), DualCD(), tol=1e-3)
    problem = SplitProblem(Chain(5, 3), X, Y, 0.3, engine=ThreadCrews(2))
    with problem.engine:
        found = solve(problem, solver, tol=1e-3, max_iter=3000)
    agree(whole, found, 1e-3)
    assert found.primal == pytest.approx(Problem(Chain(5, 3), X, Y, 0.3).primal(found.w))


@pytest.mark.parametrize("engine", ["few", "many", "forgetful"])
def test_chains_whoever_the_workers_are(engine, monkeypatch):
    """Each with a share of its own, all with the same, and started anew at any message."""
    if engine == "many":
        monkeypatch.setattr(distributed_cuts, "SEPARATE", 1)
    X, Y = sentences(90, seed=1)
    whole = solve(Problem(Chain(5, 3), X, Y, 0.3), DualCD(), tol=1e-4)
    crews = ForgetfulCrews(3) if engine == "forgetful" else ThreadCrews(3)
    crews.moments = range(2, 90, 3)
    problem = SplitProblem(Chain(5, 3), X, Y, 0.3, engine=crews)
    with problem.engine:
        found = solve(problem, DistributedDual(), tol=1e-4, max_iter=3000)
    assert engine != "forgetful" or not problem.engine.moments
    agree(whole, found, 1e-4)
    assert (found.trace.column("dual") <= whole.primal * (1 + 1e-9)).all()
    assert found.primal == pytest.approx(Problem(Chain(5, 3), X, Y, 0.3).primal(found.w))


def test_a_share_of_a_round_is_taken_of_duals_and_v_alike():
    X, Y = sentences()
    duals = CutDuals(Problem(Chain(5, 3), X, Y, 0.3), 0)
    for number, share in enumerate((1.0, 0.3, 0.0, 0.7)):
        v, linear, _ = duals.sum()
        duals.place(v, number)
        change, gain, left, _ = duals.round(1.5, True, 0, 1)
        assert np.abs(change).max() > 0
        assert left == pytest.approx(gain - change @ v)
        assert duals.agree(share * change, share, number + 1)
        np.testing.assert_allclose(duals.store.w, v + share * change, atol=1e-12)
        after, after_linear, _ = duals.sum()
        np.testing.assert_allclose(after, v + share * change, atol=1e-12)
        assert after_linear == pytest.approx(linear + share * gain)


@pytest.mark.parametrize("kind", ["outputs", "rows"])
@pytest.mark.parametrize("limit", [0.6, 0.0], ids=["sparse", "dense"])
def test_a_change_is_found_where_duals_have_moved(monkeypatch, kind, limit):
    """Without a look at the other weights; labels that are remembered, and rows of a matrix."""
    monkeypatch.setattr(local_duals, "SPARSE", limit)
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 7, 40)
    X = sp.random_array((lengths.sum(), 4000), density=0.002, format="csr", rng=rng)
    Y = Ragged(rng.integers(0, 3, lengths.sum()), np.append(0, np.cumsum(lengths)))
    rescaling = "margin" if kind == "outputs" else "slack"
    problem = Problem(Chain(4000, 3), Ragged(X, Y.offsets), Y, 0.3, rescaling=rescaling)
    duals = CutDuals(problem, 0)
    if kind == "rows":
        duals.store.arena = SparseArena(problem.n_params)
    for number, asks in enumerate((True, False, True)):
        v = duals.sum()[0]
        duals.place(v, number)
        change, gain, left, _ = duals.round(1.5, asks, 0, 1)
        assert isinstance(change, SparseVector) == (limit > 0.0)
        found = unpacked(change)
        assert 0 < np.count_nonzero(found) < len(found) // 2
        np.testing.assert_array_equal(found, (duals.store.w - v) / 1.5)
        np.testing.assert_allclose(found, duals.sum()[0] - v, atol=1e-12)
        assert left == pytest.approx(gain - found @ v)
        duals.place(v, number)
        assert duals.agree(change, 1.0, number + 1)


def test_what_comes_twice_or_too_late_is_noticed():
    X, Y = sentences()
    duals = CutDuals(Problem(Chain(5, 3), X, Y, 0.3), 0)
    assert not duals.agree(None, None, 1)
    assert duals.agree(None, None, 0)
    change, *_ = duals.round(1.0, True, 0, 1)
    assert not duals.agree(None, None, 0)  # the question again
    assert not duals.agree(change, 1.0, 2)
    assert duals.agree(change, 1.0, 1)
    assert not duals.agree(change, 1.0, 1)


@pytest.mark.parametrize("model", [Ranking(64), measure_model("f1", 64)], ids=["ranking", "f1"])
def test_a_risk_that_is_no_sum_gathers_scores(digits, model):
    X, y = digits
    Y = y if isinstance(model, Ranking) else np.where(y % 2, 1.0, -1.0)
    whole = solve(Problem(model, X, Y, 0.1), OneSlack(), tol=1e-3)
    problem = GatheredProblem(model, X, Y, 0.1, engine=ThreadCrews(3))
    with problem.engine:
        found = solve(problem, OneSlack(), tol=1e-3)
    agree(whole, found, 1e-3)
    with pytest.raises(OneslackError, match="no sum over examples"):
        SplitProblem(model, X, Y, 0.1, engine=ThreadCrews(2))


class Half:
    """Two classes in plain Python; cannot say anything about an x that starts with 9."""

    n_params = 4

    def joint_feature(self, x, y):
        psi = np.zeros((2, 2))
        psi[y] = x
        return psi.ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        if x[0] == 9:
            raise RuntimeError("no idea")
        gains = w.reshape(2, 2) @ x
        return int(np.argmax(gains if y is None else gains + (np.arange(2) != y)))


def test_any_model_in_parts_and_the_example_that_fails():
    rng = np.random.default_rng(0)
    X = list(rng.normal(size=(40, 2)))
    Y = [int(x[0] > 0) for x in X]
    whole = solve(Problem(Half(), X, Y, 1.0), OneSlack(), tol=1e-3)
    for solver in (OneSlack(cache_size=3), DistributedDual()):
        problem = SplitProblem(Half(), X, Y, 1.0, engine=ThreadCrews(2))
        with problem.engine:
            agree(whole, solve(problem, solver, tol=1e-3, max_iter=2000), 1e-3)
    X[33] = np.array([9.0, 0.0])
    for problem in (Problem(Half(), X, Y), SplitProblem(Half(), X, Y, engine=ThreadCrews(2))):
        with (
            problem.engine,
            pytest.raises(OneslackError, match="example 33: the model raised RuntimeError: no"),
        ):
            solve(problem, OneSlack())


def test_shards_are_read_by_the_workers(digits, tmp_path):
    X, y = digits
    with ShardWriter(tmp_path / "packed", shard_size=64 * 8 * 100, dtype="float64") as writer:
        writer.append(X, y)
    shards = open_shards(tmp_path / "packed")
    assert len(shards) > 2
    whole = LinearSVC(solver="one_slack", tol=1e-3).fit(X, y)
    problem = SplitProblem(Multiclass(64, 10), shards, lambda shard: shard.codes, engine=ThreadCrews(2))
    with problem.engine:
        found = solve(problem, OneSlack(), tol=1e-3)
    assert found.primal >= whole.dual_objective_
    (tmp_path / "packed" / shards.manifest.shards[1].file).unlink()
    with pytest.raises(OneslackError, match="the shard is missing"):
        SplitProblem(Multiclass(64, 10), shards, lambda shard: shard.codes, engine=ThreadCrews(2))


def test_a_run_is_taken_up_again(digits, tmp_path):
    model, X, Y = cases(*digits)["binary"]

    def run(path=None, resume=False, **options):
        problem = SplitProblem(model, X, Y, 0.05, engine=ThreadCrews(2))
        with problem.engine:
            return solve(problem, DistributedDual(), tol=1e-5, checkpoint=path, resume=resume, **options)

    whole = run()
    part = run(tmp_path / "c", max_iter=5)
    again = run(tmp_path / "c", resume=True)
    assert part.status.name == "MAX_ITER"
    # The scores of the best point are found anew, which rounds otherwise.
    assert abs(again.n_iter - whole.n_iter) <= 2
    assert again.w == pytest.approx(whole.w, abs=1e-5)
    assert again.trace[:5] == part.trace[:5]


def test_planes_of_other_groups_are_not_taken(digits):
    model, X, Y = cases(*digits)["binary"]
    optimum = solve(Problem(model, X, Y, 0.05), DualCD(), tol=1e-8).primal

    def run(count, start=None, **options):
        problem = SplitProblem(model, X, Y, 0.05, engine=ThreadCrews(count))
        with problem.engine:
            return solve(problem, OneSlack(planes=6), start=start, **options)

    first = run(2, tol=0.1)
    for count in (2, 3):  # as many groups, but of other examples
        again = run(count, start=first, tol=1e-4)
        assert again.trace.column("dual").max() <= optimum * (1 + 1e-7)
        assert again.gap <= 1e-4
        assert (again.trace[0].dual >= first.dual) == (count == 2)


def test_a_start_of_other_targets_gives_its_w_alone(digits):
    model, X, Y = cases(*digits)["binary"]

    def run(solver, Y, **options):
        problem = SplitProblem(model, X, Y, 0.05, engine=ThreadCrews(2))
        with problem.engine:
            return solve(problem, solver, tol=1e-3, **options)

    for solver in (OneSlack(), DistributedDual()):
        flipped = np.where(np.arange(len(Y)) % 3, Y, -Y)
        again = run(solver, Y, start=run(solver, flipped))
        assert again.dual <= solve(Problem(model, X, Y, 0.05), DualCD(), tol=1e-6).primal
        assert again.gap <= 1e-3


def test_a_resumed_run_counts_on(digits, tmp_path):
    model, X, Y = cases(*digits)["binary"]

    def run(**options):
        problem = SplitProblem(model, X, Y, 0.05, engine=ThreadCrews(2))
        with problem.engine:
            return solve(problem, DistributedDual(), tol=1e-9, checkpoint=tmp_path / "c", **options)

    run(max_iter=5)
    trace = run(max_iter=8, resume=True).trace
    assert (np.diff(trace.column("rounds")) > 0).all()
    assert (np.diff(trace.column("bytes_moved")) > 0).all()
    assert all(type(row.n_cuts) is int for row in trace)


def test_an_interrupted_question_is_answered_by_all_before_it_is_left():
    class Slow:
        done = False

        def do(self, method, message):
            time.sleep(0.2)
            self.done = True

    class Interrupted:
        def do(self, method, message):
            raise KeyboardInterrupt

    workers = [Interrupted(), Slow()]
    with ThreadCrew(workers) as crew:
        with pytest.raises(KeyboardInterrupt):
            crew.ask("risk")
        assert workers[1].done


class Forgetful(ThreadCrew):
    """Replaces a worker by a new one before some of the messages, as a cluster does after a crash."""

    def __init__(self, workers, moments):
        super().__init__(workers)
        self.moments = set(moments)

    def _send(self, worker, method, message, vectors):
        if self.rounds in self.moments and worker is self.workers[-1]:
            self.moments.discard(self.rounds)
            self.workers[-1] = worker = type(worker)(worker.part, worker.model, worker.options)
        return super()._send(worker, method, message, vectors)


class ForgetfulCrews(ThreadCrews):
    moments = (3, 4, 9, 17, 30)

    def start(self, kind, parts, model, options):
        return Forgetful([kind(part, model, options) for part in parts], self.moments)


@pytest.mark.parametrize("solver", [OneSlack(), DistributedDual()], ids=repr)
def test_a_worker_that_comes_back_knows_nothing(digits, solver):
    model, X, Y = cases(*digits)["intercept"]
    whole = solve(Problem(model, X, Y, 0.05), OneSlack(), tol=1e-3)
    problem = SplitProblem(model, X, Y, 0.05, engine=ForgetfulCrews(2))
    with problem.engine:
        found = solve(problem, solver, tol=1e-3, max_iter=3000)
    assert not problem.engine.moments
    agree(whole, found, 1e-3)


def test_scores_by_name(monkeypatch, digits):
    monkeypatch.setattr(scores, "KEPT", 2)
    model, X, Y = cases(*digits)["binary"]
    whole, problem = Problem(model, X, Y), SplitProblem(model, X, Y, engine=ThreadCrews(2))
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 64))
    with problem.engine:
        U, V = problem.scores(u), problem.scores(v)
        direction = np.float64(2.0) * (V - U)
        for t in (0.0, 0.3):
            look = problem.scores.along(U, direction, t)
            other = whole.scores.along(whole.scores(u), 2.0 * whole.scores(v - u), t)
            assert (look.risk, look.slope) == pytest.approx((other.risk, other.slope))
        for third in rng.normal(size=(4, 64)):  # more than a worker keeps
            assert problem.risk(third) == pytest.approx(whole.risk(third))
        assert problem.scores.risk(-U) == pytest.approx(whole.risk(-u))


def test_parts_hold_all_and_each_has_weight():
    X = sp.random_array((50, 7), density=0.4, format="csr", rng=0)
    y, weights = np.arange(50.0), np.zeros(50)
    weights[[3, 4, 48]] = 1.0
    for count in (1, 2, 5, 60):
        for s in (None, weights):
            parts = memory_parts(X, y, s, count)
            assert len(parts) <= count
            assert np.concatenate([part.Y for part in parts]).tolist() == y.tolist()
            assert (sp.vstack([part.X for part in parts]) != X).nnz == 0
            assert s is None or all(part.weights.sum() > 0 for part in parts)
    words = Ragged.from_list([[1, 2], [], [3], [4, 5, 6]])
    assert [neighbours(words, 1, 4)[i].tolist() for i in range(3)] == [[], [3], [4, 5, 6]]


@pytest.mark.parametrize("kind", ["intercept", "classes", "chain"])
def test_a_state_without_the_duals_of_a_worker_goes_on(digits, kind):
    X, Y = sentences()
    model, X, Y = (Chain(5, 3), X, Y) if kind == "chain" else cases(*digits)[kind]
    truth = solve(Problem(model, X, Y, 0.1), OneSlack(), tol=1e-4)
    problem = SplitProblem(model, X, Y, 0.1, engine=ThreadCrews(3))
    with problem.engine:
        before = solve(problem, DistributedDual(), tol=1e-9, max_iter=4)
        workers = before.state["duals"]["workers"]
        assert sorted(workers) == [lo for lo, _ in problem.parts]
        del workers[problem.parts[1][0]]  # it has died just before
        duals = (TeamCuts if kind == "chain" else TeamDuals)(problem, 0)
        duals.restore(before.state["duals"])
        v = problem.total_duals("dual_sum", 0)[0]
        np.testing.assert_allclose(duals.v, v, atol=1e-9)
        found = solve(problem, DistributedDual(), tol=1e-3, start=before, max_iter=3000)
    agree(truth, found, 1e-3)
    assert all(row.dual <= truth.primal * (1 + 1e-9) for row in found.trace)


def second_class_alone(shard):
    return (shard.codes == 1).astype(float)


def signs_of(shard):
    return np.where(shard.codes > 0, 1.0, -1.0)


def test_shards_without_weight_join_others(digits, tmp_path):
    X, y = digits
    order = np.argsort(y % 2, kind="stable")
    with ShardWriter(tmp_path / "packed", dtype="float64", shard_size="16KB") as writer:
        writer.append(X[order], (y % 2)[order])
    shards = open_shards(tmp_path / "packed")
    assert len(shards) > 4
    problem = SplitProblem(
        Binary(64), shards, signs_of, sample_weight=second_class_alone, engine=ThreadCrews(4)
    )
    with problem.engine:
        assert 1 < len(problem.parts) < 4
        assert (problem.parts[0][0], problem.parts[-1][1]) == (0, len(y))
        assert solve(problem, tol=1e-3).gap <= 1e-3


def test_weights_of_another_length_are_refused(digits):
    X, y = digits
    for weights in (np.ones(len(y) - 1), np.ones(len(y) + 1), np.ones((len(y), 1))):
        with pytest.raises(ValueError, match=r"sample_weight has shape .*, expected \(600,\)"):
            SplitProblem(Multiclass(64, 10), X, y, sample_weight=weights, engine=ThreadCrews(2))


def test_sums_of_sparse_and_dense_answers():
    dense, sparse = np.ones(20_000), np.zeros(20_000)
    sparse[7] = 2.0
    assert isinstance(packed(sparse), SparseVector)
    assert packed(dense) is dense
    for answers in ([packed(sparse)] * 3, [packed(sparse), dense], [dense, packed(sparse), packed(sparse)]):
        total, number = add_up([(answer, 0.5) for answer in answers])
        assert unpacked(total).tolist() == sum(unpacked(answer) for answer in answers).tolist()
        assert number == 0.5 * len(answers)
    assert add_up([(1.0,), LOST]) == LOST


@pytest.mark.parametrize("kinds", ["ss", "sd", "dd", "sss", "s"])
def test_arithmetic_of_packed_vectors(kinds):
    rng = np.random.default_rng(0)
    dense, shares = rng.normal(size=(len(kinds), 20_000)), [1.0, 0.25, -2.0][: len(kinds)]
    for row, kind in zip(dense, kinds, strict=True):
        row[rng.permutation(20_000)[: 19_000 if kind == "s" else 10]] = 0.0
    vectors = [packed(row.copy()) for row in dense]
    assert [isinstance(vector, SparseVector) for vector in vectors] == [kind == "s" for kind in kinds]
    np.testing.assert_allclose(sums.products(vectors), dense @ dense.T)
    np.testing.assert_allclose(unpacked(sums.combined(vectors, shares)), shares @ dense)
    assert sums.combined(vectors[:1], [1.0]) is vectors[0]
    w = rng.normal(size=20_000)
    assert sums.dot_with(vectors[0], w) == pytest.approx(dense[0] @ w)
    moved, target = w.copy(), w.copy()
    sums.add_to(vectors[0], 0.5, moved)
    np.testing.assert_allclose(moved, w + 0.5 * dense[0])
    sums.copy_where(vectors[0], moved, target)
    np.testing.assert_array_equal(target, moved)
    sums.move_both(vectors[0], moved, target)
    np.testing.assert_allclose(moved, w + 1.5 * dense[0])
    np.testing.assert_array_equal(target, moved)


def test_changes_are_taken_whole_where_that_is_nearly_best():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        V = rng.normal(size=(3, 5))
        G, b = V @ V.T, rng.uniform(0.0, 8.0, 3)

        def growth(t, G=G, b=b):
            return b @ t - 0.5 * t @ G @ t

        best, taken = best_shares(G, b), shares_to_take(G, b)
        assert growth(best) >= max(growth(t) for t in rng.uniform(size=(50, 3))) - 1e-5
        assert growth(taken) >= 0.5 * growth(best) >= 0.0
        is_whole = bool((taken == 1.0).all())
        assert is_whole == (growth(np.ones(3)) >= 0.5 * growth(best))
        seen.add(is_whole)
    assert seen == {True, False}


def test_bounds_measure_progress_from_where_duals_were_lost():
    bounds = Bounds(None, None, 1e-3)
    assert bounds._take(None, np.inf, 5.0) is False
    bounds.lose()
    for dual in np.linspace(1.0, 4.0, 3 * PATIENCE):  # it takes long to come back
        bounds._take(None, np.inf, dual)
        assert not bounds.stalled
    assert bounds.dual == 5.0
    for _ in range(PATIENCE):
        bounds._take(None, np.inf, 4.0)
    assert bounds.stalled


def test_what_does_not_fit_is_refused(digits):
    model, X, Y = cases(*digits)["binary"]
    with pytest.raises(ValueError, match="examples in parts"):
        solve(Problem(model, X, Y), DistributedDual())
    problem = SplitProblem(model, X, Y, engine=ThreadCrews(2))
    with problem.engine:
        with pytest.raises(ValueError, match="examples on this machine"):
            solve(problem, "newton")
        assert solve(problem, "dual_cd", max_iter=1).solver == "distributed_dual"
        assert solve(problem, "auto", max_iter=1).solver == "one_slack"
    with pytest.raises(ValueError, match="engine='spark' is not known"):
        LinearSVC(engine="spark").fit(X, Y)
    with pytest.raises(ValueError, match="leave planes at 1"):
        solve(Problem(Ranking(64), X, Y), OneSlack(planes=2))
    named = new_problem(model, X, Y, 1.0, solver="distributed_dual", n_jobs=2)
    with named.engine:
        assert solve(named, "distributed_dual", tol=1e-2).gap <= 1e-2


def test_distributed_dual_through_an_estimator(digits):
    X, y = digits
    plain = LinearSVC(0.01, fit_intercept=False, solver="dual_cd").fit(X, y % 2)
    model = LinearSVC(0.01, fit_intercept=False, solver="distributed_dual", n_jobs=2).fit(X, y % 2)
    assert model.dual_objective_ <= plain.objective_
    assert plain.dual_objective_ <= model.objective_
    assert model.duality_gap_ <= 1e-3


def test_labels_that_are_not_known_stay_here():
    X, Y = sentences(6)
    Y[2][0] = -1
    with pytest.raises(ValueError, match="not known are filled in on this machine only; drop engine"):
        StructuralSVM(Chain(5, 3), engine=ThreadCrews(2)).fit(X, Y)
    assert not StructuralSVM(Chain(5, 3), engine="threads").fit(X, Y).result_.certified
