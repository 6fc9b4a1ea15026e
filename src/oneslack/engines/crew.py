"""A crew: workers that hold parts of the examples and are asked all at once.

`ask` gives the answers in the order of the workers, `total` their sum; both count rounds (times that the
driver waits for everybody) and the bytes of what goes out to the machines and comes back.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock

import numpy as np

from .scores import Recipe, Slot, SplitScores
from .sums import LOST, SparseVector, add_up, size_of
from .threads import Threads, count_jobs

#: Arrays of at least so many bytes go out once a machine, beside the message.
LARGE = 4096


class Crew:
    """What crews share.  One says how a message is sent, and how answers are gathered and summed."""

    #: Machines that a large vector is sent to.
    n_machines = 1

    def __init__(self, workers):
        self.workers = workers
        self.rounds = self.bytes_moved = 0
        self._threads = None

    def __len__(self):
        return len(self.workers)

    def ask(self, method, *arguments, meanwhile=None):
        """The answers of all workers, a list; meanwhile() is what the driver does before it waits."""
        return self._asked(self._gathered, method, arguments, meanwhile)

    def total(self, method, *arguments, meanwhile=None):
        """The sum of the answers, which are tuples."""
        return self._asked(self._summed, method, arguments, meanwhile)

    def ask_each(self, method, own, *arguments):
        """As `ask`, where each worker gets one more argument of its own, the last; LOST where one has lost
        what it is asked about."""
        message, vectors = self._message(arguments, False)
        self.rounds += 1
        pairs = zip(self.workers, own, strict=True)
        answers = self._gathered([self._send(w, method, (*message, mine), vectors) for w, mine in pairs])
        self.bytes_moved += size_of(list(own)) + size_of(answers)
        return LOST if LOST in map(_word, answers) else answers

    def map(self, function, items):
        """What the driver does itself, in threads."""
        if self._threads is None:
            self._threads = Threads()
        return self._threads.map(function, items)

    def _asked(self, gather, method, arguments, meanwhile):
        for needs_w in (False, True):
            message, vectors = self._message(arguments, needs_w)
            self.rounds += 1
            futures = [self._send(worker, method, message, vectors) for worker in self.workers]
            if meanwhile is not None:
                meanwhile, _ = None, meanwhile()
            answer = gather(futures)
            self.bytes_moved += size_of(answer)
            is_lost = isinstance(answer, str) if gather == self._summed else LOST in map(_word, answer)
            has_scores = any(isinstance(each, SplitScores) for each in arguments)
            if not (is_lost and has_scores):
                break
            # A worker was started anew, or let go of scores: tell it w itself.
        for each in arguments:
            if isinstance(each, SplitScores):
                each.is_told()
        return LOST if is_lost else answer

    def _message(self, arguments, needs_w):
        """(message, vectors): large arrays go out beside the message."""
        vectors = []

        def place(value):
            if isinstance(value, SplitScores):
                return place(value.recipe(needs_w))
            if isinstance(value, Recipe):
                terms = tuple((factor, place(part)) for factor, part in value.terms)
                return value._replace(terms=terms, w=place(value.w))
            if isinstance(value, np.ndarray | SparseVector) and size_of(value) >= LARGE:
                self.bytes_moved += size_of(value) * self.n_machines
                vectors.append(self._shared(value))
                return Slot(len(vectors) - 1)
            return value

        return tuple(map(place, arguments)), vectors

    def _shared(self, vector):
        return vector

    def _send(self, worker, method, message, vectors):
        raise NotImplementedError

    def _gathered(self, futures):
        raise NotImplementedError

    def _summed(self, futures):
        return add_up(self._gathered(futures))

    def keep_to(self, seconds):
        """The training is to end after so many seconds; None: whenever it likes.  A cluster's crew then waits
        for nobody who does not answer (OutOfTime)."""

    def hurry(self):
        """The training ends now."""

    def between_steps(self):
        """All that was asked is answered and settled: workers may move."""

    def close(self):
        """Let the workers go."""
        if self._threads is not None:
            self._threads.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _word(answer):
    return answer if isinstance(answer, str) else None


class ThreadCrew(Crew):
    """Workers in threads of this process."""

    def __init__(self, workers):
        super().__init__(workers)
        self._pool = ThreadPoolExecutor(len(workers), thread_name_prefix="oneslack")
        self._busy = {}

    def _send(self, worker, method, message, vectors):
        return self._pool.submit(self._done, worker, method, message, *vectors)

    def _done(self, worker, *message):
        """A worker's answer.  It may be at work for a driver that Ctrl-C has made forget it."""
        with self._busy.setdefault(id(worker), Lock()):
            return worker.do(*message)

    def _gathered(self, futures):
        try:
            return [future.result() for future in futures]
        except BaseException:
            wait(futures)  # or the others would go on while the driver does something else
            raise

    def close(self):
        super().close()
        self._pool.shutdown()


class ThreadCrews:
    """An engine that splits a problem between threads, each with examples of its own.

    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5], [-0.5, 0.0]]), [1, 1, -1, -1]
    >>> problem = oneslack.SplitProblem(oneslack.Binary(2), X, y, C=1.0, engine=oneslack.ThreadCrews(2))
    >>> with problem.engine:
    ...     result = oneslack.solve(problem, oneslack.OneSlack(), tol=1e-4)
    >>> result.gap <= 1e-4
    True
    """

    def __init__(self, n_jobs: int | None = None):
        self.n_jobs = n_jobs

    @property
    def n_workers(self) -> int:
        return count_jobs(self.n_jobs)

    def on_one_machine(self):
        """None: its workers are for examples in parts."""

    def laid_out(self, decodes) -> ThreadCrews:
        """As it is: a worker is one thread, whatever it does."""
        return self

    def start(self, kind, parts, model, options) -> Crew:
        """A crew with a worker of this kind (problems/parts/worker.py) for each part."""
        return ThreadCrew([kind(part, model, options) for part in parts])
