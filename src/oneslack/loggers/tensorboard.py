"""Rows as TensorBoard's event files, written by tensorboardX: neither TensorFlow nor PyTorch is needed."""

from __future__ import annotations

from os import PathLike, fspath

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

    def __init__(self, folder: str | PathLike[str]) -> None:
        need("tensorboardX", "tensorboard")
        super().__init__()
        self.folder = fspath(folder)
        self._writer = None

    def write(self, values: dict[str, float], step: int) -> None:
        if self._writer is None:
            from tensorboardX import SummaryWriter

            self._writer = SummaryWriter(self.folder, write_to_disk=True)
        for name, value in values.items():
            self._writer.add_scalar(name, value, step)

    def flush(self) -> None:
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
