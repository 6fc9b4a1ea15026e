"""Compilation is told, timed, and none of a training's time."""

import os
import subprocess
import sys
import threading
import warnings

import numba
import pytest
from numba.core import caching

from oneslack._jit import clock, compiler

FIRST_FIT = """
import sys, time
import numpy as np
import oneslack
assert "numba" not in sys.modules  # neither imported nor compiled before it is needed
from numba.core import event
total = depth = 0.0
class Compilations(event.Listener):
    def on_start(self, event):
        global depth, begin
        depth += 1
        begin = time.perf_counter() if depth == 1 else begin
    def on_end(self, event):
        global depth, total
        depth -= 1
        total += time.perf_counter() - begin if depth == 0 else 0.0
event.register("numba:compile", Compilations())
X = np.random.default_rng(0).normal(size=(50, 3))
begin_fit = time.perf_counter()
result = oneslack.LinearSVC(time_limit=1000.0).fit(X, X[:, 0] > 0).result_
wall = time.perf_counter() - begin_fit
from oneslack._jit import clock
print(total, wall, result.seconds, result.trace[-1].seconds, clock.compiling.seconds, clock.preparing.seconds)
"""


def test_a_first_fit_is_timed_without_its_compilation(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", FIRST_FIT],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    total, wall, seconds, last, compiled, prepared = map(float, run.stdout.split())
    assert total > 0.0  # the cache was empty
    assert 0.0 <= last <= seconds <= wall - total
    assert compiled == pytest.approx(total, rel=0.05)
    assert prepared >= compiled


def test_the_clock_stands_still_while_anything_compiles(monkeypatch):
    seconds = 100.0
    monkeypatch.setattr(clock.time, "perf_counter", lambda: seconds)
    watch = clock.Stopwatch()
    assert watch.rest() == 100.0
    assert watch.start()
    assert not watch.start()
    seconds = 103.0
    assert watch.rest() == 100.0
    assert watch.seconds == 3.0
    assert not watch.stop()
    assert watch.stop()
    seconds = 105.0
    assert watch.rest() == 102.0
    assert watch.seconds == 3.0


def test_threads_that_wait_for_each_other_are_counted_once():
    watch, barrier = clock.Stopwatch(), threading.Barrier(4)

    def prepare():
        for _ in range(200):
            barrier.wait()
            watch.start()
            barrier.wait()
            watch.stop()

    threads = [threading.Thread(target=prepare) for _ in range(4)]
    begin = clock.time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.0 < watch.seconds <= clock.time.perf_counter() - begin
    assert watch.start()  # it stands, so that this is the first


def test_watchers_are_told_in_turn():
    told = []
    with clock.watched(told.append):
        numba.njit(lambda x: x + 1)(1.0)
    numba.njit(lambda x: x + 2)(1.0)
    assert told == [True, False]


def test_a_cache_that_cannot_be_written_is_told_once(monkeypatch):
    places = getattr(caching, "CacheImpl", None) or caching._CacheImpl
    monkeypatch.setattr(places, "_locator_classes", [])  # as where nothing can be written
    monkeypatch.setattr(compiler, "uncached", [])
    monkeypatch.setattr(compiler.Compiling, "told", False)

    @compiler.njit(nogil=True, cache=True)
    def twice(x):
        return 2 * x

    assert compiler.uncached == [twice.py_func]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert (twice(2.0), twice(2)) == (4.0, 4)
    assert [str(each.message) for each in said] == [compiler.NO_CACHE]
    assert "NUMBA_CACHE_DIR" in compiler.NO_CACHE
    assert compiler.NO_CACHE.count(".") == 1


def test_other_faults_of_numba_are_not_swallowed(monkeypatch):
    def broken(**options):
        raise RuntimeError("something else")

    monkeypatch.setattr(compiler.numba, "njit", broken)
    with pytest.raises(RuntimeError, match="something else"):
        compiler.njit(nogil=True)(len)
