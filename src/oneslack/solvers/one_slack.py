"""One-slack cutting planes.

Minimises  P(w) = 1/2 |r (w - prior)|^2 + weight R(w)  by planes under the mean risk R:

    R(w) >= b_j - <g_j, w>          g_j = mean_i delta_i,  b_j = mean_i loss_i  at some earlier point

Each round adds a plane and solves the dual over all of them; its value D bounds min P from below, its
w is the next candidate.  Joachims (2006), Algorithm 1; Joachims, Finley & Yu (2009), Algorithm 3.

With `line_search` (Franc & Sonnenburg 2009) the best w so far is kept: where the model offers scores,
the line from it to the candidate is searched exactly, which costs no pass over the data, and the next
plane is taken a little beyond the new best point; otherwise the two slopes known at the ends give a
secant point, tried when the candidate itself is no better.  Without it, the plain algorithm.

With a cache, the QP is over all planes that remembered cuts can make, of which none is formed
(remembered_planes.py).  Where workers remember, or the clock decides whether a cache pays, the worst of these
planes is added, one after the other (memory/cut_cache.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..certificate.rounding import norm_up
from ..memory.remembered import Remembered
from ..memory.state_coding import check_point, check_scores
from ..objective import inner
from ..result import Step
from .line import Line, minimise_on_line, way_between
from .planes import Planes
from .remembered_planes import steps_over

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
    enough       what the QP over the remembered cuts may leave open, as a share of the gap, or with `parts`
                 of what the last part added; None decides by the clock whether the cache or the oracle pays
                 more per second
    planes       planes a round, each under the risk of a group of neighbouring examples, with a slack a
                 group; for models with scores
    parts        with a cache and `enough` given, the oracle is asked about one part of so many at a time, the
                 examples most in doubt; 0 asks about all, as the paper does.  16 or so halve the questions
                 to a dear oracle, by more looks at the cache

    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> problem = oneslack.Problem(oneslack.Binary(2), X, y, C=1.0)
    >>> oneslack.solve(problem, oneslack.OneSlack(line_search=False), epsilon=1e-3).status.name
    'EPSILON'
    """

    line_search: bool = True
    beyond: float = 0.02
    exact: float = 3e-3
    inner: float = 0.1
    drop_after: int = 50
    cache_size: int = 0
    enough: float | None = 0.3
    parts: int = 0
    planes: int = 1

    name = "one_slack"
    needs = ("weights", "squares")

    def steps(self, problem, start=None, tol=1e-3):
        start = start or {}
        if self._remembers_cuts(problem):
            store = Remembered(problem, problem.upper_duals, limit=self.cache_size)
            yield from steps_over(problem, store, 0, start, tol, self.enough, self.drop_after, self.parts)
            return
        planes = Planes(
            problem.regulariser, problem.weight, problem.floor, self.drop_after, self._n_groups(problem)
        )
        w = start.get("w")
        best = Best(problem.regulariser.start() if w is None else problem.regulariser.feasible(w))
        layout = self._layout(problem, planes.n_groups)
        # Planes under other groups' risks, summed, would not lie under the risk: then only w is of use.
        if "planes" in start and start.get("layout") == layout:
            planes.restore(start["planes"])
            best.restore(start.get("best", {}))
            check_point(problem, best.w)
            if best.S is not None:
                check_scores(problem, best.S)
                best.way = problem.scores.believed(best.w, best.S, best.way)
        cache = None
        if self.cache_size and problem.scores is None:
            cache = problem.cut_cache(self.cache_size, self.enough)
            if "cache" in start:
                cache.restore(start["cache"])
        if self.line_search and problem.scores is not None:
            rounds = self._exact(problem, planes, best)
        else:
            rounds = (self._secant if self.line_search else self._plain)(problem, planes, best, cache)
        lowest, highest, idle = np.inf, -np.inf, 0
        for violation in rounds:
            progress = best.primal < lowest or planes.dual > highest
            idle = 0 if progress else idle + 1
            lowest, highest = min(lowest, best.primal), max(highest, planes.dual)
            yield Step(
                w=best.w if np.isfinite(best.primal) or best.candidate is None else best.candidate,
                dual=planes.dual,
                primal=best.primal,
                n_cuts=len(planes),
                violation=violation,
                stalled=idle >= PATIENCE,
                proof=lambda: planes.proof(problem),
                way=best.way,
                found=min(best.found, best.primal),
                state=lambda: self._state(planes, best, cache) | {"layout": layout},
            )

    def _remembers_cuts(self, problem):
        """Whether the cuts of all examples are remembered here, with duals of their own."""
        if not self.cache_size or self.enough is None or problem.scores is not None:
            return False
        return problem.oracle is not None and not problem.parts and not problem.regulariser.n_free

    @staticmethod
    def at_other_C(state, ratio):
        """Planes under the risk are so for any C, as cuts are; duals as the same shares of their bounds."""
        if "store" in state:
            return {"cuts": (state["store"], ratio)}
        if "planes" not in state:
            return {}
        planes = state["planes"]
        rescaled = planes | {"a": ratio * planes["a"], "dual": -np.inf}
        return {"planes": rescaled, "layout": state.get("layout")}

    @staticmethod
    def _state(planes, best, cache):
        state = {"planes": planes.state(), "w": best.w, "best": best.state()}
        return state | ({"cache": cache.state()} if cache else {})

    def _candidate(self, planes, best):
        """The optimum over the planes, solved to a share of the current gap."""
        gap = min(best.found, best.primal) - planes.dual  # what training can close
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
            plane, risk, inference = self._plane_at(problem, w, cache)
            violation = risk - planes.model_value(w) if len(planes) else None
            best.offer(
                w, problem.regulariser.value(w) + problem.weight * risk, plane, problem.weight * inference
            )
            planes.add(plane, place=w if problem.sees_scores else None)
            best.candidate = self._candidate(planes, best)
            yield violation

    def _exact(self, problem, planes, best):
        """Best point, exact line search through scores, next plane a little beyond."""
        regulariser = problem.regulariser
        if best.S is None:
            best.S = problem.scores(best.w)
            best.primal = regulariser.value(best.w) + problem.weight * problem.scores.risk(best.S)
            best.way = norm_up(best.w)
        S = best.S
        # Beyond the candidate a weight that is held >= 0 might be negative.
        farthest = 64.0 if regulariser.nonnegative is None else 1.0
        if not planes.n_added:
            self._add_at(problem, planes, S, best.w)
        while True:
            candidate = self._candidate(planes, best)
            dS = problem.scores(candidate)
            dS -= S
            added = None if best.way is None else partial(way_between, best.way, norm_up(candidate))
            line = Line(problem, best.w, S, candidate - best.w, dS, added)
            gap = best.primal - planes.dual
            t, end = minimise_on_line(line, best.primal, self.exact * gap, best.length, farthest)
            if t > 0:
                found = line.point(t)
                if best.offer(found.w, found.primal):
                    S, best.S, best.way = found.S, found.S, found.way
                else:
                    t = 0.0
            best.length = min(max(t, 0.01), 1.0)  # steps are often as long as the last one
            # A little beyond the best point; where cuts are dear, the nearest that the search has seen.
            nearby = end if problem.scores.has_dear_cuts else t + self.beyond * (1.0 - t)
            # Without a step, the candidate's plane too: or the same candidate may come back for ever.
            for place in [nearby] if t > 0.0 else [nearby, 1.0]:
                if self.planes > 1:
                    self._add_at(problem, planes, line.scores(place))
                else:
                    planes.add(line.cut(place), place=line.w + place * line.direction)
            yield None  # P - D of the best point is never larger than the candidate's violation

    def _n_groups(self, problem):
        if self.planes == 1:
            return 1
        scores = problem.scores
        can = self.line_search and scores is not None and not scores.has_dear_cuts
        if not can or problem.regulariser.nonnegative is not None:
            raise ValueError(
                "OneSlack(planes=...) needs a model with scores whose risk is a sum over examples, a line "
                "search and weights of any sign; leave planes at 1"
            )
        return problem.scores.n_groups(self.planes)

    @staticmethod
    def _layout(problem, n_groups):
        """Which examples the groups are: so many equal parts of all, or of what each worker holds."""
        return n_groups, problem.parts if n_groups > 1 else None

    def _add_at(self, problem, planes, S, w=None):
        """The plane at scores S, those of w, or one for each group of examples."""
        if self.planes == 1:
            planes.add(problem.scores.cut(S), place=w)
            return
        for group, plane in enumerate(problem.scores.group_cuts(S, self.planes)):
            planes.add(plane, group)

    def _secant(self, problem, planes, best, cache):
        """Without scores: the slopes at both ends of the line say where its minimum should be."""
        if best.plane is None:
            self._look(problem, planes, best, best.w, cache)
        direction = np.empty_like(best.w)  # one for all rounds: to touch new memory is dear where w is long
        while True:
            candidate = self._candidate(planes, best)
            if self._remembers(problem, planes, best, cache, candidate):
                yield None
                continue
            estimate = planes.model_value(candidate)
            before = best.primal
            np.subtract(candidate, best.w, out=direction)
            at_best = self._slope(problem, best.plane, best.w, direction)
            plane, risk = self._look(problem, planes, best, candidate, cache)
            violation = risk - estimate
            if best.primal >= before:
                at_candidate = self._slope(problem, plane, candidate, direction)
                if at_best < 0 < at_candidate:
                    t = at_best / (at_best - at_candidate)
                    direction *= t
                    self._look(problem, planes, best, best.w + direction, cache)
            yield violation

    @staticmethod
    def _remembers(problem, planes, best, cache, w):
        """Add the plane of the remembered cuts where it cuts off enough of the gap; says whether."""
        if cache is None or not len(planes) or not cache.is_worth_a_look(planes.dual):
            return False
        plane = cache.plane(w)
        cut_off = problem.weight * (plane.value(w) - planes.model_value(w))
        if not cache.cuts_off_enough(cut_off, min(best.found, best.primal) - planes.dual):
            return False
        planes.add(plane)
        return True

    @staticmethod
    def _look(problem, planes, best, w, cache):
        """(the plane at w, R(w)); w itself is taken where it is the best so far."""
        plane, risk, inference = OneSlack._plane_at(problem, w, cache)
        planes.add(plane)
        weight = problem.weight
        best.offer(w, problem.regulariser.value(w) + weight * risk, plane, weight * inference)
        return plane, risk

    @staticmethod
    def _plane_at(problem, w, cache):
        """(the plane at w, R(w), how much of it inference left open)."""
        if cache:
            return cache.ask(w)
        plane = problem.mean_cut(w)
        return plane, plane.value(w) + plane.excess, plane.excess

    @staticmethod
    def _slope(problem, plane, w, direction):
        return problem.regulariser.slope(w, direction)[0] - problem.weight * inner(plane.normal, direction)


class Best:
    """The best point so far, its primal value and its plane; the least that P was at any point by real
    outputs alone (`found`); the plain algorithm's next candidate, and for a line search the length of its
    last step, the scores and the way that they have come."""

    def __init__(self, w):
        self.w, self.primal, self.plane, self.candidate = w, np.inf, None, None
        self.length, self.S, self.way, self.found = 1.0, None, 0.0, np.inf

    def offer(self, w, primal, plane=None, inference=0.0) -> bool:
        self.found = min(self.found, primal - inference)
        if primal < self.primal:
            self.w, self.primal, self.plane = w, primal, plane
            return True
        return False

    def state(self):
        # Scores that workers hold are not written down: they are made anew from w.
        return {**vars(self), "S": self.S if isinstance(self.S, np.ndarray) else None}

    def restore(self, state):
        # Older ones did not write these down.
        vars(self).update({"way": None, "found": state.get("primal", np.inf)} | state)
