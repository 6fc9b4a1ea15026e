"""Descent at one C for proximal_newton.py: rounds on working sets of features, looks at all of them between.

See there for the method and its letters.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from ..certificate.rounding import moved, norm_up
from ..memory.state_coding import check_places, check_point, check_scores
from ..result import Step

#: Features of the first working set; and those that may take part all at once.
FIRST, FEW = 50, 200
#: Examples a feature from which on all of them take part: most are not 0 then.
TALL = 20
#: Features of a working set, in terms of those that are not 0.
GROWTH = 3
#: A round on a working set ends with a step that promises this share of what the first did, or this one of
#: the gap that is asked for; after so many steps.
SHARE, LAST, ROUND = 0.3, 0.3, 8
#: A model is minimised until no subgradient is above this share of the worst, or for one sweep, where the
#: step before was too long; the last one as far as its duals have to be feasible for the gap asked for.
INNER = 0.3
#: How much further after each time that this was not enough.
STRICTER, STRICTEST = 0.3, 1e-4
#: How much less than the last step of a run one promises after which its model is minimised well in any case.
STUCK = 3.0
#: Sweeps over columns for one model; twice as many, up to this, where the duals of
#: one have not halved the gap though it promised SETTLED times less than the last step of a run.
SWEEPS, MOST_SWEEPS, SETTLED = 30, 10_000, 30.0
#: Or where a full step promises more than this share of what the one before did.
CREEP = 0.5
#: What of the model's decrease a step must have (Armijo).
ARMIJO = 0.01
#: How much is added to the curvature of a weight, in terms of its largest: at least, and at most.
DAMP, MOST_DAMP = 1e-9, 1.0
#: The slope along b that is as good as 0, beside the sum of the duals.
LEVEL = 1e-11
#: The share of features that are left which are worth a smaller matrix.
SHRUNK = 0.7
#: Rounds without progress after which rounding is to blame: with many weights a bound rests for a dozen.
PATIENCE = 30

#: What a run is gone on from, beside the scores, the features that are left and the Gram matrix.
STATE = (
    "w", "size", "damp", "dual", "shares", "gap", "pull", "rules_out", "vain", "least", "sweeps", "inner",
    "strict", "nearness", "v", "is_first",
)  # fmt: skip


def few(n) -> int:
    """Features that may take part all at once."""
    return max(FEW, n // TALL)


class Dual(NamedTuple):
    """D of shares that are feasible, which were divided by the ratio where that is above 1."""

    value: float
    shares: np.ndarray
    ratio: float


class Point:
    """Scores, what they make of the losses, and how far they were moved along (result.Step)."""

    def __init__(self, problem, S, way):
        self.S, self.way = S, way
        self.shares, self.linear, self.loss, _ = problem.smooth.duals(S, 1.0)


class Features:
    """All columns, and the sums of their squares, centred where there is an intercept."""

    def __init__(self, problem):
        self.problem, self.columns = problem, problem.columns

    @cached_property
    def squares(self):
        return self.columns.squares(self.problem.sample_weights, bool(self.problem.regulariser.n_free))


class Descent:
    """The run at one C: w and its point, the columns that are left, the best dual point."""

    def __init__(self, problem, features, start, tol):
        self.problem, self.regulariser, self.tol = problem, problem.regulariser, tol
        self.has_bias = bool(self.regulariser.n_free)
        self.stiffest = problem.C * problem.model.phi.stiffest  # no curvature of a loss is larger
        w = start.get("w")
        w = self.regulariser.start() if w is None else self.regulariser.feasible(w)
        check_point(problem, w)
        self.penalty = self.regulariser.value(w)
        self.w, self.columns, self.features = w, features.columns, features
        if "S" in start:
            check_scores(problem, start["S"])
            S, way = start["S"], start["way"]
        else:
            S, way = problem.scores(w), norm_up(w)
        self.at = Point(problem, S, way)
        self.size, self.damp = start.get("size", 0), start.get("damp", DAMP)
        self.dual, self.shares = -np.inf, None
        self.vain, self.least = 0, np.inf
        self.sweeps = start.get("sweeps", SWEEPS)
        self.inner, self.strict = start.get("inner", INNER), start.get("strict", 1.0)
        self.nearness, self.is_at_rest = start.get("nearness", 0.0), False
        self.known = self.columns.known(start.get("gram"))
        self.guess = None
        self.v = start.get("v")
        self.is_resumed, self.is_first = "alive" in start, "w" not in start
        if self.is_resumed:
            self._resume(start)
        elif "S" not in start:
            self._level()

    def _resume(self, start):
        """Go on from the state of a step."""
        alive = start["alive"]
        check_places("the features that are left", alive, len(self.columns.index))
        self.columns = self.columns.part(alive)
        self.at.way = self.problem.scores.believed(self.w, self.at.S, self.at.way)
        for name in ("dual", "shares", "gap", "pull", "rules_out", "vain", "least"):
            setattr(self, name, start[name])

    def rounds(self):
        """Rounds, each with a look at all features after it."""
        while True:
            self.round()
            yield self.look()

    @property
    def primal(self):
        return self.penalty + self.at.loss

    # Looks at all features.

    def look(self) -> Step:
        """Bounds at w."""
        self.penalty = self.regulariser.value(self.w)  # as one that goes on from here computes it
        is_guessed = self.guess is not None
        v, found = self._best_dual()
        is_best = found.value > self.dual or self.shares is None
        if is_best:
            self.dual, self.shares = found.value, found.shares
        self.gap = self.primal - self.dual
        # Whatever else the next round has to know of all features is found when there is one.
        self.pull, self.rules_out = v / max(found.ratio, 1.0), is_best
        if self.gap < 0.999 * self.least:
            self.vain = 0
        elif is_guessed or self.is_at_rest:
            self.vain += 1
        if is_guessed and self.gap > 0.5 * self.least and self.nearness >= SETTLED:
            self.sweeps = min(2 * self.sweeps, MOST_SWEEPS)
        self.least = min(self.least, self.gap)
        return self._told()

    def _best_dual(self):
        """(v, the dual point) of the model's duals, or of those of the losses where these help little and
        they are better."""
        index, guess = self.columns.index, self.guess
        self.guess = None
        if guess is not None:
            v = self._sum(self.columns, guess)
            found = self._dual(v, index, guess)
            gap, enough = self.primal - found.value, self.tol * abs(self.primal)
            if gap > enough:
                self.strict = max(STRICTER * self.strict, STRICTEST)
            if gap <= max(enough, 0.5 * self.least):
                return v, found
        if self.v is None:
            self.v = self._sum(self.columns, self.at.shares)
        own = self._dual(self.v, index, self.at.shares)
        return (v, found) if guess is not None and found.value > own.value else (self.v, own)

    def _told(self):
        known = {name: getattr(self, name) for name in STATE}
        known |= {"S": self.at.S, "way": self.at.way, "alive": self.columns.index, "gram": self.known.start}
        self.is_first = False
        return Step(
            self.w, self.dual, self.primal, n_cuts=len(self.columns.index), way=self.at.way,
            stalled=self.vain >= PATIENCE or not np.isfinite(self.gap), state=lambda: known,
            proof=partial(self.problem.shares.proof, self.shares),
        )  # fmt: skip

    def _sum(self, columns, shares):
        """v of the columns."""
        return columns.adjoint(self.problem.upper_duals * shares)

    def _dual(self, v, index, shares):
        """The dual point of shares that balance but for rounding, made so small that it is feasible for the
        features `index`, whose v is given."""
        held, r = self.regulariser.held[index], self.regulariser.strength[index]
        ratio = float(np.max(np.where(held, v, np.abs(v)) / r, initial=0.0))
        shares = self.problem.shares.balanced(shares)
        shares = shares / ratio if ratio > 1.0 else shares
        return Dual(self.problem.shares.linear(shares), shares, ratio)

    def _order(self):
        """How far each constraint is from being violated, in lengths of columns; features that are 0 at every
        optimum are dropped."""
        index = self.columns.index
        is_held, squares = self.regulariser.held[index], self.features.squares[index]
        slack = self.regulariser.strength[index] - np.where(is_held, self.pull, np.abs(self.pull))
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.where(squares > 0.0, slack / np.sqrt(squares), np.inf)
        if not self.rules_out:
            return distance
        far = slack > np.sqrt(2.0 * max(self.gap, 0.0) * self.stiffest * squares) * (1 + 1e-6)
        kept = np.flatnonzero(~far | (self.w[index] != 0.0))
        if len(kept) > SHRUNK * len(far):
            return distance
        self.columns = self.columns.part(kept)
        self.v = None if self.v is None else self.v[kept]
        return distance[kept]

    # Rounds on a working set.

    def round(self):
        """Newton steps on a working set, until one promises little beside the first, or beside the gap that
        is asked for."""
        distance = self._order()
        part = self.columns.part(self._working_set(distance))
        target, first, decrease = LAST * self.tol * abs(self.primal), 0.0, np.inf
        self.v = None
        for _ in range(ROUND):
            last, decrease = decrease, self._step(part, target)
            first = max(first, decrease)
            if decrease > CREEP * last and self.inner < 1.0:  # though both models were true
                self.sweeps = min(2 * self.sweeps, MOST_SWEEPS)
            is_little = part is not self.columns and decrease <= SHARE * first
            if is_little and first > target:
                self.nearness = 0.0  # others may have more to promise
            if self.guess is not None or not decrease or (is_little and self.nearness < 1.0):
                break

    def fall(self, share):
        """Newton steps on all features until one lowers P by less than a share of it."""
        for _ in range(ROUND):
            before = self.primal
            if self._step(self.columns, 0.0) <= 0.0 or before - self.primal <= share * abs(before):
                break

    def _working_set(self, distance):
        d = len(self.columns.index)
        support = self.w[self.columns.index] != 0.0
        self.size = max(self.size, FIRST, GROWTH * int(support.sum()))
        if max(self.size, few(self.problem.n)) >= d:
            return np.arange(d)
        distance = np.where(support, -np.inf, distance)
        return np.sort(np.argpartition(distance, self.size)[: self.size])

    def _step(self, part, target) -> float:
        """A proximal Newton step on a part of the features; returns by how much it promised to lower P, 0
        where it did not move.  Where that is no more than `target` the model's duals are kept."""
        problem, index, upper = self.problem, part.index, self.problem.upper_duals
        w, r, held = self.w[index], self.regulariser.strength[index], self.regulariser.held[index]
        h, a = problem.smooth.curvatures(self.at.shares, 1.0), upper * self.at.shares
        damp = self.damp * self.stiffest * self.features.squares[index]
        tight = self._precision() * self.regulariser.weakest if target > 0.0 else np.inf
        found = part.minimum(
            a,
            h,
            (w, r, held),
            damp,
            self.has_bias,
            self.known,
            share=self.inner,
            tight=tight,
            far=self._far(tight),
            sweeps=self.sweeps,
        )
        d = found.d
        decrease = float(a @ found.z) - float(r @ (np.abs(w + d) - np.abs(w)))
        self.nearness = target / decrease if decrease > 0.0 else np.inf
        if self.nearness >= 1.0 and found.is_tight:
            # Balanced before they are summed up: where losses end, the model's duals need not balance.
            self.guess = problem.shares.balanced(problem.shares.nearest(found.ahead))
        self.is_at_rest = not (decrease > 0.0 and self._search(index, w, d, found.b, found.z, decrease))
        return 0.0 if self.is_at_rest else decrease

    def _far(self, tight):
        """Up to which worst subgradient a model is worth its duals: a step leaves about the square of that,
        beside r.  Any, where steps that do without have little to promise."""
        if self.nearness >= STUCK:
            return np.inf
        return np.sqrt(tight * self.regulariser.weakest) if self.nearness >= 1.0 else 0.0

    def _precision(self):
        """By what share |v_j| may be above r_j, so that duals which are made smaller by it lose no more than
        half the gap that is asked for; less where that was not enough."""
        primal = abs(self.primal)
        if not primal:
            return 1.0
        lost = 0.5 * self.strict * self.tol
        return min(lost * primal / max(self.penalty, 1e-3 * primal), np.sqrt(lost))

    def _search(self, index, w, d, b, dS, decrease) -> bool:
        """Backtrack on the line to w + d until P has fallen by a share of what the model promised."""
        before, t = self.primal, 1.0
        r, S, way = self.regulariser.strength[index], self.at.S, self.at.way
        for _ in range(40):
            new = w + t * d
            at = Point(self.problem, S + t * dS, way)
            penalty = float(r @ np.abs(new))  # all other weights are 0
            if penalty + at.loss <= before - ARMIJO * t * decrease:
                break
            after = penalty + at.loss
            t *= min(max(0.5 * t * decrease / max(after - before + t * decrease, 1e-300), 0.1), 0.6)
        else:
            return False
        self.inner = INNER if t == 1.0 else 1.0
        self.damp = min(max(self.damp * (10.0 if t < 0.1 else 0.1), DAMP), MOST_DAMP)
        if way is not None:
            old = np.append(w, self.w[self.regulariser.free]) if self.has_bias else w
            direction = np.append(d, b) if self.has_bias else d
            at.way = moved(way + t * norm_up(direction), old, t, direction)
        self.w, self.at, self.penalty = self.w.copy(), at, penalty
        self.w[index] = new
        if self.has_bias:
            self.w[self.regulariser.free] += t * b
        self._level()
        return True

    def _level(self):
        """Put b where the duals sum to 0, by Newton's method within a bracket."""
        if not self.has_bias:
            return
        problem, S, one = self.problem, self.at.S, np.ones(len(self.at.S))
        total = float(np.abs(problem.upper_duals * self.at.shares).sum())
        low, high, b = -np.inf, np.inf, 0.0
        for _ in range(100):
            slope, curve = problem.smooth.slope(S, one, b, 1.0)
            if abs(slope) <= LEVEL * total:
                break
            low, high = (b, high) if slope < 0.0 else (low, b)
            size = max(2.0 * abs(b), problem.unit)
            b = b - slope / curve if curve > 0.0 else (b + size if slope < 0.0 else b - size)
            b = min(max(b, -size if low == -np.inf else low), size if high == np.inf else high)
            if b in (low, high):
                b = 0.5 * (low + high)
            if not low < b < high:
                break
        if b != 0.0:
            self.w = self.w.copy()
            self.w[self.regulariser.free] += b
            way = None if self.at.way is None else self.at.way + 2.0 * abs(b)
            self.at = Point(problem, S + b, way)
