"""Rows as TensorBoard's event files, written by tensorboardX: neither TensorFlow nor PyTorch is needed."""

from __future__ import annotations

import itertools
import os
import time
from os import PathLike, fspath
from pathlib import Path

from .rows import RowLogger, need

#: Seconds until what was written can be seen in TensorBoard.
INTERVAL = 5.0
_NUMBERS = itertools.count()


class TensorBoardLogger(RowLogger):
    """A callback that writes bounds, gap, scores and seconds for TensorBoard, `tensorboard --logdir FOLDER`.

    Needs `pip install "oneslack[tensorboard]"`.  Files are all that is written; nothing is sent anywhere.

    Parameters
    ----------
    folder : path
        Made where it is not there.  A folder for each training, `runs/C1` and `runs/C10`, shows them as runs
        beside each other.

    Examples
    --------
    >>> import oneslack
    >>> with oneslack.TensorBoardLogger("runs/first") as log:  # doctest: +SKIP
    ...     model = oneslack.LinearSVC().fit([[0.0], [1.0]], [0, 1], callbacks=[log])
    ...     log.score("dev/accuracy", model.score([[0.2], [0.9]], [0, 1]))
    >>> oneslack.TensorBoardLogger.__name__
    'TensorBoardLogger'
    """

    _writer = None

    def __init__(self, folder: str | PathLike[str]) -> None:
        need("tensorboardX", "tensorboard")
        super().__init__()
        self.folder = fspath(folder)
        self._next = 0.0

    def write(self, values: dict[str, float], step: int) -> None:
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary

        if self._writer is None:
            self._begin()
        summary = Summary(value=[Summary.Value(tag=name, simple_value=x) for name, x in values.items()])
        self._writer.write_event(Event(wall_time=time.time(), step=step, summary=summary))
        if time.monotonic() >= self._next:
            self.flush()

    def flush(self) -> None:
        if self._writer is not None:
            self._writer.flush()
            self._next = time.monotonic() + INTERVAL

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def __del__(self):
        self.close()

    def _begin(self):
        """A new file.  Without the thread of a SummaryWriter, whose `flush` does not wait for it."""
        from tensorboardX.event_file_writer import EventsWriter

        Path(self.folder).mkdir(parents=True, exist_ok=True)
        # The names of files end in seconds: two of one second would be one file.
        suffix = f".{os.getpid()}.{next(_NUMBERS)}"
        self._writer = EventsWriter(os.path.join(self.folder, "events"), filename_suffix=suffix)
