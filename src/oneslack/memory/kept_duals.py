"""The duals of all examples, also of those not in memory: one number each, or one a class; and their sums."""

from __future__ import annotations

import numpy as np

from ..objective import inner
from .dual_points import class_point, joined_points


class KeptDuals:
    """The duals of all examples as shares of their bounds, with v, sum alpha loss and what balances."""

    def __init__(self, problem, n_scores, dtype):
        shape = (problem.n,) if n_scores == 1 else (problem.n, n_scores)
        self.model, self.regulariser, self.C = problem.model, problem.regulariser, problem.C
        self.store = np.zeros(shape, dtype)
        self.v, self.loss, self.flow = np.zeros(problem.n_params), 0.0, 0.0
        # Of the duals above 0 alone, with an intercept: so it is known at any time what balanced duals give.
        has_sides = (
            problem.regulariser.n_free and n_scores == 1 and self.model.upward(np.zeros(1)) is not None
        )
        self.v_up, self.loss_up = (np.zeros(problem.n_params), 0.0) if has_sides else (None, 0.0)
        self.sums = problem.n  # numbers that a component of v is the sum of, at most
        self.is_whole = True  # not while sums change: Ctrl-C may come

    def shares(self, rows, y, store=None):
        """Those of some examples, now or in what was stored once.  Shares of classes sum to 1: the own one
        has 1 minus all others."""
        p = (self.store if store is None else store)[rows].astype(np.float64)
        if p.ndim == 2:
            each = np.arange(len(p))
            p[each, y] = 0.0
            given = p.sum(axis=1)
            p /= np.maximum(given, 1.0)[:, None]
            p[each, y] = np.maximum(1.0 - p.sum(axis=1), 0.0)
        return p

    def written(self, source, pieces, store, flow) -> dict:
        """What was stored once, balanced where there is a flow, as a dual point (dual_points.py)."""
        model, points = self.model, []
        for lo, hi in sorted(pieces):
            part = source.part(lo, hi)
            p = self.shares(slice(lo, hi), part.y, store)
            p = p if flow is None else model.balanced(part, p, flow)
            points.append((lo, class_point(self.C * model.coefficients(part, p), part.y)))
            source.release(lo)
        return joined_points(points)

    @property
    def dual(self) -> float:
        """D; a bound where there are no intercepts."""
        return self.regulariser.dual(self.v, self.loss)

    def balanced(self):
        """(v, sum alpha loss) of the duals as they are after balancing; None where that needs a read."""
        if self.v_up is None:
            return None
        if np.ndim(self.flow) == 0:
            return self.v, self.loss
        up, down = self.model.balancing(self.flow)
        return up * self.v_up + down * (self.v - self.v_up), up * self.loss_up + down * (
            self.loss - self.loss_up
        )

    def lagrangian(self, w) -> float:
        """D; with intercepts held at those of w, so that duals need not balance."""
        free = self.regulariser.free
        return self.dual if free is None else self.dual - inner(w[free], self.v[free])

    def change(self, part, rows, new, old, w):
        """Set the duals of the examples of the problem `part`, and take them back if that lowers D."""
        data, before = part.data, (self.v, self.loss, self.flow, self.v_up, self.loss_up)
        least = self.lagrangian(w)
        kept = self.store[rows]
        self.is_whole = False
        self.store[rows] = new
        new = self.shares(rows, data.y)
        # Most do not change, and rows with a coefficient of 0 are not read.
        step = self.model.coefficients(data, new) - self.model.coefficients(data, old)
        self.v = self.v + self.C * part.scores.adjoint(step)
        self.sums += 4 * part.n
        self.loss += self.C * (self.model.dual_loss(data, new) - self.model.dual_loss(data, old))
        if self.regulariser.n_free:
            self.flow = self.flow + self.model.flow(data, new) - self.model.flow(data, old)
        if self.v_up is not None:
            ups = [self.model.upward(p) for p in (new, old)]
            gained, lost = (self.model.coefficients(data, p) for p in ups)
            self.v_up = self.v_up + self.C * part.scores.adjoint(gained - lost)
            gained, lost = (self.model.dual_loss(data, p) for p in ups)
            self.loss_up += self.C * (gained - lost)
        if self.lagrangian(w) < least:
            self.store[rows] = kept
            self.v, self.loss, self.flow, self.v_up, self.loss_up = before
            new = old
        self.is_whole = True
        return new

    def state(self):
        sums = {"v": self.v, "loss": self.loss, "flow": self.flow, "sums": self.sums}
        return {"store": self.store, "v_up": self.v_up, "loss_up": self.loss_up, **sums}

    def restore(self, state):
        self.store[...] = state["store"]
        self.sums = state["sums"]
        self.v, self.loss, self.flow = state["v"].copy(), state["loss"], state["flow"]
        self.v_up, self.loss_up = None if state["v_up"] is None else state["v_up"].copy(), state["loss_up"]
