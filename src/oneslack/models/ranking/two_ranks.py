"""One large group of two ranks (ROC area, AUC): pairs counted without sorting, by threads.

    R = sum over active pairs of s_i s_j (v_j - v_i)         v_i = f_i (uppers),  v_j = f_j + 1 (lowers)

Values are thrown into cells of width h, and only pairs in different cells are counted (_jit/two_ranks.py).
Any set of pairs gives a plane under R, so cuts are valid; R itself lies above what was counted by at most
h sum over cells (weight of uppers) (weight of lowers), which is added, so that the primal is an upper bound.
Where that is not negligible (an outlier has made the cells wide), the items are to be sorted instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...data.rows import equal_shards

#: Fewer items are as quickly sorted.
WORTHWHILE = 50_000
#: What pairs in one cell may add to R, as a share of it.
NEGLIGIBLE = 1e-7
#: The pieces of each rank.
PIECES = 2


class Piece:
    """Neighbouring positions of one rank, and room for what is found about them."""

    def __init__(self, rows, s, is_upper):
        from ..._jit.two_ranks import CELLS

        self.rows, self.s = rows, s
        self.lead, self.sign = (0.0, 1.0) if is_upper else (1.0, -1.0)
        self.v, self.cells = np.empty(len(rows)), np.empty(len(rows), np.uint16)
        self.table = np.empty(CELLS, np.int64 if s is None else np.float64)


@dataclass
class TwoRanks:
    """Positions p < middle are the lowers, the others the uppers."""

    rows: np.ndarray
    s: np.ndarray | None
    middle: int
    scale: float
    _rooms: list = field(default_factory=list, repr=False)

    def look(self, map, S, dS=None, t=0.0, coefficients=None):
        """(loss, R, slope) at S + t dS, scaled, or None; fills the coefficients of the cut."""
        try:
            pieces = self._rooms.pop()
        except IndexError:
            pieces = self._pieces()
        try:
            return self._count(map, pieces, S, dS, t, coefficients)
        finally:
            self._rooms.append(pieces)

    def _count(self, map, pieces, S, dS, t, coefficients):
        from ..._jit.two_ranks import CELLS, add_up, count_pairs, fill_cells, gather_values

        ends = map(lambda part: gather_values(part.rows, S, dS, t, part.lead, part.v), pieces)
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        if not 0.0 < high - low < np.inf or not np.isfinite(CELLS / (high - low)):
            return None
        per_unit = (CELLS - 1) / (high - low)
        map(lambda part: fill_cells(part.v, part.s, low, per_unit, part.cells, part.table), pieces)
        uppers, lowers = (sum(part.table for part in half) for half in (pieces[:PIECES], pieces[PIECES:]))
        shared = count_pairs(uppers, lowers) * (1.0 + 1e-6) / per_unit  # a cell may be wider by rounding

        def add(part):
            table = lowers if part.sign > 0 else uppers
            return add_up(
                part.rows, part.cells, table, part.sign, part.s, S, dS, t, self.scale, coefficients
            )  # fmt: skip

        sums = map(add, pieces)
        loss = sum(part[0] for part in sums[:PIECES])
        counted = loss - sum(part[1] for part in sums)
        if not shared <= NEGLIGIBLE * counted:
            return None
        slope = sum(part[2] for part in sums)
        return self.scale * loss, self.scale * (counted + shared), -self.scale * slope

    def _pieces(self):
        """Those of the uppers, then those of the lowers."""
        halves = ((self.middle, len(self.rows), True), (0, self.middle, False))
        return [
            Piece(self.rows[k.lo : k.hi], None if self.s is None else self.s[k.lo : k.hi], is_upper)
            for lo, hi, is_upper in halves
            for k in equal_shards(lo, hi, PIECES)
        ]
