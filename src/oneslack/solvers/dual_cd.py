"""Dual coordinate ascent.

    D(alpha) = sum alpha_iz loss_iz - 1/2 |sum alpha_iz delta_iz|^2     alpha >= 0, sum_z alpha_iz = C s_i

A pass visits the examples in blocks of neighbouring rows and solves each example's block exactly; w is
kept up to date (Hsieh et al. 2008; Keerthi et al. 2008; Ramanan 2013, section 2).  Examples and classes
that rest at a bound are left out (shrinking).  The examples' own gaps, summed while they are visited, are
a cheap running bound (Ramanan, section 2.2); when it promises the tolerance, one pass over all the data
verifies it, and improves w by the best multiple of itself.

Intercepts are not penalised, so a dual point must satisfy sum_i alpha_i y_i = 0.  The method of
multipliers does it: a pass moves the bias like one more weight of strength `rate` around its last value,
and the bias then takes the constraint's residual.  For the certificate the duals are scaled until they
balance exactly (`balance` of the model).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..objective import relative_gap
from ..result import Step
from .line import search


@dataclass(frozen=True)
class DualCD:
    """Dual coordinate ascent with shrinking.

    seed  of the order in which examples are visited
    """

    seed: int = 0

    name = "dual_cd"
    needs = ("dual_passes", "scores", "coefficients", "balance")

    def steps(self, problem, start=None, tol=1e-3):
        passes = problem.model.dual_passes(problem.data, problem.C, _mix(self.seed))
        start = start or {}
        check = Verification(tol)
        if "passes" in start:
            passes.restore(start["passes"])
            check.restore(start["check"])
        has_bias = problem.regulariser.n_free > 0
        rate = float(problem.data.norm2.mean()) if has_bias else 0.0
        rate = rate if rate > 0 or not has_bias else 1.0
        dual = 0.0

        def state():
            return {"passes": passes.state(), "check": check.state()}

        while True:
            gap = passes.run(rate)
            estimate = passes.linear() - problem.regulariser.value(passes.point)
            if not has_bias:
                dual = max(dual, estimate)
            if not check.due(gap, estimate, passes.count):
                yield Step(passes.point, dual, n_cuts=passes.count, state=state)
                continue
            w = passes.point
            S = problem.scores(w)
            passes.reopen(S)
            w, primal = polish(problem, w, S)
            if has_bias:
                dual = max(dual, problem.dual_of(passes.shares))
            check.verified(relative_gap(primal, dual))
            yield Step(w, dual, primal, n_cuts=passes.count, stalled=check.stalled, state=state)


def polish(problem, w, S):
    """The best multiple of w, then the best intercept for it: all without a pass over the data."""
    zero = np.zeros_like(w)
    t = search(problem, zero, np.zeros_like(S), w, S)
    w, S = t * w, t * S
    if problem.regulariser.n_free == 1:
        for sign in (1.0, -1.0):
            direction = zero.copy()
            direction[problem.regulariser.free] = sign
            dS = np.full_like(S, sign)
            step = search(problem, w, S, direction, dS)
            w, S = w + step * direction, S + step * dS
    return w, problem.regulariser.value(w) + problem.weight * problem.risk_at(S)


class Verification:
    """When to pay for the true bound: once the running one promises it, then less and less often."""

    #: Verifications in a row without a smaller gap after which rounding is to blame.
    PATIENCE = 30

    def __init__(self, tol):
        self.target = max(tol, 1e-15)
        self.since, self.wait = 0, 1
        self.best, self.vain = np.inf, 0

    def due(self, gap, dual, count):
        self.since += 1
        promised = gap <= self.target * abs(dual + gap)
        return count == 0 or (promised and self.since >= self.wait)

    def verified(self, gap):
        self.wait = min(1 + self.since // 2, 20)
        self.since = 0
        self.target *= 0.7
        self.vain = 0 if gap < self.best else self.vain + 1
        self.best = min(self.best, gap)

    @property
    def stalled(self):
        return self.vain >= self.PATIENCE

    def state(self):
        return dict(vars(self))

    def restore(self, state):
        vars(self).update(state)


def _mix(seed):
    """A non-zero 64-bit state from a small seed."""
    return (0x9E3779B97F4A7C15 * (2 * int(seed) + 1)) % (1 << 64)
