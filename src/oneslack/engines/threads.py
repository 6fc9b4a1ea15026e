"""Threads of this process: compiled loops release the interpreter lock.  The BLAS gets one of them."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache


def count_jobs(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's n_jobs: None or -1 is all cores, -2 all but one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cores = cores or 1
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None for all cores or a positive number")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


class Threads:
    """Map a function over shards; results come back in the order of the shards.

    The shards, not the threads, fix the order of every sum: any number of threads gives the same
    bits.

    >>> from oneslack.engines import Threads
    >>> with Threads(2) as engine:
    ...     engine.map(abs, [-1, 2, -3])
    [1, 2, 3]
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_jobs = count_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def map(self, function, shards):
        shards = list(shards)
        if self.n_jobs == 1 or len(shards) == 1:
            return [function(shard) for shard in shards]
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_jobs, thread_name_prefix="oneslack")
        futures = [self._pool.submit(function, shard) for shard in shards]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            wait(futures)  # or they would go on, in arrays that somebody uses again
            raise

    def close(self):
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


@cache
def _blas():
    """The BLAS libraries of this process; which ones is looked up once, as that takes long."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas").lib_controllers


class single_blas_thread:
    """From now on BLAS calls of this process use one thread, until the end of its `with`, if there is one:
    the small matrices of a training gain nothing from more, and its threads stall on busy cores."""

    def __init__(self):
        self._before = [(library, library.get_num_threads()) for library in _blas()]
        for library, _ in self._before:
            library.set_num_threads(1)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for library, count in self._before:
            library.set_num_threads(count)
