"""Raise the dual over the examples in memory while the duals of all others stay as they are.

With f the part of v = sum alpha delta that the others have, that is the dual of

    min_w  1/2 |w|^2 - <f, w> + C sum_{i in memory} s_i H_i(w)

two ways: Newton steps on its smoothed form, or dual passes with w = f + what the examples in memory add.
"""

from __future__ import annotations

import numpy as np

from ...objective import inner
from ..dual_cd import BIAS_RATE, _mix
from ..newton import FALL, FIRST_MU, LOOSE
from ..smoothed import Smoothed

#: Newton steps, and dual passes, at most.
STEPS, PASSES = 60, 1000
#: Passes go on while the gap of what is in memory is more than this share of the tolerance; in a first read,
#: whose examples have not met yet, only while they raise the dual by such a share of what the first did.
ENOUGH, WORTH = 0.1, 0.1
#: Passes without less imbalance after which others have to mend it.
IN_VAIN = 5
#: What the rounding of the hinge may cost, beside the tolerance.
ROUNDING = 0.2


class Tilted:
    """A regulariser minus <f, w>."""

    def __init__(self, regulariser, f):
        self._regulariser, self.f = regulariser, f

    def __getattr__(self, name):
        return getattr(self._regulariser, name)

    def value(self, w):
        return self._regulariser.value(w) - inner(self.f, w)

    def gradient(self, w):
        return self._regulariser.gradient(w) - self.f

    def slope(self, w, direction):
        first, second = self._regulariser.slope(w, direction)
        return first - inner(self.f, direction), second

    def dual(self, v, linear):
        return self._regulariser.dual(v + self.f, linear)


class NewtonOptimiser:
    """Newton steps; mu, the rounding of the hinge, goes on from block to block."""

    def __init__(self, problem, seed, tol):
        self.problem, self.asked = problem, tol
        self.tol = max(tol, 1e-12)
        self.mu = FIRST_MU * problem.unit

    def run(self, part, old, v, w, dual):
        """(new shares, w) of the examples of `part`, which have the shares `old`; v is that of all."""
        v_old = part.shares.sum(old)
        part.regulariser = Tilted(part.regulariser, v - v_old)
        smooth, S = Smoothed(part), part.scores(w)
        losses = smooth.losses(S, self.mu)
        share = part.weight / self.problem.weight
        for _ in range(STEPS):
            at = smooth.at(w, losses)
            size = max(at.hinge, share * max(dual, self.problem.regulariser.value(w)))
            allowed = ROUNDING * self.tol * size
            if at.slack <= LOOSE * (at.error or allowed):  # smooth losses have no rounding
                if at.error <= allowed:
                    break
                wanted = (0.75 * allowed / max(at.error, 1e-300)) ** 0.5
                self.mu *= min(max(wanted, FALL), 0.7)
                at = smooth.at(w, smooth.losses(S, self.mu))
            direction = smooth.metric(at.shares, self.mu).step(at.gradient)
            dS = part.scores(direction)
            t, losses = smooth.search(at, S, direction, dS, self.mu)
            w, S = w + t * direction, S + t * dS
        part.regulariser = self.problem.regulariser
        return at.shares, w

    def point(self, w, v):
        """Newton's own point is better than that of the duals."""
        return w

    def read(self):
        """A read is over."""

    def sharpen(self):
        """A certificate did not reach the tolerance."""
        self.tol *= 0.3

    def state(self):
        return {"mu": self.mu, "tol": self.tol, "asked": self.asked}

    def restore(self, state):
        """Go on as before; another tolerance begins anew."""
        self.mu = state["mu"]
        if state["asked"] == self.asked:
            self.tol = state["tol"]


class DualOptimiser:
    """Passes of dual steps, as DualCD makes them."""

    def __init__(self, problem, seed, tol):
        self.problem, self.tol, self.seed, self.runs = problem, tol, seed, 0
        self.passes, self.reads = PASSES, 0

    def run(self, part, old, v, w, dual):
        """(new shares, w) of the examples of `part`, which have the shares `old`; v is that of all."""
        regulariser, model, data = self.problem.regulariser, self.problem.model, part.data
        more = () if regulariser.is_plain else (regulariser,)
        self.runs += 1
        passes = model.dual_passes(data, part.C, _mix(self.seed + 1_000_003 * self.runs), *more)
        passes.alpha[...] = old * (passes.upper if old.ndim == 1 else passes.upper[:, None])
        passes.kept_weights.reset(v[: passes.weights.size].reshape(passes.weights.shape))
        free, rate = regulariser.free, 0.0
        if regulariser.n_free:
            # By most examples: a few long ones would make it so large that the others hardly move.
            rate = BIAS_RATE * (float(np.median(passes.norm2)) or 1.0)
            passes.bias[...] = w[free]
            of_others = v[free] - passes.imbalance()
        enough, left, first = ENOUGH * self.tol * dual, 0.0, 0.0
        least, in_vain = np.inf, 0  # imbalance, and passes since it has fallen
        for k in range(self.passes):
            gap, growth = passes.run(rate, takes_imbalance=False)
            if rate:
                imbalance = of_others + passes.imbalance()
                passes.bias += rate * imbalance
                left = self.problem.unit * float(np.abs(imbalance).sum())
            first = first if k else growth
            is_worth = k == 0 or self.reads > 0 or growth > WORTH * first
            is_balanced = left <= enough or in_vain >= IN_VAIN
            if is_balanced and (gap <= enough or passes.count == 0 or not is_worth):
                break
            in_vain = 0 if left < (1.0 - WORTH) * least else in_vain + 1
            least = min(least, left)
            if passes.count == 0:  # only intercepts can move
                passes.reopen(part.scores(passes.point))
                rate *= 2.0
        return passes.shares, passes.point.copy()

    def point(self, w, v):
        """The point of the duals, rounded as they are kept."""
        regulariser = self.problem.regulariser
        return regulariser.point(v, w[regulariser.free] if regulariser.n_free else None)

    def read(self):
        """A read is over."""
        self.reads += 1

    def sharpen(self):
        """A certificate did not reach the tolerance."""
        self.passes *= 2

    def state(self):
        return {"runs": self.runs, "passes": self.passes, "reads": self.reads}

    def restore(self, state):
        self.runs, self.passes, self.reads = state["runs"], state["passes"], state["reads"]
