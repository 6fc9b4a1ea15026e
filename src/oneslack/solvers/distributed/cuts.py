"""Dual coordinate ascent by workers over the cuts that they remember of their own examples.

The method of structured_dual.py, each pass in parts: all workers make it at the same time, each over its own
examples, and meet several times in it (problems/parts/local_duals.py), more often in passes that ask the
decoder than in passes over remembered cuts.  Whole passes between two meetings bring the workers to rest at
points of their own before they hear of each other, and P at the point that they agree upon stays far above D.
Two workers on all 8,936 sentences of conll2000 come to a gap of 1 % after

    20 passes that ask, 88 in between    as it is here (one machine: 14, and 67 in between)
    18, 106 in between                   WORTH = 0.05
    20, 177 in between                   the same, 2 meetings in every pass, 64 examples asked at once

D is then as high as on one machine, or higher; what takes longer is P, as the workers move at the same time.

What is said of sigma and of the shares of the workers' changes in dual.py holds here too.  Only
the weights that a round has moved travel: some percent of them (problems/parts/local_duals.py).

A worker that dies loses its duals: they begin at those of the last checkpoint again, or at 0, and v is
summed up anew.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...engines.sums import add_to, combined, packed, products
from ...objective import relative_gap, squared_norm
from .. import structured_dual
from ..structured_dual import CACHED
from .team import SEPARATE, Bounds, next_sigma, regain, shares_to_take

#: How often the workers meet in a pass that asks, and in one over remembered cuts.
ASKING, REMEMBERED = 8, 2

#: P is looked at before so much of the last change of v: workers that move at the same time go too far.
BACK = 0.5
#: The share of an asking pass's growth that passes over remembered cuts must keep up: they travel too.
WORTH = 0.1
#: What belongs to a state, beside v and the workers' duals.
NUMBERS = ("linear", "sigma", "gap")


class AskedBounds(Bounds):
    """Every look asks a decoder about all examples."""

    optimism, limit = structured_dual.OPTIMISM, structured_dual.LIMIT

    def _search(self):
        duals, found = self.duals, self.duals.look()
        if found is None:
            return False
        w, hinges, inference = found
        primal = self.problem.regulariser.value(w) + hinges
        # What ends a training rests on sums without the rounding of many steps.
        if relative_gap(primal - inference, duals.value) <= self.tol and not duals.refresh():
            return False
        self._take(w, primal, duals.value, primal - inference)
        return True


class TeamCuts:
    """What the driver knows of all workers' duals: v and sum alpha loss."""

    def __init__(self, problem, seed):
        self.problem, self.seed, self.engine = problem, seed, problem.engine
        self.n_workers = len(problem.parts)
        self.is_separate = self.n_workers <= SEPARATE
        self.v, self.linear = np.zeros(problem.n_params), 0.0
        self.sigma, self.gap, self.active = float(self.n_workers), np.inf, problem.n
        self.number = 0  # of the round that is next
        self._kept = {}  # the workers' duals when the state was last asked for
        self._news = self._last = None  # (change of v, shares) not told to the workers, change told last

    @property
    def value(self) -> float:
        """D."""
        return self.linear - 0.5 * squared_norm(self.v)

    def point(self):
        """w at v."""
        return self.v.copy()

    def begin(self):
        self.engine.ask("dual_begin", self.seed)

    def step(self) -> bool:
        """All examples are asked, then what is remembered is gone over while that pays; False where a worker
        has lost its duals."""
        self.problem.work.oracle_calls += self.problem.n
        growth = self._pass(asks=True)
        if growth is None:
            return False
        for _ in range(CACHED):
            more = self._pass(asks=False)
            self.problem.work.cached += self.problem.n
            if more is None:
                return False
            if more <= WORTH * growth:
                break
        return self._tell("cuts_agree") is not None

    def _pass(self, asks):
        """All workers go over their examples; the growth of D, or None where a worker has lost its duals."""
        growth = gap = 0.0
        places = ASKING if asks else REMEMBERED
        for place in range(places):
            found = self._round(asks, place, places)
            if found is None:
                return None
            growth, gap = growth + found[0], gap + found[1]
        self.gap = gap if asks else self.gap
        return growth

    def _round(self, asks, place, places):
        """A part of a pass, and the shares of the changes that raise D most.  Returns the growth of D
        and the sum of the examples' gaps, or None where a worker has lost its duals."""
        answers = self._tell("cuts_round", self.sigma, asks, place, places)
        if answers is None:
            return None
        changes = [answer[0] for answer in answers]
        linear, b, gaps = np.array([answer[1:] for answer in answers]).T
        G = products(changes)
        steps = shares_to_take(G, b)
        self._news = combined(changes, steps.tolist()), self._by_part(steps)
        self.linear += float(steps @ linear)
        if G.sum() > 0.0:
            self.sigma = next_sigma(self.sigma, b.sum() / G.sum(), self.n_workers)
        return float(steps @ b - 0.5 * (steps @ G @ steps)), float(gaps.sum())

    def _tell(self, method, *arguments):
        """Say what came of the last round, and ask for something: the answers one by one, or their sum as the
        only one; None where a worker has lost its duals.  v here follows while the workers are busy."""
        (change, shares), self._news = self._news or (None, None), None
        follow = None
        if change is not None:
            self.number += 1
            self._last, follow = change, partial(add_to, change, 1.0, self.v)
        answers = self.problem.changes(
            method, self.is_separate, change, shares, self.number, *arguments, meanwhile=follow
        )
        return self._recover() if answers is None else answers

    def _by_part(self, steps):
        """{first example of a worker: its share}, or one share for all."""
        if not self.is_separate:
            return float(steps[0])
        return {lo: step for (lo, _), step in zip(self.problem.parts, steps.tolist(), strict=True)}

    def _recover(self):
        """Take back what was not agreed upon, sum up what is there, and tell everybody."""
        self._news, is_told = None, False
        while not is_told:
            self.engine.ask("dual_settle", 0.0)
            regain(self.problem, self.seed, self._kept)
            self._take(self.problem.total_duals("dual_sum", self.seed))
            self.number += 1
            is_told = self.problem.total_duals("cuts_place", packed(self.v), self.number) is not None

    def _take(self, found):
        """What was summed up anew; a vector of a worker's may not be written to."""
        v, self.linear, _ = found
        self.v = np.array(v)

    def look(self):
        """After a step: (w, C sum_i s_i H_i, how much of it inference left open), all examples asked at w.
        None where a worker has lost its duals."""
        found = self.problem.total_duals("cuts_look", self.number, BACK)
        self.problem.work.oracle_calls += self.problem.n
        if found is None:
            return self._recover()
        w = self.v.copy()
        add_to(self._last, -BACK, w)
        return w, *found

    def refresh(self) -> bool:
        """v summed up anew, by all; False where a worker has lost its duals."""
        found = self.problem.total_duals("dual_sum")
        if found is not None:
            self._take(found)
            found = self.problem.total_duals("cuts_place", packed(self.v), self.number)
        if found is None:
            self._recover()
        return found is not None

    def proof(self):
        """The dual point, summed up anew; None where a worker has lost its duals."""
        return self.problem.proof_of_sums(self.v, self.linear) if self.refresh() else None

    def state(self):
        workers = {}
        for state in self.engine.ask("dual_state"):
            workers |= state
        self._kept = workers
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return numbers | {"v": self.v.copy(), "workers": workers}

    def restore(self, state):
        vars(self).update({name: state[name] for name in NUMBERS})
        self.v = state["v"].copy()
        self._kept = state["workers"]
        self.engine.ask("dual_begin", self.seed, self._kept)
        if len(state["workers"]) < self.n_workers:  # v counts duals that were lost
            return self._recover()
        if self.problem.total_duals("cuts_place", packed(self.v), self.number) is None:
            self._recover()
