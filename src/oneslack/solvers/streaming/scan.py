"""A read as far as the working set has room: examples that rest far from moving are looked at and passed by.

At scores S of the last w an example whose dual rests at a bound, and is farther than the horizon from leaving
it, would not move if it were taken into memory; nor does it need to be, as its dual is kept (kept_duals.py).
So what fills the working set are the examples that matter, as in the mining of hard examples (Ramanan 2013,
section 3), and it is optimised once it is full: seldom, and over much of the data at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...data.rows import Shard

#: So many times the pieces that are looked at together the disk reads them, and those behind them, ahead.
AHEAD = 3


class Seen(NamedTuple):
    """part: packed examples from number `lo` on, of which `chosen` may move, or nearly so; risks: of the
    points that were looked at; moving: how many may move."""

    lo: int
    part: object
    chosen: np.ndarray
    risks: np.ndarray | None
    moving: int


class Scan:
    """Fills a working set from the pieces of a source.

    duals    KeptDuals of all examples
    """

    def __init__(self, problem, source, pieces, duals):
        self.problem, self.source, self.pieces = problem, source, pieces
        self.duals = duals

    def fill(self, rows, order, place, w, points, horizon):
        """Take what matters of pieces order[place:] into `rows` while there is room; the next place, and how
        many of those looked at may move.  Farther from moving than the horizon an example is passed by."""
        known, moving = np.sort(rows.index), 0

        def look(k):
            return self._look(*self.pieces[k], known, w, points, horizon)

        engine = self.problem.engine
        ahead = 2 * engine.n_jobs if engine.n_jobs > 1 else 1  # what finds no room is looked at again
        while place < len(order):
            for k in order[place + ahead : place + AHEAD * ahead]:
                self.source.read_ahead(*self.pieces[k])
            for seen in engine.map(look, order[place : place + ahead]):
                if not rows.has_room_for(seen.part, seen.chosen):
                    return place, moving
                if len(seen.chosen):
                    rows.add(seen.part, seen.lo + seen.chosen, seen.chosen)
                self.source.release(seen.lo)
                if points:
                    points.risks = points.risks + seen.risks
                place, moving = place + 1, moving + seen.moving
        return place, moving

    def _look(self, lo, hi, known, w, points, horizon):
        model, part, rows = self.problem.model, self.source.part(lo, hi), Shard(0, hi - lo)
        risks = points.risks_on(model, part, rows) if points else None
        is_new = part.weights > 0.0  # the duals of the others are 0
        moving = hi - lo
        if w.any():
            S = model.new_scores(part)
            model.scores(part, rows, w, S)
            rest = model.rest(part, S, self.duals.shares(slice(lo, hi), part.y))
            is_new &= rest <= horizon
            moving = int((rest <= 0.0).sum())
        is_new[known[np.searchsorted(known, lo) : np.searchsorted(known, hi)] - lo] = False
        return Seen(lo, part, np.flatnonzero(is_new), risks, moving)
