"""The door to numba: `njit`, `register_jitable` and `overload` as all loops here use them, timed, and without
a cache where none can be kept."""

import gc
import warnings

import numba
from numba import extending
from numba.core import event

from . import clock, pipeline

NO_CACHE = (
    "numba cannot keep compiled code: neither the folder of oneslack nor the user's cache folder can be "
    "written, so every process compiles anew; set NUMBA_CACHE_DIR to a folder that can be written."
)
#: Loops that are compiled for this process alone.
uncached = []


def njit(**options):
    """numba.njit; where numba finds no place for a cache it goes without, instead of failing."""
    options = pipeline.LOOP | options

    def compiled(function):
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # "cannot cache function ...: no locator available"
            if not options.get("cache"):
                raise
        uncached.append(function)
        return numba.njit(**options | {"cache": False})(function)

    return compiled


def register_jitable(*functions, **options):
    """numba's, for helpers of loops: they are compiled only as far as the loops need them."""
    wrapped = extending.register_jitable(**pipeline.HELPER | options)
    return wrapped(*functions) if functions else wrapped


def overload(function, inline="never"):
    """numba's, for functions that helpers stand for."""
    return extending.overload(function, jit_options=pipeline.HELPER, inline=inline)


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
