"""F-beta: F = (1 + beta^2) tp / (beta^2 (tp + fn) + tp + fp), loss = 1 - F.

An output with a true and b false positives is worst when it keeps the positives of the largest scores
p_1 >= p_2 >= ... and takes the negatives of the largest scores q_1 >= q_2 >= ..., so with c = beta^2 P

    V(a, b) = n - n (1 + beta^2) a / (c + a + b) - p_{a+1} - ... - p_P + q_1 + ... + q_b

is to be maximised over a <= P and b <= N.

For fixed a, V is concave in b: 1 / (c + a + b) is convex in b, and the q_b fall.  So the best b(a) is
the number of b whose gain q_{b+1} + n (1 + beta^2) g(a, b) is positive, where
g(a, b) = a / ((c + a + b) (c + a + b + 1)).

b(a) first rises, then falls: multiplying out, g(a + 1, b) >= g(a, b) exactly when a <= c + b, so for
fixed b the gain rises in a and then falls, and the a with b(a) > b form an interval, which shrinks as b
grows.  A pointer that follows b(a) walks at most P + 2 N steps.  For beta >= 1, c >= P and b(a) only
rises.

Before that, most examples can be decided without sorting: see `fbeta_sift`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...metrics import f_beta
from .base import SampleMeasure, top


@dataclass(frozen=True)
class FBeta(SampleMeasure):
    """Trains for F-beta; F1 by default.  With an intercept, the last weight is the bias.

    Where nothing is positive and nothing is predicted positive, the loss is 0.

    >>> from oneslack.models.measures import FBeta
    >>> round(FBeta(2).loss_of([1, 1, -1], [0.5, -1.0, -2.0]), 6)  # precision 1, recall 1/2
    0.333333
    """

    n_features: int
    intercept: bool = False
    is_labelling = True
    beta: float = 1.0

    def __post_init__(self):
        if not (np.isfinite(self.beta) and self.beta > 0):
            raise ValueError(f"beta must be a positive number; got {self.beta!r}")

    def loss_of(self, y, scores) -> float:
        return 1.0 - f_beta(y, scores, self.beta)

    def cut(self, data, shard, S, coefficients) -> float:
        from ..._jit.measures import flip

        find = _worst if data.P else _worst_without_positives
        loss, kept, taken = find(S[data.positives], S[data.negatives], data.n, self.beta)
        flip(data.y, S, *kept, *taken, coefficients)
        return loss


def _worst(p, q, n, beta):
    """(n loss, threshold of the positives, threshold of the negatives); p and q are overwritten."""
    from ..._jit.measures import fbeta_scan, fbeta_sift

    c, K = beta**2 * len(p), n * (1.0 + beta**2)
    a_lo, open_p, least_p, b_lo, open_q, least_q = fbeta_sift(p, q, c, K)
    p, q = np.sort(p[:open_p]), np.sort(q[:open_q])
    a, b = fbeta_scan(p, q, a_lo, b_lo, c, K)
    kept = (least_p, a_lo) if a == a_lo else top(p, a - a_lo)
    taken = (least_q, b_lo) if b == b_lo else top(q, b - b_lo)
    return n - K * a / (c + a + b), kept, taken


def _worst_without_positives(p, q, n, beta):
    """The loss is 1 for any b > 0, so the gain is n + q_1, then q_2, q_3, ..."""
    b = int(np.sum(q > 0))
    if b == 0 and len(q) and n + q.max() > 0:
        b = 1
    return float(n) if b else 0.0, (np.inf, 0), top(np.sort(q), b)
