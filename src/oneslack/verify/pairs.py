"""Pairs of a ranking, or of ordered classes: targets i > k of a group should be in order, by 1.

    loss of an output = sum of s_i s_k of the pairs that it has wrong;  shares of i rise by that, those of k
    fall

The worst output has the pairs with f_k > f_i - 1 wrong: a sort tells how many there are.
"""

from math import fsum

import numpy as np

from ..errors import ProofError
from .sums import gamma


class Pairs:
    """sum_i s_i (mean of max(0, 1 - (f_i - f_k)), weighted by s_i s_k, over pairs of a group)."""

    def __init__(self, targets, groups, s):
        n, self.s, self.unit = len(targets), s, 1.0
        self.group = np.zeros(n, int) if groups is None else np.unique(groups, return_inverse=True)[1]
        order = np.lexsort((targets, self.group))
        first = np.diff(self.group[order], prepend=-1) > 0
        steps = np.cumsum(np.diff(targets[order], prepend=targets[order[0]]) != 0)
        self.level = np.empty(n, int)  # 0, 1, ... by rising targets of a group
        self.level[order] = steps - steps[first][np.cumsum(first) - 1]
        if not (pairs := self.worst(np.zeros(n))[0]) > 0:
            raise ProofError("the data have no two examples of a group that should be in order")
        self.unit = fsum(s) / pairs
        self.reach = self.unit * s * np.bincount(self.group, s)[self.group]
        is_whole = not np.any(s % 1.0) and s.sum() ** 2 < 2.0**52
        self.doubt = 0.0 if is_whole else gamma(4 * n) * float(self.unit * s.sum() ** 2)

    def worst(self, f):
        """All pairs with f_k > f_i - 1, told by these two numbers alone: lower k in order with upper i."""
        n = len(f)
        order = np.lexsort((np.repeat([1, 0], n), np.append(f - 1.0, f), np.tile(self.group, 2)))
        item, is_lower = order % n, order >= n
        s, level, group = self.s[item], self.level[item], self.group[item]
        start, end = (np.searchsorted(group, group, side) for side in ("left", "right"))
        shares, loss = np.zeros(n), 0.0
        for top in range(1, self.level.max() + 1):
            above, below = ~is_lower & (level == top), is_lower & (level < top)
            high, low = (np.append(0.0, np.cumsum(np.where(part, s, 0.0))) for part in (above, below))
            gives, takes = s * (low[end] - low[1:]), s * (high[:-1] - high[start])
            shares[item[above]] += gives[above]
            shares[item[below]] -= takes[below]
            loss += float(gives[above].sum())
        return self.unit * loss, self.unit * shares
