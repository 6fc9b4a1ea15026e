"""Checkpoints: a run that is resumed ends with the same bits; what cannot be resumed is refused."""

import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import oneslack
from oneslack import DualCD, OneSlack, Problem, solve
from oneslack.errors import FormatError, OneslackError
from oneslack.memory.checkpoint import Checkpoint
from oneslack.models import Binary, Chain, Multiclass, Ranking
from oneslack.result import Status
from oneslack.solvers.n_slack import NSlack
from oneslack.solvers.newton import Newton


def binary(intercept=False, n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    y = np.where(X @ [1.0, -1, 0.5, 0, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    return Problem(Binary(5, intercept), X, y, 0.5)


def multiclass():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    return Problem(Multiclass(4, 3), X, np.argmax(X[:, :3] + rng.normal(size=(200, 3)), axis=1), 0.5)


def ranking():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(150, 4))
    return Problem(Ranking(4), X, np.round(X @ [1, 2, 0, 0] + rng.normal(size=150)), 0.5)


def chain(rescaling="margin", cache_size=0):
    rng = np.random.default_rng(3)
    lengths = rng.integers(2, 7, 40)
    X = [rng.normal(size=(m, 4)) for m in lengths]
    Y = [np.argmax(x[:, :3] + rng.normal(size=(len(x), 3)), axis=1) for x in X]
    return Problem(Chain(4, 3), X, Y, 0.5, rescaling=rescaling, cache_size=cache_size)


class Signs:
    """A model of three methods."""

    n_params = 3

    def joint_feature(self, x, y):
        return x * y

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        return max((-1.0, 1.0), key=lambda z: z * (w @ x) + (0.0 if y is None else float(z != y)))


def signs():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    return Problem(Signs(), list(X), list(np.where(X @ [1, 1, 0] + rng.normal(size=60) > 0, 1.0, -1.0)), 0.5)


RUNS = {
    "one_slack": (binary, OneSlack()),
    "one_slack, intercept": (lambda: binary(True), OneSlack()),
    "one_slack, plain": (binary, OneSlack(line_search=False)),
    "one_slack, ranking": (ranking, OneSlack()),
    "one_slack, chain": (chain, OneSlack()),
    "one_slack, cache": (chain, OneSlack(cache_size=5)),
    "dual_cd": (binary, DualCD()),
    "dual_cd, intercept": (lambda: binary(True), DualCD()),
    "dual_cd, multiclass": (multiclass, DualCD()),
    "dual_cd, chain": (chain, DualCD()),
    "dual_cd, three methods": (signs, DualCD()),
    "n_slack": (chain, NSlack()),
    "n_slack, three methods": (signs, NSlack()),
    "newton": (lambda: binary(True), Newton()),
    "newton, samples": (lambda: binary(n=3000), Newton()),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("cut", [1, 3])
def test_a_resumed_run_gives_the_same_bits(name, cut, tmp_path):
    make, solver = RUNS[name]
    whole = solve(make(), solver, tol=1e-5)
    path, steps, runs = tmp_path / "run", 0, 0
    while True:
        steps, runs = steps + cut, runs + 1
        part = solve(make(), solver, tol=1e-5, max_iter=steps, checkpoint=path, resume=True)
        if not path.exists():  # it is done
            break
        # A last step that is looked at because there may be no other can happen to be good enough.
        assert part.status is Status.MAX_ITER or part.n_iter == steps
        cut = max(cut, whole.n_iter // 4)
    assert runs > 1
    assert (part.status, part.n_iter) == (whole.status, whole.n_iter)
    np.testing.assert_array_equal(part.w, whole.w)
    assert (part.primal, part.dual) == (whole.primal, whole.dual)
    for column in ("iteration", "primal", "dual", "n_cuts", "oracle_calls", "cached"):
        np.testing.assert_array_equal(part.trace.column(column), whole.trace.column(column))
    assert np.all(np.diff(part.trace.column("seconds")) >= 0)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_has_its_steps_takes_none_when_it_is_resumed(name, tmp_path):
    make, solver = RUNS[name]
    path = tmp_path / "run"
    first = solve(make(), solver, tol=1e-9, max_iter=2, checkpoint=path)
    assert first.status is Status.MAX_ITER
    content = path.read_bytes()
    for max_iter in (2, 2, 1):
        again = solve(make(), solver, tol=1e-9, max_iter=max_iter, checkpoint=path, resume=True)
        assert (again.status, again.trace) == (first.status, first.trace)
        assert (again.n_iter, again.primal, again.dual) == (first.n_iter, first.primal, first.dual)
        np.testing.assert_array_equal(again.w, first.w)
    assert path.read_bytes() == content
    later = solve(make(), solver, tol=1e-9, start=again)
    assert later.primal <= first.primal


def test_it_is_written_as_often_as_asked(tmp_path):
    written = []

    class Noting(Checkpoint):
        def save(self, about, saved):
            super().save(about, saved)
            written.append(len(saved.trace))

    result = solve(binary(), OneSlack(), tol=1e-6, checkpoint=Noting(tmp_path / "run", every=0.0))
    assert written[:1] == [1]
    assert written == sorted(written)
    assert result.status is Status.CONVERGED
    written.clear()
    solve(binary(), OneSlack(), tol=1e-6, checkpoint=Noting(tmp_path / "run", every=1e6))
    assert not written


@pytest.mark.parametrize("status", ["time", "callback", "iterations"])
def test_whatever_cuts_a_run_short_leaves_a_checkpoint(status, tmp_path):
    options = {
        "time": {"time_limit": 1e-9},
        "callback": {"callbacks": [lambda row: True]},
        "iterations": {"max_iter": 1},
    }[status]
    solve(binary(), OneSlack(), tol=1e-9, checkpoint=tmp_path / "run", **options)
    whole = solve(binary(), OneSlack(), tol=1e-9)
    rest = solve(binary(), OneSlack(), tol=1e-9, checkpoint=tmp_path / "run", resume=True)
    np.testing.assert_array_equal(rest.w, whole.w)


def cut_short(path, problem=None, solver=None):
    return solve(
        problem or binary(), solver or OneSlack(), tol=1e-9, max_iter=3, checkpoint=path, resume=True
    )


def refused(path, problem=None, solver=None, resume=True):
    with pytest.raises(OneslackError) as error:
        solve(problem or binary(), solver or OneSlack(), checkpoint=path, resume=resume)
    assert str(path) in str(error.value)
    return str(error.value)


def test_what_cannot_be_resumed_is_refused(tmp_path):
    path = tmp_path / "run"
    cut_short(path)
    content = path.read_bytes()
    assert "there is a checkpoint already" in refused(path, resume=False)
    assert "solver" in refused(path, solver=DualCD())
    assert "weight" in refused(path, problem=Problem(Binary(5), binary().X, binary().Y, 2.0))
    assert "model" in refused(path, problem=multiclass())
    other = binary()
    assert "other data" in refused(path, problem=Problem(Binary(5), other.X[::-1].copy(), other.Y, 0.5))
    assert path.read_bytes() == content
    binary_model = oneslack.LinearSVC().fit(other.X, other.Y)
    binary_model.save(tmp_path / "model")
    assert "is a model" in refused(tmp_path / "model")


def signs_of(coefficients):
    """A problem of Python lists, of which an identity sees little."""
    X = list(np.random.default_rng(4).normal(size=(60, 3)))
    return Problem(Signs(), X, [1 if x @ coefficients > 0 else -1 for x in X], 1.0)


@pytest.mark.parametrize("solver", ["dual_cd", "n_slack", "one_slack", oneslack.Streaming("1MB")])
def test_bounds_of_other_outputs_are_refused_before_w_says_anything(solver, tmp_path):
    ones, others = signs_of([1.0, 1.0, 1.0]), signs_of([1.0, -1.0, 0.3])
    first = solve(ones, solver, tol=1e-9, max_iter=1, checkpoint=tmp_path / "run")
    with pytest.raises(FormatError, match="of other data"):
        solve(others, solver, checkpoint=tmp_path / "run", resume=True)
    resumed = solve(ones, solver, tol=1e-3, checkpoint=tmp_path / "run", resume=True)
    assert resumed.status is Status.CONVERGED
    optimum = solve(others, solver, tol=1e-4).primal
    assert solve(others, solver, tol=1e-4, start=first).dual <= optimum


def test_damage_is_noticed(tmp_path):
    path = tmp_path / "run"
    cut_short(path)
    content = path.read_bytes()
    rng = np.random.default_rng(5)
    for size in rng.integers(0, len(content), 20):
        path.write_bytes(content[:size])
        refused(path)
    for place in rng.integers(0, len(content), 60):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        refused(path)


def test_a_full_disk_is_said_and_the_last_checkpoint_stands(tmp_path, monkeypatch):
    path = tmp_path / "run"
    cut_short(path)
    content = path.read_bytes()
    whole = solve(binary(), OneSlack(), tol=1e-9, max_iter=5)

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    no_room = r"cannot be written .*No space left"
    with pytest.raises(OneslackError, match=no_room):  # in the middle of a run
        solve(binary(), OneSlack(), tol=1e-9, checkpoint=Checkpoint(path, every=0.0), resume=True)
    with pytest.warns(RuntimeWarning, match=no_room):  # at its end, where there is a result
        result = solve(binary(), OneSlack(), tol=1e-9, max_iter=5, checkpoint=path, resume=True)
    np.testing.assert_array_equal(result.w, whole.w)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["run"]


SCRIPT = """
import sys
from test_checkpoint import binary, Checkpoint, OneSlack, solve
import time
slow = lambda row: time.sleep(0.02)
print("begun", flush=True)
often = Checkpoint(sys.argv[1], every=0.0)
result = solve(binary(), OneSlack(), tol=1e-9, callbacks=[slow], checkpoint=often, resume=True)
print(result.w.tobytes().hex())
"""


@pytest.mark.parametrize("kills", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_a_killed_run_goes_on(tmp_path, kills):
    path = tmp_path / "run"
    command = [sys.executable, "-c", SCRIPT, str(path)]
    rng = np.random.default_rng(6)
    for _ in range(kills):
        run = subprocess.Popen(command, cwd=os.path.dirname(__file__), stdout=subprocess.PIPE, text=True)
        run.stdout.readline()
        time.sleep(rng.uniform(0.05, 0.3))
        run.send_signal(signal.SIGKILL)
        run.wait()
        run.stdout.close()
    done = subprocess.run(command, cwd=os.path.dirname(__file__), capture_output=True, text=True, check=True)
    whole = solve(binary(), OneSlack(), tol=1e-9)
    assert done.stdout.split()[-1] == whole.w.tobytes().hex()
    assert os.listdir(tmp_path) == []


def test_the_result_of_another_problem_gives_its_w_alone():
    first = solve(binary(), DualCD(), tol=1e-4)
    other = Problem(Binary(5), binary().X, binary().Y, 5.0)
    for solver in (DualCD(), OneSlack(), Newton()):
        again = solve(other, solver, tol=1e-4, start=solve(binary(), solver, tol=1e-4))
        assert again.dual <= solve(other, DualCD(), tol=1e-8).primal
        assert again.gap <= 1e-4
    assert first.state["of"]["weight"] != other.weight


def test_a_checkpoint_is_no_model(tmp_path):
    cut_short(tmp_path / "run")
    with pytest.raises(FormatError):
        oneslack.load(tmp_path / "run")
