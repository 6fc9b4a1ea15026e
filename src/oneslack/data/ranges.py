"""Unions of ranges of rows: which of them were seen."""

from __future__ import annotations

from bisect import bisect_right, insort
from math import inf


class Ranges:
    """A union of ranges of rows."""

    def __init__(self):
        self.bounds = []  # (lo, hi), rising and apart from each other

    def covers(self, lo, hi) -> bool:
        k = bisect_right(self.bounds, (lo, inf)) - 1
        return k >= 0 and hi <= self.bounds[k][1]

    def add(self, lo, hi):
        apart = [(a, b) for a, b in self.bounds if b < lo or hi < a]
        near = [(lo, hi), *((a, b) for a, b in self.bounds if not (b < lo or hi < a))]
        insort(apart, (min(a for a, _ in near), max(b for _, b in near)))
        self.bounds = apart
