"""How far the packing of files has come: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time

from . import progress
from .progress import Silence


def pack_progress(quiet=False, stream=None):
    """A context and a callback of the packing that suits where stderr goes."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        return Silence()
    return Bar(stream) if stream.isatty() else Lines(stream)


class Lines(Silence):
    """At most one line a second."""

    def __init__(self, stream):
        self.stream = stream
        self.first = None  # when, and how far an earlier run had come

    def __call__(self, state) -> bool:
        now = time.perf_counter()
        if self.first is None:
            self.first, self.next_time = (now, state.done), now + progress.LINE_INTERVAL
        elif now >= self.next_time:
            self.next_time = now + progress.LINE_INTERVAL
            speed = (state.done - self.first[1]) / (now - self.first[0])
            print(line(state, speed), file=self.stream, flush=True)
        return False


class Bar(Silence):
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


def line(state, speed) -> str:
    """A state as one line of text."""
    from ..data.bytes import in_words

    share = 100 * state.done // max(1, state.total)
    return (
        f"{share} %  {in_words(state.done)} of {in_words(state.total)}  {in_words(speed)}/s  "
        f"{state.rows:,} rows in {state.shards} {'shard' if state.shards == 1 else 'shards'}"
    )
