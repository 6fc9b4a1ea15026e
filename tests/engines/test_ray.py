"""On a Ray cluster of two workers everything ends at the same optimum, whatever dies in between."""

import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest
from broken_models import classes, put, with_feature
from problems.test_split import Half, sentences
from ray_cluster import QUIET, assert_gone, below, cluster, ray

import oneslack
from oneslack import (
    Binary,
    Chain,
    DistributedDual,
    OneSlack,
    OneslackError,
    Problem,
    Ray,
    SplitProblem,
    solve,
)
from oneslack.checks.model import ModelError
from oneslack.engines.ray import LocalCluster
from oneslack.engines.ray_actor import _Actor
from oneslack.errors import MachineLost
from oneslack.formats import ShardWriter, open_shards
from oneslack.memory.checkpoint import Checkpoint
from oneslack.problems.new import new_problem
from oneslack.problems.parts.whole import WholeProblem

pytestmark = [*QUIET, pytest.mark.usefixtures("cluster")]
__all__ = ["cluster"]


@pytest.fixture(scope="module")
def examples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0, 1.0, -1.0)


WORDS = [[{"w": "the"}, {"w": "cat"}], [{"w": "a"}, {"w": "dog"}, {"w": "barks"}]] * 4
TAGS = [["D", "N"], ["D", "N", "V"]] * 4
TREES = ["(S (NP (PRP I)) (VP (VBP see) (NP (NNS stars))))", "(S (NP (NNS stars)) (VP (VBP shine)))"] * 3


def fits(X, y):
    """Estimators with what they learn from."""
    pairs = list(X[:, :2]), [int(value > 0) for value in y]
    return {
        "LinearSVC": (lambda **how: oneslack.LinearSVC(**how), (X, y)),
        "without an intercept": (
            lambda **how: oneslack.LinearSVC(0.1, fit_intercept=False, solver="dual_cd", **how), (X, y),
        ),
        "RankSVM": (lambda **how: oneslack.RankSVM(**how), (X, X[:, 0].round())),
        "MetricSVC": (lambda **how: oneslack.MetricSVC("f1", **how), (X, y)),
        "SequenceTagger": (lambda **how: oneslack.SequenceTagger(**how), (WORDS, TAGS)),
        "GrammarParser": (lambda **how: oneslack.GrammarParser(C=0.01, min_count=1, **how), (TREES,)),
        "StructuralSVM": (lambda **how: oneslack.StructuralSVM(Half(), **how), pairs),
    }  # fmt: skip


ENGINES = {"one worker": {"n_jobs": 2, "engine": "ray"}, "two workers": {"engine": Ray(2, threads=1)}}
#: Arrays, sentences, trees, objects: what is sent to workers in ways of its own.
QUICK = {
    ("LinearSVC", "two workers"), ("StructuralSVM", "one worker"),
}  # fmt: skip
CASES = [
    pytest.param(name, engine, marks=[] if (name, engine) in QUICK else pytest.mark.slow)
    for name in fits(np.zeros((2, 2)), np.zeros(2))
    for engine in ENGINES
]


@pytest.mark.parametrize(("name", "engine"), CASES)
def test_threads_processes_and_ray_agree(examples, name, engine):
    make, data = fits(*examples)[name]
    elsewhere = make(**ENGINES[engine])
    models = make(n_jobs=1), make(n_jobs=2), elsewhere
    for model in models:
        model.fit(*data)
        assert model.duality_gap_ <= model.tol
    best = min(model.objective_ for model in models)
    for model in models:
        assert model.dual_objective_ <= best * (1 + 1e-9)
    results = list(elsewhere.result_.parts)
    assert all(result.trace[-1].rounds > 0 for result in results)
    assert all(result.trace[-1].bytes_moved > 0 for result in results)


def test_nobody_else_can_reach_a_cluster_of_ours(cluster):
    """All sockets that Ray's processes listen at are on 127.0.0.1."""
    assert ray.util.get_node_ip_address() == "127.0.0.1"
    mine = set()
    for process in [os.getpid(), *below(os.getpid())]:
        folder = f"/proc/{process}/fd"
        for number in os.listdir(folder) if os.path.isdir(folder) else ():
            try:
                mine.add(os.readlink(f"{folder}/{number}"))
            except OSError:
                continue
    places = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}") as lines:
            for line in list(lines)[1:]:
                words = line.split()
                if words[3] == "0A" and f"socket:[{words[9]}]" in mine:
                    places.add(words[1].split(":")[0])
    assert places
    assert places <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def kill_worker(problem):
    """kill -9."""
    crew = problem.engine
    os.kill(ray.get(crew.workers[0].host.actor.pid.remote()), signal.SIGKILL)


