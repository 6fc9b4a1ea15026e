"""Any loss of the contingency table: loss(tp, fp, fn, tn), given as a function.

As for F-beta, the worst output with a true and b false positives keeps the positives of the largest
scores and takes the negatives of the largest scores, so with the scores sorted

    V(a, b) = n (loss(a, b) - loss(P, 0)) + A[a] + B[b]
    A[a] = - (sum of the P - a smallest positives)      B[b] = sum of the b largest negatives

is maximised over all (P + 1) (N + 1) tables.  When the loss is concave in fp for fixed tp, so is V in b,
because B is: its differences fall.  Then the best b of every a is found by bisection on the sign of
V(a, b + 1) - V(a, b), for all a at once.

The loss is counted from that of the truth.  Where some table has a smaller loss than the truth, training
does not know how to be better than the truth; R is >= 0 all the same, as the truth is a candidate.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from .base import SampleData, SampleMeasure, counts, sums_of_swaps, top

#: How many losses are asked for at a time, kept in memory at most, and searched without a warning.
BLOCK = 2**20
KEPT = 50_000_000
QUIET = 10**8


@dataclass(frozen=True)
class ContingencyLoss(SampleMeasure):
    """Trains for the loss function(tp, fp, fn, tn) of the counts of the whole sample.

    The function gets four arrays of one shape, and answers with an array of that shape; one that cannot
    is asked table by table.  The search costs P N steps; `concave=True` promises that the loss is concave
    in fp for fixed tp (and so fn), and makes it P log N.  A promise that is not kept makes R too small.

    >>> from oneslack.models.measures import ContingencyLoss
    >>> ContingencyLoss(2, lambda tp, fp, fn, tn: (fp + 5 * fn) / 4).loss_of([1, 1, -1, -1], [1, -1, 1, -1])
    1.5
    """

    n_features: int
    function: Callable
    intercept: bool = False
    concave: bool = False

    def loss_of(self, y, scores) -> float:
        tp, fp, fn, tn = counts(y, scores)
        losses = self._losses(np.array([tp, tp + fn]), np.array([fp, 0]), tp + fn, fp + tn)
        return float(losses[0] - losses[1])

    def _prepared(self, data: SampleData) -> SampleData:
        P, N = data.P, data.N
        if self.concave:
            return data
        if P * N > QUIET:
            warnings.warn(
                f"the worst of {P} x {N} contingency tables is searched in every step; if the loss is "
                "concave in fp for fixed tp, say concave=True and the search takes "
                f"{P} x {max(N, 1).bit_length()} steps",
                UserWarning,
                stacklevel=2,
            )
        if (P + 1) * (N + 1) > KEPT:
            return data
        table = np.empty((P + 1, N + 1))
        for rows, columns in _tiles(P, N):
            table[rows, columns] = self._tile(data, rows, columns)
        return replace(data, table=table)

    def largest_loss(self, data):
        """From the table; a concave loss lies under the lines through its first two and its last values."""
        if data.table is not None:
            return float(np.abs(data.table).max())
        if not self.concave:
            return max(float(np.abs(self._tile(data, *tile)).max()) for tile in _tiles(data.P, data.N))
        a = np.arange(data.P + 1)
        first, second, last = (self._excess(data, a, np.full_like(a, min(b, data.N))) for b in (0, 1, data.N))
        line = first + data.N * np.maximum(second - first, 0.0)
        return float(np.max(np.abs([first, last, line])))

    def cut(self, data, shard, S, coefficients) -> float:
        from ..._jit.measures import flip

        p, q, A, B = sums_of_swaps(data, S)
        a, b = self._bisect(data, A, B, q[::-1]) if self.concave else self._search(data, A, B)
        flip(data.y, S, *top(p, a), *top(q, b), coefficients)
        return float(self._excess(data, np.array([a]), np.array([b]))[0])

    def _search(self, data, A, B):
        """The best (a, b) of all."""
        from ..._jit.measures import table_best

        if data.table is not None:
            return table_best(data.table, A, B)[1:]
        best, best_a, best_b = -np.inf, 0, 0
        for rows, columns in _tiles(data.P, data.N):
            value, a, b = table_best(self._tile(data, rows, columns), A[rows], B[columns])
            if value > best:
                best, best_a, best_b = value, rows.start + a, columns.start + b
        return best_a, best_b

    def _bisect(self, data, A, B, q):
        """The best (a, b) for a loss that is concave in b; q descending."""
        a = np.arange(data.P + 1)
        low, high = np.zeros(data.P + 1, np.int64), np.full(data.P + 1, data.N)
        while np.any(low < high):
            middle = np.minimum((low + high) // 2, data.N - 1)
            gain = self._excess(data, a, middle + 1) - self._excess(data, a, middle) + q[middle]
            is_open, more = low < high, gain > 0
            low = np.where(is_open & more, middle + 1, low)
            high = np.where(is_open & ~more, middle, high)
        best = int(np.argmax(self._excess(data, a, low) + A + B[low]))
        return best, int(low[best])

    # Losses of many tables.

    def _tile(self, data, rows, columns):
        a, b = np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop)
        return self._excess(data, *np.meshgrid(a, b, indexing="ij"))

    def _excess(self, data, a, b):
        """n (loss - loss of the truth), in the shape of a and b."""
        truth = self._losses(np.array([data.P]), np.array([0]), data.P, data.N)[0]
        return data.n * (self._losses(a, b, data.P, data.N) - truth)

    def _losses(self, a, b, P, N):
        # Floats, as products of four counts overflow integers.
        table = [part.astype(np.float64) for part in (a, b, P - a, N - b)]
        losses = self._all_at_once(table)
        if losses is None:
            losses = np.array([self._one(*entry) for entry in zip(*(part.flat for part in table))])
            losses = losses.reshape(a.shape)
        bad = np.flatnonzero(~np.isfinite(losses))
        if len(bad):
            tp, fp, fn, tn = (int(part.flat[bad[0]]) for part in table)
            raise ValueError(
                f"loss(tp={tp}, fp={fp}, fn={fn}, tn={tn}) is {losses.flat[bad[0]]}, expected a finite number"
            )
        return losses

    def _all_at_once(self, table):
        """The function's answer to arrays, or None if it knows only numbers."""
        try:
            with np.errstate(all="ignore"):
                losses = np.asarray(self.function(*table), dtype=np.float64)
        except Exception:  # whatever a function of four numbers does with arrays
            return None
        return losses if losses.shape == table[0].shape else None

    def _one(self, tp, fp, fn, tn):
        try:
            return float(self.function(float(tp), float(fp), float(fn), float(tn)))
        except ZeroDivisionError:
            return np.nan


def _tiles(P, N):
    """Slices that cut the (P + 1, N + 1) tables into tiles of at most BLOCK."""
    width = min(N + 1, BLOCK)
    height = max(1, BLOCK // width)
    rows = [slice(lo, min(lo + height, P + 1)) for lo in range(0, P + 1, height)]
    columns = [slice(lo, min(lo + width, N + 1)) for lo in range(0, N + 1, width)]
    return product(rows, columns)
