"""Exact search of a line: the risk and its slope along it are known from scores, without a data pass.

`polish` finds the best point near a given one in this way: the best multiple of it, then the best intercept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..certificate.rounding import moved, norm_up

#: How many times its length a line is searched.
FAR = 64.0
#: By what share of itself w is about too short or too long when it is looked at.
NEAR = 0.02


class Place(NamedTuple):
    """A point, its scores, P there, and the way that the scores have come, as in Step."""

    w: np.ndarray
    S: np.ndarray
    primal: float
    way: float | None


class Line:
    """P(w + t direction) and its slope, from scores S + t dS; each t is paid for once.

    added(t)  the way of S + t dS, but for the rounding of this sum (rounding.moved); None: nobody knows
    """

    def __init__(self, problem, w, S, direction, dS, added=None):
        self.problem, self.w, self.S, self.direction, self.dS = problem, w, S, direction, dS
        self.added = added
        self.regular = problem.regulariser.value(w)
        self.first, self.second = problem.regulariser.slope(w, direction)
        self.seen = {}

    def value(self, t) -> float:
        along = t * self.first + 0.5 * t * t * self.second
        return self.regular + along + self.problem.weight * self.look(t).risk

    def slope(self, t) -> float:
        return self.first + t * self.second + self.problem.weight * self.look(t).slope

    def point(self, t) -> Place:
        """What is at t."""
        w = self.w + t * self.direction
        primal = self.problem.regulariser.value(w) + self.problem.weight * self.look(t).risk
        way = None if self.added is None else moved(self.added(t), self.w, t, self.direction)
        return Place(w, self.scores(t), primal, way)

    def start(self) -> Place:
        """What is at 0, where nothing is added."""
        way = None if self.added is None else self.added(0.0)
        return Place(self.w, self.S, self.value(0.0), way)

    def reversed(self) -> Line:
        """The same line, the other way."""
        added = self.added and (lambda t: self.added(-t))
        return Line(self.problem, self.w, self.S, -self.direction, -self.dS, added)

    def scores(self, t):
        return self.S + t * self.dS

    def cut(self, t):
        """The plane at t."""
        look = self.seen.get(t)
        if look is None or look.coefficients is None:
            return self.problem.scores.cut(self.scores(t))
        return self.problem.scores.plane(look.coefficients, look.loss)

    def look(self, t):
        if t not in self.seen:
            self.seen[t] = self.problem.scores.along(self.S, self.dS, t)
        return self.seen[t]


def way_between(at_zero, at_one, t) -> float:
    """The way of scores at t between two points, from those of the points."""
    return abs(1.0 - t) * at_zero + abs(t) * at_one


def minimise_on_line(line, at_zero, enough=0.0, hi=1.0, max_hi=64.0):
    """(t, end): t >= 0 where a convex function is within `enough` of its minimum, and the far end of the
    interval that is known to hold it.  `at_zero` is the value at 0.

    Brackets by doubling, then interpolates and halves in turn (the slope has jumps, so interpolation
    alone may creep).  Between two points the function is above its minimum by at most their distance
    times the smaller slope: when that is at most `enough`, the flatter end is taken.  The slope at 0 is
    guessed from the value there, and looked at only when the guess says that there is no way down.
    """
    low, at_high = 0.0, line.slope(hi)
    is_guess = at_high >= 0
    if is_guess:
        at_low = 2.0 * (line.value(hi) - at_zero) / hi - at_high
        if at_low >= 0:
            is_guess, at_low = False, line.slope(0.0)
            if at_low >= 0:
                return 0.0, hi
    while at_high < 0:
        if hi >= max_hi:
            return hi, hi
        low, at_low = hi, at_high
        hi = min(2.0 * hi, max_hi)
        at_high = line.slope(hi)
    halve = False
    # Steps shorter than rounding are none, even where rounding has made `enough` negative.
    while hi - low > 1e-15 * max(hi, 1.0):
        flatter = at_high if is_guess else min(-at_low, at_high)
        if (hi - low) * flatter <= enough:
            break
        t = 0.5 * (low + hi)
        if not halve:
            t = low + (hi - low) * at_low / (at_low - at_high)
            t = min(max(t, low + 0.01 * (hi - low)), hi - 0.01 * (hi - low))
        halve = not halve
        slope = line.slope(t)
        if slope < 0:
            low, at_low, is_guess = t, slope, False
        else:
            hi, at_high = t, slope
    return hi if is_guess or at_high <= -at_low else low, hi


class Origin(NamedTuple):
    """Where the regulariser is least, and its scores."""

    w: np.ndarray
    S: np.ndarray

    @staticmethod
    def of(problem) -> Origin | None:
        """None for 0."""
        if problem.regulariser.prior is None:
            return None
        w = problem.regulariser.start()
        return Origin(w, problem.scores(w))


def polish(problem, w, S, enough, origin=None) -> Place:
    """The best multiple of w, whose scores are S, or point of the line to it from the origin of the
    regulariser, then the best intercept for it: all without a pass over the data."""
    direction, dS = (w, S) if origin is None else (w - origin.w, S - origin.S)
    ways = norm_up(w), 0.0 if origin is None else norm_up(origin.w)
    line = Line(problem, w, S, direction, dS, lambda t: abs(1.0 + t) * ways[0] + abs(t) * ways[1])
    found = _lowest(line, enough, NEAR, *_ends(problem.regulariser, w, direction))
    if problem.regulariser.n_free == 1:
        direction = np.zeros_like(w)
        direction[problem.regulariser.free] = 1.0
        dS = np.ones_like(S) if isinstance(S, np.ndarray) else problem.scores(direction)
        line = Line(problem, found.w, found.S, direction, dS, lambda t, way=found.way: way + abs(t))
        found = _lowest(line, enough, 1.0)
    return found


def _ends(regulariser, w, direction):
    """How far w may go forwards and backwards until a weight that is held >= 0 would leave; backwards lies
    the origin of the regulariser."""
    if regulariser.nonnegative is None:
        return FAR, FAR
    falling = regulariser.nonnegative & (direction < 0)
    return float(np.min(w[falling] / -direction[falling], initial=FAR)), 1.0


def _lowest(line, enough, near, forwards=FAR, backwards=FAR) -> Place:
    """The lowest point of a line, both ways; it is looked for as far as `near` first."""
    start, end = line.start(), forwards
    if line.slope(0.0) > 0:
        line, end = line.reversed(), backwards
    if end == 0.0:
        return start
    t, _ = minimise_on_line(line, start.primal, enough, min(near, end), end)
    found = line.point(t) if t > 0 else start
    return found if found.primal < start.primal else start
