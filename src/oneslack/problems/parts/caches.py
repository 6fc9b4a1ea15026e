"""The constraint cache of a problem in parts: every worker remembers the cuts of its own examples."""

from __future__ import annotations

import time

import numpy as np

from ...cuts import Plane
from ...memory.cut_cache import CutCache


class SplitCutCache(CutCache):
    """Asks the workers where CutCache looks itself.  What they remember is no part of a checkpoint."""

    def __init__(self, problem, size, enough):
        self.problem, self.size, self.enough = problem, size, enough
        self.store = ()
        self.last, self.seconds, self.dual = "", 0.0, -np.inf
        self.asked_rate = self.pause = self.wait = self.n_looks = 0
        self.is_idle = False

    def plane(self, w) -> Plane:
        begin = time.perf_counter()
        with self.problem.recalling(self.problem.n):
            plane = self.problem.plane_of("remembered_cut", w)
        self.last, self.seconds = "recalled", time.perf_counter() - begin
        self.n_looks += 1
        return plane

    def ask(self, w) -> tuple[Plane, float]:
        begin = time.perf_counter()
        with self.problem._asking(self.problem.n):
            plane, hinges = self.problem.plane_of("cut_and_remember", w, self.size)
        self.store = (plane,)  # there is something to look at
        self.last, self.seconds = "asked", time.perf_counter() - begin
        return plane, self.problem.mean * hinges

    def state(self):
        own = {name: value for name, value in vars(self).items() if name not in ("problem", "store")}
        return own | {"n_remembered": len(self.store)}

    def restore(self, state):
        self.store = ()  # until they are asked
        vars(self).update({name: value for name, value in state.items() if name != "n_remembered"})
