"""The first Ctrl-C asks the training to stop after its current step; the second stops it at once.

So does SIGTERM, which says that the machine is about to go away.
"""

from __future__ import annotations

import signal
import sys

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """A context in which such signals are remembered, and a callback of the training that obeys them.

    A fit survives a KeyboardInterrupt too, but one that falls outside the driver's loop (checking the
    data, computing the last bound) would lose the model.
    """

    def __init__(self):
        self.asked_by = None
        self._before = {}

    @property
    def asked(self) -> bool:
        return self.asked_by is not None

    def __enter__(self):
        for number in SIGNALS:
            # Ignored by whoever started us (nohup, a background job of a script): leave it so.
            if signal.getsignal(number) != signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(self, *exception):
        self._restore()

    def __call__(self, row) -> bool:
        return self.asked

    def _remember(self, number, frame):
        self.asked_by = number
        self._restore()
        what = "Ctrl-C" if number == signal.SIGINT else "the signal"
        print(f"stopping after this step; {what} again stops at once", file=sys.stderr)

    def _restore(self):
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before = {}
