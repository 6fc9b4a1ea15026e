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
        many of those looked at may move.  Farther from moving than the horizon an example is passed by.

        A place is (place in the order, rows of that piece that were seen to).
        """
        known, moving = np.sort(rows.index), 0

        def look(k, seen_to):
            lo, hi = self.pieces[k]
            return self._look(lo, seen_to, hi, known, w, points, horizon)

        engine = self.problem.engine
        ahead = 2 * engine.n_jobs if engine.n_jobs > 1 else 1  # what finds no room is looked at again
        place, seen_to = place
        while place < len(order):
            for k in order[place + ahead : place + AHEAD * ahead]:
                self.source.read_ahead(*self.pieces[k])
            some = order[place : place + ahead]
            for seen in engine.map(lambda at: look(*at), zip(some, [seen_to] + (len(some) - 1) * [0])):
                chosen = seen.chosen[: rows.room_for(seen.part, seen.chosen)]
                rows.add(seen.part, seen.lo + chosen, chosen)
                self.source.release(seen.lo)
                if points:
                    points.risks = points.risks + seen.risks
                moving += seen.moving
                if len(chosen) < len(seen.chosen):
                    lo, _ = self.pieces[order[place]]
                    return (place, seen.lo + int(seen.chosen[len(chosen)]) - lo), moving
                place, seen_to = place + 1, 0
        return (place, 0), moving

    def _look(self, lo, seen_to, hi, known, w, points, horizon):
        """The rows of a piece from seen_to on; risks and what may move are those of the whole piece, once."""
        is_first = seen_to == 0
        lo += seen_to
        model, part, rows = self.problem.model, self.source.part(lo, hi), Shard(0, hi - lo)
        risks = points.risks_on(model, part, rows) if points and is_first else 0.0
        is_new = part.weights > 0.0  # the duals of the others are 0
        moving = hi - lo
        if w.any():
            S = model.new_scores(part)
            model.scores(part, rows, w, S)
            rest = model.rest(part, S, self.duals.shares(slice(lo, hi), part.y))
            is_new &= rest <= horizon
            moving = int((rest <= 0.0).sum())
        is_new[known[np.searchsorted(known, lo) : np.searchsorted(known, hi)] - lo] = False
        return Seen(lo, part, np.flatnonzero(is_new), risks, moving if is_first else 0)
