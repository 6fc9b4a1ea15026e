"""Dual coordinate ascent.

    D(alpha) = sum alpha_iz loss_iz - 1/2 |sum alpha_iz delta_iz|^2     alpha >= 0, sum_z alpha_iz = C s_i

(and what objective.py says of it with a prior, scales and weights held >= 0)

A pass visits the examples in blocks of neighbouring rows and solves each example's block exactly; w is
kept up to date (Hsieh et al. 2008; Keerthi et al. 2008; Ramanan 2013, section 2).  Examples and classes
that rest at a bound are left out (shrinking).  The examples' own gaps, summed while they are visited, are
a cheap running bound (Ramanan, section 2.2); when it promises the tolerance, one pass over all the data
verifies it, and improves w by the best multiple of itself.  On stiff problems passes work around an anchor
(anchor.py).

Intercepts are not penalised, so a dual point must satisfy sum_i alpha_i y_i = 0.  The method of
multipliers does it: a pass moves the bias like one more weight of strength `rate` around its last value,
and the bias then takes the constraint's residual.  For the certificate the duals are scaled until they
balance exactly (`balance` of the model).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..certificate.rounding import Proof, dual_proof, gamma
from ..objective import inner, relative_gap
from ..result import Step
from .anchor import Anchor
from .line import Origin, polish
from .structured_dual import structured_steps

#: Work, in passes over all the data, after which the true bound is looked at anyway.
LIMIT = 10.0
#: Work between two looks that the running bound asked for: about what a look costs.
WAIT = 0.5
#: A running bound so far below the one that is asked for says that nothing more is to be gained here.
FAR_BELOW = 0.1
#: With more passes than this to go, an anchor pays.
MANY = 20.0
#: How fast a pass moves the intercept, beside the squared length of most examples: a few long ones would make
#: it so large that the others hardly move.
BIAS_RATE = 0.3


@dataclass(frozen=True)
class DualCD:
    """Dual coordinate ascent with shrinking.

    seed  of the order in which examples are visited

    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> problem = oneslack.Problem(oneslack.Binary(2), X, y, C=1.0)
    >>> oneslack.solve(problem, oneslack.DualCD(seed=1), tol=1e-6).gap <= 1e-6
    True
    """

    seed: int = 0

    name = "dual_cd"
    needs = ("weights", "squares", "here", "memory", "passes|rows")
    #: With a model's own passes there is no matrix product.
    is_compiled = True

    def steps(self, problem, start=None, tol=1e-3, patience=np.inf):
        """With a `patience` they end where more passes than that seem to be left, or were in vain."""
        if problem.passes is None:
            return structured_steps(problem, self.seed, start, tol)
        return self._model_steps(problem, start, tol, patience)

    def _model_steps(self, problem, start, tol, patience):
        passes = problem.passes(_mix(self.seed))
        start = start or {}
        if "duals" in start:
            passes.begin(problem, start["duals"], start["bias"])
        has_bias = problem.regulariser.n_free > 0
        check = Verification(tol, has_bias)
        pace, anchor = Pace(tol), None
        if "passes" in start:
            passes.restore(start["passes"])
            check.restore(start["check"])
            pace.restore(start["pace"])
            if start["anchor"]:
                anchor = Anchor.for_passes(problem, passes)
                anchor.restore(start["anchor"])
                passes.scale = anchor.scale
        # Around an anchor running bounds go in waves: passes may ask to be judged by the true one.
        by_looks = not has_bias and getattr(passes, "is_judged_by_looks", False)
        usual = BIAS_RATE * (problem.shares.median_square or 1.0) if has_bias else 0.0
        rate = start.get("rate", usual)
        running, dual = start.get("running", 0.0), start.get("dual", 0.0)
        if "duals" in start:
            running = self._dual(problem, passes, anchor)
        origin = Origin.of(problem)
        # The proof of the best D with intercepts.
        balanced = Proof.taken_up(start.get("balanced"))
        visits = start.get("visits", problem.n)  # steps since w was summed up anew, at most
        spent = start.get("spent", 0.0)  # passes over all the data

        def state():
            parts = {"passes": passes.state(), "check": check.state(), "dual": dual, "rate": rate}
            parts |= {"running": running, "visits": visits, "balanced": balanced and balanced.kept()}
            return parts | {
                "anchor": anchor.state() if anchor else None, "pace": pace.state(), "spent": spent,
            }  # fmt: skip

        def given_up():
            return partial(dict, w=passes.point.copy())

        def proof():
            if balanced is not None:
                return balanced
            # Several duals of an example may sum to more than their bound, by rounding: shares never do.
            is_boxed = getattr(passes, "is_boxed", False) and not has_bias
            if is_boxed and not anchor and problem.regulariser.is_plain:
                return running_proof(problem, passes, visits)
            return problem.shares.proof(passes.shares)

        while True:
            visited = passes.count
            visits += visited
            gap, growth = passes.run(rate)
            running += growth
            left = pace.left(gap, running)
            spent += visited / problem.n
            if not by_looks and left * passes.count > patience * problem.n:
                yield Step(passes.point, dual, n_cuts=passes.count, state=given_up(), proof=proof)
                return
            # Intercepts come to their value by steps of their own, which a moving anchor upsets.
            if not anchor and not has_bias and left > MANY:
                anchor = Anchor.for_passes(problem, passes)
                passes.scale = anchor.scale if anchor else 1.0
                pace.gaps = []  # around an anchor they are others
            if anchor:
                far = anchor.distance2(passes.weights)
                is_near = anchor.is_near(gap, far) or passes.count == 0
                gap += anchor.excess(far)
            is_due = check.due(gap, running, visited / problem.n, passes.count)
            if not is_due and not (anchor and is_near):
                yield Step(passes.point, dual, n_cuts=passes.count, state=state, proof=proof)
                continue
            w = passes.point.copy()
            S = problem.scores(w)
            running = self._dual(problem, passes, anchor)
            primal, way = None, 0.0
            if is_due:
                found = polish(problem, w, S, 0.1 * max(tol, 1e-12) * abs(running), origin)
                w, primal, way = found.w, found.primal, found.way
                if has_bias:
                    newest = problem.shares.proof(passes.shares)
                    value = problem.regulariser.dual(newest.v, newest.linear)
                    balanced = newest if balanced is None or value > dual else balanced
                else:
                    value = running
                dual = max(dual, value)
                check.verified(primal - dual, running)
                rate = self._next_rate(rate, usual, passes.count, check.vain)
            if anchor and is_near:
                S = anchor.move(passes.weights, S)
            passes.reopen(S)
            pace.gaps = []  # those of examples that were left out are back
            is_slow = is_due and pace.left_after(spent, relative_gap(primal, dual)) > patience
            ends = patience < np.inf and (check.stalled or (spent > patience and is_slow))
            yield Step(
                w, dual, primal, n_cuts=passes.count, stalled=check.stalled and not ends,
                state=given_up() if ends else state, proof=proof, way=way,
            )  # fmt: skip
            if ends:
                return

    @staticmethod
    def at_other_C(state, ratio):
        """Duals as the same shares of their bounds."""
        if "passes" in state:
            passes = state["passes"]
            # Groups of constraints begin anew: their duals have no bias beside them.
            return {"duals": ratio * passes["alpha"], "bias": passes["bias"]} if "bias" in passes else {}
        return {"cuts": (state["store"], ratio)} if "store" in state else {}

    @staticmethod
    def _dual(problem, passes, anchor):
        """D at the duals, without regard to a balance that intercepts need."""
        regulariser = problem.regulariser
        if regulariser.is_plain:
            v = anchor.unanchored(passes.weights) if anchor else passes.weights
            return passes.linear() - 0.5 * inner(v.ravel(), v.ravel())
        u = passes.unclipped.copy()
        if anchor:
            u[: passes.weights.size] = anchor.unanchored(passes.weights).ravel()
        return regulariser.dual_at(u, passes.linear())

    @staticmethod
    def _next_rate(rate, usual, count, vain):
        if count == 0:
            return 2.0 * rate  # only the intercept can move: faster
        if rate > 10.0 * usual:
            return usual
        # One rate for ever may end in a cycle: go through many.
        return rate if not vain else 0.7 * rate if rate > 0.03 * usual else 10.0 * usual


def running_proof(problem, passes, visits) -> Proof:
    """The duals with w as it was kept up to date.  No partial sum of a component has more than C sum_i s_i
    |x_ik|, so `visits` steps are off by at most gamma(2 visits) of it; summed up anew it is less."""
    extent, C = problem.extent, problem.C
    v, linear = passes.weights.reshape(problem.n_params).copy(), passes.linear()
    return dual_proof(
        problem.regulariser, v, linear, *extent.dual_sizes(C, linear), 2 * visits, gamma(16),
        lambda: problem.shares.proof(passes.shares), lambda: problem.shares.point(passes.shares),
    )  # fmt: skip


class Pace:
    """How fast passes close the gap: the running one since the last look, the true one from look to look."""

    #: Passes that are enough to tell it, and to tell that it does not fall at all.
    ENOUGH, MORE = 4, 16

    def __init__(self, tol):
        self.tol, self.gaps, self.look = max(tol, 1e-12), [], (0.0, 1.0)

    def left(self, gap, dual) -> float:
        """How many passes are left if they go on like the later half since the last look; 0 where nobody
        knows yet."""
        enough = self.tol * abs(dual + gap)
        self.gaps.append(gap)
        count = len(self.gaps)
        if count < self.ENOUGH or not gap > enough > 0.0:
            return 0.0
        middle = count // 2 - 1
        left = _left(gap, enough, self.gaps[middle], count - 1 - middle)
        return left if left < np.inf or count >= self.MORE else 0.0

    def left_after(self, spent, gap) -> float:
        """How much work is left after a look at the true relative gap, if it goes on like that before."""
        before, self.look = self.look, (spent, gap)
        return _left(gap, self.tol, before[1], spent - before[0]) if gap > self.tol else 0.0

    def state(self):
        return {"gaps": self.gaps, "look": self.look}

    def restore(self, state):
        self.gaps, self.look = list(state["gaps"]), tuple(state["look"])


def _left(gap, enough, before, work):
    """How much work brings a gap down to `enough` if `work` brought it down from what it was before."""
    return float(np.log(gap / enough) / np.log(before / gap)) * work if before > gap else np.inf


class Verification:
    """When to pay for the true bound: once the running one promises it, and now and then anyway."""

    #: Verifications in a row without progress after which rounding is to blame; an intercept comes to
    #: its value in waves, so they say less there.
    PATIENCE, PATIENCE_WITH_BIAS = 30, 3000

    def __init__(self, tol, has_bias):
        self.tol = tol
        self.patience = self.PATIENCE_WITH_BIAS if has_bias else self.PATIENCE
        self.target = max(tol, 1e-15)
        self.work, self.wait = 0.0, 0.0
        self.gap, self.dual, self.vain = np.inf, -np.inf, 0

    def due(self, gap, dual, visited, count):
        """`visited` is the share of the examples that the last pass saw, `count` how many are active."""
        self.work += visited
        share = gap / max(self.target * abs(dual + gap), 1e-300)
        promised = share <= 1.0 and (self.work >= self.wait or share <= FAR_BELOW)
        return promised or count == 0 or self.work >= LIMIT

    def verified(self, gap, dual):
        if self.work < LIMIT:
            self.target *= 0.7
            self.wait = WAIT
        self.work = 0.0
        progress = gap < self.gap or dual > self.dual + 1e-13 * abs(dual)
        self.vain = 0 if progress else self.vain + 1
        self.gap, self.dual = min(self.gap, gap), max(self.dual, dual)

    @property
    def stalled(self):
        return self.vain >= self.patience

    def state(self):
        return dict(vars(self))

    def restore(self, state):
        """Go on as before; another tolerance begins anew."""
        if state["tol"] == self.tol:
            vars(self).update(state)


def _mix(seed):
    """A non-zero 64-bit state from a small seed."""
    return (0x9E3779B97F4A7C15 * (2 * int(seed) + 1)) % (1 << 64)
