"""Worker processes: for oracles written in Python, which hold the interpreter lock."""

from __future__ import annotations

import pickle
import signal
import sys
import time

from .threads import count_jobs, single_blas_thread

#: Seconds for all tasks from which on processes are worth starting.
SLOW = 0.1

_shared = {}


class Processes:
    """Map an oracle over tasks in other processes; the oracle, with its data, is sent once.

    Results come back in the order of the tasks, so any number of processes gives the same bits.
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_jobs = count_jobs(n_jobs)
        self._executor, self._oracle, self._is_slow = None, None, False

    def map(self, oracle, tasks):
        tasks = list(tasks)
        if self.n_jobs == 1:
            return [oracle(task) for task in tasks]
        answers = [] if self._is_slow else self._begin_here(oracle, tasks)
        rest = tasks[len(answers) :]
        if rest:
            self._start(oracle)
            try:
                # Not by `map`: it cancels on Ctrl-C, and loky's own thread stumbles over what is cancelled.
                futures = [self._executor.submit(_run, task) for task in rest]
                answers += [future.result() for future in futures]
            except BaseException:
                self.close()  # tasks that nobody waits for any more
                raise
        return answers

    def _begin_here(self, oracle, tasks):
        """The first answers, until it shows that there is work for other processes."""
        start, answers = time.perf_counter(), []
        for task in tasks:
            answers.append(oracle(task))
            if time.perf_counter() - start > SLOW:
                self._is_slow = True
                break
        return answers

    def _start(self, oracle):
        if self._oracle is oracle:
            return
        self.close()
        from loky import ProcessPoolExecutor

        packed = packed_with_code(oracle, oracle.model)
        self._executor = ProcessPoolExecutor(self.n_jobs, initializer=_receive, initargs=(packed,))
        self._oracle = oracle

    def close(self):
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)
        self._executor, self._oracle = None, None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def packed_with_code(oracle, model):
    """The oracle as bytes.  A user's model is sent with its code: a script, a notebook or a test need not
    be importable in another process."""
    import cloudpickle

    home = sys.modules.get(type(model).__module__)
    foreign = home is not None and home.__name__.partition(".")[0] not in ("oneslack", "__main__")
    if not foreign:
        return cloudpickle.dumps(oracle)
    cloudpickle.register_pickle_by_value(home)
    try:
        return cloudpickle.dumps(oracle)
    finally:
        cloudpickle.unregister_pickle_by_value(home)


def _receive(packed):
    # A terminal sends Ctrl-C to all its processes: the one that trains decides what comes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _shared["oracle"] = pickle.loads(packed)
    # As in the process that trains: more threads than cores would wait for each other.
    _shared["limit"] = single_blas_thread()


def _run(task):
    return _shared["oracle"](task)
