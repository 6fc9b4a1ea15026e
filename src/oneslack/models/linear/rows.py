"""What the models on a feature matrix share: packed data, and duals without a free component.

Such a model sees an example only through its scores, which are linear in w.  So a solver can search
a line, take a cut or smooth the hinge at a known S without another pass over the data: the `scores`
extension of protocols.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import upper_lengths
from ...data.blocks import blocks_of
from ...data.lazy import lazy
from ...data.rows import (
    LARGEST,
    SMALL,
    Shard,
    as_rows,
    check_finite,
    compiled_view,
    cut_into_shards,
    longest_row,
    small_norms,
    weights_of,
)
from ...objective import inner

#: Numbers of a dense matrix that are multiplied with themselves at once.
AT_ONCE = 1 << 14
#: Dense rows of so many numbers gain by products of matrices, where there are several scores.
LONG = 32


@dataclass(frozen=True)
class LinearData:
    """Packed examples: X (n, d) dense or CSR, y (n,) as the model codes it, weights (n,); `unit` is the size
    of targets that are numbers, by which solvers measure losses."""

    X: object
    y: np.ndarray
    weights: np.ndarray
    unit: float | None = field(default=None, kw_only=True)

    @lazy
    def view(self):
        return compiled_view(self.X)

    @lazy
    def blocks(self):
        """The same, dense examples in blocks."""
        return (blocks_of(self.X),) if isinstance(self.X, np.ndarray) else self.view

    @property
    def n_entries(self) -> int:
        """Numbers that X holds."""
        return self.X.size if isinstance(self.X, np.ndarray) else self.X.nnz

    @lazy
    def shards(self) -> list[Shard]:
        """For what reads X."""
        return cut_into_shards(self.n, self.n_entries)

    def score_shards(self, S) -> list[Shard]:
        """For what reads only scores S, which is much less."""
        return cut_into_shards(self.n, S.size)

    @property
    def n(self) -> int:
        return self.X.shape[0]

    @lazy
    def norm2(self) -> np.ndarray:
        """|x_i|^2."""
        if self.n_entries <= SMALL:
            return small_norms(self.X)
        from ..._jit.rows import squared_norms

        out = np.empty(self.n)
        squared_norms(self.view, 0, self.n, out)
        return out

    @property
    def depth(self) -> int:
        """The most numbers that a row holds."""
        return longest_row(self.X)

    @lazy
    def lengths(self) -> np.ndarray:
        """|x_i|, rounded up."""
        return upper_lengths(self.norm2, self.depth)

    def check_finite(self):
        """Raise where X holds a number that is not finite, or too large to be squared."""
        if not self.norm2.max(initial=0.0) <= LARGEST:
            check_finite(self.X)
        self.lengths  # noqa: B018  found now, while the squares are at hand: the certificate needs them

    def squares(self, shard, h, has_constant) -> np.ndarray:
        """sum_i h_i x_i x_i' over a shard (lower triangle), h_i counted from its first row; with a constant,
        that comes last."""
        d = self.X.shape[1]
        H = np.zeros((d + has_constant, d + has_constant))
        if sp.issparse(self.X):
            from ..._jit.rows import squares

            squares(self.view, h, shard.lo, shard.hi, has_constant, H)
            return H
        step = max(AT_ONCE // d, 32)  # products of matrices, of a size that stays in the cache
        for sign, rows in ((1.0, np.flatnonzero(h > 0.0)), (-1.0, np.flatnonzero(h < 0.0))):
            for lo in range(0, len(rows), step):
                some = rows[lo : lo + step]
                roots = np.sqrt(np.abs(h[some]))
                A = self.X[shard.lo + some] * roots[:, None]
                H[:d, :d] += sign * (A.T @ A)
                if has_constant:
                    H[-1, :-1] += sign * (roots @ A)
                    H[-1, -1] += h[some].sum()
        return H

    def take(self, index) -> LinearData:
        """The examples `index`, as a copy."""
        return LinearData(self.X[index], self.y[index], self.weights[index], unit=self.unit)

    def in_units(self) -> LinearData:
        """The same, with the mean size of their targets as unit."""
        total = float(self.weights.sum())
        unit = inner(self.weights, np.abs(self.y)) / total if total > 0 else 0.0
        return replace(self, unit=unit or 1.0)


def has_long_rows(X) -> bool:
    """Whether scores of several classes are products of matrices."""
    return isinstance(X, np.ndarray) and X.shape[1] >= LONG


def pack_rows(X, y, weights) -> LinearData:
    """Checked and packed; weights of one where none are given."""
    X = as_rows(X)
    n = X.shape[0]
    if len(y) != n:
        raise ValueError(f"X has {n} rows but y has {len(y)} labels")
    return LinearData(X, np.ascontiguousarray(y), weights_of(weights, n))


def circulation(flow: np.ndarray) -> np.ndarray:
    """The largest part of `flow` (K, K), found greedily, with as much going into a node as out.

    A feasible dual puts no weight on the intercepts: what examples of class j give to class k must
    balance.  Any flow is a circulation plus paths from nodes with too much going out to nodes with
    too much coming in; take those paths away, shortest first.
    """
    flow = flow.copy()
    np.fill_diagonal(flow, 0.0)
    tiny = 1e-15 * max(flow.sum(), 1e-300)
    surplus = flow.sum(axis=1) - flow.sum(axis=0)
    for source in np.flatnonzero(surplus > tiny):
        while surplus[source] > tiny:
            path = _shortest_path(flow, source, surplus < -tiny, tiny)
            if path is None:
                break
            edges = (path[:-1], path[1:])
            amount = min(surplus[source], -surplus[path[-1]], flow[edges].min())
            flow[edges] = np.maximum(flow[edges] - amount, 0.0)
            surplus[source] -= amount
            surplus[path[-1]] += amount
    return flow


def _shortest_path(flow, source, is_sink, tiny):
    parent = np.full(len(flow), -1)
    parent[source] = source
    frontier = [source]
    while frontier:
        following = []
        for node in frontier:
            for child in np.flatnonzero((flow[node] > tiny) & (parent < 0)):
                parent[child] = node
                if is_sink[child]:
                    path = [int(child)]
                    while path[-1] != source:
                        path.append(int(parent[path[-1]]))
                    return np.array(path[::-1])
                following.append(child)
        frontier = following
    return None
