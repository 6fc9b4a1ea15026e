import io
import math
import sys
from types import SimpleNamespace

import pytest

from oneslack.cli import main
from oneslack.cli import progress as module
from oneslack.cli.progress import LiveTable, PlainLines, Silence, progress
from oneslack.result import TraceRow


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is moved."""
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(module.time, "perf_counter", lambda: now.seconds)
    return now


def row(iteration, gap):
    return TraceRow(iteration, 0.1 * iteration, 10.0, 10.0 * (1 - gap), gap, 5)


def test_where_stderr_goes_decides():
    assert type(progress("t", 1e-3, quiet=True)) is Silence
    assert type(progress("t", 1e-3, stream=io.StringIO())) is PlainLines
    assert type(progress("t", 1e-3, stream=Terminal())) is LiveTable


def test_plain_lines_are_few(clock):
    stream = io.StringIO()
    lines = PlainLines(1, stream)
    for step in range(1, 1001):
        clock.seconds += 0.01
        assert not lines(row(step, 0.999**step))
    shown = stream.getvalue().splitlines()
    assert 3 <= len(shown) <= 5  # the gap falls to 37 %: by a fifth four times
    clock.seconds += 10
    lines(row(1001, 0.999**1000))
    assert stream.getvalue().splitlines() == shown or len(stream.getvalue().splitlines()) == len(shown) + 1


def test_plain_lines_say_which_class(clock):
    stream = io.StringIO()
    lines = PlainLines(3, stream)
    for gap in (0.5, 0.4):
        clock.seconds += 2
        lines(row(1, gap))
    assert [line[:15] for line in stream.getvalue().splitlines()] == ["class 1 of 3: s", "class 2 of 3: s"]


def test_the_live_table_redraws_eight_times_a_second(clock, monkeypatch):
    table = LiveTable("digits", 1e-3, 1, Terminal())
    drawn = []
    monkeypatch.setattr(table.live, "update", lambda picture, refresh: drawn.append(picture))
    for step in range(1, 2001):
        clock.seconds += 0.001
        table(row(step, 0.99**step))
    assert 14 <= len(drawn) <= 17


def test_the_live_table_shows_the_newest_row_and_the_goal():
    stream = Terminal()
    with LiveTable("digits", 1e-3, 1, stream) as table:
        table(TraceRow(1, 0.1, math.inf, -math.inf, math.inf, 5))
        for step in range(2, 40):
            table(row(step, 0.8**step))
    text = stream.getvalue()
    assert "digits" in text
    assert "of 0.1 %" in text
    assert f"{100 * 0.8**39:.3g} %" in text


def test_compilation_is_a_phase_of_its_own(monkeypatch):
    stream = Terminal()
    with LiveTable("digits", 1e-3, 1, stream) as table:
        table.compiling(True)
        assert "compiling, once for this machine ..." in stream.getvalue()
        table.compiling(False)
        table(row(1, 0.5))
        table.compiling(True)
        table.compiling(False)
        table(row(2, 0.4))
    last = stream.getvalue().rpartition("compiling")[2]
    assert "40 %" in last  # the phase is over, and leaves no trace


def test_plain_lines_tell_of_compilation_once():
    stream = io.StringIO()
    lines = PlainLines(1, stream)
    for is_on in (True, False, True, False):
        lines.compiling(is_on)
    assert stream.getvalue() == "compiling, once for this machine ...\n"


@pytest.mark.parametrize("width", [70, 100, 160])
def test_the_table_fits_on_a_terminal(width, monkeypatch):
    from rich.console import Console

    from oneslack.cli import progress as module

    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setenv("COLUMNS", str(width))
    table = module.LiveTable("a/long/path/to/a/file.csv: 1,234,567 × 1,000,000, 20 classes", 1e-3, 1, stream)
    for k in range(1, 12):
        table._remember(
            TraceRow(k, 1234.56, 123456.7, 0.001234567, 0.5**k, 3, 10**6, 600.0, 10**6, score=0.91234)
        )
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    console.print(table._picture())
    text = console.file.getvalue()
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    for words in ("123457", "0.00123457", "0.9123", "dev score"):
        assert words in text  # nothing that matters is cut


def test_long_lines_are_broken_between_words(monkeypatch):
    from oneslack.cli.output import fitted

    text = "oneslack: " + "words that go on " * 9
    stream = io.StringIO()
    assert fitted(text, stream) == text
    stream.isatty = lambda: True
    monkeypatch.setenv("COLUMNS", "70")
    lines = fitted(text, stream).split("\n")
    assert max(map(len, lines)) < 70
    assert " ".join(" ".join(lines).split()) == text.strip()


@pytest.mark.parametrize(
    "words", ["evaluate a.model b.svm", "predict a.model b.svm", "tune b.svm", "info b.svm",
              "report a.model --data b.svm -o c", "train classify b.svm -o c", "verify a.model b.svm"],
)  # fmt: skip
def test_a_terminal_is_not_blank_at_the_start(words, monkeypatch, tmp_path):
    """Before anything is imported, or even looked for: none of these files is there."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) != 0
    assert stream.getvalue().startswith("reading b.svm ...\n")


def test_a_step_without_bounds_says_so():
    stream = Terminal()
    with LiveTable("digits", 1e-3, 1, stream) as table:
        table(TraceRow(1, 0.1, math.inf, -math.inf, math.inf, 5))
    assert "no upper bound yet" in stream.getvalue()
    stream = Terminal()
    with LiveTable("digits", 1e-3, 1, stream) as table:
        table(row(1, 0.5))
    assert "no upper bound yet" not in stream.getvalue()
