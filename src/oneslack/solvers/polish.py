"""The best point near a given one, by its scores alone: the best multiple of it, then the best intercept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..certificate.rounding import norm_up
from .line import Line, Place, minimise_on_line

#: How many times its length a line is searched.
FAR = 64.0
#: By what share of itself w is about too short or too long when it is looked at.
NEAR = 0.02


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
