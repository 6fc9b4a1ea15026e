"""Descent at one C for proximal_newton.py: rounds on working sets of features, looks at all of them between.

See there for the method and its letters.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..certificate.rounding import moved, norm_up
from ..memory.state_coding import check_places, check_point, check_scores
from ..result import Step, no_dual_point

#: Features of the first working set; and those that may take part all at once.
FIRST, FEW = 50, 200
#: Features of a working set, in terms of those that are not 0.
GROWTH = 3
#: A round on a working set ends at this share of the whole gap, or of the gap asked for; after so many steps.
SHARE, LAST, ROUND = 0.5, 0.3, 8
#: A model is minimised until no subgradient is above this share of the worst.  Once that is no more than FAR
#: times r, as far as its duals have to be feasible for the gap that is asked for.
INNER, FAR = 0.1, 100.0
#: Sweeps over columns for one model; twice as many after each round that has not halved the gap, up to this.
SWEEPS, MOST_SWEEPS = 30, 10_000
#: What of the model's decrease a step must have (Armijo).
ARMIJO = 0.01
#: How much is added to the curvature of a weight, in terms of its largest: at least, and at most.
DAMP, MOST_DAMP = 1e-9, 1.0
#: The slope along b that is as good as 0, beside the sum of the duals.
LEVEL = 1e-11
#: The share of features that are left which are worth a smaller matrix.
SHRUNK = 0.7
#: Rounds without progress after which rounding is to blame.
PATIENCE = 5


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
        self.columns = problem.columns
        self.squares = self.columns.squares(problem.sample_weights, bool(problem.regulariser.n_free))


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
        self.w, self.columns, self.squares = w, features.columns, features.squares
        if "S" in start:
            check_scores(problem, start["S"])
            S, way = start["S"], start["way"]
        else:
            S, way = problem.scores(w), norm_up(w)
        self.at = Point(problem, S, way)
        self.size, self.damp = start.get("size", 0), start.get("damp", DAMP)
        self.dual, self.shares = -np.inf, None
        self.vain, self.least, self.violation = 0, np.inf, np.inf
        self.sweeps = start.get("sweeps", SWEEPS)
        self.guess, self.guess_dual = None, -np.inf
        self.v = start.get("v")
        self.is_resumed = "alive" in start
        if self.is_resumed:
            self._resume(start)
        elif "S" not in start:
            self._level()

    def _resume(self, start):
        """Go on from the state of a step."""
        alive = start["alive"]
        check_places("the features that are left", alive, len(self.columns.index))
        self.columns, self.squares = self.columns.part(alive), self.squares[alive]
        self.at.way = self.problem.scores.believed(self.w, self.at.S, self.at.way)
        for name in ("dual", "shares", "gap", "distance", "vain", "least", "violation"):
            setattr(self, name, start[name])

    def goes_on(self, C) -> dict:
        """What a run at another C starts from, after a look at all features."""
        is_known = self.v is not None and len(self.v) == len(self.w) - self.regulariser.n_free
        v = self.v * (C / self.problem.C) if is_known else None
        return {"w": self.w, "S": self.at.S, "way": self.at.way, "v": v}

    def steps(self, whole, stages):
        """Looks at all features with rounds in between; before other stages until the gap is small."""
        if not self.is_resumed:
            yield self.look(whole, stages)
        yield from self.rounds(whole, stages)

    def rounds(self, whole, stages=()):
        """The same without the first look."""
        while not stages or (self.gap > self.tol * abs(self.primal) and self.vain < PATIENCE):
            self.round()
            yield self.look(whole, stages)

    @property
    def primal(self):
        return self.penalty + self.at.loss

    # Looks at all features.

    def look(self, whole, stages=()) -> Step:
        """Bounds at w, of the whole problem where this is no stage before it, and what there is to know for
        the next round.  `stages` are those left, None before they are known."""
        self.penalty = self.regulariser.value(self.w)  # as one that goes on from here computes it
        v, found = self._best_dual()
        is_best = found.value > self.dual or self.shares is None
        if is_best:
            self.dual, self.shares = found.value, found.shares
        self.gap = self.primal - self.dual
        self._order(v / max(found.ratio, 1.0))
        if is_best and not stages:
            self._screen()
        self.vain = 0 if self.gap < 0.999 * self.least else self.vain + 1
        if self.gap > 0.5 * self.least:
            self.sweeps = min(2 * self.sweeps, MOST_SWEEPS)
        self.least = min(self.least, self.gap)
        return self._told(whole, stages)

    def _best_dual(self):
        """(v, the dual point) of the model's duals or of those of the losses."""
        index, guess = self.columns.index, self.guess
        self.guess, self.guess_dual = None, -np.inf
        if guess is not None:
            v_guess = self._sum(self.columns, guess)
            found = self._dual(v_guess, index, guess)
            if self.primal - found.value <= self.tol * abs(self.primal):
                return v_guess, found
        if self.v is None:
            self.v = self._sum(self.columns, self.at.shares)
        own = self._dual(self.v, index, self.at.shares)
        self.violation = own.ratio
        return (v_guess, found) if guess is not None and found.value > own.value else (self.v, own)

    def _told(self, whole, stages):
        shares, state = whole.shares, partial(self._state, dict(vars(self)), stages)
        if stages:
            primal = self.penalty + self.at.loss * (whole.C / self.problem.C)
            return Step(
                self.w, -np.inf, primal, n_cuts=len(self.columns.index), way=self.at.way, state=state,
                proof=no_dual_point,
            )  # fmt: skip
        return Step(
            self.w, self.dual, self.primal, n_cuts=len(self.columns.index), way=self.at.way, state=state,
            stalled=self.vain >= PATIENCE or not np.isfinite(self.gap),
            proof=partial(shares.proof, self.shares),
        )  # fmt: skip

    @staticmethod
    def _state(known, stages):
        names = (
            "w",
            "size",
            "damp",
            "dual",
            "shares",
            "gap",
            "distance",
            "vain",
            "least",
            "violation",
            "sweeps",
            "v",
        )
        state = {name: known[name] for name in names}
        stages = None if stages is None else list(stages)
        more = {"S": known["at"].S, "way": known["at"].way, "alive": known["columns"].index, "stages": stages}
        return state | more

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

    def _order(self, v):
        """How far each constraint is from being violated, also in lengths of columns."""
        index = self.columns.index
        self.slack = self.regulariser.strength[index] - np.where(self.regulariser.held[index], v, np.abs(v))
        with np.errstate(divide="ignore", invalid="ignore"):
            self.distance = np.where(self.squares > 0.0, self.slack / np.sqrt(self.squares), np.inf)

    def _screen(self):
        """Drop the features that are 0 at every optimum."""
        gap = max(self.gap, 0.0)
        far = self.slack > np.sqrt(2.0 * gap * self.stiffest * self.squares) * (1 + 1e-6)
        kept = np.flatnonzero(~far | (self.w[self.columns.index] != 0.0))
        if len(kept) <= SHRUNK * len(far):
            self.columns = self.columns.part(kept)
            self.distance, self.squares = self.distance[kept], self.squares[kept]
            self.v = None if self.v is None else self.v[kept]

    # Rounds on a working set.

    def round(self):
        """Newton steps on a working set until its gap is small beside that of all features."""
        if self.v is None:
            self.v = self._sum(self.columns, self.at.shares)
        places = self._working_set()
        part, v, squares = self.columns.part(places), self.v[places], self.squares[places]
        target = LAST * self.tol * abs(self.primal)
        if part is not self.columns:
            target = max(target, SHARE * self.gap)
        self.v = None
        for _ in range(ROUND):
            if not self._step(part, v, squares, target) or self.primal - self.guess_dual <= target:
                break
            v = self._sum(part, self.at.shares)
            self.v = v if part is self.columns else None
            own = self._dual(v, part.index, self.at.shares).value
            if own > self.guess_dual:
                self.guess = None
            if self.primal - own <= target:
                break

    def fall(self, share):
        """Newton steps on all features until one lowers P by less than a share of it."""
        for _ in range(ROUND):
            before = self.primal
            if not self._step(self.columns, self._sum(self.columns, self.at.shares), self.squares, np.inf):
                break
            if before - self.primal <= share * abs(before):
                break

    def _guess(self, part, shares):
        """Keep the duals of the model's minimum where they are the best of this working set."""
        value = self._dual(self._sum(part, shares), part.index, shares).value
        if value > self.guess_dual:
            self.guess, self.guess_dual = shares, value

    def _working_set(self):
        d = len(self.columns.index)
        support = self.w[self.columns.index] != 0.0
        self.size = max(self.size, FIRST, GROWTH * int(support.sum()))
        if max(self.size, FEW) >= d:
            return np.arange(d)
        distance = np.where(support, -np.inf, self.distance)
        return np.sort(np.argpartition(distance, self.size)[: self.size])

    def _step(self, part, v, squares, target) -> bool:
        """A proximal Newton step on a part of the features, whose v is given; whether it moved."""
        problem, index = self.problem, part.index
        w, r, held = self.w[index], self.regulariser.strength[index], self.regulariser.held[index]
        h = problem.smooth.curvatures(self.at.shares, 1.0)
        slope = -float((problem.upper_duals * self.at.shares).sum()) if self.has_bias else None
        miss = np.where(
            w != 0.0, np.abs(r * np.sign(w) - v), np.maximum(np.where(held, v, np.abs(v)) - r, 0.0)
        )
        worst, weakest = float(miss.max(initial=0.0)), self.regulariser.weakest
        enough = INNER * worst
        if worst <= FAR * weakest:
            enough = min(enough, self._precision(target) * weakest)
        damp = self.damp * self.stiffest * squares
        d, b = part.model(h).descend(-v, slope, w, r, held, damp, enough, self.sweeps)
        dS = part.scores(d) + b
        if worst <= FAR * weakest and target < np.inf:
            # Balanced before they are summed up: where losses end, the model's duals need not balance.
            self._guess(part, problem.shares.balanced(problem.shares.moved(self.at.shares, h, dS)))
        decrease = float(v @ d) - (slope or 0.0) * b - float(r @ (np.abs(w + d) - np.abs(w)))
        return decrease > 0.0 and self._search(index, w, d, b, dS, decrease)

    def _precision(self, target):
        """By what share |v_j| may be above r_j, so that duals which are made smaller by it lose little of a
        gap of `target`."""
        primal = abs(self.primal)
        if not primal:
            return 1.0
        return min(0.2 * target / max(self.penalty, 1e-3 * primal), np.sqrt(0.2 * target / primal))

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
