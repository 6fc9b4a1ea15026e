"""Packed graphs: one matrix with a row a node, edges numbered within each graph, their features, labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import gamma, upper_lengths
from ...data.rows import (
    LARGEST,
    Ragged,
    Shard,
    as_rows,
    compiled_view,
    cut_into_shards,
    longest_row,
    weights_of,
)

#: The label of a node whose label is not known.
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class GraphData:
    """n graphs.

    X : Ragged, rows are nodes (N, d), dense or CSR
    edges : Ragged, (M, 2) numbers of nodes within each graph
    F : (M, k) features of edges; k = 0 where they have none
    y : (N,) labels that the loss counts; -1 where unknown
    truth : (N,) labels that psi(x, y) is taken at: y itself, or a completion of it; None until completed
    weights : (n,)
    n_labels : L
    """

    X: Ragged
    edges: Ragged
    F: np.ndarray
    y: np.ndarray
    truth: np.ndarray | None
    weights: np.ndarray
    n_labels: int

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def offsets(self) -> np.ndarray:
        return self.X.offsets

    @cached_property
    def view(self):
        """As compiled loops see them; a ValueError where an edge joins what is no pair of nodes."""
        from ..._jit.graph_decode import Graphs
        from ..._jit.graph_scores import is_forest, list_arcs

        edges, n = self.edges.values, self.n
        starts, arcs = np.zeros(len(self.y) + n, np.int64), np.zeros(2 * len(edges), np.int64)
        forests = np.zeros(n, bool)
        for i in range(n):
            (at, end), (first, last) = self.offsets[i : i + 2], self.edges.offsets[i : i + 2]
            bad = list_arcs(edges[first:last], starts[at + i : end + i + 1], arcs[2 * first : 2 * last])
            if bad >= 0:
                raise ValueError(
                    f"graph {i}: edge {bad} joins nodes {edges[first + bad].tolist()}, expected two "
                    f"different ones of 0 .. {end - at - 1}"
                )
            forests[i] = is_forest(edges[first:last], end - at)
        return Graphs(
            compiled_view(self.X.values),
            self.offsets,
            edges,
            self.edges.offsets,
            self.F,
            starts,
            arcs,
            forests,
        )

    @cached_property
    def work(self) -> np.ndarray:
        """(n + 1,): what decoding the graphs before each costs, about."""
        matrix, L = self.X.values, self.n_labels
        row = matrix.nnz / max(matrix.shape[0], 1) if sp.issparse(matrix) else matrix.shape[1]
        nodes = L * (row + 16.0) * np.diff(self.offsets)
        edges = L * L * (self.F.shape[1] + 32.0) * np.diff(self.edges.offsets)
        return np.append(0.0, np.cumsum(nodes + edges + 64.0))

    @cached_property
    def shards(self) -> list[Shard]:
        """Graphs lo <= i < hi, of about as much work each; by the data only."""
        return self.split(0, self.n)

    def split(self, lo, hi) -> list[Shard]:
        """The graphs lo <= i < hi as shards of about as much work each."""
        done = self.work[lo : hi + 1] - self.work[lo]
        count = min(len(cut_into_shards(self.n, int(done[-1]))), max(hi - lo, 1))
        inner = np.searchsorted(done, [done[-1] * k / count for k in range(1, count)])
        bounds = [lo, *(lo + int(bound) for bound in inner), hi]
        return [Shard(a, b) for a, b in pairwise(bounds) if a < b] or [Shard(lo, hi)]

    def nodes(self, shard) -> slice:
        """The nodes of a shard's graphs."""
        return slice(int(self.offsets[shard.lo]), int(self.offsets[shard.hi]))

    @cached_property
    def depth(self) -> int:
        """No psi has more numbers to sum up than this."""
        nodes, edges = np.diff(self.offsets), np.diff(self.edges.offsets)
        width = max(longest_row(self.X.values), 1)
        return int((nodes * (width + 1) + edges * (self.F.shape[1] + 1)).max(initial=0))

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n,): at least the lengths of the rows of each graph's nodes and edges, summed up."""
        matrix = self.X.values
        squares = matrix.multiply(matrix).sum(axis=1) if sp.issparse(matrix) else (matrix**2).sum(axis=1)
        nodes = upper_lengths(np.asarray(squares).ravel(), max(longest_row(matrix), 1))
        k = self.F.shape[1]
        edges = upper_lengths((self.F**2).sum(axis=1), k) if k else np.ones(len(self.edges.values))
        return _sums(nodes, self.offsets) + _sums(edges, self.edges.offsets)

    def check_finite(self):
        """Raise where a graph holds a number that is not finite, or too large to be squared."""
        matrix = self.X.values
        for what, values, offsets in (
            ("a node", matrix, self.offsets),
            ("an edge", self.F, self.edges.offsets),
        ):
            numbers = values.data if sp.issparse(values) else values
            bad = np.flatnonzero(~(np.abs(numbers.ravel()) <= LARGEST))
            if len(bad):
                row = np.searchsorted(values.indptr, bad[0], side="right") - 1 if sp.issparse(values) else (
                    bad[0] // values.shape[1]
                )  # fmt: skip
                i = int(np.searchsorted(offsets, row, side="right")) - 1
                raise ValueError(
                    f"graph {i}: {what} has the feature {numbers.ravel()[bad[0]]}, expected finite numbers "
                    "that are not too large"
                )

    def graphs(self) -> list:
        """The graphs one by one: (features, edges, edge_features)."""
        found = []
        for i in range(self.n):
            nodes, first, last = self.nodes(Shard(i, i + 1)), *self.edges.offsets[i : i + 2]
            found.append((self.X.values[nodes], self.edges.values[first:last], self.F[first:last]))
        return found

    def known_truth(self) -> np.ndarray:
        """truth, or an error where a label is missing."""
        if self.truth is None:
            i = np.searchsorted(self.offsets, np.flatnonzero(self.y == UNKNOWN)[0], side="right") - 1
            raise ValueError(f"graph {i} has nodes without a label: complete them first (complete_batch)")
        return self.truth

    def completed(self, labels) -> GraphData:
        """The same with psi(x, y) at `labels` (N,), which agree with y where it is known; the loss still
        counts only what y knows."""
        labels = np.ascontiguousarray(labels, dtype=np.int32)
        if labels.shape != self.y.shape or (labels < 0).any() or (labels >= self.n_labels).any():
            raise ValueError(f"a completion has {len(self.y)} labels, 0 .. {self.n_labels - 1}")
        if ((self.y != UNKNOWN) & (labels != self.y)).any():
            raise ValueError("a completion keeps the labels that are known")
        return replace(self, truth=labels)

    def take(self, index) -> GraphData:
        """The graphs `index`, as a copy."""
        index = np.arange(self.n)[index]
        places, joined = self.X.places(index), self.edges.places(index)
        truth = None if self.truth is None else self.truth[places]
        edges = self.edges.take(index)
        return GraphData(
            self.X.take(index),
            edges,
            self.F[joined],
            self.y[places],
            truth,
            self.weights[index],
            self.n_labels,
        )

    def without_unknown(self) -> GraphData:
        """The graphs without the nodes whose label is not known, and their edges."""
        known = self.y != UNKNOWN
        number = np.cumsum(known) - 1
        before = np.append(0, np.cumsum(known))[self.offsets]
        owner = np.repeat(np.arange(self.n), np.diff(self.edges.offsets))
        ends = self.edges.values + self.offsets[owner][:, None]
        kept = known[ends].all(axis=1)
        edges = (number[ends[kept]] - before[owner[kept]][:, None]).astype(np.int32)
        edge_offsets = np.append(0, np.cumsum(kept))[self.edges.offsets]
        X, y = Ragged(self.X.values[known], before), self.y[known]
        joined = Ragged(edges, edge_offsets)
        return GraphData(X, joined, self.F[kept], y, y, self.weights, self.n_labels)


