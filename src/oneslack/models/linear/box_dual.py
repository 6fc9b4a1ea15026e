"""One box-bounded dual an example: what the dual passes of two classes and of regression share.

Examples that rest at a bound are left out (shrinking) until a look at all scores (the KKT conditions) brings
them back.
"""

from __future__ import annotations

import numpy as np

from ...memory.state_coding import check_between, check_places
from ...objective import KeptWeights, squared_norm

#: Neighbouring rows that are visited together: they lie together in memory, but may be alike.
BLOCK = 32
#: An example that rests is left out when it lies beyond this share of the largest violation on its side.
SHRINK = 0.25
#: The same for examples whose dual is 0 where none has gone down yet (a first pass): beside the violations
#: above, which are larger than those to come.
SHRINK_FIRST = 0.2

#: The share of its bound from which on a dual is at it, but for rounding.
ALMOST = 1.0 - 1e-12


def resting_zone(low, high) -> tuple[float, float]:
    """How far beyond its bound, below and above, an example rests in the next pass, by the largest violations
    of the last one."""
    return SHRINK * low or SHRINK_FIRST * high or np.inf, SHRINK * high or np.inf


def best_multiple(regulariser, v, linear) -> float:
    """t in [0, 1] with the largest D at t times the duals whose sum is v; 0 or 1 where it has a kink."""
    penalised = v if regulariser.free is None else np.delete(v, regulariser.free)
    if regulariser.is_plain:
        return min(max(linear, 0.0) / max(squared_norm(penalised), 1e-300), 1.0)
    return float(regulariser.dual(v, linear) > regulariser.dual(np.zeros_like(v), 0.0))


class BoxDual:
    """alpha (n,), w (d,) and what is active.  A model adds `linear`, `_pass`, `_unsettled`, `_imbalance`."""

    #: |delta|^2 of an example beside |x|^2.
    spread = 1.0
    #: Each dual has bounds of its own, of which the lower one may be negative.
    is_boxed, is_signed = True, False

    def __init__(self, model, data, C, seed, regulariser=None):
        self.model, self.data = model, data
        self.upper = C * data.weights
        self.kept_weights = KeptWeights(model.n_features, regulariser)
        self.w = self.kept_weights.w
        self.norm2 = data.norm2 if self.kept_weights.q is None else self.kept_weights.norms(data)
        self.scale = 1.0
        n = data.n
        self.alpha = np.zeros(n)
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
    def unclipped(self):
        """The point before weights are held >= 0, all of whose dual has come from the rows."""
        u = self.kept_weights.u
        return np.append(u, 0.0) if self.model.intercept else u

    @property
    def weights(self):
        """The penalised part of the point, to be changed in place."""
        return self.w

    @property
    def shares(self):
        """The duals as shares of their bound."""
        return self.shares_of(self.alpha)

    def shares_of(self, alpha):
        """Any duals, or changes of them, as shares of their bound."""
        return np.divide(alpha, self.upper, out=np.zeros_like(alpha), where=self.upper > 0)

    def leaning(self, S):
        """The duals after each example's own exact step at scores S, as if it were alone."""
        length = np.divide(1.0, self.norm2, out=np.zeros_like(self.norm2), where=self.norm2 > 0)
        return self._projected(self.alpha, length, S)

    def run(self, rate, takes_imbalance=True):
        """One pass over what is active; returns the running gap and the growth of the dual.  The bias takes
        the imbalance that is left, but where others have duals too."""
        self.count, gap, growth, low, high = self._pass(
            self.upper, self.norm2, self.scale, rate, self.alpha, self.kept_weights.loops, self.bias,
            self.active, self.count, self.kept, BLOCK, self.zone, self.random,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        if rate and takes_imbalance:
            self.bias += rate * self._imbalance()
        self.zone[:] = resting_zone(low, high)
        return gap, growth

    def imbalance(self):
        """What the duals sum to along the intercept, as the bias has it."""
        return np.full(1, self._imbalance())

    def begin(self, problem, alpha, bias):
        """Begin at these duals, or their best multiple."""
        self.alpha[:] = alpha
        is_at_bound = np.abs(self.alpha) >= ALMOST * self.upper
        np.copyto(self.alpha, np.sign(alpha) * self.upper, where=is_at_bound)
        v = problem.shares.sum(self.shares)
        t = best_multiple(problem.regulariser, v, self.linear())
        self.alpha *= t
        self.kept_weights.reset(t * v[: self.w.size])
        self.bias[:] = bias

    def reopen(self, S):
        """Bring back every example that may still move at scores S."""
        self.count = self._unsettled(self.upper, S, self.alpha, self.active)
        self.zone[:] = np.inf

    def state(self):
        return {
            "alpha": self.alpha, "bias": self.bias, "random": self.random,
            "active": self.active[: self.count], "zone": self.zone, **self.kept_weights.state(),
        }  # fmt: skip

    def restore(self, state):
        for name in ("alpha", "bias", "random", "zone"):
            getattr(self, name)[...] = state[name]
        self.kept_weights.restore(state)
        check_between("alpha", self.alpha, -self.upper if self.is_signed else 0.0, self.upper)
        check_between("bias", self.bias, -np.finfo(float).max, np.finfo(float).max)
        check_places("active", state["active"], self.data.n)
        self.count = len(state["active"])
        self.active[: self.count] = state["active"]
