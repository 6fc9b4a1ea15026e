"""One thread for the BLAS while we train: its small matrices gain nothing from more, and its threads
stall on busy cores."""

from __future__ import annotations

from functools import cache


@cache
def _controller():
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def single_blas_thread():
    """A context in which BLAS calls of this process use one thread."""
    return _controller().limit(limits=1, user_api="blas")
