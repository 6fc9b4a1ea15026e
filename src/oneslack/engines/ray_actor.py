"""The actor that hosts workers on a Ray cluster, and how parts are sent there."""

from __future__ import annotations

import os
import pickle

from .machines import free_memory
from .processes import packed_with_code
from .sums import add_up


class _Actor:
    """Around Workers, one for each seat, made when they are first asked."""

    def __init__(self):
        self._workers, self._answered = {}, {}

    def do(self, seat, sources, number, method, message, *vectors):
        last = self._answered.get(seat)
        if last is not None and last[0] == number:  # its answer was lost on the way
            return last[1]
        if seat not in self._workers:
            self._workers[seat] = self._made(sources)
        answer = self._workers[seat].do(method, message, *vectors)
        self._answered[seat] = number, answer
        return answer

    def _made(self, sources):
        import ray

        from .threads import single_blas_thread

        maker, part = ray.get(sources)
        kind, model, options = pickle.loads(maker)
        self._limit = single_blas_thread()
        return kind(pickle.loads(part) if isinstance(part, bytes) else part, model, options)

    def drop(self, seat):
        """Forget a seat that has moved."""
        self._workers.pop(seat, None)
        self._answered.pop(seat, None)

    def add(self, *answers):
        return add_up(answers)

    def pid(self):
        return os.getpid()

    def node(self):
        import ray

        return ray.get_runtime_context().get_node_id()

    def room(self):
        """Bytes of memory that are free here."""
        return free_memory()


def sendable(part, model):
    """Arrays go through shared memory; lists of anything go with the code of their classes."""
    if isinstance(getattr(part, "X", None), list):
        return packed_with_code(part, model)
    return part
