"""The duals of one worker's examples, and rounds of steps on them while the others stand still.

All workers' duals make one point v = sum alpha delta, which every worker is told.  A worker moves its own
duals as if every step moved v `scale` times as far, since the others move at the same time
(solvers/distributed/dual.py and cuts.py), and answers with its change of v.  The driver may then take only a
share of it: `settle`.
"""

from __future__ import annotations

import numpy as np

from ...engines.sums import (
    SHORT,
    SPARSE,
    SparseVector,
    add_to,
    copy_where,
    dot_with,
    move_both,
    number_type,
)
from ...memory.remembered import Remembered
from ...solvers.dual_cd import _mix
from ...solvers.structured_dual import FORGET, ask_blocks, blocks_in_any_order

#: Further passes of a round go on while they raise the dual by this share of the first.
GOES_ON = 0.3
#: Examples that a thread asks at the same w: few, as other workers ask at the same time.
BLOCK = 32
#: Eight marks at a weight that is not touched.
STILL = np.uint64(0x0101010101010101)


def new_duals(problem, seed):
    """Those of the model's own passes, or over remembered cuts."""
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

    def written(self, flow):
        """The duals as `Proof.point` gives them, balanced where there is a flow."""
        problem, shares = self.problem, self.passes.shares
        if flow is not None:
            shares = problem.model.balanced(problem.data, shares, flow)
        return problem.shares.point(shares)

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


class CutDuals:
    """Duals over the cuts that a worker remembers of its examples.

    All workers hold v itself.  In a `round` a worker goes over some of its own examples; the driver then says
    which share of its change is taken and how v has changed by everybody's shares (`agree`).  Of changes only
    what is not zero travels.  Rounds are numbered, so that a message that comes twice is noticed.
    """

    spread = 1.0

    def __init__(self, problem, seed):
        self.problem = problem
        self.store = Remembered(problem, problem.C * problem.data.weights)
        self.rng = np.random.default_rng(seed)
        self.point, self.moved = np.zeros(problem.n_params), MovedWeights(problem.n_params)
        self.number = 0  # of the next round
        self.order = []  # of the pass that is under way
        self.last = None  # change of v by everybody
        self.before = self.change = None  # of a round that is not agreed upon: (places, duals), change of v

    def place(self, point, number):
        """v, from the driver, and the number of the round that is next."""
        self.point[:] = self.store.w[:] = point
        self.number = number

    def agree(self, change, share, number) -> bool:
        """Take a share of the last round and everybody's change of v; None where there was no round.  False
        where that is not what this worker has done last."""
        is_due = self.before is not None
        if is_due != (change is not None) or number != self.number + is_due:
            return False
        if is_due:
            self.settle(share)
            copy_where(self.change, self.point, self.store.w)
            move_both(change, self.point, self.store.w)
            self.last, self.number = change, number
        return True

    def round(self, scale, asks, place, places):
        """(change of v, of sum alpha loss, what of that v's old value leaves to D, sum of the examples'
        gaps), by part `place` of `places` of a pass over all examples; with a question about each of them, or
        only over what is remembered."""
        if place == 0:
            self._begin_pass(asks)
        part = self.order[place::places]
        old = self._by_row()
        self.store.scale = scale
        if asks:
            gap, _ = ask_blocks(self.problem, self.store, self.rng, part)
        else:
            gap, _ = self.store.visit(part)
        linear, numbers = self._note(old)
        self.change = self.moved.change(self.store.arena.view(), numbers, self.store.w, self.point, scale)
        return self.change, linear, linear - dot_with(self.change, self.point), gap

    def _begin_pass(self, asks):
        if asks:
            self.store.forget(FORGET)
            self.order = blocks_in_any_order(self.problem, self.rng, BLOCK * self.problem.engine.n_jobs)
        else:
            self.order = self.rng.permutation(np.flatnonzero(self.store.counts))

    def _by_row(self):
        """Duals by the numbers of their cuts in the arena."""
        alpha, places = np.zeros(self.store.arena.n_rows), self.store._present()
        alpha[self.store.slots[places]] = self.store.alpha[places]
        return alpha

    def _note(self, old):
        """Remember which duals have changed since they were `old`: (change of sum alpha loss, numbers of
        their cuts)."""
        store, places = self.store, self.store._present()
        rows, alpha = store.slots[places], store.alpha[places]
        before = np.concatenate([old, np.zeros(store.arena.n_rows - len(old))])[rows]
        moved = np.flatnonzero(alpha != before)
        self.before, rows = (places[moved], before[moved]), rows[moved]
        return float((alpha - before)[moved] @ store.arena.b[rows]), rows

    def settle(self, step):
        """Take a share of the duals' change in the last round, if it is not agreed upon yet."""
        if self.before is not None and step != 1.0:
            places, old = self.before
            alpha = self.store.alpha
            alpha[places] = old + step * (alpha[places] - old)
        self.before = None

    def look(self, back):
        """(C sum_i s_i H_i, how much of it inference left open) at v before the share `back` of its last
        change; what is found is remembered."""
        store = self.store
        add_to(self.last, -back, store.w)
        hinges = store.learn(self.problem, store.w, np.arange(self.problem.n))
        copy_where(self.last, self.point, store.w)
        return hinges.sums(store.upper)

    def sum(self):
        """(v of the worker's own examples, sum alpha loss, no imbalance), from the duals alone."""
        self.store.refresh()
        return self.store.w.copy(), self.store.linear, np.zeros(0)

    def written(self, flow):
        """As that of PassDuals; there are no intercepts."""
        return self.store.written()

    def state(self):
        return {"store": self.store.state(), "rng": self.rng.bit_generator.state}

    def restore(self, state):
        self.store.restore(state["store"])
        self.rng.bit_generator.state = state["rng"]


class MovedWeights:
    """Changes of vectors of n_params numbers by sums of cuts: found through the cuts whose duals have moved,
    as most weights are still."""

    def __init__(self, n_params):
        self._eights = np.full((n_params + 7) // 8, STILL)
        self._marks = self._eights.view(np.uint8)[:n_params]

    def change(self, rows, numbers, after, before, scale):
        """(after - before) / scale, packed, where only the cuts `numbers` of the rows were added."""
        size = len(after)
        if size < SHORT:
            return (after - before) / scale
        from ..._jit.cut_rows import collect, differences, mark

        mark(rows, numbers, self._marks)
        touched = np.flatnonzero(self._eights != STILL)
        index = np.empty(8 * len(touched) + 1, number_type(size))
        index = index[: collect(touched, self._marks, index)]
        self._eights[touched] = STILL
        if len(index) > SPARSE * size:
            return (after - before) / scale
        values = np.empty(len(index))
        differences(index, after, before, scale, values)
        return SparseVector(index, values, size)
