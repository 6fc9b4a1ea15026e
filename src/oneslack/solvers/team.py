"""What dual methods of several workers share: the best bounds so far, and the shares of changes to take."""

from __future__ import annotations

import numpy as np

#: How much sigma may change from one round to the next.
SLOWLY = 2.0
#: Up to so many workers have shares of their own; of more, only the sum of the changes comes back.
SEPARATE = 16
#: Rounds without progress of either bound after which rounding is to blame.
PATIENCE = 200


class Bounds:
    """The best w so far with P, and the best D."""

    kept = ("w", "primal", "dual", "height", "idle")

    def __init__(self, problem, duals, tol):
        self.problem, self.duals, self.tol = problem, duals, tol
        self.w, self.primal, self.dual = None, np.inf, 0.0
        self.height, self.idle = -np.inf, 0  # the best D since duals were lost, rounds without progress
        self.S = None

    def lose(self):
        """A worker has lost its duals: what D has been before says nothing about progress."""
        self.height, self.idle = -np.inf, 0

    @property
    def stalled(self) -> bool:
        return self.idle >= PATIENCE

    def _take(self, w, primal, dual):
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
        vars(self).update(state)


def next_sigma(sigma, best, n_workers) -> float:
    """sigma after a round whose changes together should best have been taken `best` times: beyond 1, the
    workers were too careful."""
    if best <= 0.0:
        return sigma
    return float(min(max(sigma / min(max(best, 1.0 / SLOWLY), SLOWLY), 1.0), n_workers))


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
