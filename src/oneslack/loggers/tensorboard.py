"""Rows as TensorBoard's event files, written by tensorboardX: neither TensorFlow nor PyTorch is needed."""

from __future__ import annotations

import os
import time

from .rows import RowLogger, need


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

    def __init__(self, folder):
        need("tensorboardX", "tensorboard")
        super().__init__()
        self.folder = os.fspath(folder)
        self._writer = None

    def write(self, values, step):
        # Not by a SummaryWriter, whose flush may leave what its thread still holds.
        from tensorboardX.event_file_writer import EventsWriter
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.summary import scalar

        if self._writer is None:
            os.makedirs(self.folder, exist_ok=True)
            self._writer = EventsWriter(os.path.join(self.folder, "events"), f".{time.time_ns()}")
        for name, value in values.items():
            self._writer.write_event(Event(wall_time=time.time(), step=step, summary=scalar(name, value)))

    def flush(self):
        """End the file: what comes after goes into another one, which TensorBoard shows as the same run."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
