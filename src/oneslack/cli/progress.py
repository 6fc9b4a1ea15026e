"""The closing gap while a model trains: a live table on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import math
import sys
import time

from .._jit.clock import compiling
from ..certificate.words import percent
from ..data.bytes import in_words as bytes_in_words
from .forecast import in_words, memory, seconds_left, work

#: Redraws a second of the live table: it must cost nothing.
REFRESH_RATE = 8
#: Seconds between two plain lines.
LINE_INTERVAL = 1.0
#: The gap closed noticeably when it is at most this share of the one shown last.
NOTICEABLE = 0.8
ROWS_SHOWN = 8
#: The phase before a first training, of which no clock of a run tells.
COMPILING = "compiling, once for this machine"


def progress(title, tol, n_problems=1, quiet=False, stream=None):
    """A context and a callback of the training that suits where stderr goes."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        return Silence()
    if stream.isatty():
        return LiveTable(title, tol, n_problems, stream)
    return PlainLines(n_problems, stream)


def pack_progress(quiet=False, stream=None):
    """The same of the packing of files: a bar on a terminal, now and then a line elsewhere."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        return Silence()
    return PackBar(stream) if stream.isatty() else PackLines(stream)


class Silence:
    """No progress at all."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def __call__(self, row) -> bool:
        return False

    def compiling(self, is_on):
        """Numba begins to compile a loop, or is done with it."""


class PlainLines(Silence):
    """A line when the gap closed noticeably, at most one a second."""

    def __init__(self, n_problems, stream):
        self.n_problems, self.stream = n_problems, stream
        self.problem, self.gap = 0, math.inf
        self.next_time = time.perf_counter() + LINE_INTERVAL
        self.has_compiled = False

    def compiling(self, is_on):
        if not self.has_compiled:
            print(f"{COMPILING} ...", file=self.stream, flush=True)
        self.has_compiled = True

    def __call__(self, row) -> bool:
        if row.iteration == 1:
            self.problem, self.gap = self.problem + 1, math.inf
        if row.gap <= NOTICEABLE * self.gap and time.perf_counter() >= self.next_time:
            self.next_time = time.perf_counter() + LINE_INTERVAL
            self.gap = row.gap
            print(f"{which(self.problem, self.n_problems)}{line(row)}", file=self.stream, flush=True)
        return False


