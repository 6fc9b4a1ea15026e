"""Exact search of a line: the risk's slope along it is known from scores, without a data pass."""

from __future__ import annotations


def minimise_on_line(slope, enough=0.0, hi=1.0, max_hi=64.0):
    """The t >= 0 where the increasing function `slope` crosses zero.

    Brackets by doubling, then interpolates and halves in turn (the slope has jumps, so interpolation
    alone may creep).  Between two points the function is above its minimum by at most their distance
    times the smaller slope: when that is at most `enough`, the flatter end is taken.
    """
    low, at_low = 0.0, slope(0.0)
    if at_low >= 0:
        return 0.0
    at_high = slope(hi)
    while at_high < 0:
        if hi >= max_hi:
            return hi
        low, at_low = hi, at_high
        hi *= 2.0
        at_high = slope(hi)
    halve = False
    # Steps shorter than rounding are none, even where rounding has made `enough` negative.
    while hi - low > 1e-15 * max(hi, 1.0) and (hi - low) * min(-at_low, at_high) > enough:
        t = 0.5 * (low + hi)
        if not halve:
            t = low + (hi - low) * at_low / (at_low - at_high)
            t = min(max(t, low + 0.01 * (hi - low)), hi - 0.01 * (hi - low))
        halve = not halve
        value = slope(t)
        if value < 0:
            low, at_low = t, value
        else:
            hi, at_high = t, value
    return low if -at_low < at_high else hi


def search(problem, w, S, direction, dS, enough):
    """The t >= 0 at which P(w + t direction) is within `enough` of its minimum on the line."""
    first, second = problem.regulariser.slope(w, direction)

    def slope(t):
        return first + t * second + problem.weight * problem.slope_at(S, dS, t)

    return minimise_on_line(slope, enough)
