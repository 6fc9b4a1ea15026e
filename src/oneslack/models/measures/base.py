"""What the models share that train for a measure of the whole sample.

The n examples have one joint output y' = (y'_1, ..., y'_n), or a ranking of them, and one loss:

    R(w) = max_{y'}  loss(y, y') - (1/n) sum_{i: y'_i != y_i} y_i f_i        f_i = <w, x_i> + bias

P = 1/2 |w|^2 + C n R.  For the error rate R is the mean hinge, so C means what it means for Binary.
The truth y' = y is a candidate and has the value 0, so R >= 0; so is the prediction sign(f), none of
whose errors has y_i f_i > 0, so R is at least its loss.  Joachims (2005), A Support Vector Method for
Multivariate Performance Measures.

Everything is scaled by n here, as `Problem` divides by the number of examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...certificate.rounding import Sizes
from ...data.rows import Shard
from ...objective import inner
from ..linear.binary import Binary
from ..linear.rows import LinearData


@dataclass(frozen=True)
class SampleData(LinearData):
    """Packed examples, y in {-1, +1}, as one sample: what reads scores reads all of them.

    table : n (loss - loss of the truth), (P + 1, N + 1), where a model keeps one
    """

    table: np.ndarray | None = None

    def score_shards(self, S) -> list[Shard]:
        return [Shard(0, self.n)]

    @cached_property
    def positives(self) -> np.ndarray:
        """Rows of the P positives."""
        return np.flatnonzero(self.y > 0)

    @cached_property
    def negatives(self) -> np.ndarray:
        """Rows of the N negatives."""
        return np.flatnonzero(self.y < 0)

    @property
    def P(self) -> int:
        return len(self.positives)

    @property
    def N(self) -> int:
        return len(self.negatives)


class SampleMeasure:
    """A model of a whole sample: says what is worst (`cut`), and gets the rest from here.

    The scores are those of Binary.  It has no `decode`: one example has no loss of its own.
    """

    n_params = Binary.n_params
    free = Binary.free
    new_scores = Binary.new_scores
    scores = Binary.scores
    adjoint = Binary.adjoint

    def pack(self, X, Y, weights=None) -> SampleData:
        if weights is not None and not np.all(np.asarray(weights) == 1):
            raise ValueError(
                f"{type(self).__name__} counts examples, so all sample weights must be 1; "
                "leave them out, or leave out the examples of weight 0"
            )
        rows = Binary(self.n_features, self.intercept).pack(X, Y)
        return self._prepared(SampleData(rows.X, rows.y, rows.weights))

    def _prepared(self, data: SampleData) -> SampleData:
        """A model's own checks, and what it computes once."""
        return data

    def cut(self, data, shard, S, coefficients) -> float:
        """Fill c so that n R = n loss - <c, S> at the worst output; return n loss."""
        raise NotImplementedError

    def loss_of(self, y, scores) -> float:
        """The loss, as R counts it, of what the scores predict; R is never below it."""
        raise NotImplementedError

    def sizes(self, data) -> Sizes:
        """Turning a label round counts once."""
        losses = self.largest_loss(data) / data.n
        return Sizes(data.lengths + self.intercept, losses, np.ones(data.n))

    def largest_loss(self, data) -> float:
        """No |n loss| is larger."""
        return float(data.n)

    def free_bound(self, data):
        """The best b is where two labellings tie; they count b a whole number of times, not the same."""
        return 2.0 * self.largest_loss(data), 2.0 * data.n * float(data.lengths.max())

    def risk(self, data, shard, S) -> float:
        c = np.empty(data.n)
        loss = self.cut(data, shard, S, c)
        return max(loss - inner(c, S), 0.0)  # 0 is the value of the truth: below it is rounding

    def cut_along(self, data, shard, S, dS, t, coefficients) -> tuple[float, float, float]:
        moved = S + t * dS
        loss = self.cut(data, shard, moved, coefficients)
        return loss, max(loss - inner(coefficients, moved), 0.0), -inner(coefficients, dS)


def counts(y, predicted) -> tuple[int, int, int, int]:
    """(tp, fp, fn, tn) of predictions: positive where > 0."""
    y, predicted = np.asarray(y) > 0, np.asarray(predicted) > 0
    tp, fp = int(np.sum(y & predicted)), int(np.sum(~y & predicted))
    return tp, fp, int(np.sum(y)) - tp, int(np.sum(~y)) - fp


def sums_of_swaps(data, S):
    """(p, q, A, B): scores of positives and negatives, ascending; A[a] (P + 1,) is minus the sum of the P - a
    smallest positives, B[b] (N + 1,) the sum of the b largest negatives."""
    p, q = np.sort(S[data.positives]), np.sort(S[data.negatives])
    A = -np.concatenate(([0.0], np.cumsum(p)))[::-1]
    return p, q, A, np.concatenate(([0.0], np.cumsum(q[::-1])))


def top(ascending, m) -> tuple[float, int]:
    """(threshold, ties): the m largest are those above the threshold and `ties` of those on it."""
    if m == 0:
        return np.inf, 0
    n = len(ascending)
    threshold = ascending[n - m]
    return threshold, int(np.searchsorted(ascending, threshold, "right")) - (n - m)
