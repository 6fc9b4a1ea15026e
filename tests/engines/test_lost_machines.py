"""How machines are seen to be lost, and what a training does then.  test_two_machines.py has real ones."""

import socket
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from oneslack import Binary, OneSlack, Problem, SplitProblem, ThreadCrews, solve
from oneslack.engines import machines
from oneslack.engines.machines import Answer, Machines, greet, within
from oneslack.errors import MachineLost, OneslackError
from oneslack.memory.checkpoint import Checkpoint
from oneslack.result import OutOfTime, Status


@contextmanager
def listening(answer):
    """The address of somebody who answers so: bytes, or None for nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            line, _ = server.accept()
            with line:
                line.recv(24)
                if answer is None:
                    end.wait(10)
                else:
                    line.sendall(answer)

        end, thread = threading.Event(), threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()
        end.set()
        thread.join()


def test_how_machines_answer(monkeypatch):
    monkeypatch.setattr(machines, "PATIENCE", 0.2)
    with listening(b"\0\0\0\4") as address:
        assert greet(address) is Answer.ANSWERS
    with listening(None) as address:
        assert greet(address) is Answer.SILENT
    with listening(b"") as address:
        assert greet(address) is Answer.REFUSES
    assert greet(address) is Answer.REFUSES  # nobody listens any more

    def nowhere(address, timeout):
        raise OSError(113, "No route to host")

    monkeypatch.setattr(socket, "create_connection", nowhere)
    assert greet(address) is Answer.UNREACHABLE


@pytest.fixture
def watched():
    """Machines that nobody watches: a test says what was heard."""
    context = SimpleNamespace(gcs_address="10.0.0.1:6379")
    row = {"NodeID": "b", "NodeManagerAddress": "10.0.0.2", "NodeManagerPort": 9, "Alive": True}
    fake = SimpleNamespace(
        get_runtime_context=lambda: context, nodes=lambda: [row | {"Resources": {"CPU": 2.0}}]
    )  # fmt: skip
    found = Machines(fake)
    found.close()
    found.watch(["b"])
    return found


@pytest.mark.parametrize(
    ("answer", "seconds", "lost"),
    [
        (Answer.ANSWERS, 1e6, ""), (Answer.SILENT, 1e6, ""), (Answer.REFUSES, 1.0, ""),
        (Answer.REFUSES, 10.0, "no Ray runs there any more"), (Answer.UNREACHABLE, 15.0, ""),
        (Answer.UNREACHABLE, 45.0, "it could not be reached for 40 s"),
    ],
)  # fmt: skip
def test_which_machines_are_lost(watched, answer, seconds, lost):
    since = time.monotonic() - seconds
    watched._heard = {("10.0.0.2", 9): (answer, since), ("10.0.0.1", 6379): (answer, since)}
    assert watched.lost("b") == watched.lost_head() == lost
    assert watched.is_well("b") == (answer is Answer.ANSWERS)
    assert watched.name("b") == "10.0.0.2"
    assert not watched.lost("unknown")


def test_who_does_not_come_back_is_not_waited_for():
    assert within(5.0, lambda: 3) == 3
    assert within(0.05, time.sleep, 1.0) is None
    assert within(5.0, lambda: 1 / 0) is None


@pytest.fixture
def problem():
    return SplitProblem(Binary(3), *data_of(), 1.0, engine=ThreadCrews(2))


def after(problem, steps, error):
    """From so many steps on all that is asked fails."""

    def strike(row):
        if row.iteration == steps:
            problem.engine._gathered = fail

    def fail(futures):
        raise error

    return strike


def test_time_is_up_and_nobody_answers(problem):
    """The best point so far, without a proof that only the workers could give."""
    with problem.engine:
        found = solve(problem, OneSlack(), tol=0.0, callbacks=[after(problem, 4, OutOfTime())])
    assert found.status is Status.TIME_LIMIT
    assert not found.certified
    assert found.dual <= found.primal < np.inf
    assert found.primal == pytest.approx(Problem(Binary(3), *data_of(), 1.0).primal(found.w))


def data_of():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return X, np.sign(X[:, 0])


def test_nobody_has_ever_answered(problem):
    after(problem, 1, OutOfTime())(SimpleNamespace(iteration=1))
    with (
        problem.engine,
        pytest.raises(OneslackError, match="before machines of the cluster had ans"),
    ):
        solve(problem, OneSlack())


def test_how_to_go_on_without_a_machine(problem, tmp_path):
    lost = MachineLost("10.0.0.2 is gone; bring it back.")
    with problem.engine:
        how = {"callbacks": [after(problem, 3, lost)], "tol": 0.0}
        with pytest.raises(MachineLost, match=r"back, then go on from the checkpoint .*run with res"):
            solve(problem, OneSlack(), checkpoint=Checkpoint(tmp_path / "run", every=0.0), **how)
    assert str(lost.advised(None)).endswith("then train anew (a checkpoint would have kept the run).")
