"""Overgenerating training (Finley & Joachims 2008): outputs of graphs may be fractional.

The worst output is looked for among marginals, mu_s of nodes and mu_e of edges that agree with them,

    max_mu  sum_s <theta_s, mu_s> + sum_e <T_e, mu_e>
    sum_b mu_e(a, b) = mu_s(a),  sum_a mu_e(a, b) = mu_t(b),  sum_a mu_s(a) = 1,  mu >= 0        e = (s, t)

which hold all labellings and more.  The maximum is found in polynomial time, so that training has no gap of
inference; its objective is that of the relaxation, at least the P of labels at every w.  Where messages prove
that a labelling is best, it is; else HiGHS solves the programme.  Its multipliers are a reparametrisation
(_jit/graph_bound.py), which makes a bound that we compute ourselves, and its marginals are made to agree but
for the rounding of floats (Altschuler, Weed & Rigollet 2017, algorithm 2), so that cuts are true ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...errors import OneslackError
from .model import GraphModel

#: By how much a labelling may be below the bound, beside their size, to be the best of the relaxation.
CLOSED = 1e-9


class Marginals(NamedTuple):
    """A fractional output: nodes (n, L), tables (m, L, L)."""

    nodes: np.ndarray
    tables: np.ndarray


@dataclass(frozen=True, eq=False)
class RelaxedGraphs:
    """A GraphModel whose wrong outputs may be Marginals; predictions are labels.

    >>> import numpy as np
    >>> from oneslack import GraphModel
    >>> from oneslack.models.graph.relaxed import RelaxedGraphs
    >>> apart = np.array([0.0, 0.0, -1.0, 0.0, -1.0])  # equal labels that are joined cost 1
    >>> ring = np.ones((3, 1)), np.array([[0, 1], [1, 2], [2, 0]])
    >>> model = RelaxedGraphs(GraphModel(1, 2))
    >>> model.decode_bound(3.0 * apart, ring, [0, 0, 1])[0].nodes.tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """

    model: GraphModel

    exact = False

    def __post_init__(self):
        # What it keeps is made now: to ask changes nothing.
        _ = self.model.layout, self.model._losses, self.model._nothing

    @property
    def n_params(self) -> int:
        return self.model.n_params

    @property
    def blocks(self):
        return self.model.blocks

    def joint_feature(self, x, y):
        if not isinstance(y, Marginals):
            return self.model.joint_feature(x, y)
        nodes, tables = y
        features = np.asarray(x[0].T @ nodes).ravel()
        F = x[2] if len(x) == 3 and self.model.n_edge_features else np.ones((len(tables), 1))
        joined = np.einsum("ej,eab->jab", F, tables)
        pairs, size = self.model.layout.pairs, self.model.layout.size
        sums = np.zeros((len(joined), size))
        np.add.at(sums, (slice(None), pairs[pairs >= 0]), joined[:, pairs >= 0])
        return sp.csr_array(np.concatenate([features, sums.ravel()])[None])

    def loss(self, y, y_hat):
        if not isinstance(y_hat, Marginals):
            return self.model.loss(y, y_hat)
        return float((self.model.label_losses[np.asarray(y, int)] * y_hat.nodes).sum())

    def decode(self, w, x, y=None):
        return self.model.decode(w, x) if y is None else self.decode_bound(w, x, y)[0]

    def at_precision(self, precision):
        """The same, with labels where they are that near to the bound."""
        return RelaxedGraphs(self.model.at_precision(precision))

    def decode_bound(self, w, x, y):
        """(labels or Marginals, upper) as in protocols.Bounds, over all marginals."""
        model, w = self.model, np.asarray(w, float)
        data = model.pack([x], [y])
        z, upper = model.decode_bound(w, x, y)
        theta, edges, T = model._potentials(data, 0, w, model._losses)

        def score(labels):
            nodes = theta[np.arange(len(theta)), labels].sum()
            return nodes + T[np.arange(len(edges)), labels[edges[:, 0]], labels[edges[:, 1]]].sum()

        truth = score(np.asarray(y, int))
        may_leave = model.precision * max(upper - truth, 0.0)
        if upper - score(z) <= CLOSED * (abs(upper) + abs(truth)) + may_leave:
            return z, upper
        found, bound = best_marginals(theta, edges, T)
        return found, min(bound, upper)


def best_marginals(theta, edges, T):
    """(Marginals, at least the largest score of any)."""
    from scipy.optimize import linprog

    from ..._jit.graph_bound import bound_of_graph
    from ..._jit.graph_scores import list_arcs

    (n, L), m = theta.shape, len(edges)
    A = _agreement(n, L, edges)
    right = np.append(np.ones(n), np.zeros(2 * m * L))
    costs = -np.concatenate([theta.ravel(), T.ravel()])
    found = linprog(costs, A_eq=A, b_eq=right, bounds=(0, None), method="highs")
    if found.x is None:
        raise OneslackError(f"the linear programme of inference was not solved: {found.message}")
    # delta[e, side, a]: minus the multipliers of the rows that tie tables to nodes.
    delta = np.ascontiguousarray(-found.eqlin.marginals[n:].reshape(2, m, L).transpose(1, 0, 2))
    starts, arcs = np.zeros(n + 1, np.int64), np.zeros(2 * m, np.int64)
    edges = np.ascontiguousarray(edges, np.int32)
    list_arcs(edges, starts, arcs)
    bound = bound_of_graph(theta, edges, np.ascontiguousarray(T), starts, arcs, delta)
    nodes, tables = found.x[: n * L].reshape(n, L), found.x[n * L :].reshape(m, L, L)
    return agreeing(nodes, tables, edges), float(bound)


def _agreement(n, L, edges):
    """Rows: one a node, then, for each side of edges, L an edge."""
    m = len(edges)
    sums = sp.kron(sp.eye_array(n), np.ones((1, L)))
    eye, row, rows = sp.eye_array(L), np.ones((1, L)), [[sums, None]]
    for side, ties in ((0, sp.kron(eye, row)), (1, sp.kron(row, eye))):
        ends = sp.csr_array((np.ones(m), (np.arange(m), edges[:, side])), shape=(m, n))
        rows.append([-sp.kron(ends, eye), sp.kron(sp.eye_array(m), ties)])
    return sp.csr_array(sp.block_array(rows))


def agreeing(nodes, tables, edges) -> Marginals:
    """The marginals, changed so little that they agree but for rounding, whatever solved for them."""
    nodes = np.maximum(nodes, 0.0)
    nodes /= nodes.sum(axis=1, keepdims=True)
    tables = np.maximum(tables, 0.0)
    for axis, side in ((2, 0), (1, 1)):  # no sum may be above the node's
        sums, most = tables.sum(axis=axis), nodes[edges[:, side]]
        shares = np.minimum(1.0, np.divide(most, sums, out=np.ones_like(sums), where=sums > 0.0))
        tables = tables * np.expand_dims(shares, axis)
    left = np.maximum(nodes[edges[:, 0]] - tables.sum(axis=2), 0.0)
    right = np.maximum(nodes[edges[:, 1]] - tables.sum(axis=1), 0.0)
    totals = left.sum(axis=1)
    scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0.0)
    return Marginals(nodes, tables + scale[:, None, None] * left[:, :, None] * right[:, None, :])
