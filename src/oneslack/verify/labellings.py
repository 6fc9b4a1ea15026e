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
    """Measures of labels y of -1 and +1: cost(a, b) is (loss, share of a missed one, of a false one)."""

    def __init__(self, y):
        self.y, self.n, self.up, self.down = y, len(y), np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        self.P, self.N, self.reach = len(self.up), len(self.down), np.ones(len(y))
        self.doubt = gamma(64) * self.n * (self.n + 1)

    def sorted(self, f):
        """(positives, negatives, sums of the positives from each on, sums of so many negatives)."""
        up, down = (part[np.argsort(-f[part], kind="stable")] for part in (self.up, self.down))
        return up, down, np.append(np.cumsum(f[up][::-1])[::-1], 0.0), np.append(0.0, np.cumsum(f[down]))

    def output(self, wrong):
        """(loss, shares) of the labelling that has these wrong."""
        missed, false = wrong & (self.y > 0), wrong & (self.y < 0)
        loss, beta, alpha = self.cost(self.P - int(missed.sum()), int(false.sum()))
        return float(loss), np.where(missed, beta, 0.0) - np.where(false, alpha, 0.0)

    def worst(self, f):
        """The output that misses the positives from a on and takes b negatives, for the best of all pairs."""
        up, down, A, B = self.sorted(f)
        a, b = self.choices(f[down])
        losses, beta, alpha = self.cost(a, b)
        best, wrong = int(np.argmax(losses + alpha * B[b] - beta * A[a])), np.zeros(self.n, bool)
        wrong[up[a[best] :]] = wrong[down[: b[best]]] = True
        return self.output(wrong)


class FBeta(Labelled):
    """1 - F-beta."""

    def __init__(self, y, beta):
        super().__init__(y)
        self.b2 = beta * beta

    def cost(self, a, b):
        below = self.b2 * self.P + a + b
        return self.n * (1.0 - (1.0 + self.b2) * a / np.maximum(below, 1e-300)) * (below > 0), 1.0, 1.0

    def choices(self, f):
        """For each a the cost is concave in b: bisection on the sign of a further step, for all a at once."""
        a, low, high = np.arange(self.P + 1), np.zeros(self.P + 1, int), np.full(self.P + 1, self.N)
        while (low < high).any():
            b = (low + high) // 2
            step = self.cost(a, b + 1)[0] - self.cost(a, b)[0] + f[np.minimum(b, self.N - 1)]
            rises = (low < high) & (step > 0)
            low, high = np.where(rises, b + 1, low), np.where(rises, high, np.minimum(high, b))
        return a, low


class TopK(Labelled):
    """k are predicted positive; a missed one costs 1 / unit."""

    def __init__(self, y, k, unit):
        super().__init__(y)
        self.k, self.unit = k, max(unit, 1)

    def cost(self, a, b):
        k, P = self.k, self.P
        if np.any((b != k - a) & ((a < P) | (b > 0))):  # the truth itself costs nothing
            raise ProofError(f"a labelling of the proof has not {k} positives")
        beta = (k - a) / np.maximum(P - a, 1) if k <= P else 1.0
        alpha = (P - a) / np.maximum(k - a, 1) if k > P else 1.0
        return self.n * np.maximum(min(k, P) - a, 0) / self.unit, beta, alpha

    def choices(self, f):
        a = np.arange(max(0, self.k - self.N), min(self.k, self.P) + 1)
        return a, self.k - a


class Precision(Labelled):
    """1 - average precision: negative j stands before the positives from its own place on."""

    def __init__(self, y):
        super().__init__(y)
        self.reach = np.where(y > 0, self.n / max(self.P, 1), self.n / max(self.N, 1))
        self.doubt = gamma(64) * self.n * (self.P + 1.0) * (self.N + 1.0)

    def worst(self, f):
        shares, before, turned = np.zeros(self.n), np.zeros(self.P), np.zeros(self.N)
        if not self.P * self.N:
            return 0.0, shares
        up, down, *_ = self.sorted(f)
        i, unit = np.arange(1, self.P + 1), self.n / (self.P * self.N)
        for j in range(1, self.N + 1):
            gains = self.N * i / ((i + j - 1.0) * (i + j)) - (f[up] - f[down[j - 1]])
            sums = np.append(np.cumsum(gains[::-1])[::-1], 0.0)
            k = self.P - int(np.argmax(sums[::-1]))
            before[k:], turned[j - 1] = j, self.P - k
        shares[up], shares[down] = before * unit, -turned * unit
        return self.n * (1.0 - float((i / (i + before)).sum()) / self.P), shares
