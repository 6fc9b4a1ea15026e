"""How long a training may still take, and what it has used: honest about not knowing."""

from __future__ import annotations

import math

#: Points of the closing gap from which on a guess is made.
FEW = 4
#: Guesses from the newest and from all points may differ by this much; else nothing is said.
UNSURE = 3.0


def seconds_left(points, tol) -> tuple[float, float] | None:
    """(least, most) seconds until the gap is `tol`, from [(seconds, gap)]; None where that is a riddle.

    The log of the gap is continued as a straight line, once through all the points and once through the
    newer half: their two answers are the range.
    """
    points = [(second, math.log(gap)) for second, gap in points if math.isfinite(gap) and gap > 0]
    if not tol or len(points) < FEW:
        return None
    guesses = [_left(points, math.log(tol)), _left(points[len(points) // 2 :], math.log(tol))]
    if None in guesses or max(guesses) > UNSURE * max(min(guesses), 0.1):
        return None
    return min(guesses), max(guesses)


def _left(points, goal):
    """Seconds from the last point until a line through the points is at the goal; None if it never is."""
    from statistics import linear_regression

    seconds, logs = zip(*points)
    slope = linear_regression(seconds, logs).slope if len(set(seconds)) > 1 else 0.0
    return max(0.0, (goal - logs[-1]) / slope) if slope < 0 else None


def in_words(left) -> str:
    """Such a range as a few words; nothing where it is not known."""
    if left is None:
        return ""
    low, high = (_time(value) for value in left)
    return f"about {low} to go" if low == high else f"about {low} to {high} to go"


def _time(seconds) -> str:
    if seconds < 1:
        return "1 s"
    if seconds < 120:
        return f"{float(f'{seconds:.2g}'):.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"


def in_use() -> int | None:
    """Bytes that this process has for itself now, without files that are mapped; None where the system does
    not say."""
    try:
        with open("/proc/self/status", encoding="ascii") as file:
            words = next(line.split() for line in file if line.startswith("RssAnon"))
    except (OSError, StopIteration):
        return None
    return 1024 * int(words[1])


def memory() -> list[str]:
    """The memory of this process in words, where it is known."""
    from ..data import bytes as sizes

    used = in_use()
    return [] if used is None else [sizes.in_words(used)]


def work(row) -> list[str]:
    """What was asked of the decoder, where there is one."""
    if not getattr(row, "oracle_calls", 0):
        return []
    share = 100 * row.oracle_seconds / row.seconds if row.seconds > 0 else 0.0
    words = [f"decoder asked {row.oracle_calls:,} times ({share:.0f} % of the time)"]
    return words + ([f"{row.cached:,} answers known before"] if row.cached else [])
