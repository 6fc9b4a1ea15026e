"""How far the optimum is, told from a few thousand examples that stay in memory."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...data.row_parts import part_of
from ...data.rows import Shard
from ...objective import inner
from .read_points import BETWEEN

#: Parts of the sample: by what they differ in, it is known how far off the whole may be.
GROUPS = 16
#: The share of the sample whose scores have changed less than the horizon.
MOST = 0.9


class Probe:
    """Some examples, spread evenly over the data.

    index, data   which they are, and packed
    scores        those at the end of the last read
    """

    scores = None

    def __init__(self, problem, source, rows, seed):
        self.problem, m = problem, max(1, rows)
        strata = np.arange(m) + np.random.default_rng([seed]).random(m)
        self.index = (strata * (problem.n / m)).astype(np.int64)
        self.data = source.take(self.index)

    def change(self, w) -> float:
        """How far most scores have moved since the end of the last read."""
        S = self.problem.model.new_scores(self.data)
        self.problem.model.scores(self.data, Shard(0, self.data.n), w, S)
        before, self.scores = self.scores, S
        return np.inf if before is None else float(np.quantile(np.abs(S - before), MOST))

    def estimate(self, points, duals):
        """(P - D, t) at the best of the points: the examples' gaps, what w and v differ by, and twice the
        standard error of the first."""
        problem, data, v = self.problem, self.data, duals.v
        model, regulariser, n = problem.model, problem.regulariser, data.n
        p = duals.shares(self.index, data.y)
        total = float(data.weights.sum())
        scale = problem.weight / total if total > 0.0 else 0.0
        scores, c = points.scores_on(model, data, Shard(0, n)), model.coefficients(data, p)

        def gaps(S, lo, hi):
            loss = model.dual_loss(part_of(data, lo, hi), p[lo:hi])
            of_duals = inner(c[lo:hi].ravel(), S[lo:hi].ravel())
            return scale * (model.risk(data, Shard(lo, hi), S) - loss + of_duals)

        found = []
        for t, S in zip(BETWEEN, scores, strict=True):
            w = points.at(t)
            beside = regulariser.value(w) - regulariser.dual(v, 0.0) - inner(w, v)
            found.append(gaps(S, 0, n) + beside)
        k = int(np.argmin(found))
        bounds = pairwise(n * j // GROUPS for j in range(GROUPS + 1))
        spread = float(np.std([gaps(scores[k], *each) for each in bounds]))
        unseen = (GROUPS * (1.0 - n / problem.n)) ** 0.5  # of all examples a sample is not off
        return found[k] + 2.0 * unseen * spread, BETWEEN[k]
