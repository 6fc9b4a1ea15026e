"""The constraint cache of the one-slack method: the last cuts of each example, asked before the oracle.

Joachims, Finley & Yu (2009), Algorithm 4.  The most violated remembered cut of each example gives a plane
under the risk without asking anyone.  It is good enough while it cuts off a share of the current gap, and
worth a look while that pays more per second than asking.
"""

from __future__ import annotations

import numpy as np

from .._jit.clock import now
from ..cuts import Plane
from .dual_points import packed_outputs
from .remembered import Remembered

#: The share of the gap that a remembered plane must cut off where its worth is measured.
LEAST = 0.1
#: An oracle that costs less than so many looks at the cache needs none.
CHEAP = 5.0
#: Rounds without a look at the cache, at most, after looks that were not worth their time.
LONGEST_PAUSE = 64


class CutCache:
    """The last `size` cuts of each example; of more, the one longest unused goes.

    enough  the share of the gap that a remembered plane must cut off; None measures by the clock: a cheap
            oracle is asked always and nothing is remembered; a dear one is asked when looking at the cache
            raises the dual less, per second, than asking did the last time
    """

    def __init__(self, problem, size, enough=0.3):
        self.problem, self.enough = problem, enough
        self.store = Remembered(problem, problem.sample_weights, limit=size, duals=False)
        self.last, self.seconds, self.dual = "", 0.0, -np.inf  # what was done last, and the dual before
        self.asked_rate = self.pause = self.wait = self.n_looks = 0
        self.is_idle = False

    def is_worth_a_look(self, dual) -> bool:
        """Whether to look for a remembered plane, now that the last one has raised the dual to `dual`."""
        if self.is_idle:
            return False
        if self.enough is None:
            self._judge(dual)
        if self.wait:
            self.wait -= 1
            return False
        return len(self.store) > 0

    def _judge(self, dual):
        """What the last plane was worth; a remembered one that was worth less than asking means a pause."""
        rate = (dual - self.dual) / max(self.seconds, 1e-9)
        if self.last == "asked":
            self.asked_rate = rate
        elif self.last == "recalled":
            is_poor = rate < self.asked_rate
            self.pause = min(max(2 * self.pause, 1), LONGEST_PAUSE) if is_poor else 0
            self.wait = self.pause
        self.last, self.dual = "", dual

    def cuts_off_enough(self, cut_off, gap) -> bool:
        return cut_off > (LEAST if self.enough is None else self.enough) * gap

    def state(self):
        own = {name: value for name, value in vars(self).items() if name not in ("problem", "store")}
        return {"store": self.store.state(), **own}

    def restore(self, state):
        self.store.restore(state["store"])
        vars(self).update({name: value for name, value in state.items() if name != "store"})

    def plane(self, w) -> Plane:
        """The best plane that the remembered cuts give at w."""
        begin = now()
        index = np.arange(self.problem.n)
        with self.problem.recalling(len(index)):
            _, places = self.store.best(w, index)
            plane = self._mean(index, places)
        self.last, self.seconds = "recalled", now() - begin
        self.n_looks += 1
        if self.enough is None and self.n_looks == 2:  # the first one compiles
            work = self.problem.work
            asking = self.problem.n * work.oracle_seconds / max(work.oracle_calls, 1)
            if asking < CHEAP * self.seconds:
                self.is_idle = True
                self.store = Remembered(self.problem, self.problem.sample_weights, limit=1, duals=False)
        return plane

    def ask(self, w) -> tuple[Plane, float, float]:
        """The plane of the oracle's cuts at w, which are remembered, R(w), and how much of it inference left
        open; a remembered cut that is worse for its example is taken instead, and so is one that is hardly
        better, which R(w) does not."""
        if self.is_idle:
            plane = self.problem.mean_cut(w)
            return plane, plane.value(w) + plane.excess, plane.excess
        begin = now()
        index = np.arange(self.problem.n)
        risk = self._risk(self.store.learn(self.problem, w, index))
        plane = self._mean(index, self.store.best(w, index)[1])
        self.last, self.seconds = "asked", now() - begin
        return plane, *risk

    def _risk(self, hinges):
        """R, by the hinges of all examples, and how much of it is above what was found."""
        most, above = hinges.sums(self.problem.sample_weights)
        return self.problem.mean * most, self.problem.mean * above

    def _mean(self, index, places):
        store, problem = self.store, self.problem
        index, places = index[places >= 0], places[places >= 0]
        flat = store.base[index] + places
        store.now += 1
        store.used[flat] = store.now
        rows, s = store.slots[flat], problem.sample_weights[index] * problem.mean
        normal = np.zeros(problem.n_params)
        store.sum(rows, s, normal)
        outputs = store.arena.outputs(rows)
        place = None if outputs is None else ("outputs", packed_outputs(problem.n, index, outputs))
        return Plane(normal, float(s @ store.arena.b[rows]), place)
