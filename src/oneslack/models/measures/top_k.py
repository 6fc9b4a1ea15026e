"""Precision and recall at k, and their break-even point: exactly k examples are predicted positive.

With a of the P positives among the k, precision is a / k and recall a / P.  The best possible a is
m = min(k, P), and the loss is counted from there: (m - a) / k or (m - a) / P.

Unless k = P the truth is no such output, and there are many perfect ones.  Compared with the truth, as
in Joachims (2005), the risk would not bound the loss, and a bias could make it as small as one likes.
Here an output y' is compared with the mean of the perfect outputs nearest to it: for k <= P those that
keep its a true positives and take k - a of the P - a missed ones; for k > P those that hold all
positives and k - P of its k - a false positives.  With F the false positives and M the missed positives

    n R(w) = max_{|y'| = k}  n loss(y') + alpha sum_{i in F} f_i - beta sum_{i in M} f_i
    alpha = 1, beta = (k - a) / (P - a)  if k <= P          alpha = (P - a) / (k - a), beta = 1  if k > P

is a maximum of linear functions, so convex.  The k largest scores have a sum no less than that of any
perfect output, so no less than that of a mean of them: R is at least the loss of predicting the top k,
and so R >= 0.  For k = P, alpha = beta = 1 and this is the usual risk of the break-even point.

The mean of *all* perfect outputs would do as well, but is never tighter: for the worst y' of a given a
(top a positives, top k - a negatives) it adds a (1 - k / P) (mean of the kept - mean of the missed
positives) >= 0 if k <= P, and (k - P) (mean of F - mean of all negatives) >= 0 if k > P.  To compare with
the best of the perfect outputs would be tighter, but not convex; see Kar, Narasimhan & Jain (2015),
Surrogate Functions for Maximizing Precision at the Top.

alpha, beta >= 0, so for a given a the worst y' has the top negatives and misses the lowest positives: one
scan over a.  A bias would cancel, since alpha |F| = beta |M|: there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from ...metrics import k_of, precision_at_k, precision_recall_break_even, recall_at_k
from .base import SampleData, SampleMeasure, top


class _TopK(SampleMeasure):
    intercept = False
    is_labelling = True

    def _size(self, n, P) -> int:
        """How many are predicted positive."""
        raise NotImplementedError

    def _unit(self, k, P) -> int:
        """A positive that is missed costs 1 / unit."""
        raise NotImplementedError

    def cut(self, data, shard, S, coefficients) -> float:
        from ..._jit.measures import flip

        n, P, N = data.n, data.P, data.N
        k = self._size(n, P)
        if k == 0:
            coefficients[:] = 0.0
            return 0.0
        price, m = n / max(self._unit(k, P), 1), min(k, P)
        positives, negatives = S[data.positives], S[data.negatives]
        p, q = _largest(positives, m), _largest(negatives, min(k, N))
        a = np.arange(max(0, k - N), m + 1)
        alpha, beta = _shares(a, k, P)
        F = np.append(0.0, np.cumsum(q))[k - a]
        M = positives.sum() - np.append(0.0, np.cumsum(p))[a]
        best = int(np.argmax(price * (m - a) + alpha * F - beta * M))
        kept = int(a[best])
        flip(data.y, S, *top(p[::-1], kept), *top(q[::-1], k - kept), coefficients)
        coefficients[data.positives] *= beta[best]
        coefficients[data.negatives] *= alpha[best]
        return price * (m - kept)


def _largest(values, m):
    """The m largest, descending."""
    if 0 < m < len(values):
        values = np.partition(values, len(values) - m)[len(values) - m :]
    return np.sort(values)[::-1][:m]


def _shares(a, k, P):
    """(alpha, beta) for each a."""
    one = np.ones(len(a))
    if k <= P:
        return one, np.divide(k - a, P - a, out=one.copy(), where=a < P)
    return np.divide(P - a, k - a, out=one.copy(), where=a < k), one


@dataclass(frozen=True)
class BreakEven(_TopK):
    """Trains for the break-even point of precision and recall: as many are predicted positive as are.

    >>> from oneslack.models.measures import BreakEven
    >>> BreakEven(2).loss_of([1, 1, -1], [0.5, -2.0, -1.0])
    0.5
    """

    n_features: int

    def _size(self, n, P):
        return P

    def _unit(self, k, P):
        return P

    def loss_of(self, y, scores) -> float:
        return 1.0 - precision_recall_break_even(y, scores)


@dataclass(frozen=True)
class _AtK(_TopK):
    n_features: int
    k: int | float

    def __post_init__(self):
        whole = isinstance(self.k, Integral) and not isinstance(self.k, bool)
        if not (self.k >= 1 if whole else isinstance(self.k, float) and 0 < self.k <= 1):
            raise ValueError(f"k must be a whole number from 1 on, or a share 0 < k <= 1; got {self.k!r}")

    def _prepared(self, data: SampleData) -> SampleData:
        k_of(self.k, data.n)
        return data

    def _size(self, n, P):
        return k_of(self.k, n)


@dataclass(frozen=True)
class PrecisionAtK(_AtK):
    """Trains for the precision of the k largest scores; k is a number or, as a float, a share of n.

    >>> from oneslack.models.measures import PrecisionAtK
    >>> PrecisionAtK(2, k=2).loss_of([1, 1, -1], [0.5, -2.0, -1.0])
    0.5
    """

    def _unit(self, k, P):
        return k

    def loss_of(self, y, scores) -> float:
        k, P = k_of(self.k, len(y)), int(np.sum(np.asarray(y) > 0))
        return min(k, P) / k - precision_at_k(y, scores, k)


@dataclass(frozen=True)
class RecallAtK(_AtK):
    """Trains for the recall of the k largest scores; k is a number or, as a float, a share of n.

    Where nothing is positive, the loss is 0.

    >>> from oneslack.models.measures import RecallAtK
    >>> RecallAtK(2, k=1).loss_of([1, 1, -1], [-2.0, -1.0, 0.5])  # none found; at most half could be
    0.5
    """

    def _unit(self, k, P):
        return P

    def loss_of(self, y, scores) -> float:
        k, P = k_of(self.k, len(y)), int(np.sum(np.asarray(y) > 0))
        return min(k, P) / P - recall_at_k(y, scores, k) if P else 0.0
