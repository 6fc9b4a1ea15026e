"""n-slack cutting planes: a working set of cuts for each example.

    min  1/2 |w|^2 + C sum_i s_i xi_i      xi_i >= 0,  xi_i >= b_ij - <x_ij, w>  for the cuts found so far

Tsochantaridis et al. (2005); Joachims, Finley & Yu (2009), Algorithms 1 and 2.  The examples are asked for
their most violated cut, `batch` at a time; a cut that is violated by more than epsilon beyond the example's
slack is added, and the dual over all cuts found so far is solved again, from where it was, to a share of
the violations.  epsilon falls from round to round.  When a round adds nothing, w has not moved in it, so
its slacks give P(w).  Cuts without dual for `forget_after` rounds are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..result import Step
from .remembered import Remembered

#: Passes over the working set for one solution of its dual, at most.
PASSES = 1000


@dataclass(frozen=True)
class NSlack:
    """n-slack cutting planes.

    batch         examples that are asked at the same w; the paper's algorithm has 1
    inner         the dual over the working set is solved to this share of the current violations
    forget_after  rounds without dual after which a cut is dropped
    seed          of the order in which the working set's dual is visited
    """

    batch: int = 100
    inner: float = 0.1
    forget_after: int = 50
    seed: int = 0

    name = "n_slack"

    def steps(self, problem, start=None, tol=1e-3):
        store = Remembered(problem, problem.C * problem.data.weights)
        rng = np.random.default_rng(self.seed)
        epsilon, owed = np.inf, 0.0
        looked = (
            np.inf
        )  # the gap at the last look; under the papers' rule (tol 0) half of it is worth another
        start = start or {}
        if "store" in start:
            store.restore(start["store"])
            rng.bit_generator.state = start["rng"]
            epsilon, owed, looked = start["epsilon"], start["owed"], start["looked"]

        def state():
            random = rng.bit_generator.state
            rest = {"epsilon": epsilon, "owed": owed, "looked": looked}
            return {"store": store.state(), "rng": random, **rest}

        value, total = problem.regulariser.value, store.upper.sum()
        while True:
            if owed:
                self._solve(store, rng, self.inner * owed)
            added, hinge, excess = 0, 0.0, 0.0
            for block in np.array_split(np.arange(problem.n), max(1, problem.n // self.batch)):
                found, values, slacks, _ = store.ask(problem, store.w, block)
                hinge += store.upper[block] @ np.maximum(values, slacks)
                beyond = values - slacks
                excess += store.upper[block] @ np.maximum(beyond, 0.0)
                # In the first round everything is new.
                new = beyond > (epsilon if np.isfinite(epsilon) else 0.0)
                count = store.add_some(found, new[np.searchsorted(block, found.index)])
                if count:
                    added += count
                    self._solve(store, rng, self.inner * excess)
            dual = store.linear - value(store.w)
            gap = hinge + 2.0 * value(store.w) - store.linear
            primal = value(store.w) + hinge
            if added and (gap <= 3.0 * tol * abs(primal) or (tol == 0.0 and gap <= 0.5 * looked)):
                # Close, but w moved while the hinges were found: once more, at one w.
                _, values, slacks, _ = store.ask(problem, store.w, np.arange(problem.n))
                primal = value(store.w) + float(store.upper @ np.maximum(values, slacks))
                looked = primal - dual
            elif added:
                primal = None
            store.forget(self.forget_after)
            # A share of what is left, but nothing that the tolerance would not notice.
            floor = 0.25 * tol * max(abs(dual), 1e-12) / total
            epsilon, owed = max(min(0.5 * excess / total, epsilon), floor), 0.0
            if not added:
                # Nothing new: what is left of the gap is in the duals.
                owed = max(gap, 0.0)
                epsilon = min(epsilon, 0.1 * owed / total)
            yield Step(store.w.copy(), dual, primal, n_cuts=len(store), state=state)

    def _solve(self, store, rng, enough):
        """The dual over the working set, until its own gap is `enough`."""
        present = np.flatnonzero(store.counts)
        for _ in range(PASSES):
            gap, growth = store.visit(rng.permutation(present))
            if gap <= enough or growth <= 1e-15 * abs(gap):
                break