def kill_actor(problem):
    """As Ray does it: the actor is started again."""
    ray.kill(problem.engine.workers[-1].host.actor)


@pytest.mark.parametrize(
    ("kill", "solver"),
    [
        (kill_worker, DistributedDual()),
        pytest.param(kill_worker, OneSlack(), marks=pytest.mark.slow),
        pytest.param(kill_actor, DistributedDual(), marks=pytest.mark.slow),
    ],
    ids=["worker", "worker, one_slack", "actor"],
)
def test_who_dies_comes_back(examples, kill, solver):
    X, y = examples
    whole = solve(Problem(Binary(8), X, y, 0.1), OneSlack(), tol=1e-4)
    problem = SplitProblem(Binary(8), X, y, 0.1, engine=Ray(2))

    def strike(row):
        if row.iteration == 3:
            kill(problem)

    with problem.engine:
        found = solve(problem, solver, tol=1e-4, callbacks=[strike], max_iter=2000)
    assert found.status.name == "CONVERGED"
    assert max(found.dual, whole.dual) <= min(found.primal, whole.primal) * (1 + 1e-9)
    assert found.primal == pytest.approx(Problem(Binary(8), X, y, 0.1).primal(found.w))


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "distributed_dual"])
def test_a_worker_that_is_alone_comes_back(solver, tmp_path):
    """What it was told or sums up anew lies in memory that may not be written to; so does a state that it
    goes on from."""
    X, Y = sentences(40)
    whole = solve(Problem(Chain(5, 3), X, Y, 0.3), tol=1e-4)
    problem = new_problem(Chain(5, 3), X, Y, 0.3, engine=Ray(1), solver=solver)

    def strike(row):
        if row.iteration == 2:
            kill_actor(problem)

    with problem.engine:
        how = {"checkpoint": Checkpoint(tmp_path / "run", every=0.0)}
        found = solve(problem, solver, tol=1e-4, callbacks=[strike], max_iter=2000, **how)
    assert found.status.name == "CONVERGED"
    assert max(found.dual, whole.dual) <= min(found.primal, whole.primal) * (1 + 1e-9)


@pytest.mark.parametrize(
    "solver", [DistributedDual(), pytest.param(OneSlack(), marks=pytest.mark.slow)], ids=["dual", "one_slack"]
)
def test_parts_share_a_worker_where_there_is_no_room_and_part_again(examples, monkeypatch, solver):
    X, y = examples
    whole = solve(Problem(Binary(8), X, y, 0.1), OneSlack(), tol=1e-4)
    problem = SplitProblem(Binary(8), X, y, 0.1, engine=Ray(2))
    crew, seats = problem.engine, []
    monkeypatch.setattr("oneslack.engines.ray_crew.LOOK_AROUND", 0.0)

    def strike(row):
        seats.append(len({seat.host for seat in crew.workers}))
        if row.iteration == 2:
            crew._started = lambda nodes: None  # as if no CPU were free
            kill_actor(problem)
        if seats[-1] == 1:  # a new one comes once Ray's books say that there is room
            time.sleep(0.2) if crew._coming is None else ray.wait([crew._coming[1]], timeout=60)

    with problem.engine:
        found = solve(problem, solver, tol=1e-6, callbacks=[strike], max_iter=3000)
    assert seats[0] == 2
    assert 1 in seats
    assert seats[-1] == 2
    assert max(found.dual, whole.dual) <= min(found.primal, whole.primal) * (1 + 1e-9)


def test_no_memory_for_the_part_of_a_worker_that_died(examples, monkeypatch):
    problem = SplitProblem(Binary(8), *examples, 0.1, engine=Ray(2))
    monkeypatch.setattr("oneslack.engines.ray_crew.SPARE", 1e15)
    with problem.engine:
        problem.engine._started = lambda nodes: None
        kill_actor(problem)
        match = r"127.0.0.1 is gone .* 1 of 2 .* without the memory \(1000000.0 GB for its parts\); bring"
        with pytest.raises(MachineLost, match=match):
            problem.mean_cut(np.ones(8))


