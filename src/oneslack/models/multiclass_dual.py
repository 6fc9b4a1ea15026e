"""Dual block passes of the multi-class hinge: the `dual pass` extension (protocols.py).

    D(alpha) = sum_iz alpha_iz L[y_i, z] - 1/2 |W|^2      W = sum_i x_i (C s_i e_y - alpha_i)'
    alpha_i >= 0,  sum_z alpha_iz = C s_i

The block of an example is solved exactly: it is a projection on a simplex (Crammer & Singer 2001;
Keerthi et al. 2008).  Classes that cannot win leave an example's list until the next check.
"""

from __future__ import annotations

import numpy as np

BLOCK = 256
SHRINK = 0.5


class MulticlassDual:
    """alpha (n, K), W (d, K) and what is active."""

    #: |delta|^2 of an example beside |x|^2.
    spread = 2.0

    def __init__(self, model, data, C, seed):
        self.model, self.data = model, data
        n, K = data.n, model.n_classes
        self.upper = C * data.weights
        self.norm2, self.scale = data.norm2, 1.0
        self.alpha = np.zeros((n, K))
        self.alpha[np.arange(n), data.y] = self.upper
        self.W = np.zeros((model.n_features, K))
        self.bias = np.zeros(K)
        self.random = np.array([seed], np.uint64)
        self.classes = np.tile(np.arange(K, dtype=np.int32), (n, 1))
        self.n_classes = np.full(n, K, np.int32)
        self.active = np.arange(n)
        self.kept = np.empty(n, np.int64)
        self.count = n
        self.zone = np.full(1, np.inf)

    @property
    def point(self):
        flat = self.W.ravel()
        return np.concatenate([flat, self.bias]) if self.model.intercept else flat

    @property
    def weights(self):
        """The penalised part of the point, to be changed in place."""
        return self.W

    @property
    def shares(self):
        upper = self.upper[:, None]
        return np.divide(self.alpha, upper, out=np.zeros_like(self.alpha), where=upper > 0)

    def linear(self):
        return float(np.einsum("ij,ij", self.alpha, self.model.losses[self.data.y]))

    def run(self, rate):
        from .._jit.multiclass import dual_pass

        self.count, gap, growth, violation = dual_pass(
            self.data.view, self.data.y, self.upper, self.model.losses, self.norm2, self.scale, rate,
            self.alpha, self.W, self.bias, self.classes, self.n_classes, self.active, self.count,
            self.kept, BLOCK, self.zone[0], self.random,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        if rate:
            given = np.bincount(self.data.y, self.upper, minlength=len(self.bias))
            self.bias += rate * (given - self.alpha.sum(axis=0))
        self.zone[0] = SHRINK * violation if violation > 0 else np.inf
        return gap, growth

    def reopen(self, S):
        from .._jit.multiclass import reopen

        self.count = reopen(
            self.data.y, self.upper, self.model.losses, S, self.alpha, self.classes,
            self.n_classes, self.active,
        )  # fmt: skip
        self.zone[0] = np.inf

    def state(self):
        return {
            "alpha": self.alpha, "W": self.W, "bias": self.bias, "random": self.random,
            "classes": self.classes, "n_classes": self.n_classes,
            "active": self.active[: self.count], "zone": self.zone,
        }  # fmt: skip

    def restore(self, state):
        for name in ("alpha", "W", "bias", "random", "classes", "n_classes", "zone"):
            getattr(self, name)[...] = state[name]
        self.count = len(state["active"])
        self.active[: self.count] = state["active"]
