"""n-slack cutting planes: a working set of cuts for each example.

    min  1/2 |r (w - prior)|^2 + C sum_i s_i xi_i
    xi_i >= 0,  xi_i >= b_ij - <x_ij, w>  for the cuts found so far

Tsochantaridis et al. (2005); Joachims, Finley & Yu (2009), Algorithms 1 and 2.  The examples are asked for
their most violated cut, `batch` at a time; a cut that is violated by more than epsilon beyond the example's
slack is added, and the dual over all cuts found so far is solved again, from where it was, to a share of
the violations.  epsilon falls from round to round.  When a round adds nothing, w has not moved in it, so
its slacks give P(w).  Cuts without dual for `forget_after` rounds are dropped.

With `parts`, only the examples that are most in doubt are asked, a part of them at a time
(remembered_planes.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..memory.remembered import Hinges, Remembered
from ..result import Step
from .remembered_planes import solve_over, steps_over
from .structured_dual import ROUGHEST, begin, rough


@dataclass(frozen=True)
class NSlack:
    """n-slack cutting planes.

    batch         examples that are asked at the same w; the paper's algorithm has 1
    inner         the dual over the working set is solved to this share of the current violations
    forget_after  rounds without dual after which a cut is dropped
    seed          of the order in which the working set's dual is visited
    parts         ask about one part of so many at a time, the examples most in doubt, instead of a round over
                  all; 16 or so halve the questions to a dear oracle

    >>> import numpy as np, oneslack
    >>> X, y = [np.eye(2), np.eye(2)[::-1]], [[0, 1], [1, 0]]
    >>> problem = oneslack.Problem(oneslack.Chain(2, 2), X, y, C=1.0)
    >>> oneslack.solve(problem, oneslack.NSlack(), tol=1e-4).gap <= 1e-4
    True
    """

    batch: int = 100
    inner: float = 0.1
    forget_after: int = 50
    seed: int = 0
    parts: int = 0

    name = "n_slack"
    needs = ("weights", "squares", "memory", "rows")

    def steps(self, problem, start=None, tol=1e-3):
        store, start = Remembered(problem, problem.upper_duals), start or {}
        if self.parts:
            often = self.inner, self.forget_after, self.parts
            return steps_over(problem, store, self.seed, start, tol, *often)
        return self._rounds(problem, store, start, tol)

    def _rounds(self, problem, store, start, tol):
        """Algorithm 1: everyone is asked in each round."""
        store, rng, goes_on = begin(store, self.seed, start, "epsilon")
        epsilon, owed, precision = np.inf, 0.0, ROUGHEST
        looked = np.inf  # the gap at the last look; by the papers' rule (tol 0) half of it is worth another
        if goes_on:
            epsilon, owed, looked = start["epsilon"], start["owed"], start["looked"]
            precision = start.get("precision", precision)

        def state():
            random = rng.bit_generator.state
            rest = {"epsilon": epsilon, "owed": owed, "looked": looked, "precision": precision}
            return {"store": store.state(), "rng": random, **rest}

        value, total, everyone = problem.regulariser.value, store.upper.sum(), np.arange(problem.n)
        while True:
            if owed:
                solve_over(store, rng, self.inner * owed)
            added, hinge, excess, inference = self._round(problem, store, rng, epsilon, precision)
            dual, primal = store.dual, value(store.w) + hinge + inference
            gap = primal - inference - dual  # what training can close
            is_close = gap <= 3.0 * tol * abs(primal) or (tol == 0.0 and gap <= 0.5 * looked)
            if (added and is_close) or (inference and precision and not added):
                # Close, but w moved while the hinges were found, or they were found roughly: once more, at
                # one w.
                cuts, values, slacks, _ = store.ask(problem, store.w, everyone)
                most, inference = Hinges.of(cuts, values, slacks).sums(store.upper)
                primal = value(store.w) + most
                looked = primal - inference - dual
            elif added:
                primal = None
            store.forget(self.forget_after)
            precision = rough(gap, dual + gap) if added else 0.0
            # A share of what is left, but nothing that the tolerance would not notice.
            floor = 0.25 * tol * max(abs(dual), 1e-12) / total
            epsilon, owed = max(min(0.5 * excess / total, epsilon), floor), 0.0
            if not added:
                # Nothing new: what is left of the gap is in the duals.
                owed = max(gap, 0.0)
                epsilon = min(epsilon, 0.1 * owed / total)
            yield Step(
                store.w.copy(),
                dual,
                primal,
                n_cuts=len(store),
                state=state,
                proof=partial(store.proof, problem),
                found=None if primal is None else primal - inference,
            )

    def _round(self, problem, store, rng, epsilon, precision):
        """Ask everyone, a batch at a time.  Returns how many cuts were added, the sum of the hinges, each at
        the w of its batch, the part of it beyond the slacks, and what inference left open beside it."""
        added, hinge, excess, inference = 0, 0.0, 0.0, 0.0
        for block in np.array_split(np.arange(problem.n), max(1, problem.n // self.batch)):
            found, values, slacks, _ = store.ask(problem, store.w, block, precision)
            most, above = Hinges.of(found, values, slacks).sums(store.upper[block])
            hinge, inference = hinge + most - above, inference + above
            beyond = values - slacks
            excess += store.upper[block] @ np.maximum(beyond, 0.0)
            # In the first round everything is new.
            new = beyond > (epsilon if np.isfinite(epsilon) else 0.0)
            count = store.add_some(found, new[np.searchsorted(block, found.index)])
            if count:
                added += count
                solve_over(store, rng, self.inner * excess)
        return added, hinge, excess, inference

    @staticmethod
    def at_other_C(state, ratio):
        """Cuts are so for any C; duals as the same shares of their bounds."""
        return {"cuts": (state["store"], ratio)} if "store" in state else {}
