"""Measures of labels -1 and +1, by the worst labelling or ranking.

With a true and b false positives a labelling is worst when it keeps the positives of the largest scores and
takes the negatives of the largest ones (exchange two, and the sum rises).

    FBeta       n (1 - F), shares y of the examples that are wrong
    TopK        k positives (models/measures/top_k.py says what shares are)
    Precision   rankings: n (1 - average precision), and (f_i - f_j) n / P N for each pair that is turned
    round
"""

import numpy as np

from ..errors import ProofError
from .sums import gamma


class Labelled:
    """Measures of labels y of -1 and +1: positives and negatives, by falling scores."""

    def __init__(self, y):
        self.y, self.n, self.up, self.down = y, len(y), np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        self.P, self.N = len(self.up), len(self.down)
        self.reach, self.doubt = np.ones(self.n), gamma(64) * self.n * (self.n + 1)

    def sorted(self, f):
        """(positives, negatives, sums of the positives from each on, sums of so many negatives)."""
        up, down_ = (part[np.argsort(-f[part], kind="stable")] for part in (self.up, self.down))
        return up, down_, np.append(np.cumsum(f[up][::-1])[::-1], 0.0), np.append(0.0, np.cumsum(f[down_]))

    def output(self, wrong):
        """(loss, shares) of the labelling that has these wrong."""
        missed, false = wrong & (self.y > 0), wrong & (self.y < 0)
        a, b = self.P - int(missed.sum()), int(false.sum())
        loss, beta, alpha = self.cost(a, b)
        return float(loss), np.where(missed, beta, 0.0) - np.where(false, alpha, 0.0)

    def chosen(self, up, down_, a, b):
        """The output that misses the positives from a on, and takes b negatives."""
        wrong = np.zeros(self.n, bool)
        wrong[up[a:]] = wrong[down_[:b]] = True
        return self.output(wrong)


class FBeta(Labelled):
    """1 - F-beta."""

    def __init__(self, y, beta):
        super().__init__(y)
        self.b2 = beta * beta

    def cost(self, a, b):
        below = self.b2 * self.P + a + b
        with np.errstate(invalid="ignore"):
            return self.n * np.where(below > 0, 1.0 - (1.0 + self.b2) * a / below, 0.0), 1.0, 1.0

    def worst(self, f):
        """For each a the cost is concave in b: bisection on the sign of a further step, for all a at once."""
        up, down_, A, B = self.sorted(f)
        a, low, high = np.arange(self.P + 1), np.zeros(self.P + 1, int), np.full(self.P + 1, self.N)
        while (open_ := low < high).any():
            b = (low + high) // 2
            step = self.cost(a, b + 1)[0] - self.cost(a, b)[0] + f[down_[np.minimum(b, self.N - 1)]]
            low, high = np.where(open_ & (step > 0), b + 1, low), np.where(open_ & (step <= 0), b, high)
        best = int(np.argmax(self.cost(a, low)[0] - A + B[low]))
        return self.chosen(up, down_, best, low[best])


class TopK(Labelled):
    """k are predicted positive; a missed one costs 1 / unit."""

    def __init__(self, y, k, unit):
        super().__init__(y)
        self.k, self.unit = k, max(unit, 1)

    def cost(self, a, b):
        k, P = self.k, self.P
        if a == P and b == 0:
            return 0.0, 0.0, 0.0  # the truth, or what is as good
        if b != k - a:
            raise ProofError(f"a labelling of the proof has not {k} positives")
        beta, alpha = (
            (k - a) / (P - a) if k <= P and a < P else 1.0,
            (P - a) / (k - a) if k > P and a < k else 1.0,
        )
        return self.n * (min(k, P) - a) / self.unit, beta, alpha

    def worst(self, f):
        up, down_, A, B = self.sorted(f)

        def value(a):
            loss, beta, alpha = self.cost(a, self.k - a)
            return loss + alpha * B[self.k - a] - beta * A[a]

        best = max(range(max(0, self.k - self.N), min(self.k, self.P) + 1), key=value)
        return self.chosen(up, down_, best, self.k - best)


class Precision(Labelled):
    """1 - average precision: negative j stands before the positives from its own place on."""

    def __init__(self, y):
        super().__init__(y)
        self.reach = np.where(y > 0, self.n / max(self.P, 1), self.n / max(self.N, 1))
        self.doubt = gamma(64) * self.n * (self.P + 1.0) * (self.N + 1.0)

    def worst(self, f):
        shares, before = np.zeros(self.n), np.zeros(self.P)
        if not self.P * self.N:
            return 0.0, shares
        up, down_, *_ = self.sorted(f)
        i, turned = np.arange(1, self.P + 1), np.zeros(self.N)
        for j in range(1, self.N + 1):
            gains = self.N * i / ((i + j - 1.0) * (i + j)) - (f[up] - f[down_[j - 1]])
            sums = np.append(np.cumsum(gains[::-1])[::-1], 0.0)
            k = self.P - int(np.argmax(sums[::-1]))
            before[k:], turned[j - 1] = j, self.P - k
        shares[up], shares[down_] = (
            before * (self.n / (self.P * self.N)),
            -turned * (self.n / (self.P * self.N)),
        )
        return self.n * (1.0 - float((i / (i + before)).sum()) / self.P), shares
