"""C n R(w) of measures of the whole sample: the worst output among all of them, found by plain search.

An output with a true and b false positives is worst when it keeps the positives of the largest scores and
takes the negatives of the largest ones (exchange two, and the sum rises); so outputs are pairs (a, b).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .objective import like


class SampleLoss:
    """C max(0, worst - <share, f>); `_worst(f)` gives (n times the loss, shares (n,)) of the worst output."""

    def __init__(self, y, C):
        self.y, self.C, self.n = np.asarray(y), float(C), len(y)
        self.positives, self.negatives = np.flatnonzero(self.y > 0), np.flatnonzero(self.y < 0)
        self.P, self.N = len(self.positives), len(self.negatives)
        self.work = 1 + self.P * self.N // self.n
        self._tables = {}

    def value(self, F):
        f = F[:, 0]
        loss, shares = self._worst(f)
        C = like(f, np.array([self.C]))[0]
        return C * max(loss - (shares * f).sum(), 0)

    def slope(self, F):
        loss, shares = self._worst(F[:, 0])
        return -self.C * shares[:, None] if loss > (shares * F[:, 0]).sum() else np.zeros(F.shape)

    def _table(self, f):
        """What is the same for all scores, computed once for each kind of numbers."""
        if f.dtype not in self._tables:
            self._tables[f.dtype] = self._new_table(f)
        return self._tables[f.dtype]

    def _number(self, f, top, below=1):
        """top / below in the numbers of f."""
        return Fraction(top) / Fraction(below) if f.dtype == object else top / below

    def _sorted(self, f):
        """Positives and negatives, the largest scores first."""
        up = self.positives[np.argsort(-f[self.positives], kind="stable")]
        down = self.negatives[np.argsort(-f[self.negatives], kind="stable")]
        return up, down

    def _shares(self, f, missed, false, beta=1, alpha=1):
        shares = np.zeros(self.n, dtype=f.dtype) if f.dtype != object else rational_zeros(self.n)
        shares[missed], shares[false] = beta, -alpha
        return shares


def rational_zeros(n):
    """(n,) of Fractions."""
    return np.array([Fraction(0)] * n, dtype=object)


class Labellings(SampleLoss):
    """Any labelling is an output; loss(tp, fp, fn, tn, number), counted from that of the truth."""

    def __init__(self, y, C, loss):
        super().__init__(y, C)
        self.loss = loss

    def _worst(self, f):
        up, down = self._sorted(f)
        zero = f[:1] * 0
        # Missing the positives from place a on costs -A[a]; taking b negatives brings B[b].
        A = -np.concatenate([np.cumsum(f[up][::-1])[::-1], zero])
        B = np.concatenate([zero, np.cumsum(f[down])])
        losses = self._table(f)
        a, b = np.unravel_index(int((losses + A[:, None] + B).argmax()), losses.shape)
        return losses[a, b], self._shares(f, up[a:], down[:b])

    def _new_table(self, f):
        """(P + 1, N + 1): n (loss - that of the truth) with a true and b false positives."""

        def loss(a, b):
            return self.loss(a, b, self.P - a, self.N - b, lambda value: self._number(f, value))

        truth = loss(self.P, 0)
        rows = [[self.n * (loss(a, b) - truth) for b in range(self.N + 1)] for a in range(self.P + 1)]
        return np.array(rows, dtype=f.dtype)


def f_beta_loss(beta):
    """1 - F-beta; 0 where nothing is positive and nothing predicted so."""

    def loss(tp, fp, fn, tn, number):
        b2 = number(beta) * number(beta)
        below = b2 * (tp + fn) + tp + fp
        return 1 - (1 + b2) * tp / below if below else number(0)

    return loss


def counts_loss(function):
    """A user's function of four counts."""
    return lambda tp, fp, fn, tn, number: number(float(function(float(tp), float(fp), float(fn), float(tn))))


class TopK(SampleLoss):
    """k examples are predicted positive; a missed one costs 1 / unit.  models/measures/top_k.py says what an
    output is compared with."""

    def __init__(self, y, C, k, unit):
        super().__init__(y, C)
        self.k, self.unit = k, max(unit, 1)

    def _worst(self, f):
        up, down = self._sorted(f)
        best, k, P = None, self.k, self.P
        for a in range(max(0, k - self.N), min(k, P) + 1):
            alpha = beta = self._number(f, 1)
            if k <= P and a < P:
                beta = self._number(f, k - a, P - a)
            elif k > P and a < k:
                alpha = self._number(f, P - a, k - a)
            loss = self._number(f, self.n * (min(k, P) - a), self.unit)
            value = loss + alpha * f[down[: k - a]].sum() - beta * f[up[a:]].sum()
            if best is None or value > best[0]:
                best = (value, a, alpha, beta, loss)
        _, a, alpha, beta, loss = best
        return loss, self._shares(f, up[a:], down[: k - a], beta, alpha)


class AveragePrecisionLoss(SampleLoss):
    """Rankings: 1 - AP, and (f_i - f_j) / (P N) for each pair that is turned round.

    With both classes in the order of their scores, negative j has k_j positives before it, each k_j chosen by
    itself (models/measures/average_precision.py).
    """

    def _worst(self, f):
        if not self.P * self.N:
            return self._number(f, 0), self._shares(f, [], [])
        up, down = self._sorted(f)
        before = np.zeros(self.P, int)  # negatives that stand before each positive
        turned = np.zeros(self.N, int)  # positives that stand behind each negative
        for j, losses in enumerate(self._table(f), start=1):
            gains = losses - (f[up] - f[down[j - 1]])
            sums = np.concatenate([np.cumsum(gains[::-1])[::-1], f[:1] * 0])
            k = self.P - int(np.argmax(sums[::-1]))
            before[k:], turned[j - 1] = j, self.P - k
        precisions = [self._number(f, i, i + int(before[i - 1])) for i in range(1, self.P + 1)]
        pair = self._number(f, self.n, self.P * self.N)
        shares = self._shares(f, [], [])
        shares[up], shares[down] = before * pair, -turned * pair
        return self.n * (1 - sum(precisions) / self.P), shares

    def _new_table(self, f):
        """(N, P): what it costs positive i, times P N, to lose a place to negative j."""
        i, j = np.arange(1, self.P + 1), np.arange(1, self.N + 1)[:, None]
        tops, belows = self.N * i + 0 * j, (i + j - 1) * (i + j)
        divide = np.frompyfunc(lambda top, below: self._number(f, int(top), int(below)), 2, 1)
        return divide(tops, belows).astype(f.dtype)
