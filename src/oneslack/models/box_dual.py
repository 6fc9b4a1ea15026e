"""One box-bounded dual an example: what the dual passes of two classes and of regression share."""

from __future__ import annotations

import numpy as np

BLOCK = 256
#: An example that rests is left out when it lies beyond this share of the largest violation on its side.
SHRINK = 0.25


class BoxDual:
    """alpha (n,), w (d,) and what is active.  A model adds `linear`, `_pass`, `_unsettled`, `_imbalance`."""

    #: |delta|^2 of an example beside |x|^2.
    spread = 1.0

    def __init__(self, model, data, C, seed):
        self.model, self.data = model, data
        self.upper = C * data.weights
        self.norm2, self.scale = data.norm2, 1.0
        n = data.n
        self.alpha = np.zeros(n)
        self.w = np.zeros(model.n_features)
        self.bias = np.zeros(1)
        self.random = np.array([seed], np.uint64)
        self.active = np.arange(n)
        self.kept = np.empty(n, np.int64)
        self.count = n
        self.zone = np.full(2, np.inf)

    @property
    def point(self):
        return np.append(self.w, self.bias) if self.model.intercept else self.w

    @property
    def weights(self):
        """The penalised part of the point, to be changed in place."""
        return self.w

    @property
    def shares(self):
        """The duals as shares of their bound."""
        return np.divide(self.alpha, self.upper, out=np.zeros_like(self.alpha), where=self.upper > 0)

    def run(self, rate):
        """One pass over what is active; returns the running gap and the growth of the dual."""
        self.count, gap, growth, low, high = self._pass(
            self.upper, self.norm2, self.scale, rate, self.alpha, self.w, self.bias, self.active, self.count,
            self.kept, BLOCK, self.zone, self.random,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        if rate:
            self.bias += rate * self._imbalance()
        self.zone[0] = SHRINK * low if low > 0 else np.inf
        self.zone[1] = SHRINK * high if high > 0 else np.inf
        return gap, growth

    def reopen(self, S):
        """Bring back every example that may still move at scores S."""
        self.count = self._unsettled(self.upper, S, self.alpha, self.active)
        self.zone[:] = np.inf

    def state(self):
        return {
            "alpha": self.alpha, "w": self.w, "bias": self.bias, "random": self.random,
            "active": self.active[: self.count], "zone": self.zone,
        }  # fmt: skip

    def restore(self, state):
        for name in ("alpha", "w", "bias", "random", "zone"):
            getattr(self, name)[...] = state[name]
        self.count = len(state["active"])
        self.active[: self.count] = state["active"]
