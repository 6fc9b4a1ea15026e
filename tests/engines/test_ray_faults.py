"""Whatever breaks, at random moments: the right model, or one clear sentence, and nothing half-written."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from problems.test_split import Half, sentences
from ray_cluster import QUIET, assert_gone, below, cluster, ray

from oneslack import (
    Binary,
    Chain,
    DistributedDual,
    FormatError,
    OneSlack,
    OneslackError,
    Problem,
    Ray,
    SplitProblem,
    ThreadCrews,
    solve,
)
from oneslack.formats import ShardWriter, open_shards
from oneslack.memory.checkpoint import Checkpoint
from oneslack.problems.new import new_problem

pytestmark = QUIET
__all__ = ["cluster"]

#: How often a fault strikes.
MANY = [20]


@pytest.fixture(scope="module")
def examples():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 30))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=2000) > 0, 1.0, -1.0)


@pytest.fixture(scope="module")
def truth(examples):
    return solve(Problem(Binary(30), *examples, 0.1), OneSlack(), tol=1e-6)


def is_right(found, truth):
    """Bounds that hold the optimum, close to it."""
    assert found.status.name == "CONVERGED"
    assert max(found.dual, truth.dual) <= min(found.primal, truth.primal) * (1 + 1e-9)


@pytest.fixture(scope="module")
def problems(examples):
    """{kind: (model, X, Y, C)}."""
    return {"classes": (Binary(30), *examples, 0.1), "chains": (Chain(5, 3), *sentences(600), 0.1)}


@pytest.mark.parametrize("runs", [pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", ["worker", "actor"])
@pytest.mark.parametrize("kind", ["classes", "chains"])
@pytest.mark.parametrize(
    "solver", [OneSlack(), DistributedDual(), "auto"], ids=["one_slack", "distributed_dual", "alone"]
)
def test_killed_at_any_moment(cluster, problems, how, kind, solver, runs):
    """test_ray.py has the quick form.  Two workers, and one that is alone."""
    rng, tol = np.random.default_rng(0), 1e-4 if kind == "classes" else 1e-3
    truth = solve(Problem(*problems[kind]), tol=1e-5)
    for _ in range(runs):
        engine = Ray(1) if solver == "auto" else Ray(2, threads=1)
        problem = new_problem(*problems[kind], engine=engine, solver=solver)
        victim = problem.engine.workers[rng.integers(len(problem.engine))].host.actor
        pid = ray.get(victim.pid.remote())

        def strike(victim=victim, pid=pid):
            if how == "worker":
                os.kill(pid, signal.SIGKILL)
            else:
                ray.kill(victim)

        timer = threading.Timer(rng.uniform(0.0, 1.0), strike)
        timer.start()
        with problem.engine:
            found = solve(problem, solver, tol=tol, max_iter=3000)
            timer.join()
        is_right(found, truth)


DRIVER = """
import sys
import numpy as np
from oneslack import Binary, Problem, OneSlack, Ray, SplitProblem, solve
from oneslack.memory.checkpoint import Checkpoint
rng = np.random.default_rng(1)
X = rng.normal(size=(2000, 30))
y = np.where(X[:, 0] + 0.7 * rng.normal(size=2000) > 0, 1.0, -1.0)
problem = SplitProblem(Binary(30), X, y, 0.1, engine=Ray(2)) if sys.argv[2] == "ray" \\
    else Problem(Binary(30), X, y, 0.1)
import time
with problem.engine:
    print("ready", flush=True)
    result = solve(
        problem, OneSlack(), tol=1e-6, checkpoint=Checkpoint(sys.argv[1], every=0.0), resume=True,
        callbacks=[lambda row: time.sleep(0.01)],
    )
