"""Points of a read that are looked at: on the line from the last one to the mean of all.

While a read goes on, w fits best what was read last, and swings.  The mean of the points after each block,
the later ones with more weight (as the square of their number), does not: after one read it is far nearer to
the optimum, as averages of stochastic methods are.  Later, when w has come to rest, the last point may be the
better one.  Scores of both give the hinges at any point between them.
"""

from __future__ import annotations

import numpy as np

from ...certificate.rounding import moved, norm_up
from ..line import way_between

#: Points on the line that are looked at: 0 is the last one, 1 the mean.
BETWEEN = (0.0, 0.25, 0.5, 0.75, 1.0)


class MeanPoint:
    """sum_k k^2 w_k / sum_k k^2, of the points w_1, w_2, ... of a read."""

    def __init__(self):
        self.clear()

    def clear(self):
        self.count, self.total, self.sum = 0, 0.0, None

    def add(self, w):
        self.count += 1
        weight = float(self.count) ** 2
        self.total += weight
        self.sum = weight * w if self.sum is None else self.sum + weight * w

    def value(self):
        return self.sum / self.total

    def state(self):
        return {"count": self.count, "total": self.total, "sum": self.sum}

    def restore(self, state):
        vars(self).update(state)


class ReadPoints:
    """The points between `last` and `mean`, both (n_params,).

    risks   (len(BETWEEN),) sums of the hinges of the examples that they have seen
    """

    def __init__(self, last, mean):
        self.last, self.mean = last, mean
        self.risks = np.zeros(len(BETWEEN))

    def at(self, t):
        return self.last + t * (self.mean - self.last)

    def scores_on(self, model, part, rows):
        """The scores of packed examples at each point."""
        S, other = model.new_scores(part), model.new_scores(part)
        model.scores(part, rows, self.last, S)
        model.scores(part, rows, self.mean, other)
        other -= S
        return [S + t * other for t in BETWEEN]

    def risks_on(self, model, part, rows):
        """(len(BETWEEN),): the sums of the hinges of packed examples."""
        return np.array([model.risk(part, rows, S) for S in self.scores_on(model, part, rows)])

    def best(self, problem):
        """(w, P(w), the way of its scores) of the best, where `risks` are those of all examples."""
        found = []
        for t, risk in zip(BETWEEN, self.risks, strict=True):
            found.append(problem.regulariser.value(self.at(t)) + problem.C * risk)
        k = int(np.argmin(found))
        t = BETWEEN[k]
        way = way_between(norm_up(self.last), norm_up(self.mean), t)
        return self.at(t), float(found[k]), moved(way, self.last, t, self.mean - self.last)

    def state(self):
        return {"last": self.last, "mean": self.mean, "risks": self.risks}

    @classmethod
    def of_state(cls, state):
        if state is None:
            return None
        points = cls(np.array(state["last"]), np.array(state["mean"]))
        points.risks = np.array(state["risks"])
        return points
