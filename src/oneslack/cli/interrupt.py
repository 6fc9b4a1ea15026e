"""The first Ctrl-C asks the training to stop after its current step; the second stops it at once."""

from __future__ import annotations

import signal
import sys


class Interrupt:
    """A context in which Ctrl-C is remembered, and a callback of the training that obeys it.

    The driver survives a KeyboardInterrupt too, but one that falls outside its loop (checking the
    data, computing the last bound) would lose the model.
    """

    def __init__(self):
        self.asked = False
        self._before = None

    def __enter__(self):
        # Ignored by whoever started us (nohup, a background job of a script): leave it so.
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(self, *exception):
        self._restore()

    def __call__(self, row) -> bool:
        return self.asked

    def _remember(self, number, frame):
        self.asked = True
        self._restore()
        print("stopping after this step; Ctrl-C again stops at once", file=sys.stderr)

    def _restore(self):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
