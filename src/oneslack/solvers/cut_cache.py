"""The constraint cache of the one-slack method: the last cuts of each example, asked before the oracle.

Joachims, Finley & Yu (2009), Algorithm 4.  The most violated remembered cut of each example gives a plane
under the risk without asking anyone.  It is good enough while it cuts off a share of the current gap.
"""

from __future__ import annotations

import numpy as np

from ..cuts import Plane
from .remembered import Remembered


class CutCache:
    """The last `size` cuts of each example; of more, the one longest unused goes."""

    def __init__(self, problem, size):
        self.problem = problem
        self.store = Remembered(problem, problem.data.weights, limit=size, duals=False)

    def plane(self, w) -> Plane:
        """The best plane that the remembered cuts give at w."""
        index = np.arange(self.problem.n)
        _, places = self.store.best(w, index)
        self.problem.work.cached += len(index)
        return self._mean(index, places)

    def ask(self, w) -> Plane:
        """The plane of the oracle's cuts at w, which are remembered; a remembered cut that is worse for
        its example is taken instead."""
        index = np.arange(self.problem.n)
        self.store.learn(self.problem, w, index)
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
