"""The Q measure of quantifiers: the harmonic mean of recall r and of how well the count is met, q.

    loss = 1 - Q      Q = 2 q r / (q + r)      q = 1 - |a + b - P| / M      r = a / P      M = max(P, N)

with a true and b false positives (Barranquero, Diez & del Coz 2015).  As for any loss of the table, the
worst output maximises V(a, b) = n loss(a, b) + A[a] + B[b] (see contingency.py); the loss is convex in b,
so bisection does not find the best b of an a.  Divide and conquer does:

q = min(q1, q2) with q1 = 1 + (a + b - P) / M and q2 = 1 - (a + b - P) / M, both >= 0, and Q rises with q.
So loss = max(loss1, loss2), and the maximum of V is the larger of those of V1 and V2, which replace q by q1
and by q2 everywhere.  With Q_qr = 4 q r / (q + r)^3 and Q_qq = -4 r^2 / (q + r)^3

    d^2 loss1 / da db = - (Q_qr / P + Q_qq / M) / M = - 4 r (M - P + b) / (P M^2 (q + r)^3)   <= 0
    d^2 loss2 / da db =   (Q_qr / P - Q_qq / M) / M                                           >= 0

as q1 M - r P = M - P + b.  A[a] and B[b] add nothing to it.  Hence for a < a' the lead of a larger b over a
smaller one falls from a to a' in V1 and rises in V2: the best b falls with a in V1 and rises in V2.  The
best b of the middle a bounds those of both halves, and O(N log P + P) steps take the place of P N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .base import SampleMeasure, counts, sums_of_swaps, top
from .quantification import q_loss


@dataclass(frozen=True)
class QMeasure(SampleMeasure):
    """Trains for Q.  Where nothing is positive, nothing is lost.

    >>> from oneslack.models.measures.q_measure import QMeasure
    >>> round(QMeasure(2).loss_of([1, 1, -1, -1], [1, -1, 1, -1]), 6)  # q = 1, recall 1/2
    0.333333
    """

    n_features: int
    intercept: bool = False

    def loss_of(self, y, scores) -> float:
        tp, fp, fn, tn = counts(y, scores)
        return float(q_loss(tp, fp, fn, tn)) if tp + fn else 0.0

    def cut(self, data, shard, S, coefficients) -> float:
        from ..._jit.measures import flip, q_worst

        p, q, A, B = sums_of_swaps(data, S)
        if data.P:
            a, b = q_worst(A, B, float(data.n))
            loss = float(data.n * q_loss(a, b, data.P - a, data.N - b))
        else:
            a, b, loss = 0, int(np.argmax(B)), 0.0
        flip(data.y, S, *top(p, a), *top(q, b), coefficients)
        return loss
