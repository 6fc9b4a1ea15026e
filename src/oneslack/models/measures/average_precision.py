"""Average precision of a ranking: AP = mean over the positives of the precision at their place.

The output is a ranking; each of the P N pairs that it turns round, negative j before positive i, costs
(f_i - f_j) / (P N), once: the scale of the mean pair hinge of the ROC area.

    R(w) = max_ranking  1 - AP(ranking) - 1/(P N) sum_{(i, j) turned round} (f_i - f_j)

The ranking that has all positives first has the value 0.  The ranking by scores turns no pair round
that has f_i > f_j, so R is at least its loss.  The bias cancels: there is none.

Worst ranking (Yue, Finley, Radlinski & Joachims 2007).  Loss and number of turned pairs depend only on
which class stands where, so inside a class the best order is that of the scores, descending: p_1 >= p_2
..., q_1 >= q_2 ....  A ranking is then given by k_1 <= k_2 <= ... <= k_N, where k_j positives stand before
negative j.  Positive i > k_j has the negatives 1 .. j before it, and losing a place to the j-th of them
costs it i / (i + j - 1) - i / (i + j) = i / ((i + j - 1) (i + j)) of precision.  So P N times the value is

    sum_j F_j(k_j)      F_j(k) = sum_{i > k} t_j(i)      t_j(i) = N i / ((i + j - 1) (i + j)) - (p_i - q_j)

Each k_j may be chosen by itself: t_j(i) falls with j, as q_j does, so for k < k' the lead
F_j(k) - F_j(k') = t_j(k + 1) + ... + t_j(k') falls with j, and the largest best k_j rises with j by
itself.  Hence divide and conquer: the place of the middle negative bounds the places of the others, and
all are found in O(P log N + N) steps instead of P N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...certificate.rounding import Sizes
from ...metrics import average_precision
from .base import SampleMeasure


@dataclass(frozen=True)
class AveragePrecision(SampleMeasure):
    """Trains for average precision.  Where nothing is positive, the loss is 0.

    >>> from oneslack.models.measures import AveragePrecision
    >>> round(AveragePrecision(2).loss_of([1, 1, -1], [0.5, -2.0, -1.0]), 6)  # 1 - (1 + 2/3) / 2
    0.166667
    """

    n_features: int
    intercept = False

    def cut(self, data, shard, S, coefficients) -> float:
        from ..._jit.measures import negatives_before, worst_places

        n, P, N = data.n, data.P, data.N
        if P == 0 or N == 0:
            coefficients[:] = 0.0
            return 0.0
        positives, p = _descending(data.positives, S)
        negatives, q = _descending(data.negatives, S)
        places, before = np.empty(N, np.int64), np.empty(P, np.int64)
        worst_places(p, q, places)
        precisions = negatives_before(places, before)
        pair = n / (P * N)
        coefficients[positives] = pair * before
        coefficients[negatives] = -pair * (P - places)
        return n * (1.0 - precisions / P)

    def sizes(self, data) -> Sizes:
        """A positive is turned round with all N negatives at most, a negative with all P positives."""
        slopes = data.n / np.where(data.y > 0, max(data.P, 1), max(data.N, 1))
        return Sizes(data.lengths, 1.0, slopes)

    def loss_of(self, y, scores) -> float:
        return 1.0 - average_precision(y, scores)


def _descending(rows, S):
    """The rows by falling score, and their scores."""
    values = S[rows]
    order = np.argsort(values)[::-1]
    return rows[order], values[order]
