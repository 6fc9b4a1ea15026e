"""Early stopping by a score on examples that are not trained on: which point of a run is kept.

A run is looked at from step to step; the point with the best score is the one that is returned.  Its bounds
are proven as those of any other point: its own P, and the best lower bound of all steps.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..result import Status


class Point(NamedTuple):
    """A point of a run, as `Run` holds it."""

    w: np.ndarray
    primal: float
    error: float
    way: float | None


class Validated:
    """The best point of a run by score(w), larger is better; of equal scores the newest.

    `is_over` once `patience` looks in turn found no better score.
    """

    def __init__(self, score, patience=10, every=1):
        self.score, self.patience, self.every = score, patience, every
        self.best, self.best_score, self.since = None, -math.inf, 0
        self.scores = []  # (step, score) of each look
        self._seen = None

    @property
    def is_over(self) -> bool:
        return self.since >= self.patience

    def look(self, run, is_last=False):
        """The newest row, with the score of the best w so far where that is a new one, and it is its turn."""
        row = run.trace[-1]
        if run.w is None or run.w is self._seen or not (is_last or row.iteration % self.every == 0):
            return row
        self._seen = run.w
        score = float(self.score(run.w))
        self.scores.append((row.iteration, score))
        self.since = 0 if score > self.best_score else self.since + 1
        if score >= self.best_score or self.best is None:
            self.best, self.best_score = Point(run.w, run.primal, run.error, run.way), score
        run.trace[-1] = replace(row, score=score)
        return run.trace[-1]

    def note(self, estimator):
        """Leave the scores with what was learned."""
        estimator.validation_scores_ = self.scores

    def choose(self, run, status):
        """Let the run end at the best point; the status that is then true."""
        run.settle()
        if run.trace:
            self.look(run, is_last=True)
        if self.best is None or self.best.w is run.w:
            return status
        run.end_at(self.best)
        return Status.VALIDATED if status.ok else status