def test_a_message_that_comes_twice_is_obeyed_once():
    class Counts:
        def __init__(self, part, model, options):
            self.n = 0

        def do(self, method, message):
            self.n += 1
            return self.n

    actor = _Actor()
    actor._made = lambda sources: Counts(None, None, None)
    assert [actor.do(0, [], number, "count", ()) for number in (1, 1, 2)] == [1, 1, 2]
    assert actor.do(1, [], 2, "count", ()) == 1  # another seat
    actor.drop(0)
    assert actor.do(0, [], 3, "count", ()) == 1


@pytest.fixture
def shards(examples, tmp_path):
    with ShardWriter(tmp_path / "packed", shard_size=100 * 64, dtype="float64") as writer:
        writer.append(*examples)
    return open_shards(tmp_path / "packed")


@pytest.mark.parametrize("engine", [pytest.param(Ray(2), marks=pytest.mark.slow), Ray(2, threads=1)], ids=str)
def test_shards_are_read_by_actors(examples, shards, engine):
    plain, model = oneslack.LinearSVC().fit(*examples), oneslack.LinearSVC(engine=engine).fit(shards)
    assert model.dual_objective_ <= plain.objective_
    assert plain.dual_objective_ <= model.objective_


def test_a_lost_shard_is_named(shards, tmp_path):
    problem = SplitProblem(
        Binary(8), shards, lambda shard: np.where(shard.codes > 0, 1.0, -1.0), engine=Ray(2)
    )

    def lose(row):
        (tmp_path / "packed" / shards.manifest.shards[-1].file).unlink(missing_ok=True)
        kill_actor(problem)

    with problem.engine, pytest.raises(OneslackError, match="the shard is missing"):
        solve(problem, OneSlack(), tol=1e-9, callbacks=[lose])


def test_an_example_that_fails_is_named(examples):
    X, Y = list(examples[0][:, :2]), [int(value > 0) for value in examples[1]]
    X[217] = np.array([9.0, 1.0])
    with pytest.raises(OneslackError, match="example 217: the model raised RuntimeError: no idea"):
        oneslack.StructuralSVM(Half(), engine=Ray(2)).fit(X, Y)


def test_an_answer_that_is_no_number_is_named():
    X, Y = classes(300)
    model = with_feature(put(np.nan))(X[217][0])
    with pytest.raises(ModelError, match="example 217: joint_feature: the truth has nan at feature 5"):
        oneslack.StructuralSVM(model, engine=Ray(2)).fit(X, Y)


@pytest.mark.slow
def test_sums_in_a_tree_and_actors_are_gone_afterwards(examples, monkeypatch):
    X, y = examples
    monkeypatch.setattr("oneslack.engines.ray_crew.FEW", 1)
    problem = SplitProblem(Binary(8), X, y, engine=Ray(2))
    pids = ray.get([seat.host.actor.pid.remote() for seat in problem.engine.workers])
    w = np.arange(8.0)
    with problem.engine:
        plane, whole = problem.mean_cut(w), Problem(Binary(8), X, y).mean_cut(w)
    assert plane.normal == pytest.approx(whole.normal)
    assert plane.offset == pytest.approx(whole.offset)
    assert_gone(pids)


