"""Pairs of a ranking, or of ordered classes: targets i > k of a group should be in order, by 1.

    loss of an output = sum of s_i s_k of the pairs that it has wrong;  shares of i rise by that, those of k
    fall

The worst output has the pairs with f_k > f_i - 1 wrong: a sort tells how many there are.
"""

from math import fsum

import numpy as np

from .sums import gamma


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
