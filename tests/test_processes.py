"""Worker processes: what is done where, and in which order answers come back."""

import os
from dataclasses import dataclass

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from oneslack.engines.processes import Processes


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
