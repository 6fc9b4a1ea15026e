"""A read as far as the working set has room: examples that rest far from moving are looked at and passed by.

At scores S of the last w an example whose dual rests at a bound, and is farther than the horizon from leaving
it, would not move if it were taken into memory; nor does it need to be, as its dual is kept (kept_duals.py).
So what fills the working set are the examples that matter, as in the mining of hard examples (Ramanan 2013,
section 3), and it is optimised once it is full: seldom, and over much of the data at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...data.rows import Shard

#: So many times the pieces that are looked at together the disk reads them, and those behind them, ahead.
AHEAD = 3


class Seen(NamedTuple):
    """part: packed examples that may move, `index` their numbers; risks: of the points that were looked at;
    moving: how many may move."""

    part: object
    index: np.ndarray
    risks: np.ndarray | None
    moving: int


class Scan:
    """Fills a working set from the pieces of a source.

    duals    KeptDuals of all examples
    horizon  farther from moving than this an example is passed by
    """

    def __init__(self, problem, source, pieces, duals, horizon):
        self.problem, self.source, self.pieces = problem, source, pieces
        self.duals, self.horizon = duals, horizon

    def fill(self, rows, order, place, w, points):
        """Take what matters of pieces order[place:] into `rows` while there is room; the next place, and how
        many of those looked at may move."""
        known, moving = np.sort(rows.index), 0

        def look(k):
            return self._look(*self.pieces[k], known, w, points)

        engine = self.problem.engine
        ahead = 2 * engine.n_jobs if engine.n_jobs > 1 else 1  # what finds no room is looked at again
        while place < len(order):
            for k in order[place + ahead : place + AHEAD * ahead]:
                self.source.read_ahead(*self.pieces[k])
            for seen in engine.map(look, order[place : place + ahead]):
                if not rows.has_room_for(seen.part):
                    return place, moving
                if len(seen.index):
                    rows.add(seen.part, seen.index)
                if points:
                    points.risks = points.risks + seen.risks
                place, moving = place + 1, moving + seen.moving
        return place, moving

    def _look(self, lo, hi, known, w, points):
        model, part, rows = self.problem.model, self.source.part(lo, hi), Shard(0, hi - lo)
        risks = points.risks_on(model, part, rows) if points else None
        is_new = part.weights > 0.0  # the duals of the others are 0
        moving = hi - lo
        if w.any():
            S = model.new_scores(part)
            model.scores(part, rows, w, S)
            rest = model.rest(part, S, self.duals.shares(slice(lo, hi), part.y))
            is_new &= rest <= self.horizon
            moving = int((rest <= 0.0).sum())
        is_new[known[np.searchsorted(known, lo) : np.searchsorted(known, hi)] - lo] = False
        chosen = np.flatnonzero(is_new)
        part = replace(part, X=part.X[chosen], y=part.y[chosen], weights=part.weights[chosen])
        self.source.release(lo)
        return Seen(part, lo + chosen, risks, moving)
