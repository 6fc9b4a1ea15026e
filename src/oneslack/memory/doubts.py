"""Which examples to ask next: those whose remembered cuts are most in doubt (a working set by violation).

At some w the oracle's answer for example i is worse than all its remembered cuts by e_i >= 0, its excess.
Where the last answer brought much, the next one probably brings a share of that; where it brought nothing,
the remembered cuts will do for long.  A plane of fresh and remembered cuts lies under the risk as one of
fresh cuts does, since each lies under its example's hinge.  So a part of the examples is asked at a time,
the largest excess first; all are asked at one point, which tells P there, only when no more than the
tolerance is to be expected.

Joachims, Finley & Yu (2009), section 5.6, expect that asking a well-chosen part of the examples pays.
"""

from __future__ import annotations

import numpy as np

from .state_coding import column

#: Of an example's last excess, the share that asking it again is expected to bring.
SHARE = 0.3
#: A part is made of the examples with this share of all excess, unless they are too many.
MOST = 0.7
#: An excess below this share of the hinge is rounding.
ROUNDING = 1e-9


class Doubts:
    """The last excess of each example; inf before it is asked for the first time.

    weights  (n,): what a hinge counts in P
    parts    a part is at most so small a share of the examples
    fresh    the excess that the last answers had, weighted and summed
    """

    def __init__(self, weights, parts):
        self.weights, self.excess = weights, np.full(len(weights), np.inf)
        self.size = max(1, -(-len(weights) // parts))
        self.fresh = 0.0

    def part(self, target):
        """The examples to ask next; None for all of them, where more than `target` is not to be expected."""
        new = np.flatnonzero(np.isinf(self.excess))
        if len(new):
            return new[: self.size]
        doubt = self.weights * self.excess
        if SHARE * doubt.sum() <= target:
            return None
        order = np.argsort(-doubt, kind="stable")
        reached = np.cumsum(doubt[order])
        count = 1 + int(np.searchsorted(reached, MOST * reached[-1]))
        return np.sort(order[: min(count, self.size)])

    def note(self, index, excess, known):
        """The examples `index` were asked: by how much the answers beat what was `known`."""
        self.excess[index] = np.where(excess > ROUNDING * (1.0 + known), excess, 0.0)
        self.fresh = float(self.weights[index] @ self.excess[index])

    def state(self):
        return {"excess": self.excess.copy(), "fresh": self.fresh}

    def restore(self, state):
        self.fresh = state["fresh"]
        self.excess = column("excess of the examples", state["excess"], np.float64)
        if len(self.excess) != len(self.weights):
            raise ValueError(f"excess of the examples is of {len(self.excess)}, not of {len(self.weights)}")
