"""What `Ranking` packs: the matrix as it is, and the order of groups and targets, found once."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...certificate.rounding import gamma
from ...data.rows import Shard, cut_into_shards
from ..linear.rows import LinearData
from .two_ranks import WORTHWHILE, TwoRanks

#: A score costs about as much as so many numbers of X.
WORK = 16


class ActivePairs(NamedTuple):
    """The pairs of a shard that lack their margin, without the scale.

    loss      the sum of s_i s_j over them
    c         what each position's pairs add up to (_jit/ranking.py)
    f, rows, s   score, row and weight of each position
    """

    loss: float
    c: np.ndarray
    f: np.ndarray
    rows: np.ndarray
    s: np.ndarray | None

    @property
    def hinge(self) -> float:
        """The sum of s_i s_j (1 - (f_i - f_j)) over them."""
        from ..._jit.ranking import weighted_sum

        return self.loss - weighted_sum(None, self.c, self.s, self.f)


@dataclass(frozen=True)
class RankedData(LinearData):
    """LinearData with y the targets (n,), and positions p: the rows by group, then by target.

    codes (n,)     the group of each row
    rows (n,)      the row at each position
    rank (n,)      at each position, the number of its target among the targets of all groups
    starts (r+1,)  the first position of each rank
    groups (g+1,)  the first rank of each group
    s (n,)         weights by position; None where all are equal, so that pairs need only be counted
    scale          what a unit of s_i s_j is worth: sum of the weights / sum over pairs of s_i s_j
    """

    codes: np.ndarray
    rows: np.ndarray
    rank: np.ndarray
    starts: np.ndarray
    groups: np.ndarray
    s: np.ndarray | None
    scale: float
    _rooms: list = field(default_factory=list, repr=False, compare=False)

    def score_shards(self, S) -> list[Shard]:
        """Positions, cut between groups."""
        return self._score_shards

    @cached_property
    def _score_shards(self):
        first = self.starts[self.groups]
        even = [shard.lo for shard in cut_into_shards(self.n, WORK * self.n)]
        bounds = np.unique(np.append(first[np.searchsorted(first, even)], self.n))
        return [Shard(int(lo), int(hi)) for lo, hi in pairwise(bounds)]

    @cached_property
    def two_ranks(self) -> TwoRanks | None:
        """The way of one large group of two ranks."""
        if self.n < WORTHWHILE or len(self.groups) > 2 or len(self.starts) > 3:
            return None
        return TwoRanks(self.rows, self.s, int(self.starts[1]), self.scale)

    @property
    def slopes(self) -> np.ndarray:
        """(n,): what the pairs of each row count at most: scale s_i times the weight of all of its group that
        have another target; where pairs are not counted, rounding is as large as that of all its group."""
        first = self.starts[self.groups]
        slopes = np.empty(self.n)
        if self.s is None:
            others = np.repeat(np.diff(first), np.diff(first)) - np.repeat(
                np.diff(self.starts), np.diff(self.starts)
            )
            slopes[self.rows] = self.scale * self.weights[0] * others
        else:
            of_group = np.repeat(np.add.reduceat(self.s, first[:-1]), np.diff(first))
            slopes[self.rows] = self.scale * self.s * of_group
        return (1.0 + gamma(self.n + 8)) * slopes

    @contextmanager
    def active_pairs(self, shard, S, dS=None, t=0.0):
        """The ActivePairs of a shard at S + t dS; good inside the block only."""
        from ..._jit.ranking import active_pairs, gather

        lo, hi = shard.lo, shard.hi
        g_lo, g_hi = np.searchsorted(self.starts[self.groups], (lo, hi))
        rows, s = self.rows[lo:hi], None if self.s is None else self.s[lo:hi]
        room = self._borrow()
        try:
            f, c, *scratch = room
            f, c = f[: hi - lo], c[: hi - lo]
            gather(rows, S, dS, t, f)
            groups = self.groups[g_lo : g_hi + 1]
            loss = active_pairs(f, s, self.rank[lo:hi], self.starts, groups, *scratch, c)
            yield ActivePairs(loss, c, f, rows, s)
        finally:
            self._rooms.append(room)

    def _borrow(self):
        """Memory for one shard.  It is kept: the system takes its time to hand out fresh pages."""
        from ..._jit.ranking import largest_sorted

        try:
            return self._rooms.pop()
        except IndexError:
            n = max(shard.hi - shard.lo for shard in self._score_shards)
            m = largest_sorted(self.starts, self.groups)
            c = np.empty(n, np.int32 if self.s is None else np.float64)
            return np.empty(n), c, np.empty(2 * m, np.int64), np.empty(2 * m, np.int64), np.empty(m)

    def take(self, index) -> RankedData:
        """The examples `index`, as a copy."""
        return rank(super().take(index), self.codes[index])


def rank(data: LinearData, codes) -> RankedData:
    """Order the rows; refuse data without a pair."""
    rows = np.lexsort((data.y, codes))
    y, group = data.y[rows], codes[rows]
    new_group = np.append(True, group[1:] != group[:-1])[: data.n]
    new_rank = new_group | np.append(True, y[1:] != y[:-1])[: data.n]
    number = np.cumsum(new_rank) - 1
    starts = np.append(np.flatnonzero(new_rank), data.n)
    groups = np.append(number[new_group], len(starts) - 1)
    if len(groups) == len(starts):  # a rank for each group
        raise ValueError("there is no pair to rank: all targets are equal inside each group")
    weights = data.weights[rows]
    s = None if np.all(weights == weights[0]) else weights
    if s is None:
        lower = starts[number] - starts[groups][np.cumsum(new_group) - 1]
        pairs = float(lower.sum())
    else:
        from ..._jit.ranking import pair_mass

        pairs = pair_mass(s, starts, groups)
    if not pairs > 0:
        raise ValueError("there is no pair to rank: no pair has a positive weight")
    scale = float(weights.sum()) / pairs
    order = (rows.astype(np.uint32), number.astype(np.int32), starts, groups)
    return RankedData(data.X, data.y, data.weights, codes, *order, s, scale)
