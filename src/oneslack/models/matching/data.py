"""Packed examples of matchings: the features of all pairs below each other, with shapes and true partners."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...certificate.rounding import gamma, upper_lengths
from ...data.rows import LARGEST, Shard, check_finite, cut_into_shards, weights_of

#: A pair costs about so many steps beside its features: each row looks at all pairs of the rows before it.
STEPS = 8


@dataclass(frozen=True, eq=False)
class MatchingData:
    """n examples.

    F        (N, d): features of pairs (a, b), row by row of each example
    rows, columns   (n,): sizes of the two sets
    y        (sum of rows,): the true partner of each row, -1 for none
    weights  (n,)
    """

    F: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    @property
    def n(self) -> int:
        return len(self.rows)

    @cached_property
    def offsets(self) -> np.ndarray:
        """(n + 1,): where the rows of each example begin."""
        return np.append(0, np.cumsum(self.rows))

    @cached_property
    def starts(self) -> np.ndarray:
        """(n + 1,): where its pairs begin."""
        return np.append(0, np.cumsum(self.rows * self.columns))

    @cached_property
    def shards(self) -> list[Shard]:
        work = self.F.size + STEPS * float(np.sum(self.rows * (self.rows + self.columns)))
        return cut_into_shards(self.n, int(work))

    @cached_property
    def depth(self) -> int:
        """No psi sums up more numbers."""
        return int(self.rows.max(initial=0)) * (self.F.shape[1] + 1)

    @cached_property
    def norm2(self) -> np.ndarray:
        """(N,): |f|^2 of the pairs."""
        return np.einsum("ij,ij->i", self.F, self.F)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n,): no psi is longer: each row adds at most its longest pair, or the 1 of having no partner."""
        longest = np.maximum(upper_lengths(self.norm2, self.F.shape[1]), 1.0)
        places = self.starts[:-1].repeat(self.rows)
        inside = np.arange(self.offsets[-1]) - self.offsets[:-1].repeat(self.rows)
        width = self.columns.repeat(self.rows)
        of_rows = np.ones(len(width))
        some = width > 0
        if some.any():
            of_rows[some] = np.maximum.reduceat(longest, (places + inside * width)[some])
        before = np.append(0.0, np.cumsum(of_rows))
        return (1.0 + gamma(len(of_rows) + 8)) * np.diff(before[self.offsets]) + gamma(len(of_rows)) * before[
            -1
        ]

    def check_finite(self):
        """Raise where a feature is not finite, or too large to be squared."""
        if not self.norm2.max(initial=0.0) <= LARGEST:
            check_finite(
                self.F, lambda at: f"example {int(np.searchsorted(self.starts, at, side='right')) - 1}"
            )

    def take(self, index) -> MatchingData:
        """The examples `index`, as a copy."""
        index = np.arange(self.n)[index]
        pairs = [np.arange(self.starts[i], self.starts[i + 1]) for i in index]
        rows = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in index]
        none = [np.empty(0, int)]
        return MatchingData(
            self.F[np.concatenate(pairs + none)], self.rows[index], self.columns[index],
            self.y[np.concatenate(rows + none)], self.weights[index],
        )  # fmt: skip


def pack_matchings(X, Y, weights, n_features, may_stay) -> MatchingData:
    """Checked and packed: X a list of (n1, n2, d), Y a list of (n1,) or None where nothing is known."""
    X = [np.asarray(x, dtype=float) for x in X]
    for i, x in enumerate(X):
        if x.ndim != 3 or x.shape[2] != n_features:
            raise ValueError(f"example {i}: x has shape {x.shape}, expected (rows, columns, {n_features})")
        if not may_stay and x.shape[0] > x.shape[1]:
            raise ValueError(
                f"example {i}: {x.shape[0]} rows have {x.shape[1]} columns to be matched with; swap them, or "
                "allow rows without a partner (unmatched=True)"
            )
    rows = np.array([x.shape[0] for x in X], dtype=np.int64)
    columns = np.array([x.shape[1] for x in X], dtype=np.int64)
    F = np.concatenate([x.reshape(-1, n_features) for x in X] or [np.empty((0, n_features))])
    y = np.full(int(rows.sum()), -1, np.int32) if Y is None else _partners(Y, rows, columns, may_stay)
    return MatchingData(np.ascontiguousarray(F), rows, columns, y, weights_of(weights, len(X)))


def _partners(Y, rows, columns, may_stay):
    if len(Y) != len(rows):
        raise ValueError(f"X has {len(rows)} examples but Y has {len(Y)}")
    checked = []
    for i, y in enumerate(Y):
        y = np.asarray(y)
        if y.shape != (rows[i],) or (len(y) and y.dtype.kind not in "iu"):
            raise ValueError(f"example {i}: y must be {rows[i]} whole numbers, the column of each row or -1")
        lowest = -1 if may_stay else 0
        if ((y < lowest) | (y >= columns[i])).any():
            bad = y[(y < lowest) | (y >= columns[i])][0]
            more = "; for rows without a partner set unmatched=True" if bad == -1 else ""
            raise ValueError(f"example {i}: {bad} is no column; expected {lowest} .. {columns[i] - 1}{more}")
        taken, counts = np.unique(y[y >= 0], return_counts=True)
        if (counts > 1).any():
            raise ValueError(f"example {i}: column {taken[counts > 1][0]} is the partner of several rows")
        checked.append(y)
    return np.concatenate([*checked, np.empty(0)]).astype(np.int32)