class LiveTable(Silence):
    """The last rows at which the gap closed noticeably, the newest one, and how far it is to go."""

    def __init__(self, title, tol, n_problems, stream):
        from rich.console import Console
        from rich.live import Live

        self.title, self.tol, self.n_problems = title, tol, n_problems
        self.problem, self.rows, self.newest, self.widest = 0, [], None, math.nan
        self.next_time, self.closing, self.is_compiling = 0.0, [], False
        self.live = Live(console=Console(file=stream), auto_refresh=False)

    def __enter__(self):
        self.live.__enter__()
        self.live.update(self._picture(), refresh=True)  # at once: a first step may take a while
        return self

    def __exit__(self, *exception):
        if self.newest is not None:
            self.live.update(self._picture(), refresh=True)
        self.live.__exit__(*exception)

    def __call__(self, row) -> bool:
        self._remember(row)
        now = time.perf_counter()
        if now >= self.next_time:
            self.live.update(self._picture(), refresh=True)
            self.next_time = now + 1.0 / REFRESH_RATE
        return False

    def compiling(self, is_on):
        self.is_compiling = is_on
        self.live.update(self._picture(), refresh=True)

    def _remember(self, row):
        if row.iteration == 1:
            self.problem, self.rows, self.widest = self.problem + 1, [], math.nan
            self.closing = []
        if not self.closing or row.gap < self.closing[-1][1]:
            self.closing.append((row.seconds, row.gap))
        self.newest = row
        if math.isfinite(row.gap) and not self.widest >= row.gap:
            self.widest = row.gap
        if not self.rows or row.gap <= NOTICEABLE * self.rows[-1].gap:
            self.rows = [*self.rows[1 - ROWS_SHOWN :], row]

    def _picture(self):
        from rich.console import Group
        from rich.text import Text

        words = f"{self.title}  {which(self.problem, self.n_problems)}"
        heading = Text(words, style="bold", no_wrap=True, overflow="ellipsis")
        parts = [] if self.newest is None else self._so_far()
        if self.is_compiling:
            parts = [*parts, Text(f"{COMPILING} ... {compiling.seconds:.1f} s so far", style="cyan")]
        return Group(heading, *parts)

    def _so_far(self):
        """Rows, how far it is to go, and what it took."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, padding=(0, 1), header_style="dim")  # fits on 70 columns, a score included
        for name in ("step", "seconds", "at least", "at most", "gap"):
            table.add_column(name, justify="right", min_width=9, no_wrap=True)
        rows = self.rows if self.newest is self.rows[-1] else [*self.rows, self.newest]
        is_scored = any(score(row) for row in rows)
        if is_scored:
            table.add_column("dev score", justify="right", min_width=9, no_wrap=True)
        for row in rows:
            told = [*cells(row), *([score(row)] if is_scored else [])]
            table.add_row(*told, style="bold" if row is self.newest else "dim")
        bar = Table.grid(padding=(0, 1))
        goal = f"gap {percent(self.newest.gap)}" + (f" of {percent(self.tol)}" if self.tol else "")
        if not math.isfinite(self.newest.gap):
            goal = "no upper bound yet"
        bar.add_row(
            ProgressBar(1.0, self._share_done(), width=min(44, self.live.console.width - 26)),
            Text(goal, style="bold cyan"),
        )
        left = in_words(seconds_left(self.closing, self.tol)) if self.newest.gap > (self.tol or 0.0) else ""
        words = ", ".join(filter(None, [left, *work(self.newest), *memory()]))
        foot = Text(words, style="dim", no_wrap=True, overflow="ellipsis")
        return [table, bar, foot]

    def _share_done(self) -> float:
        """How far the gap has come from its widest to the tolerance, on a log scale."""
        gap, tol = self.newest.gap, self.tol or 1e-6
        if not math.isfinite(gap) or not math.isfinite(self.widest):
            return 0.0
        if gap <= tol or self.widest <= tol:
            return 1.0
        return math.log(self.widest / gap) / math.log(self.widest / tol)


def which(problem, n_problems) -> str:
    """Which of several problems a row belongs to."""
    return f"class {problem} of {n_problems}: " if n_problems > 1 else ""


def line(row) -> str:
    """A step as one line of text."""
    step, seconds, low, high, gap = cells(row)
    if not math.isfinite(row.gap):
        return f"step {step}  {seconds} s  no bounds yet"
    of_dev = f"  dev score {score(row)}" if score(row) else ""
    return f"step {step}  {seconds} s  optimum between {low} and {high}  gap {gap}{of_dev}"


def score(row) -> str:
    """On the development set; nothing where it was not looked at."""
    value = getattr(row, "score", None)
    return "" if value is None else f"{value:.4f}"


def cells(row):
    """Step, seconds, lower bound, upper bound and gap, as text."""
    return (
        f"{row.iteration}", f"{row.seconds:.2f}", number(row.dual), number(row.primal), percent(row.gap)
    )  # fmt: skip


def number(value) -> str:
    """A bound in a few digits; a dash where there is none yet."""
    return f"{value:.6g}" if math.isfinite(value) else "–"


# Packing.


class PackLines(Silence):
    """At most one line a second."""

    def __init__(self, stream):
        self.stream = stream
        self.first = None  # when, and how far an earlier run had come

    def __call__(self, state) -> bool:
        now = time.perf_counter()
        if self.first is None:
            self.first, self.next_time = (now, state.done), now + LINE_INTERVAL
        elif now >= self.next_time:
            self.next_time = now + LINE_INTERVAL
            speed = (state.done - self.first[1]) / (now - self.first[0])
            print(pack_line(state, speed), file=self.stream, flush=True)
        return False


class PackBar(Silence):
    """A bar that fills up."""

    def __init__(self, stream):
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        self.bar = Progress(
            TextColumn("packing"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
            TimeRemainingColumn(), TextColumn("{task.fields[shards]} shards"),
            console=Console(file=stream),
        )  # fmt: skip
        self.task = None

    def __enter__(self):
        self.bar.__enter__()
        return self

    def __exit__(self, *exception):
        self.bar.__exit__(*exception)

    def __call__(self, state) -> bool:
        if self.task is None:
            self.task = self.bar.add_task("", total=state.total, shards=state.shards)
        self.bar.update(self.task, completed=state.done, shards=state.shards)
        return False


def pack_line(state, speed) -> str:
    """A state as one line of text."""
    share = 100 * state.done // max(1, state.total)
    done, total, speed = map(bytes_in_words, (state.done, state.total, speed))
    return (
        f"{share} %  {done} of {total}  {speed}/s  "
        f"{state.rows:,} rows in {state.shards} {'shard' if state.shards == 1 else 'shards'}"
    )