def _sums(values, offsets):
    """At least the sums of the numbers >= 0 of each stretch."""
    before = np.append(0.0, np.cumsum(values))
    share = gamma(len(values) + 8)
    return (1.0 + share) * np.diff(before[offsets]) + share * before[-1]


def pack_graphs(X, Y, weights, n_features, n_labels, n_edge_features) -> GraphData:
    """Checked and packed.  X: a list of graphs (features (n, d), edges (m, 2)) or (features, edges,
    edge_features (m, k)), or GraphData; Y: a list of (n,) labels, or None when no label is known."""
    if isinstance(X, GraphData):
        data = X
    else:
        data = _packed(list(X), n_features, n_labels, n_edge_features)
    if data.X.values.shape[1] != n_features or data.F.shape[1] != n_edge_features:
        raise ValueError(
            f"nodes have {data.X.values.shape[1]} features and edges {data.F.shape[1]}, expected "
            f"{n_features} and {n_edge_features}"
        )
    y = np.full(len(data.y), UNKNOWN, np.int32) if Y is None else _labels(Y, data.X, n_labels)
    truth = None if (y == UNKNOWN).any() else y
    data = replace(data, y=y, truth=truth, weights=weights_of(weights, data.n), n_labels=n_labels)
    data.view  # noqa: B018  looks at the edges
    return data


