"""Worker processes: what is done where, and in which order answers come back."""

import os
import signal
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from oneslack.engines.processes import Processes
from oneslack.engines.threads import Threads


class Anything:
    """A model of this file: it travels with its code, and so does the oracle."""


@dataclass(frozen=True)
class Places:
    """An oracle that says who has answered, with how many BLAS threads at most."""

    model: object = Anything()

    def __call__(self, task):
        threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
        return task, os.getpid(), max(threads, default=1), float(np.dot([1.0], [task]))


@pytest.fixture
def slow(monkeypatch):
    monkeypatch.setattr("oneslack.engines.processes.SLOW", -1.0)


def test_quick_work_stays_here(monkeypatch):
    monkeypatch.setattr("oneslack.engines.processes.SLOW", 1e9)
    with Processes(2) as engine:
        answers = engine.map(Places(), range(5))
    assert [task for task, *_ in answers] == list(range(5))
    assert {process for _, process, *_ in answers} == {os.getpid()}


def test_slow_work_moves_out_as_soon_as_it_shows(slow):
    oracle = Places()
    with Processes(2) as engine:
        first, second = engine.map(oracle, range(6)), engine.map(oracle, range(4))
    assert [task for task, *_ in first + second] == [*range(6), *range(4)]
    assert [process == os.getpid() for _, process, *_ in first] == [True] + 5 * [False]
    assert os.getpid() not in {process for _, process, *_ in second}
    # Two workers with a BLAS thread for each core would wait for each other.
    assert {threads for _, _, threads, _ in second} == {1}


def test_one_process_never_starts_another(slow):
    with Processes(1) as engine:
        assert {process for _, process, *_ in engine.map(Places(), range(3))} == {os.getpid()}
        assert engine._executor is None


@dataclass(frozen=True)
class Sleeps:
    """An oracle that takes its time."""

    model: object = Anything()

    def __call__(self, task):
        time.sleep(task)
        return os.getpid()


def test_workers_leave_ctrl_c_to_who_trains(slow):
    """A terminal sends it to all of them, also to one that has nothing to do."""
    oracle = Sleeps()
    with Processes(2) as engine:
        workers = set()
        while len(workers) < 2:  # until each of them has begun to work
            workers |= set(engine.map(oracle, [0.05] * 9)) - {os.getpid()}
        for process in workers:
            os.kill(process, signal.SIGINT)
        time.sleep(0.5)
        assert set(engine.map(oracle, [0.0] * 8)) <= workers


class Stop(KeyboardInterrupt):
    """From a timer."""


@pytest.fixture
def stop_in_half_a_second():
    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.5)
    signal.signal(signal.SIGALRM, before)


def test_processes_do_nothing_more_after_an_interruption(slow, stop_in_half_a_second):
    oracle = Sleeps()
    with Processes(2) as engine:
        engine.map(oracle, [0.0] * 3)
        stop_in_half_a_second()
        with pytest.raises(Stop):
            engine.map(oracle, [20.0] * 8)
        begin = time.perf_counter()
        assert len(engine.map(oracle, [0.0] * 8)) == 8
        assert time.perf_counter() - begin < 20.0


def test_threads_do_nothing_more_after_an_interruption(stop_in_half_a_second):
    done, lock = [], threading.Lock()

    def work(task):
        time.sleep(1.0)
        with lock:
            done.append(task)

    with Threads(2) as engine:
        stop_in_half_a_second()
        with pytest.raises(Stop):
            engine.map(work, range(20))
        assert sorted(done) == [0, 1]  # those that had begun, and they are through
        time.sleep(1.2)
        assert sorted(done) == [0, 1]
        assert engine.map(abs, [-1, 2]) == [1, 2]
