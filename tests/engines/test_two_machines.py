"""Two machines with a Ray node each, in network namespaces (machines.py): all that names a cluster, and
machines that go, stop, and come back.  benchmarks/faults.py strikes at random moments."""

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from machines import Machines, last_json, why_not

import oneslack
from oneslack import Binary, OneSlack, Problem, solve
from oneslack.formats import ShardWriter

pytest.importorskip("ray")
pytestmark = [pytest.mark.slow]

#: A driver: `problem` and `end` are at hand for what a test does with them.
DRIVER = """
import json, sys, time, warnings
import numpy as np
import oneslack
from oneslack import Binary, DistributedDual, OneSlack, OneslackError, Ray, SplitProblem, solve
from oneslack.engines import ray_crew
from oneslack.memory.checkpoint import Checkpoint
address, path = sys.argv[1:3]
rng = np.random.default_rng(1)
X = rng.normal(size=(2000, 30))
y = np.where(X[:, 0] + 0.7 * rng.normal(size=2000) > 0, 1.0, -1.0)
how = {"tol": 1e-6, "solver": OneSlack(), "interrupt": "return"}
seen = []
def told(row):
    seen.append(len(set(problem.engine.nodes)))
    print("step", flush=True)
    time.sleep(pause)
pause = 0.1
SETTINGS
said = []
begin = time.monotonic()
try:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        problem = SplitProblem(Binary(30), X, y, 0.1, engine=Ray(2, address))
        with problem.engine:
            result = solve(problem, callbacks=[told], **how)
    found = {"status": result.status.name, "primal": result.primal, "dual": result.dual,
             "certified": result.certified}
except OneslackError as error:
    found = {"error": str(error)}
warned = [str(each.message) for each in said if each.category is RuntimeWarning]
print(json.dumps(found | {"seen": seen, "warned": warned, "seconds": time.monotonic() - begin}), flush=True)
"""


@pytest.fixture(scope="module")
def machines():
    if reason := why_not():
        pytest.skip(reason)
    with Machines(2) as made:
        made.start_all()
        yield made


@pytest.fixture(scope="module")
def truth():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 30))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=2000) > 0, 1.0, -1.0)
    return solve(Problem(Binary(30), X, y, 0.1), OneSlack(), tol=1e-7)


class Driver:
    """A training on machine k; settings are lines of Python."""

    def __init__(self, machines, k=0, settings="", path="-", **how):
        self.machines = machines
        command = [sys.executable, "-c", DRIVER.replace("SETTINGS", settings), machines.address, path]
        self.process = machines.popen(k, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)

    def after(self, steps):
        for _ in range(steps):
            assert self.process.stdout.readline() == "step\n"
        return time.monotonic()

    def found(self, timeout=150.0):
        try:
            out, error = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.machines.signal_to(self.process, signal.SIGKILL)
            raise AssertionError("the training does not end") from None
        assert self.process.returncode == 0, error[-3000:]
        return last_json(out)


def is_right(found, truth, status="CONVERGED"):
    assert found.get("status") == status, found
    assert found["certified"]
    assert max(found["dual"], truth.dual) <= min(found["primal"], truth.primal) * (1 + 1e-9)


DUAL = "how |= {'solver': DistributedDual(), 'tol': 1e-4}"


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("settings", ["pause = 0", f"pause = 0; {DUAL}"], ids=["one_slack", "dual"])
def test_parts_lie_on_both(machines, truth, k, settings):
    found = Driver(machines, k, settings).found()
    is_right(found, truth)
    assert set(found["seen"]) == {2}


@pytest.mark.parametrize(
    ("token", "more", "reason"),
    [
        (None, {}, "no authentication token was found"),
        ("0" * 64, {}, "missing or incorrect"),
        (None, {"RAY_AUTH_MODE": "disabled"}, "missing or incorrect"),
    ],
    ids=["missing", "wrong", "without tokens"],
)
def test_a_token_that_is_missing_or_wrong(machines, token, more, reason):
    found = Driver(machines, 1, token=token, env=more).found()
    assert re.match(r"the Ray cluster at '10.* asks for its token \(.*; give the one that", found["error"])
    assert reason in found["error"]
    assert "\n" not in found["error"]
    assert found["seconds"] < 20


