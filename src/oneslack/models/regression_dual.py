"""Dual coordinate passes of the tube loss: the `dual pass` extension (protocols.py).

    D(alpha) = sum_i alpha_i y_i - epsilon |alpha_i| - 1/2 |sum_i alpha_i x_i|^2    |alpha_i| <= C s_i

One box-bounded variable an example (Ho & Lin 2012): its step is a soft threshold by epsilon, then the box.
w is kept up to date, examples that rest (at 0 inside the tube, at a bound outside) are left out of the next
passes, rows are visited in blocks of neighbours.
"""

from __future__ import annotations

import numpy as np

BLOCK = 256
#: An example rests when it lies beyond this share of the largest violation on its side.
SHRINK = 0.25


class RegressionDual:
    """alpha (n,), w (d,) and what is active."""

    #: |delta|^2 of an example beside |x|^2.
    spread = 1.0

    def __init__(self, model, data, C, seed):
        self.model, self.data = model, data
        self.epsilon = float(model.epsilon)
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

    def linear(self):
        return float(np.einsum("i,i", self.alpha, self.data.y) - self.epsilon * np.abs(self.alpha).sum())

    def run(self, rate):
        """One pass over what is active; returns the running gap and the growth of the dual."""
        from .._jit.regression import dual_pass

        self.count, gap, growth, low, high = dual_pass(
            self.data.view, self.data.y, self.epsilon, self.upper, self.norm2, self.scale, rate, self.alpha,
            self.w, self.bias, self.active, self.count, self.kept, BLOCK, self.zone, self.random,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        if rate:
            self.bias += rate * self.alpha.sum()
        self.zone[0] = SHRINK * low if low > 0 else np.inf
        self.zone[1] = SHRINK * high if high > 0 else np.inf
        return gap, growth

    def reopen(self, S):
        """Bring back every example that may still move at scores S."""
        from .._jit.regression import unsettled

        self.count = unsettled(self.data.y, self.epsilon, self.upper, S, self.alpha, self.active)
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
