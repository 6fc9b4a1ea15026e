"""A clock that stands still while numba makes compiled code: what it measures is work.

A loop is compiled when it is first called, once for a machine, and fetched from the cache by every later
process.  That is none of a training's time.  The stopwatches here are started and stopped by compiler.py;
nothing here imports numba, so that the clock can be read by those who never compile.
"""

import threading
import time
from contextlib import contextmanager


class Stopwatch:
    """Seconds during which anybody was at it: starts may be nested, and come from several threads."""

    def __init__(self):
        self._lock, self._depth = threading.Lock(), 0
        self._read = 0.0, None  # seconds that are over, and since when it runs; replaced as one

    def start(self) -> bool:
        """Whether it stood before."""
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return False
            self._read = self._read[0], time.perf_counter()
            return True

    def stop(self) -> bool:
        """Whether it stands now."""
        with self._lock:
            self._depth -= 1
            if self._depth:
                return False
            over, since = self._read
            self._read = over + time.perf_counter() - since, None
            return True

    @property
    def seconds(self) -> float:
        over, since = self._read
        return over if since is None else over + time.perf_counter() - since

    def rest(self) -> float:
        """What a clock shows that stands still while this one runs."""
        while True:
            read = self._read
            now = time.perf_counter()
            if read is self._read:  # else it was started or stopped in between
                over, since = read
                return (now if since is None else since) - over


#: While loops are compiled, or fetched from the cache.
preparing = Stopwatch()
#: While they are compiled.
compiling = Stopwatch()
#: Called with True where a compilation begins, with False where it ends.
_watchers = []

now = preparing.rest


@contextmanager
def watched(tell):
    """tell(True) where a compilation begins, tell(False) where it ends, in the thread that compiles."""
    _watchers.append(tell)
    try:
        yield
    finally:
        _watchers.remove(tell)


def begin_compiling() -> bool:
    """Whether nothing was compiled before."""
    is_first = compiling.start()
    for tell in tuple(_watchers) if is_first else ():
        tell(True)
    return is_first


def end_compiling() -> bool:
    """Whether nothing is compiled any more."""
    is_last = compiling.stop()
    for tell in tuple(_watchers) if is_last else ():
        tell(False)
    return is_last