print(result.status.name, repr(result.primal), repr(result.dual), flush=True)
"""


@pytest.mark.parametrize(
    ("engine", "runs"),
    [
        ("threads", 1),
        pytest.param("threads", 20, marks=pytest.mark.slow),
        pytest.param("ray", 20, marks=pytest.mark.slow),
    ],
)
def test_a_driver_that_is_killed_goes_on(tmp_path, truth, engine, runs):
    rng, started = np.random.default_rng(0), set()
    for run in range(runs):
        command = [sys.executable, "-c", DRIVER, str(tmp_path / f"c{run}"), engine]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
            assert driver.stdout.readline() == "ready\n"
            time.sleep(rng.uniform(0.0, 0.5))
            started |= below(driver.pid)
            assert started or engine == "threads"
            driver.kill()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        status, primal, dual = done.stdout.split()[1:]
        assert status == "CONVERGED"
        assert max(float(dual), truth.dual) <= min(float(primal), truth.primal) * (1 + 1e-9)
        assert not (tmp_path / f"c{run}").exists()
    assert os.listdir(tmp_path) == []
    assert_gone(started)


@pytest.fixture
def small_files():
    """A function that lets no file grow beyond so many bytes."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("runs", MANY)
def test_a_disk_that_is_full(tmp_path, examples, truth, small_files, runs):
    rng = np.random.default_rng(0)
    problem, path = Problem(Binary(30), *examples, 0.1), tmp_path / "c"
    for _ in range(runs):
        solve(problem, OneSlack(), tol=1e-6, max_iter=2, checkpoint=Checkpoint(path, every=0.0))
        whole = path.read_bytes()
        small_files(int(rng.integers(1, len(whole))))
        try:
            with pytest.raises(OneslackError, match=r"cannot be written .*make room") as caught:
                solve(problem, OneSlack(), tol=1e-6, checkpoint=Checkpoint(path, every=0.0), resume=True)
        finally:
            small_files(resource.RLIM_INFINITY)
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == whole
        assert os.listdir(tmp_path) == ["c"]
        is_right(solve(problem, OneSlack(), tol=1e-6, checkpoint=path, resume=True), truth)
        assert not path.exists()


@pytest.mark.parametrize("runs", MANY)
@pytest.mark.parametrize("damage", ["truncated", "flipped"])
def test_a_checkpoint_that_is_damaged(tmp_path, examples, damage, runs):
    rng = np.random.default_rng(0)
    problem, path = Problem(Binary(30), *examples, 0.1), tmp_path / "c"
    solve(problem, OneSlack(), tol=1e-6, max_iter=3, checkpoint=path)
    whole = path.read_bytes()
    for _ in range(runs):
        place = int(rng.integers(len(whole)))
        broken = bytearray(whole if damage == "flipped" else whole[:place])
        if damage == "flipped":
            broken[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        with pytest.raises(FormatError, match=str(path)) as caught:
            solve(problem, OneSlack(), tol=1e-6, checkpoint=path, resume=True)
        assert "\n" not in str(caught.value)
        assert path.read_bytes() == broken


@pytest.mark.parametrize("runs", MANY)
def test_a_shard_that_is_missing(tmp_path, examples, runs):
    rng = np.random.default_rng(0)
    folder = tmp_path / "packed"
    with ShardWriter(folder, shard_size=30 * 8 * 250, dtype="float64") as writer:
        writer.append(*examples)
    shards = open_shards(folder)
    for _ in range(runs):
        lost = folder / shards.manifest.shards[rng.integers(len(shards))].file
        content = lost.read_bytes()
        lost.unlink()
        with pytest.raises(FormatError, match=f"{lost.name}: the shard is missing") as caught:
            SplitProblem(Binary(30), shards, signs, engine=ThreadCrews(2))
        assert "\n" not in str(caught.value)
        lost.write_bytes(content)


def signs(shard):
    return np.where(shard.codes > 0, 1.0, -1.0)


@pytest.mark.parametrize("runs", MANY)
def test_an_oracle_that_fails_on_one_example(runs):
    rng = np.random.default_rng(0)
    for _ in range(runs):
        X = list(rng.normal(size=(40, 2)))
        Y, bad = [int(x[0] > 0) for x in X], int(rng.integers(40))
        X[bad] = np.array([9.0, 0.0])
        problem = SplitProblem(Half(), X, Y, engine=ThreadCrews(3))
        with problem.engine, pytest.raises(OneslackError, match=f"example {bad}: (the model )?raised"):
            solve(problem, OneSlack())
