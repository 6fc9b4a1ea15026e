"""What dual methods of several workers share: their steps, the best bounds so far, and the shares of changes
to take."""

from __future__ import annotations

import numpy as np

from ...result import Step

#: How much sigma may change from one round to the next.
SLOWLY = 2.0
#: Up to so many workers have shares of their own; of more, only the sum of the changes comes back.
SEPARATE = 16
#: The share of the best growth of D for which changes are taken whole.
ENOUGH = 0.5
#: Steps without progress of either bound after which rounding is to blame.
PATIENCE = 200
#: The running gaps must fall to this share of what they were asked for before they are believed again.
FASTER = 0.7


def team_steps(problem, duals, bounds, start):
    """The steps of a solver, each a step of the workers' duals and a look at what it was worth."""
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
        is_known = bounds.primal < np.inf
        yield Step(
            bounds.w if is_known else duals.point, bounds.dual, bounds.primal if is_known else None,
            n_cuts=duals.active, stalled=bounds.stalled, state=state, proof=duals.proof,
            found=bounds.found,
            way=None,  # P is of the workers' points, which rounding may have parted from this one
        )  # fmt: skip


def regain(problem, seed, kept):
    """Let workers that have lost their duals begin at those of the last state that was asked for, or at 0.
    kept: {first example of a worker: its state}"""
    if kept:
        problem.engine.ask_each("dual_regain", [kept.get(lo) for lo, _ in problem.parts], seed)


class Bounds:
    """The best w so far with P, and the best D.

    P costs a pass over all examples: it is looked at when the examples' running gaps, which the duals sum up
    on their way, promise the tolerance, and after `limit` steps anyway.

    optimism  what running gaps are worth before it is known
    """

    kept = ("w", "primal", "found", "dual", "height", "idle", "waited", "tol", "target")
    optimism, limit = 2.0, 5

    def __init__(self, problem, duals, tol):
        self.problem, self.duals, self.tol = problem, duals, tol
        self.w, self.primal, self.found, self.dual = None, np.inf, np.inf, 0.0
        self.height, self.idle = -np.inf, 0  # the best D since duals were lost, steps without progress
        self.waited, self.target = 0, self.optimism * max(tol, 1e-15)

    def look(self) -> bool:
        """False where a worker has lost its duals."""
        duals, dual = self.duals, self.duals.value
        self.waited += 1
        is_promised = duals.gap <= self.target * abs(dual + duals.gap)
        if not is_promised and self.waited < self.limit:
            self._take(None, np.inf, dual)
            return True
        if not self._search():
            return False
        self.waited = 0
        if is_promised:
            self.target *= FASTER
        return True

    def _search(self) -> bool:
        """Look for a better P, and take it with D; False where a worker has lost its duals."""
        raise NotImplementedError

    def lose(self):
        """A worker has lost its duals: what D has been before says nothing about progress."""
        self.height, self.idle = -np.inf, 0

    @property
    def stalled(self) -> bool:
        return self.idle >= PATIENCE

    def _take(self, w, primal, dual, found=np.inf):
        """`found` is what P is by real outputs alone, where it is other than P."""
        self.found = min(self.found, primal, found)
        progress = primal < self.primal or dual > self.height
        self.idle = 0 if progress else self.idle + 1
        self.dual, self.height = max(self.dual, dual), max(self.height, dual)
        if primal < self.primal:
            self.w, self.primal = w, primal
            return True
        return False

    def state(self):
        return {name: getattr(self, name) for name in self.kept}

    def restore(self, state):
        if state["tol"] != self.tol:  # another tolerance begins anew
            state = {name: value for name, value in state.items() if name not in ("tol", "target")}
        vars(self).update(state)


def next_sigma(sigma, best, n_workers) -> float:
    """sigma after a round whose changes together should best have been taken `best` times: beyond 1, the
    workers were too careful."""
    if best <= 0.0:
        return sigma
    return float(min(max(sigma / min(max(best, 1.0 / SLOWLY), SLOWLY), 1.0), n_workers))


def shares_to_take(G, b):
    """Shares t of the workers' changes, which add b't - 1/2 t'Gt to D: everything, if that is nearly as good
    as the best shares.  A step that is cut short leaves each example beside its own optimum, which costs
    more later."""
    best = best_shares(G, b)
    whole = b.sum() - 0.5 * G.sum()
    return np.ones(len(b)) if whole >= ENOUGH * (best @ b - 0.5 * (best @ G @ best)) else best


def best_shares(G, b, sweeps=200):
    """argmax b't - 1/2 t'Gt with 0 <= t <= 1, by coordinates."""
    t = np.zeros(len(b))
    for _ in range(sweeps):
        before = t.copy()
        for k in range(len(b)):
            if G[k, k] > 0.0:
                t[k] = min(max(t[k] + (b[k] - G[k] @ t) / G[k, k], 0.0), 1.0)
            else:
                t[k] = 1.0  # it changes no w: a gain, or nothing
        if np.abs(t - before).max() <= 1e-6:
            break
    return t
