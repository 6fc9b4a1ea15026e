"""The door to numba: `njit` as all loops here use it, timed, and without a cache where none can be kept."""

import gc
import warnings

import numba
from numba.core import event

from . import clock

NO_CACHE = (
    "numba cannot keep compiled code: neither the folder of oneslack nor the user's cache folder can be "
    "written, so every process compiles anew; set NUMBA_CACHE_DIR to a folder that can be written."
)
#: Loops that are compiled for this process alone.
uncached = []


def njit(**options):
    """numba.njit; where numba finds no place for a cache it goes without, instead of failing."""
    options = {"no_cfunc_wrapper": True} | options  # nobody takes the loops' addresses

    def compiled(function):
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # "cannot cache function ...: no locator available"
            if not options.get("cache"):
                raise
        uncached.append(function)
        return numba.njit(**options | {"cache": False})(function)

    return compiled


class Preparing(event.Listener):
    """The lock is held by who compiles, and by who fetches a loop from the cache."""

    def on_start(self, event):
        clock.preparing.start()

    def on_end(self, event):
        clock.preparing.stop()


class Compiling(event.Listener):
    """Compilations, the first of which says where nothing is kept.

    Numba makes many small objects that live on, and the collector of garbage looks through them again and
    again, for a tenth of the time: it waits until the loop is compiled.
    """

    told, collects = False, False

    def on_start(self, event):
        if uncached and not self.told:
            self.told = True
            warnings.warn(NO_CACHE, stacklevel=2)
        if clock.begin_compiling():
            self.collects = gc.isenabled()
            gc.disable()

    def on_end(self, event):
        if clock.end_compiling() and self.collects:
            gc.enable()


event.register("numba:compiler_lock", Preparing())
event.register("numba:compile", Compiling())
