"""Losses that depend only on how many examples are predicted positive: m = tp + fp.

Turning labels round costs - sum_{y'_i != y_i} y_i f_i = sum_{y'_i > 0} f_i - sum_{y_i > 0} f_i, so of all
outputs with m positives the worst takes the m largest scores s_1 >= s_2 >= ..., whatever their labels are:

    V(m) = n (loss(m) - loss(P)) + s_1 + ... + s_m - sum_{y_i > 0} f_i          m = 0 .. n

One sort and one scan find the best m.

There are outputs without a loss besides the truth: all with m = P.  In R they count, as they should lose
to the truth by a margin of 0.  SVM-perf's search looks only at outputs with a loss (`mistakes_only`): what
predicts the right number is as good as the truth.  This R is smaller and convex, too, and bounds the loss
of the prediction all the same: where there is a loss, the prediction is one of the candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from .base import SampleData, SampleMeasure, top
from .contingency import ContingencyLoss


@dataclass(frozen=True)
class PrevalenceLoss(SampleMeasure):
    """Trains for a loss function(tp, fp, fn, tn) that depends only on tp + fp, P and n, in n log n steps.

    The function is called as ContingencyLoss calls it.  For each number of predicted positives it is asked
    twice, with as many and as few of them true as can be, and refused where the answers differ.

    >>> from oneslack.models.measures.prevalence import PrevalenceLoss
    >>> PrevalenceLoss(2, lambda tp, fp, fn, tn: abs(fp - fn) / 4).loss_of([1, 1, -1, -1], [1, 1, 1, -1])
    0.25
    """

    n_features: int
    function: Callable
    intercept: bool = False
    mistakes_only: bool = False

    def loss_of(self, y, scores) -> float:
        return self._as_contingency.loss_of(y, scores)

    @property
    def _as_contingency(self):
        return ContingencyLoss(self.n_features, self.function)

    def _prepared(self, data: SampleData) -> SampleData:
        m = np.arange(data.n + 1)
        most, least = np.minimum(m, data.P), np.maximum(0, m - data.N)
        losses = self._as_contingency._excess(data, most, m - most)
        others = self._as_contingency._excess(data, least, m - least)
        bad = np.flatnonzero(np.abs(losses - others) > 1e-9 * (1.0 + np.abs(losses)))
        if len(bad):
            k = bad[0]
            raise ValueError(
                f"the loss of {k} predicted positives depends on how many of them are true ({least[k]} or "
                f"{most[k]}); PrevalenceLoss needs one that depends only on tp + fp: use ContingencyLoss"
            )
        return replace(data, table=losses)

    def largest_loss(self, data):
        return float(np.abs(data.table).max())

    def cut(self, data, shard, S, coefficients) -> float:
        ascending = np.sort(S)
        values = np.concatenate(([0.0], np.cumsum(ascending[::-1])))
        values += data.table - S[data.positives].sum()
        if self.mistakes_only:
            values[data.table <= 0.0] = -np.inf
        m = int(np.argmax(values))
        if self.mistakes_only and values[m] <= 0.0:
            coefficients[:] = 0.0  # the truth
            return 0.0
        above, ties = top(ascending, m)
        np.subtract(data.y > 0, above < S, out=coefficients, dtype=np.float64)
        coefficients[np.flatnonzero(above == S)[:ties]] -= 1.0
        return float(data.table[m])