def test_a_packed_folder_on_the_command_line(machines, truth, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 30))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=2000) > 0, 1.0, -1.0)
    with ShardWriter(tmp_path / "packed", shard_size=500 * 30 * 8, dtype="float64") as writer:
        writer.append(X, y)
    plain = oneslack.LinearSVC(tol=1e-4).fit(X, y)
    command = [
        sys.executable, "-m", "oneslack", "train", "classify", tmp_path / "packed", "-o", tmp_path / "model",
        "--engine", "ray", "--jobs", "2", "--address", machines.address, "--tol", "1e-4",
        "--checkpoint", tmp_path / "checkpoint",
    ]  # fmt: skip
    run = machines.popen(1, command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = run.communicate(timeout=150)[0]
    assert run.returncode == 0, said
    model = oneslack.load(tmp_path / "model")
    assert max(plain.dual_objective_, model.dual_objective_) <= min(plain.objective_, model.objective_)
    assert not (tmp_path / "checkpoint").exists()


OWN_MODEL = """
import sys
import numpy as np
import oneslack

class Sign:
    n_params = 2
    def joint_feature(self, x, y):
        return (2 * y - 1) * x / 2
    def loss(self, y, other):
        return float(y != other)
    def decode(self, x, w, y=None):
        return max((0, 1), key=lambda z: w @ self.joint_feature(x, z) + (0.0 if y is None else z != y))

X = list(np.random.default_rng(0).normal(size=(60, 2)))
Y = [int(x[0] > 0) for x in X]
model = oneslack.StructuralSVM(Sign(), engine=oneslack.Ray(2, sys.argv[1])).fit(X, Y)
here = oneslack.StructuralSVM(Sign()).fit(X, Y)
assert max(model.dual_objective_, here.dual_objective_) <= min(model.objective_, here.objective_) * (1 + 1e-9)
print("[true]")
"""


def test_a_model_of_the_users_own_travels(machines):
    run = machines.popen(0, [sys.executable, "-c", OWN_MODEL, machines.address], stdout=subprocess.PIPE)
    assert last_json(run.communicate(timeout=150)[0]) == [True]


@pytest.mark.parametrize("settings", ["", DUAL], ids=["one_slack", "dual"])
def test_a_lost_machine_comes_back(machines, truth, settings):
    """Its examples go to the other, and to it again."""
    driver = Driver(machines, 0, settings + "; pause = 0.5" if settings else "pause = 0.5")
    driver.after(3)
    machines.kill(1)
    driver.after(3)
    machines.start(1)
    found = driver.found(300)
    is_right(found, truth)
    changes = [k for k, (a, b) in enumerate(zip(found["seen"], found["seen"][1:])) if a != b]
    assert [found["seen"][0], *(found["seen"][k + 1] for k in changes)] == [2, 1, 2]
    assert any(
        re.match(r"10.213.77.2 is gone .* loaded anew on 10.213.77.1", each) for each in found["warned"]
    )


def test_no_room_for_the_examples_of_a_lost_machine(machines, truth, tmp_path):
    """One sentence within a minute, and the run goes on from its checkpoint on the other machine."""
    keep = "how |= {'checkpoint': Checkpoint(path, every=0.0), 'resume': True}"
    path = tmp_path / "run"
    driver = Driver(machines, 0, f"{keep}; ray_crew.SPARE = 1e15", path)
    begin = driver.after(4)
    machines.kill(1)
    found = driver.found()
    assert time.monotonic() - begin < 60
    assert re.match(
        r"10.213.77.2 is gone \(.*\) with 1 of 2 parts .* left is 10.213.77.1, without the memory \(.* GB "
        rf"for its parts\); .*, then go on from the checkpoint {path} with resume\.$",
        found["error"],
    )
    assert machines.start(1)[0] == 0
    is_right(Driver(machines, 1, f"{keep}; pause = 0", path).found(), truth)
    assert not path.exists()


def test_a_machine_that_is_stopped_is_not_lost(machines, truth):
    driver = Driver(machines, 0, "pause = 0.05")
    driver.after(5)
    machines.signal(1, signal.SIGSTOP)
    time.sleep(30)
    machines.signal(1, signal.SIGCONT)
    found = driver.found()
    is_right(found, truth)
    assert set(found["seen"]) == {2}
    assert not found["warned"]


def test_a_cable_that_is_cut_for_a_moment(machines, truth):
    driver = Driver(machines, 0, "pause = 0.05")
    driver.after(5)
    machines.cut(1)
    time.sleep(10)
    machines.mend(1)
    found = driver.found()
    is_right(found, truth)
    assert set(found["seen"]) == {2}


@pytest.mark.parametrize("how", ["time_limit", "Ctrl-C"])
def test_the_end_is_kept_while_a_machine_does_not_answer(machines, how):
    driver = Driver(machines, 0, "how |= {'time_limit': 8.0}; pause = 1.0" if how == "time_limit" else "")
    driver.after(5)
    machines.signal(1, signal.SIGSTOP)
    try:
        if how == "Ctrl-C":
            time.sleep(3)
            machines.signal_to(driver.process, signal.SIGINT)
        begin = time.monotonic()
        found = driver.found()
    finally:
        machines.signal(1, signal.SIGCONT)
    assert found["status"] == ("TIME_LIMIT" if how == "time_limit" else "INTERRUPTED")
    assert found["dual"] <= found["primal"]
    assert not found["certified"]
    assert time.monotonic() - begin < 35


def test_the_head_is_lost(truth):
    """The driver is on the other machine: one sentence within a minute."""
    if reason := why_not():
        pytest.skip(reason)
    with Machines(2) as machines:
        machines.start_all()
        driver = Driver(machines, 1, "pause = 0.5")
        begin = driver.after(5)
        machines.kill(0)
        found = driver.found()
        assert time.monotonic() - begin < 60
        assert re.match(
            r"the head of the Ray cluster, 10.213.77.1, is gone \(.*\), and Ray ends without it; start the "
            r"cluster anew, then train anew \(a checkpoint would have kept the run\)\.$",
            found["error"],
        )
