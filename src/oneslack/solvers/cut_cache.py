"""The constraint cache of the one-slack method: the last cuts of each example, asked before the oracle.

Joachims, Finley & Yu (2009), Algorithm 4.  The most violated remembered cut of each example gives a plane
under the risk without asking anyone.  It is good enough while it cuts off a share of the current gap: the
smaller, the dearer the oracle is beside the cache.
"""

from __future__ import annotations

import numpy as np

from ..cuts import Plane
from .remembered import Remembered

#: (how many times as dear as the cache the oracle is at least, the share of the gap that is then enough).
#: Few steps: a decision by the clock should come out the same again.
SHARES = ((10.0, 0.1), (1.0, 0.3))
#: More than the whole gap: nothing is enough, ask.
NOTHING = 2.0


class CutCache:
    """The last `size` cuts of each example; of more, the one longest unused goes.

    enough  the share of the gap that a remembered plane must cut off; None measures which pays per second
    """

    def __init__(self, problem, size, enough=0.3):
        self.problem, self.enough = problem, enough
        self.asked = self.recalled = 0.0  # seconds of the last look of either kind
        self.n_looks = 0
        self.store = Remembered(problem, problem.data.weights, limit=size, duals=False)

    def is_worth_a_look(self) -> bool:
        """Whether remembered planes can be enough; decided once, by the second look: the first compiles."""
        if self.enough is None and self.n_looks >= 2:
            is_dear = (share for times, share in SHARES if self.asked >= times * self.recalled)
            self.enough = next(is_dear, NOTHING)
        return len(self.store) > 0 and self.enough != NOTHING

    def cuts_off_enough(self, cut_off, gap) -> bool:
        return cut_off > (SHARES[-1][1] if self.enough is None else self.enough) * gap

    def state(self):
        names = ("enough", "asked", "recalled", "n_looks")
        return {"store": self.store.state()} | {name: getattr(self, name) for name in names}

    def restore(self, state):
        self.store.restore(state["store"])
        vars(self).update({name: value for name, value in state.items() if name != "store"})

    def plane(self, w) -> Plane:
        """The best plane that the remembered cuts give at w."""
        index = np.arange(self.problem.n)
        before = self.problem.work.cached_seconds
        with self.problem.recalling(len(index)):
            _, places = self.store.best(w, index)
            plane = self._mean(index, places)
        self.recalled, self.n_looks = self.problem.work.cached_seconds - before, self.n_looks + 1
        return plane

    def ask(self, w) -> Plane:
        """The plane of the oracle's cuts at w, which are remembered; a remembered cut that is worse for
        its example is taken instead."""
        index = np.arange(self.problem.n)
        before = self.problem.work.oracle_seconds
        self.store.learn(self.problem, w, index)
        self.asked = self.problem.work.oracle_seconds - before
        return self._mean(index, self.store.best(w, index)[1])

    def _mean(self, index, places):
        store, problem = self.store, self.problem
        index, places = index[places >= 0], places[places >= 0]
        flat = store.base[index] + places
        store.now += 1
        store.used[flat] = store.now
        rows, s = store.slots[flat], problem.data.weights[index] * problem.mean
        normal = np.zeros(problem.n_params)
        store.sum(rows, s, normal)
        return Plane(normal, float(s @ store.arena.b[rows]))