def test_no_cluster_at_an_address(examples, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(OneslackError, match=r"no Ray cluster answers at '127.0.0.1:1' \(.*refused\); start"):
        oneslack.LinearSVC(engine=Ray(2, "127.0.0.1:1")).fit(*examples)

    def refuse(**how):
        raise ConnectionError("nobody there.\nmore words")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(OneslackError, match=r"no Ray cluster answers at 'auto' \(nobody there\); start"):
        oneslack.LinearSVC(engine=Ray(2, "auto")).fit(*examples)


@pytest.mark.parametrize("failures", [1, 9])
def test_a_cluster_that_does_not_start_at_once(failures):
    """A busy machine may be too slow for Ray; nothing of the failed attempts stays."""
    tries = []

    def start(**how):
        tries.append(how["_temp_dir"])
        if len(tries) <= failures:
            raise Exception("The current node timed out during startup. This could happen.")

    fake = SimpleNamespace(_private=ray._private, init=start, shutdown=lambda: None)
    if failures < 3:
        cluster = LocalCluster(fake, 2)
        assert [os.path.exists(path) for path in tries] == [False, True]
        cluster.stop()
    else:
        with pytest.raises(OneslackError, match=r"Ray could not be started on this machine .*less busy"):
            LocalCluster(fake, 2)
        assert len(tries) == 3
    assert not any(os.path.exists(path) for path in tries)


def test_more_workers_than_the_cluster_has_room_for(examples):
    with pytest.raises(OneslackError, match="the Ray cluster has 2 CPUs, too few for 3 workers with 1 each"):
        SplitProblem(Binary(8), *examples, engine=Ray(3))
    with pytest.raises(OneslackError, match="the Ray cluster has 2 CPUs, too few for 1 worker with 3 each"):
        SplitProblem(Binary(8), *examples, engine=Ray(1, threads=3))
    with pytest.raises(ValueError, match="threads=0 is not possible"):
        Ray(threads=0)


@pytest.mark.slow
def test_a_worker_takes_the_cpus_of_its_threads(examples):
    problem = SplitProblem(Binary(8), *examples, engine=Ray(threads=2))
    with problem.engine:
        assert len(problem.parts) == 1
        until = time.monotonic() + 30  # Ray's own books follow later
        while ray.available_resources().get("CPU", 0) and time.monotonic() < until:
            time.sleep(0.1)
        assert not ray.available_resources().get("CPU", 0)


def test_who_counts_the_workers_of_a_cluster_leaves_it_again(monkeypatch):
    class Elsewhere:
        """As much of Ray as counting needs."""

        joined = False

        def is_initialized(self):
            return self.joined

        def init(self, **how):
            self.joined = True

        def nodes(self):
            assert self.joined
            alive = [{"Alive": True, "Resources": {"CPU": float(n)}} for n in (4, 3)]
            return [*alive, {"Alive": True, "Resources": {}}, {"Alive": False, "Resources": {"CPU": 8.0}}]

        def shutdown(self):
            self.joined = False

    elsewhere = Elsewhere()
    monkeypatch.setattr("oneslack.engines.ray._imported", lambda: elsewhere)
    there = Ray(address="auto")
    assert there.laid_out(decodes=False) == Ray(7, "auto", 1)
    assert not elsewhere.joined
    elsewhere.joined = True  # by somebody else, who goes on with it
    assert there.laid_out(decodes=True) == Ray(2, "auto", 3)
    assert Ray(None, "auto", 2).laid_out(decodes=True) == Ray(3, "auto", 2)
    assert Ray(5, "auto").laid_out(decodes=True) == Ray(5, "auto", 1)
    assert Ray(3, "auto").on_one_machine() is None  # there are two
    assert Ray(1, "auto").on_one_machine() == Ray(1, "auto", 1)
    assert elsewhere.joined


def test_two_workers_of_one_machine_are_threads(examples, monkeypatch):
    X, y = examples
    problem = new_problem(Binary(8), X, y, 0.1, engine=Ray(2))
    with problem.engine:
        assert isinstance(problem, WholeProblem)
        assert len(problem.engine) == 1
        found, here = solve(problem), solve(Problem(Binary(8), X, y, 0.1, n_jobs=2))
    np.testing.assert_array_equal(found.w, here.w)
    assert Ray().on_one_machine() == Ray(2).on_one_machine() == Ray(1, threads=2)
    assert Ray(1, threads=2).on_one_machine() == Ray(1, threads=2)
    # More than there are, and workers that are asked for one by one.
    assert Ray(3).on_one_machine() is Ray(2, threads=1).on_one_machine() is None
    # A cluster of our own has as many as are asked for.
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    assert Ray(64).on_one_machine() == Ray(1, threads=64)


@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    [
        {"engine": Ray(2), "solver": "distributed_dual"},
        pytest.param({"engine": Ray(2, threads=1)}, marks=pytest.mark.slow),
    ],
    ids=["for the solver", "as asked for"],
)
def test_two_workers_stay_two(examples, how):
    problem = new_problem(Binary(8), *examples, 0.1, **how)
    with problem.engine:
        assert len(problem.parts) == 2
