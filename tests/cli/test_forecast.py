"""How long it may still take."""

import math
import mmap
import re
import sys

import numpy as np
import pytest

from oneslack.cli import forecast, packed
from oneslack.cli.forecast import in_use, in_words, memory, seconds_left, work
from oneslack.result import TraceRow


def test_a_gap_that_halves_every_second_is_foretold():
    points = [(float(t), 0.5**t) for t in range(8)]
    low, high = seconds_left(points, 0.5**12)
    assert low == pytest.approx(5.0)
    assert high == pytest.approx(5.0)


def test_a_gap_that_slows_down_gives_a_range():
    points = [(t, math.exp(-math.sqrt(t))) for t in range(1, 20)]
    low, high = seconds_left(points, math.exp(-5.0))
    assert low < high
    assert low < 25 - 19 + 3


@pytest.mark.parametrize(
    "points",
    [
        [],
        [(0.0, math.inf), (1.0, math.inf)],
        [(0.0, 1.0), (1.0, 0.5)],
        [(float(t), 0.3) for t in range(9)],
        [(float(t), 0.5**t) for t in range(10)] + [(1000.0 + t, 0.5**10 * 0.999**t) for t in range(10)],
    ],
)
def test_nothing_is_said_where_nobody_knows(points):
    assert seconds_left(points, 1e-9) is None
    assert in_words(None) == ""


def test_nothing_is_said_without_a_goal():
    assert seconds_left([(float(t), 0.5**t) for t in range(8)], None) is None


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ((0.2, 0.4), "about 1 s to go"),
        ((12.0, 12.3), "about 12 s to go"),
        ((10.0, 300.0), "about 10 s to 5 min to go"),
        ((7300.0, 9000.0), "about 2 h to go"),
    ],
)
def test_times_in_words(left, words):
    assert in_words(left) == words


def test_what_was_used():
    row = TraceRow(3, 10.0, 2.0, 1.0, 0.5, 7, 1200, 4.0, 50)
    assert work(row) == ["decoder asked 1,200 times (40 % of the time)", "50 answers known before"]
    assert work(TraceRow(3, 10.0, 2.0, 1.0, 0.5, 7)) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells it")
def test_memory_in_use_is_what_the_process_has_for_itself(tmp_path):
    path = tmp_path / "mapped"
    path.write_bytes(bytes(50_000_000))
    before = in_use()
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert np.frombuffer(mapped[::4096], np.uint8).sum() == 0
        assert in_use() - before < 20_000_000
    touched = np.ones(50_000_000, np.uint8)
    assert 40_000_000 < in_use() - before < 70_000_000
    assert packed.in_use is in_use  # what is said before the start is what is shown on the way
    assert re.fullmatch(r"[\d.]+ [MG]B", *memory())
    del touched


def test_nothing_is_said_of_memory_that_is_not_known(monkeypatch):
    monkeypatch.setattr(forecast, "in_use", lambda: None)
    assert memory() == []