def _packed(X, d, n_labels, k):
    nodes, edges, features = [], [], []
    for i, x in enumerate(X):
        if not isinstance(x, tuple | list) or len(x) not in (2, 3):
            raise ValueError(f"graph {i}: x is {type(x).__name__}, expected (features, edges) or (features, "
                             "edges, edge_features)")  # fmt: skip
        rows = x[0] if sp.issparse(x[0]) else np.asarray(x[0])
        pairs, more = np.asarray(x[1]), np.asarray(x[2], float) if len(x) == 3 else None
        if rows.ndim != 2 or rows.shape[1] != d:
            raise ValueError(f"graph {i}: features have shape {rows.shape}, expected (nodes, {d})")
        if pairs.size == 0:
            pairs = pairs.reshape(0, 2).astype(np.int32)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise ValueError(
                f"graph {i}: edges have shape {pairs.shape} of {pairs.dtype}, expected (edges, 2) of whole "
                "numbers"
            )
        if more is None:
            more = np.empty((len(pairs), 0))
        if more.size == 0 and len(pairs) == 0:
            more = more.reshape(0, k)
        if more.shape != (len(pairs), k):
            raise ValueError(
                f"graph {i}: edge features have shape {more.shape}, expected ({len(pairs)}, {k})"
            )
        nodes.append(rows)
        edges.append(pairs.astype(np.int32))
        features.append(more)
    rows = Ragged.from_list(nodes) if nodes else Ragged(np.empty((0, d)), [0])
    rows = Ragged(as_rows(rows.values), rows.offsets)
    joined = Ragged(
        np.concatenate([np.empty((0, 2), np.int32), *edges]), np.cumsum([0, *map(len, edges)], dtype=np.int64)
    )
    F = np.ascontiguousarray(np.concatenate([np.empty((0, k)), *features]))
    y = np.full(rows.values.shape[0], UNKNOWN, np.int32)
    return GraphData(rows, joined, F, y, None, np.ones(len(rows)), n_labels)


def _labels(Y, X, n_labels):
    Y = Y if isinstance(Y, Ragged) else Ragged.from_list(Y)
    if len(Y) != len(X):
        raise ValueError(f"X has {len(X)} graphs but Y has {len(Y)}")
    bad = np.flatnonzero(Y.lengths != X.lengths)
    if len(bad):
        i = bad[0]
        raise ValueError(f"graph {i} has {X.lengths[i]} nodes but {Y.lengths[i]} labels")
    values = np.asarray(Y.values)
    if values.ndim != 1 or (len(values) and values.dtype.kind not in "biuf"):
        raise ValueError(
            f"labels must be whole numbers, one a node; got {values.dtype} of shape {values.shape}"
        )
    wrong = (values < UNKNOWN) | (values >= n_labels) | (np.floor(values) != values)
    if wrong.any():
        node = np.flatnonzero(wrong)[0]
        i = int(np.searchsorted(X.offsets, node, side="right")) - 1
        raise ValueError(
            f"graph {i}, node {node - X.offsets[i]}: y is {values[node]}, expected 0 .. {n_labels - 1}, or "
            "-1 where it is not known"
        )
    return np.ascontiguousarray(values, dtype=np.int32)
