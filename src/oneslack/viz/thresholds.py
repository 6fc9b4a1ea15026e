"""What moving the threshold does: rates at every score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import OneslackError


class Rates(NamedTuple):
    """One entry for each way to cut the scores, from none to all predicted positive.

    recall, false_alarms  shares of the positives and of the negatives that are predicted positive
    precision             share of the predicted that are positive; 1 where none is predicted
    score                 the lowest score that is predicted positive; inf for none
    """

    recall: np.ndarray
    false_alarms: np.ndarray
    precision: np.ndarray
    score: np.ndarray

    def at(self, threshold) -> int:
        """The entry for predicting scores of at least the threshold."""
        return int(np.searchsorted(-self.score, -threshold, side="right")) - 1


def rates(positive, scores) -> Rates:
    """Rates of scores (n,) against truth (n,) of bool; equal scores are cut together."""
    positive, scores = np.asarray(positive, bool), np.asarray(scores, float)
    if positive.shape != scores.shape or positive.ndim != 1:
        raise OneslackError(f"there are {positive.shape} true labels but {scores.shape} scores")
    if positive.all() or not positive.any():
        raise OneslackError("a curve needs examples of both classes")
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.diff(scores[order], append=-np.inf))
    hits = np.concatenate([[0], np.cumsum(positive[order])[ends]])
    taken = np.concatenate([[0], ends + 1])
    precision = np.divide(hits, taken, out=np.ones(len(taken)), where=taken > 0)
    n_positive = positive.sum()
    return Rates(
        hits / n_positive,
        (taken - hits) / (len(positive) - n_positive),
        precision,
        np.concatenate([[np.inf], scores[order][ends]]),
    )
