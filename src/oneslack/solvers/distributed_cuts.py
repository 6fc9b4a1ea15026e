"""Dual coordinate ascent by workers over the cuts that they remember of their own examples.

The method of structured_dual.py, each pass in parts: all workers make it at the same time, each over its own
examples, and meet in the middle and at the end of it (split/local_cuts.py), in passes that ask the decoder
and in passes over remembered cuts alike.  Whole passes between two meetings bring the workers to rest at
points of their own before they hear of each other, and P at the point that they agree upon stays far above D.
Two workers on the first 1,500 sentences of conll2000 come to a gap of 1 % after

    25 passes that ask, 130 in all    meeting twice a pass (one machine: 24, 112 in all)
    31, 220 in all                    once a pass
    the gap is 5 % after 50           only before a pass that asks

What is said of sigma and of the shares of the workers' changes in distributed_dual.py holds here too.  Only
the weights that a pass has moved travel: some percent of them.

A worker that dies loses its duals: they begin at 0 again, and v is summed up anew.
"""

from __future__ import annotations

import numpy as np

from ..objective import squared_norm
from ..result import Step
from ..split.sums import add_to, combined, dot_with, packed, products
from .structured_dual import CACHED, LIMIT, OPTIMISM, WORTH
from .team import SEPARATE, Bounds, best_shares, next_sigma

#: How often the workers meet in a pass.
MEETINGS = 2


def team_steps(problem, seed, start, tol):
    """The steps of `DistributedDual` for a model without passes of its own."""
    duals = TeamCuts(problem, seed)
    bounds = AskedBounds(problem, duals, tol)
    start = start or {}
    if start.get("parts") == problem.parts:
        duals.restore(start["duals"])
        bounds.restore(start["bounds"])
    else:
        duals.begin()

    def state():
        return {"parts": problem.parts, "duals": duals.state(), "bounds": bounds.state()}

    while True:
        if not (duals.step() and bounds.look()):
            bounds.lose()
        yield Step(
            bounds.w if bounds.primal < np.inf else duals.v.copy(), bounds.dual,
            bounds.primal if bounds.primal < np.inf else None,
            n_cuts=problem.n, stalled=bounds.stalled, state=state,
        )  # fmt: skip


class AskedBounds(Bounds):
    """Every look asks a decoder about all examples: only when the running gaps promise something."""

    kept = (*Bounds.kept, "waited", "target")

    def __init__(self, problem, duals, tol):
        super().__init__(problem, duals, tol)
        self.waited, self.target = 0, OPTIMISM * max(tol, 1e-15)

    def look(self) -> bool:
        """False where a worker has lost its duals."""
        duals, dual = self.duals, self.duals.value
        self.waited += 1
        promised = duals.gap <= self.target * abs(dual + duals.gap)
        if not promised and self.waited < LIMIT:
            self._take(None, np.inf, dual)
            return True
        hinges = duals.look()
        if hinges is None:
            return False
        self.waited, self.target = 0, 0.7 * self.target if promised else self.target
        w = duals.v.copy()
        self._take(w, self.problem.regulariser.value(w) + hinges, duals.value)
        return True


class TeamCuts:
    """What the driver knows of all workers' duals: v and sum alpha loss."""

    def __init__(self, problem, seed):
        self.problem, self.seed, self.engine = problem, seed, problem.engine
        self.n_workers = len(problem.parts)
        self.is_separate = self.n_workers <= SEPARATE
        self.v, self.linear = np.zeros(problem.n_params), 0.0
        self.sigma, self.gap = float(self.n_workers), np.inf
        self.number = 0  # of the round that is next
        self._news = None  # (change of v, shares) of a round that the workers have not been told of

    @property
    def value(self) -> float:
        """D."""
        return self.linear - 0.5 * squared_norm(self.v)

    def begin(self):
        self.engine.ask("dual_begin", self.seed)

    def step(self) -> bool:
        """All examples are asked, then what is remembered is gone over while that pays; False where a worker
        has lost its duals."""
        work, n = self.problem.work, self.problem.n
        growth = self._pass(asks=True)
        work.oracle_calls += n
        if growth is None:
            return False
        for _ in range(CACHED):
            more = self._pass(asks=False)
            work.cached += n
            if more is None:
                return False
            if more <= WORTH * growth:
                break
        return self._tell("cuts_agree") is not None

    def _pass(self, asks):
        """All workers go over their examples; the growth of D, or None where a worker has lost its duals."""
        growth = gap = 0.0
        for place in range(MEETINGS):
            found = self._round(asks, place)
            if found is None:
                return None
            growth, gap = growth + found[0], gap + found[1]
        self.gap = gap if asks else self.gap
        return growth

    def _round(self, asks, place):
        """A part of a pass, and the shares of the changes that raise D most.  Returns the growth of D
        and the sum of the examples' gaps, or None where a worker has lost its duals."""
        answers = self._tell("cuts_round", self.sigma, asks, place, MEETINGS)
        if answers is None:
            return None
        changes = [answer[0] for answer in answers]
        linear = np.array([answer[1] for answer in answers])
        b = linear - [dot_with(change, self.v) for change in changes]
        G = products(changes)
        steps = best_shares(G, b)
        change = combined(changes, steps.tolist())
        add_to(change, 1.0, self.v)
        self._news = change, self._by_part(steps)
        self.linear += float(steps @ linear)
        if G.sum() > 0.0:
            self.sigma = next_sigma(self.sigma, b.sum() / G.sum(), self.n_workers)
        return float(steps @ b - 0.5 * (steps @ G @ steps)), float(sum(answer[2] for answer in answers))

    def _tell(self, method, *arguments):
        """Say what came of the last round, and ask for something: the answers one by one, or their sum as the
        only one; None where a worker has lost its duals."""
        news, self._news = self._news or (None, None), None
        self.number += news[0] is not None
        answers = self.problem.changes(method, self.is_separate, *news, self.number, *arguments)
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
            self.v, self.linear, _ = self.problem.total_duals("dual_sum", self.seed)
            self.number += 1
            is_told = self.problem.total_duals("cuts_place", packed(self.v), self.number) is not None

    def look(self):
        """C sum_i s_i H_i, all examples asked at a v that is summed up anew; None where a worker has lost its
        duals."""
        found = self.problem.total_duals("dual_sum")
        if found is not None:
            self.v, self.linear, _ = found
            found = self.problem.total_duals("cuts_look", packed(self.v), self.number)
            self.problem.work.oracle_calls += self.problem.n
        return self._recover() if found is None else found[0]

    def state(self):
        workers = {}
        for state in self.engine.ask("dual_state"):
            workers |= state
        numbers = {name: getattr(self, name) for name in ("linear", "sigma", "gap")}
        return numbers | {"v": self.v.copy(), "workers": workers}

    def restore(self, state):
        self.v, self.linear, self.sigma, self.gap = (state[x] for x in ("v", "linear", "sigma", "gap"))
        self.v = self.v.copy()
        self.engine.ask("dual_begin", self.seed, state["workers"])
        if len(state["workers"]) < self.n_workers:  # v counts duals that were lost
            return self._recover()
        if self.problem.total_duals("cuts_place", packed(self.v), self.number) is None:
            self._recover()
