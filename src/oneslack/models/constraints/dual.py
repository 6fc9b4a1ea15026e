"""Dual coordinate passes over groups of constraints: the `dual pass` extension (protocols.py).

    D(alpha) = sum_ij alpha_ij l_ij - 1/2 |sum_ij alpha_ij x_ij|^2     alpha >= 0,  sum_j alpha_ij <= C s_i

Ramanan (2013), section 2.  A row that lacks nothing gives dual away, one that lacks something takes what is
left in its group (cases 1 to 3); in a full group it takes from the row that lacks least (case 4).  Rows and
groups that rest are left out of the next passes (shrinking), groups are visited in blocks of neighbours.
"""

from __future__ import annotations

import numpy as np

from ...data.rows import Shard
from ...memory.state_coding import check_between, check_places
from ...objective import KeptWeights
from ..linear.scalar import BLOCK, resting_zone


class ConstraintsDual:
    """alpha (m,), w (d,) and what is active: groups, and rows inside them."""

    def __init__(self, model, data, C, seed, regulariser=None):
        self.model, self.data = model, data
        self.upper = C * data.weights
        self.kept_weights = KeptWeights(model.n_params, regulariser)
        self.w = self.kept_weights.w
        self.norm2 = data.row_norm2 if self.kept_weights.q is None else self.kept_weights.norms(data)
        self.scale = 1.0
        self.spread = 1.0
        self.alpha = np.zeros(data.n)
        self.total = np.zeros(data.n_groups)
        self.last = np.zeros(data.n)
        self.random = np.array([seed], np.uint64)
        self.rows = np.arange(data.n)
        self.counts = np.diff(data.starts)
        self.active = np.flatnonzero((self.counts > 0) & (self.upper > 0))
        self.n_active = len(self.active)
        self.kept = np.empty_like(self.active)
        self.count = int(self.counts[self.active].sum())
        self.zone = np.full(2, np.inf)

    @property
    def point(self):
        return self.w

    @property
    def weights(self):
        """The point, to be changed in place."""
        return self.w

    @property
    def unclipped(self):
        """The point before weights are held >= 0."""
        return self.kept_weights.u

    @property
    def shares(self):
        """The duals as shares of what their group may hold."""
        sizes = np.diff(self.data.starts)
        upper = np.repeat(self.upper, sizes)
        p = np.divide(self.alpha, upper, out=np.zeros_like(self.alpha), where=upper > 0)
        total = np.zeros(len(sizes))
        np.add.at(total, np.repeat(np.arange(len(sizes)), sizes), p)
        return p / np.repeat(np.maximum(total, 1.0), sizes)  # whatever rounding has made of a step

    def linear(self):
        return float(np.einsum("i,i", self.alpha, self.data.margins))

    def run(self, rate):
        """One pass over what is active; returns the running gap and the growth of the dual."""
        from ..._jit.constraints import dual_pass

        data = self.data
        self.n_active, self.count, gap, growth, low, high = dual_pass(
            data.view, data.starts, data.margins, self.upper, self.norm2, self.scale, self.alpha, self.total,
            self.last, self.kept_weights.loops, self.rows, self.counts, self.active, self.n_active, self.kept,
            BLOCK, self.zone, self.random,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        self.zone[:] = resting_zone(low, high)
        return gap, growth

    def reopen(self, S):
        """Bring back every row that may still move at scores S."""
        from ..._jit.constraints import reopen

        self.n_active, self.count = reopen(
            self.data.starts, self.data.margins, self.upper, S, self.alpha, self.total, self.last,
            self.rows, self.counts, self.active,
        )  # fmt: skip
        self.zone[:] = np.inf

    def begin(self, alpha):
        """Begin at these duals, which must be feasible, without an anchor."""
        self.alpha[:] = alpha
        self.kept_weights.reset(self.model.adjoint(self.data, Shard(0, self.data.n), self.alpha))
        self.total[:] = 0.0
        scores = self.model.new_scores(self.data)
        self.model.scores(self.data, Shard(0, self.data.n), self.w, scores)
        self.reopen(scores)

    _ARRAYS = ("alpha", "total", "last", "random", "rows", "counts", "zone")

    def state(self):
        state = {name: getattr(self, name) for name in self._ARRAYS}
        state |= self.kept_weights.state()
        return state | {"active": self.active[: self.n_active], "count": self.count}

    def restore(self, state):
        for name in self._ARRAYS:
            getattr(self, name)[...] = state[name]
        self.kept_weights.restore(state)
        check_between(
            "alpha", self.alpha, 0.0, np.repeat((1.0 + 1e-9) * self.upper, np.diff(self.data.starts))
        )
        for name, below in (("rows", self.data.n), ("counts", self.data.n + 1)):
            check_places(name, getattr(self, name), below)
        check_places("active", state["active"], self.data.n_groups)
        self.n_active, self.count = len(state["active"]), int(state["count"])
        self.active[: self.n_active] = state["active"]
