"""The duals of one worker's examples over the cuts that it remembers of them.

All workers hold the same point v = sum alpha delta, which counts everybody's duals.  In a `round` a worker
goes over some of its own examples, as if every step moved v `scale` times as far, since the others move at
the same time (solvers/distributed_cuts.py), and answers with its change of v.  The driver then says which
share of that is taken and how v has changed by everybody's shares (`agree`).  Of changes only what is not
zero travels.

Rounds are numbered, so that a message that comes twice is noticed.
"""

from __future__ import annotations

import numpy as np

from ..solvers.remembered import Remembered
from ..solvers.structured_dual import FORGET, ask_blocks, blocks_in_any_order
from .sums import add_to, copy_where, difference


class CutDuals:
    """See above."""

    spread = 1.0

    def __init__(self, problem, seed):
        self.problem = problem
        self.store = Remembered(problem, problem.C * problem.data.weights)
        self.rng = np.random.default_rng(seed)
        self.point = np.zeros(problem.n_params)
        self.number = 0  # of the next round
        self.order = []  # of the pass that is under way
        self.before = self.change = None  # of a round whose share is not agreed upon: duals, change of v

    def place(self, point, number):
        """v, from the driver, and the number of the round that is next."""
        self.point[:] = self.store.w[:] = point
        self.number = number

    def agree(self, change, share, number) -> bool:
        """Take a share of the last round and everybody's change of v; None where there was no round.  False
        where that is not what this worker has done last."""
        is_due = self.before is not None
        if is_due != (change is not None) or number != self.number + is_due:
            return False
        if is_due:
            self.settle(share)
            add_to(change, 1.0, self.point)
            for moved in (self.change, change):
                copy_where(moved, self.point, self.store.w)
            self.number = number
        return True

    def round(self, scale, asks, place, places):
        """(change of v, of sum alpha loss, sum of the examples' gaps), by part `place` of `places` of a pass
        over all examples; with a question about each of them, or only over what is remembered."""
        store = self.store
        if place == 0:
            self._begin_pass(asks)
        part = self.order[place::places]
        self.before, linear = self._by_row(), store.linear
        store.scale = scale
        if asks:
            gap, _ = ask_blocks(self.problem, store, self.rng, part)
        else:
            gap, _ = store.visit(part)
        self.change = difference(store.w, self.point, scale)
        return self.change, store.linear - linear, gap

    def _begin_pass(self, asks):
        if asks:
            self.store.forget(FORGET)
            self.order = blocks_in_any_order(self.problem, self.rng)
        else:
            self.order = self.rng.permutation(np.flatnonzero(self.store.counts))

    def settle(self, step):
        """Take a share of the duals' change in the last round, if it is not agreed upon yet."""
        if self.before is not None and step != 1.0:
            store = self.store
            rows, alpha = self.before
            old = np.zeros(store.arena.n_rows)
            old[rows] = alpha
            places = store._present()
            old = old[store.slots[places]]
            store.alpha[places] = old + step * (store.alpha[places] - old)
        self.before = None

    def _by_row(self):
        """(numbers of cuts in the arena, their duals) where there is some."""
        places = self.store._with_dual()
        return self.store.slots[places], self.store.alpha[places]

    def look(self, point, number):
        """C sum_i s_i H_i at v; what is found is remembered."""
        self.place(point, number)
        hinges = self.store.learn(self.problem, self.store.w, np.arange(self.problem.n))
        return float(self.store.upper @ hinges)

    def sum(self):
        """(v of the worker's own examples, sum alpha loss, no imbalance), from the duals alone."""
        self.store.refresh()
        return self.store.w.copy(), self.store.linear, np.zeros(0)

    def state(self):
        return {"store": self.store.state(), "rng": self.rng.bit_generator.state}

    def restore(self, state):
        self.store.restore(state["store"])
        self.rng.bit_generator.state = state["rng"]
