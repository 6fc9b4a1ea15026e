"""Dual block passes of the multi-class hinge: the `dual pass` extension (protocols.py).

    D(alpha) = sum_iz alpha_iz L[y_i, z] - 1/2 |W|^2      W = sum_i x_i (C s_i e_y - alpha_i)'
    alpha_i >= 0,  sum_z alpha_iz = C s_i

The block of an example is solved exactly: it is a projection on a simplex (Crammer & Singer 2001;
Keerthi et al. 2008).  Classes that cannot win leave an example's list until the next check.  Dense rows are
taken in blocks, through products of matrices, with the same result (_jit/multiclass_blocks.py).
"""

from __future__ import annotations

import numpy as np

from ...memory.state_coding import check_between, check_places
from ...objective import KeptWeights
from .scalar import best_multiple

#: Neighbouring rows that are visited together: they lie together in memory, but may be alike.
BLOCK = 32
SHRINK = 0.1


def block_rows(n_classes) -> int:
    """Rows of a block: with as many as there are classes, products of rows cost as much as scores."""
    return min(max(n_classes, 16), 64)


class MulticlassDual:
    """alpha (n, K), W (d, K) and what is active."""

    #: |delta|^2 of an example beside |x|^2.
    spread = 2.0
    #: Hessians of several classes are dear: passes are given up for them only where the true bound, looked at
    #: after as much work, says so.
    is_judged_by_looks = True

    def __init__(self, model, data, C, seed, regulariser=None):
        self.model, self.data = model, data
        n, K = data.n, model.n_classes
        self.upper = C * data.weights
        self.kept_weights = KeptWeights((model.n_features, K), regulariser)
        self.has_blocks = self.kept_weights.q is None and model.multiplies(data)
        if self.has_blocks:
            self.kept_weights.lay_by_columns()
        self.W = self.kept_weights.w
        self.norm2 = data.norm2 if self.kept_weights.q is None else self.kept_weights.norms(data)
        self.scale = 1.0
        self.alpha = np.zeros((n, K))
        self.alpha[np.arange(n), data.y] = self.upper
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
    def unclipped(self):
        """The point before weights are held >= 0, all of whose dual has come from the rows."""
        flat = self.kept_weights.u.ravel()
        return np.concatenate([flat, np.zeros_like(self.bias)]) if self.model.intercept else flat

    @property
    def weights(self):
        """The penalised part of the point, to be changed in place."""
        return self.W

    @property
    def shares(self):
        """Of each example; those of wrong classes sum to at most 1, whatever rounding has made of a step."""
        P, rows = self.shares_of(self.alpha), np.arange(self.data.n)
        wrong = P.sum(axis=1) - P[rows, self.data.y]
        P /= np.maximum(wrong, 1.0)[:, None]
        return P

    def shares_of(self, alpha):
        """Any duals, or changes of them, as shares of their sum."""
        upper = self.upper[:, None]
        return np.divide(alpha, upper, out=np.zeros_like(alpha), where=upper > 0)

    def leaning(self, S):
        """The duals after each example's own exact step at scores S: a projection on its simplex."""
        # Counted from the highest, as by a very short row the others are -inf.
        g, norm2 = self.model.losses[self.data.y] + S, self.norm2[:, None]
        g -= g.max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            free = self.alpha + np.divide(g, norm2, out=np.zeros_like(g), where=norm2 > 0)
        falling = -np.sort(-free, axis=1)
        excess = np.cumsum(falling, axis=1) - self.upper[:, None]
        threshold = excess / np.arange(1, free.shape[1] + 1)
        count = (falling > threshold).sum(axis=1)
        return np.maximum(free - threshold[np.arange(len(free)), np.maximum(count, 1) - 1][:, None], 0.0)

    def linear(self):
        return float(np.einsum("ij,ij", self.alpha, self.model.losses[self.data.y]))

    def run(self, rate, takes_imbalance=True):
        loop, W, block = self._loop()
        self.count, gap, growth, violation = loop(
            self.data.view, self.data.y, self.upper, self.model.losses, self.norm2, self.scale, rate,
            self.alpha, W, self.bias, self.classes, self.n_classes, self.active, self.count, self.kept,
            block, self.zone[0], self.random,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        if rate and takes_imbalance:
            self.bias += rate * self.imbalance()
        self.zone[0] = SHRINK * violation if violation > 0 else np.inf
        return gap, growth

    def _loop(self):
        """The pass, the weights as it takes them, and how many rows lie together in its order."""
        if self.has_blocks:
            from ..._jit.multiclass_blocks import block_pass

            return block_pass, self.W.T, block_rows(len(self.bias))
        from ..._jit.multiclass_dual import dual_pass

        return dual_pass, self.kept_weights.loops, BLOCK

    def imbalance(self):
        """(K,): what the duals sum to along the intercepts."""
        given = np.bincount(self.data.y, self.upper, minlength=len(self.bias))
        return given - self.alpha.sum(axis=0)

    def begin(self, problem, alpha, bias):
        """Begin at these duals, or where the best multiple of what wrong classes hold is left to them."""
        self.alpha[:] = alpha
        v = problem.shares.sum(self.shares)
        t = best_multiple(problem.regulariser, v, self.linear())
        self.alpha *= t
        self.alpha[np.arange(self.data.n), self.data.y] += self.upper - self.alpha.sum(axis=1)
        self.kept_weights.reset(t * v[: self.W.size].reshape(self.W.shape))
        self.bias[:] = bias

    def reopen(self, S):
        from ..._jit.multiclass_dual import reopen

        self.count = reopen(
            self.data.y, self.upper, self.model.losses, S, self.alpha, self.classes,
            self.n_classes, self.active,
        )  # fmt: skip
        self.zone[0] = np.inf

    def state(self):
        return {
            "alpha": self.alpha, "bias": self.bias, "random": self.random,
            "classes": self.classes, "n_classes": self.n_classes,
            "active": self.active[: self.count], "zone": self.zone, **self.kept_weights.state(),
        }  # fmt: skip

    def restore(self, state):
        for name in ("alpha", "bias", "random", "classes", "n_classes", "zone"):
            getattr(self, name)[...] = state[name]
        self.kept_weights.restore(state)
        check_between("alpha", self.alpha, 0.0, (1.0 + 1e-9) * self.upper[:, None])
        check_between("bias", self.bias, -np.finfo(float).max, np.finfo(float).max)
        check_places("active", state["active"], self.data.n)
        check_places("classes", self.classes, self.model.n_classes)
        check_places("n_classes", self.n_classes, self.model.n_classes + 1)
        self.count = len(state["active"])
        self.active[: self.count] = state["active"]
