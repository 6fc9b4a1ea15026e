"""One-slack cutting planes.

Minimises  P(w) = 1/2 |w|^2 + weight R(w)  by planes under the mean risk R:

    R(w) >= b_j - <g_j, w>          g_j = mean_i delta_i,  b_j = mean_i loss_i  at some earlier point

Each round adds a plane and solves the dual over all of them; its value D bounds min P from below, its
w is the next candidate.  Joachims (2006), Algorithm 1; Joachims, Finley & Yu (2009), Algorithm 3.

With `line_search` (Franc & Sonnenburg 2009) the best w so far is kept: where the model offers scores,
the line from it to the candidate is searched exactly, which costs no pass over the data, and the next
plane is taken a little beyond the new best point; otherwise the two slopes known at the ends give a
secant point, tried when the candidate itself is no better.  Without it, the plain algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..objective import inner
from ..result import Step
from .cut_cache import CutCache
from .line import Line, minimise_on_line
from .planes import Planes

#: Rounds without any progress of either bound after which rounding is to blame.
PATIENCE = 200


@dataclass(frozen=True)
class OneSlack:
    """One-slack cutting planes.

    line_search  keep the best point and search the line to the candidate
    beyond       where the next plane is taken, as a share of the way from the best point on
    exact        the line is searched to this share of the current gap
    inner        the QP is solved to this share of the current gap
    drop_after   rounds without weight after which a plane is dropped
    cache_size   cuts remembered for each example and asked before the oracle; for models without scores
    enough       the share of the gap that a remembered plane must cut off to be taken; None decides by the
                 clock whether the cache or the oracle pays more per second
    """

    line_search: bool = True
    beyond: float = 0.02
    exact: float = 3e-3
    inner: float = 0.1
    drop_after: int = 50
    cache_size: int = 0
    enough: float | None = 0.3

    name = "one_slack"

    def steps(self, problem, start=None, tol=1e-3):
        planes = Planes(problem.regulariser, problem.weight, problem.floor, self.drop_after)
        start = start or {}
        w = start.get("w")
        best = Best(problem.regulariser.start() if w is None else np.array(w, dtype=float))
        if "planes" in start:
            planes.restore(start["planes"])
            best.restore(start["best"])
        cache = None
        if self.cache_size and not problem.has_scores:
            cache = CutCache(problem, self.cache_size, self.enough)
            if "cache" in start:
                cache.restore(start["cache"])
        if self.line_search and problem.has_scores:
            rounds = self._exact(problem, planes, best)
        else:
            rounds = (self._secant if self.line_search else self._plain)(problem, planes, best, cache)
        lowest, highest, idle = np.inf, -np.inf, 0
        for violation in rounds:
            progress = best.primal < lowest or planes.dual > highest
            idle = 0 if progress else idle + 1
            lowest, highest = min(lowest, best.primal), max(highest, planes.dual)
            yield Step(
                w=best.w,
                dual=planes.dual,
                primal=best.primal,
                n_cuts=len(planes),
                violation=violation,
                stalled=idle >= PATIENCE,
                state=lambda: self._state(planes, best, cache),
            )

    @staticmethod
    def _state(planes, best, cache):
        state = {"planes": planes.state(), "w": best.w, "best": best.state()}
        return state if cache is None else {**state, "cache": cache.state()}

    def _candidate(self, planes, best):
        """The optimum over the planes, solved to a share of the current gap."""
        gap = best.primal - planes.dual
        tol = self.inner * gap if np.isfinite(gap) else 0.0
        return planes.solve(max(tol, 1e-13 * abs(best.primal)))[0]

    def _plain(self, problem, planes, best, cache):
        """Algorithm 3: the plane of the candidate itself (line 4-6), the QP again (line 3)."""
        if best.candidate is None:
            best.candidate = best.w
        while True:
            if self._remembers(problem, planes, best, cache, best.candidate):
                best.candidate = self._candidate(planes, best)
                yield None
                continue
            w = best.candidate
            plane = cache.ask(w) if cache else problem.mean_cut(w)
            risk = plane.value(w)
            violation = risk - planes.model_value(w) if len(planes) else None
            best.offer(w, problem.regulariser.value(w) + problem.weight * risk, plane)
            planes.add(plane)
            best.candidate = self._candidate(planes, best)
            yield violation

    def _exact(self, problem, planes, best):
        """Best point, exact line search through scores, next plane a little beyond."""
        regulariser = problem.regulariser
        if best.S is None:
            best.S = problem.scores(best.w)
            best.primal = regulariser.value(best.w) + problem.weight * problem.risk_at(best.S)
        S = best.S
        if not planes.n_added:
            planes.add(problem.cut_at(S))
        while True:
            candidate = self._candidate(planes, best)
            dS = problem.scores(candidate)
            dS -= S
            line = Line(problem, best.w, S, candidate - best.w, dS)
            gap = best.primal - planes.dual
            t, end = minimise_on_line(line, best.primal, self.exact * gap, hi=best.length)
            if t > 0:
                w, moved = line.point(t)
                if best.offer(w, line.value(t)):
                    S = best.S = moved
                else:
                    t = 0.0
            best.length = min(max(t, 0.01), 1.0)  # steps are often as long as the last one
            # A little beyond the best point; where cuts are dear, the nearest that the search has seen.
            nearby = end if problem.has_dear_cuts else t + self.beyond * (1.0 - t)
            planes.add(line.cut(nearby))
            if t == 0.0:
                planes.add(line.cut(1.0))  # or the same candidate may come back for ever
            yield None  # P - D of the best point is never larger than the candidate's violation

    def _secant(self, problem, planes, best, cache):
        """Without scores: the slopes at both ends of the line say where its minimum should be."""
        if best.plane is None:
            self._look(problem, planes, best, best.w, cache)
        while True:
            candidate = self._candidate(planes, best)
            if self._remembers(problem, planes, best, cache, candidate):
                yield None
                continue
            estimate = planes.model_value(candidate)
            before, direction = best.primal, candidate - best.w
            at_best = self._slope(problem, best.plane, best.w, direction)
            plane = self._look(problem, planes, best, candidate, cache)
            violation = plane.value(candidate) - estimate
            if best.primal >= before:
                at_candidate = self._slope(problem, plane, candidate, direction)
                if at_best < 0 < at_candidate:
                    t = at_best / (at_best - at_candidate)
                    self._look(problem, planes, best, best.w + t * direction, cache)
            yield violation

    @staticmethod
    def _remembers(problem, planes, best, cache, w):
        """Add the plane of the remembered cuts where it cuts off enough of the gap; says whether."""
        if cache is None or not len(planes) or not cache.is_worth_a_look(planes.dual):
            return False
        plane = cache.plane(w)
        cut_off = problem.weight * (plane.value(w) - planes.model_value(w))
        if not cache.cuts_off_enough(cut_off, best.primal - planes.dual):
            return False
        planes.add(plane)
        return True

    @staticmethod
    def _look(problem, planes, best, w, cache):
        """Take the plane at w, and w itself where it is the best so far."""
        plane = cache.ask(w) if cache else problem.mean_cut(w)
        planes.add(plane)
        primal = problem.regulariser.value(w) + problem.weight * plane.value(w)
        best.offer(w, primal, plane)
        return plane

    @staticmethod
    def _slope(problem, plane, w, direction):
        return problem.regulariser.slope(w, direction)[0] - problem.weight * inner(plane.normal, direction)


class Best:
    """The best point so far, its primal value and its plane; the plain algorithm's next candidate, and
    for a line search the length of its last step and the scores."""

    def __init__(self, w):
        self.w, self.primal, self.plane, self.candidate = w, np.inf, None, None
        self.length, self.S = 1.0, None

    def offer(self, w, primal, plane=None) -> bool:
        if primal < self.primal:
            self.w, self.primal, self.plane = w, primal, plane
            return True
        return False

    def state(self):
        return dict(vars(self))

    def restore(self, state):
        vars(self).update(state)
