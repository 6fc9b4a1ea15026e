"""Losses of a whole sample: C max over outputs of (loss - <shares, f>), with f the scores of all examples.

Every output is a plane under that risk, and so is every mean of outputs: a proof has weights, which sum to 1
at most, and the outputs: by the examples that a labelling has wrong, or as the worst output at some point w.
What an output costs is computed here, so it does not matter who chose it.

    Pairs       targets i > k of a group that are not in order by 1:  loss s_i s_k, shares +, -
    FBeta       labellings with a true and b false positives:  n (1 - F), shares y of the wrong ones
    TopK        labellings with k positives (models/measures/top_k.py says what shares are)
    Precision   rankings: 1 - average precision, and (f_i - f_j) / P N for each pair turned round
"""

from math import fsum
from typing import NamedTuple

import numpy as np

from ..errors import ProofError
from .losses import Duals, planes, small
from .sums import SAFE, down, gamma, numbers, up


class Sample(NamedTuple):
    """A measure with worst(f) -> (loss, shares (n,)), C, and the most that scores may count, reach (n,)."""

    measure: object
    C: float

    def risk(self, F, E):
        f = F[:, 0]
        loss, shares = self.measure.worst(f)
        value = self.C * max(down(loss, -shares * f), 0.0)
        size = loss + fsum(np.abs(shares * f))
        near = up(self.measure.reach * (E[:, 0] + gamma(8) * (np.abs(f) + 1.0)))
        error = SAFE * near + gamma(64) * size + self.measure.doubt * (1.0 + np.abs(f).max(initial=0.0))
        return value, self.C * error * SAFE

    def duals(self, proof, scores_at=None, free=False) -> Duals:
        n = len(self.measure.reach)
        A, losses, sides = np.zeros(n), [], [0.0, 0.0]
        for weight, output in planes(proof, lambda j: self._output(proof, j, scores_at)) if proof else ():
            loss, shares = output
            A += weight * shares
            losses.append(weight * loss)
            sides[fsum(shares) < 0] += weight * abs(fsum(shares))
        left, J = abs(fsum(A)) if free else 0.0, len(losses)
        # The planes of the heavier side times 1 - left / side balance.
        excess = small(left / max(*sides, 1e-300), "the balance of the planes", limit=0.5) if left else 0.0
        gain, excess = self.C * down(losses), excess + gamma(J + 64)
        return Duals(self.C * A[:, None], gain, gain, excess, self.C * self.measure.doubt, 1.0)

    def _output(self, proof, j, scores_at):
        if "labels" not in proof:
            return self.measure.worst(scores_at(j)[:, 0])
        n = len(self.measure.reach)
        bits = numbers(proof, "labels", (None, (n + 7) // 8), "i")[j]
        return self.measure.output(np.unpackbits(bits.astype(np.uint8), count=n).astype(bool))


class Pairs:
    """sum_i s_i (mean of max(0, 1 - (f_i - f_k)), weighted by s_i s_k, over pairs of a group)."""

    def __init__(self, targets, groups, s):
        n, self.s = len(targets), s
        self.group = np.zeros(n, int) if groups is None else np.unique(groups, return_inverse=True)[1]
        order = np.lexsort((targets, self.group))
        first = np.diff(self.group[order], prepend=-1) > 0
        steps = np.cumsum(np.diff(targets[order], prepend=targets[order[0]]) != 0)
        self.level = np.empty(n, int)
        self.level[order] = steps - steps[first][np.cumsum(first) - 1]
        self.unit = 1.0
        self.unit = fsum(s) / self.worst(np.zeros(n))[0]
        self.reach = self.unit * s * np.bincount(self.group, s)[self.group]
        is_whole = not np.any(s % 1.0) and s.sum() ** 2 < 2.0**52
        self.doubt = 0.0 if is_whole else gamma(4 * n) * float(self.unit * s.sum() ** 2)

    def worst(self, f):
        """All pairs with f_k > f_i - 1, told by these two numbers alone: lower k in order with upper i."""
        n, s, group = len(f), self.s, self.group
        order = np.lexsort((np.repeat([1, 0], n), np.append(f - 1.0, f), np.tile(group, 2)))
        item, lower = order % n, order >= n
        end = np.searchsorted(group[item], np.arange(group.max() + 1), "right")[group[item]] - 1
        start = np.searchsorted(group[item], np.arange(group.max() + 1), "left")[group[item]]
        shares, loss = np.zeros(n), 0.0
        for level in range(1, self.level.max() + 1):
            above, below = ~lower & (self.level[item] == level), lower & (self.level[item] < level)
            low, high = (np.append(0.0, np.cumsum(np.where(part, s[item], 0.0))) for part in (below, above))
            gives = (s[item] * (low[end + 1] - low[1:]))[above]
            shares[item[above]] += gives
            shares[item[below]] -= (s[item] * (high[:-1] - high[start]))[below]
            loss += float(gives.sum())
        return self.unit * loss, self.unit * shares


class Labelled:
    """Measures of labels y of -1 and +1: positives and negatives, by falling scores."""

    doubt = 0.0

    def __init__(self, y):
        self.y, self.n, self.up, self.down = y, len(y), np.flatnonzero(y > 0), np.flatnonzero(y < 0)
        self.P, self.N = len(self.up), len(self.down)
        self.reach = np.ones(self.n)

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
        self.b2, self.doubt = beta * beta, gamma(64) * self.n * (self.n + 1)

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
            step = self.cost(a, b + 1)[0] - self.cost(a, b)[0] + B[np.minimum(b + 1, self.N)] - B[b]
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
