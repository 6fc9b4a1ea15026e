"""The duals of one worker's examples, and a round of coordinate steps on them while the others stand still.

The driver gives a point w that counts the duals of all workers.  A worker moves its own duals as if every
step moved w `scale` times as far, since the others move at the same time (solvers/distributed/dual.py), and
answers with the change of v = sum alpha delta.  The driver may then take only a share of it: `settle`.
"""

from __future__ import annotations

import numpy as np

from ...solvers.dual_cd import _mix
from .local_cuts import CutDuals

#: Further passes of a round go on while they raise the dual by this share of the first.
GOES_ON = 0.3


def new_duals(problem, seed):
    """Those of the model's own passes, or over remembered cuts (local_cuts.py)."""
    return (CutDuals if problem.passes is None else PassDuals)(problem, seed)


class PassDuals:
    """Duals of a model with passes of its own (protocols.DualPasses)."""

    def __init__(self, problem, seed):
        self.problem = problem
        self.passes = problem.passes(_mix(seed))
        self.before = self.seen = None

    @property
    def spread(self):
        return self.passes.spread

    def round(self, point, bias, scale, rate, limit):
        """(change of v, of sum alpha loss, of the imbalance; running gap, active examples)."""
        passes, weights = self.passes, self.passes.weights
        self._reopen()
        self.before = passes.alpha.copy()
        inner = point[: weights.size]
        weights[...] = inner.reshape(weights.shape)
        passes.bias[...] = bias
        passes.scale = scale
        linear, imbalance = passes.linear(), passes.imbalance()
        gap, first = None, 0.0
        for _ in range(limit):
            found, growth = passes.run(rate, takes_imbalance=False)
            if gap is None:
                gap, first = found, growth
            if passes.count == 0 or growth < GOES_ON * first:
                break
        change = np.zeros(len(point))
        np.subtract(weights.ravel(), inner, out=change[: weights.size])
        change /= scale
        return change, passes.linear() - linear, passes.imbalance() - imbalance, gap, passes.count

    def lean(self, point, S):
        """Each example takes its own exact step at scores S (Jacobi); all may move in the next round."""
        passes, problem = self.passes, self.problem
        self.before = passes.alpha.copy()
        linear, imbalance = passes.linear(), passes.imbalance()
        # Coefficients are affine in the duals of classes: those of a change are no change of coefficients.
        old = problem.model.coefficients(problem.data, passes.shares)
        passes.alpha[...] = passes.leaning(S)
        moved = problem.model.coefficients(problem.data, passes.shares) - old
        change = problem.C * problem.scores.adjoint(moved)
        change[passes.weights.size :] = 0.0
        self.seen = S
        return change, passes.linear() - linear, passes.imbalance() - imbalance, 0.0, passes.count

    def settle(self, step):
        if self.before is not None and step != 1.0:
            alpha = self.passes.alpha
            alpha[...] = self.before + step * (alpha - self.before)
        self.before = None
        return self.passes.linear()

    def sum(self):
        """(v, sum alpha loss, imbalance), from the duals alone."""
        v = self.problem.shares.sum(self.passes.shares)
        v[self.passes.weights.size :] = 0.0
        return v, self.passes.linear(), self.passes.imbalance()

    def flow(self):
        return self.problem.model.flow(self.problem.data, self.passes.shares)

    def balanced(self, flow):
        problem = self.problem
        model, data = problem.model, problem.data
        shares = model.balanced(data, self.passes.shares, flow)
        return problem.shares.sum(shares), problem.C * model.dual_loss(data, shares)

    def _reopen(self):
        """Make all active that may move, now that it is settled which duals are where."""
        if self.seen is not None:
            self.passes.reopen(self.seen)
            self.seen = None

    def state(self):
        self._reopen()
        return {name: np.copy(value) for name, value in self.passes.state().items()}

    def restore(self, state):
        self.passes.restore(state)
