"""BoundedLabelSets: weights for any pairs of many labels, with inference that tells a bound.

What LabelSets is for few labels or a tree, for the number of wrong labels as the loss.  A set is a labelling
of a graph whose nodes are the labels, on or off: a minimum cut where all pairs like each other, else
messages and expansion moves (_jit/graph_decode.py).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import Sizes
from ...data.rows import Shard
from ..linear.rows import pack_rows
from .model import LabelData, SetWeights

#: Message passes over the labels of an example, at most.
PASSES = 30

_ONE = Shard(0, 1)


class SetData(LabelData):
    """LabelData whose outputs lie in one array, one behind the other."""

    @cached_property
    def offsets(self) -> np.ndarray:
        return self.y.shape[1] * np.arange(self.n + 1)

    def take(self, index) -> SetData:
        return SetData(self.X[index], self.y[index], self.weights[index], n_pairs=self.n_pairs)


@dataclass(frozen=True, eq=False)
class BoundedLabelSets(SetWeights):
    """x (d,), y (L,) of 0 and 1, the loss being the number of wrong labels; weights as those of LabelSets.

    >>> import numpy as np
    >>> from oneslack.models.labels import BoundedLabelSets
    >>> model = BoundedLabelSets(1, 3, edges=[[0, 1], [1, 2], [0, 2]])
    >>> model.decode(np.array([1.0, -0.5, -1.0, 0.8, 0.1, 0.1]), np.array([1.0])).tolist()
    [1, 1, 0]
    """

    n_features: int
    n_labels: int
    loss_name: str = "hamming"
    edges: np.ndarray | None = None

    #: Bounds tell how far from the best set it may be.
    exact = False
    #: The share of a hinge that inference may leave open (protocols.Bounds).
    precision = 0.0

    def __post_init__(self):
        if self.loss_name != "hamming":
            raise ValueError(f"sets of many labels know the loss 'hamming' only; got {self.loss_name!r}")
        self._check_edges()

    @cached_property
    def _arcs(self):
        from ..._jit.graph_scores import list_arcs

        edges = np.ascontiguousarray(self.edges, np.int32)
        starts, arcs = np.zeros(self.n_labels + 1, np.int64), np.zeros(2 * len(edges), np.int64)
        list_arcs(edges, starts, arcs)
        return edges, starts, arcs

    # One example.

    def decode(self, w, x, y=None):
        """(L,) of 0 and 1: a good set, with the loss against y when it is given."""
        return self.decode_bound(w, x, y)[0]

    def decode_bound(self, w, x, y):
        """(z, upper) as in protocols.Bounds."""
        data = self._of_one(x, np.zeros(self.n_labels) if y is None else y)
        S = self.scores_of(data.X, np.asarray(w, float))
        Z, _, _, uppers = self._sets(S, data.y, 0.0 if y is None else 1.0, 0, 1)
        truth = 0.0
        if y is not None:
            on = data.y[0].astype(float)
            terms = np.concatenate([on, on[self.edges[:, 0]] * on[self.edges[:, 1]]]) * S[0]
            truth = terms.sum() + 2.0**-50 * len(terms) * (np.abs(terms).sum() + uppers[0])
        return Z[0], float(uppers[0] + truth)

    def at_precision(self, precision):
        """The same model, whose bounds may leave open a share `precision` of each hinge."""
        found = copy(self)
        object.__setattr__(found, "precision", float(precision))
        return found

    # Blocks of examples (protocols.Batches).

    def pack(self, X, Y, weights=None) -> SetData:
        rows = pack_rows(X, self._checked(Y), weights)
        return SetData(rows.X, rows.y, rows.weights, n_pairs=len(self.edges))

    def worst_batch(self, data, shard, w, rescaling="margin"):
        return self.bound_batch(data, shard, w)[:3]

    def bound_batch(self, data, shard, w):
        """(Z, losses, leads, uppers), Z flat: see protocols.Batches."""
        S = self.scores_of(data.X[shard.lo : shard.hi], w)
        Z, *rest = self._sets(S, data.y, 1.0, shard.lo, shard.hi)
        return Z.ravel(), *rest

    def delta_sum(self, data, shard, Z, coefficients):
        """(n_params,): sum_i coefficients_i delta_i(z_i)."""
        off, pairs = self._differences(data, shard, Z)
        of_labels = data.X[shard.lo : shard.hi].T @ (coefficients[:, None] * off)
        return np.concatenate([np.asarray(of_labels).ravel(), coefficients @ pairs])

    def delta_rows(self, data, shard, Z, factors=None):
        """factors_i delta_i(z_i) as a CSR matrix."""
        off, pairs = self._differences(data, shard, Z)
        n, first = shard.hi - shard.lo, self.n_features * self.n_labels
        factors = np.ones(n) if factors is None else factors
        X, columns = data.X, np.arange(self.n_features)
        indices, values, ends = [], [], [0]
        for k in range(n):
            changed = np.flatnonzero(off[k]) if factors[k] else np.empty(0, int)
            joined = np.flatnonzero(pairs[k]) if factors[k] else np.empty(0, int)
            i = shard.lo + k
            if sp.issparse(X):
                mine = slice(X.indptr[i], X.indptr[i + 1])
                columns, row = X.indices[mine].astype(int), X.data[mine]
            else:
                row = X[i]
            indices += [(columns[:, None] * self.n_labels + changed).ravel(), first + joined]
            values += [factors[k] * np.outer(row, off[k, changed]).ravel(), factors[k] * pairs[k, joined]]
            ends.append(ends[-1] + len(columns) * len(changed) + len(joined))
        parts = (np.concatenate([np.empty(0), *values]), np.concatenate([np.empty(0, int), *indices]))
        return sp.csr_array((*parts, np.array(ends)), shape=(n, self.n_params))

    def _differences(self, data, shard, Z):
        """(y - z (n, L), the same of pairs (n, E)) of a shard."""
        Y = data.y[shard.lo : shard.hi].astype(float)
        Z = np.asarray(Z, float).reshape(Y.shape)
        a, b = self.edges.T
        return Y - Z, Y[:, a] * Y[:, b] - Z[:, a] * Z[:, b]

    def _sets(self, S, Y, price, lo, hi):
        """(Z (hi - lo, L), losses, leads, uppers) at scores S of these examples."""
        from ..._jit.label_bounds import bound_sets

        L, (edges, starts, arcs) = self.n_labels, self._arcs
        T = np.zeros((len(edges), 2, 2))
        T[:, 1, 1] = S[0, L:] if len(S) else 0.0  # the same for all
        Z = np.empty((hi - lo, L), np.int32)
        losses, leads, uppers = np.empty((3, hi - lo))
        how = price, PASSES, self.precision, lo, hi
        bound_sets(np.ascontiguousarray(S[:, :L]), T, edges, starts, arcs, Y, *how, Z, losses, leads, uppers)
        return Z, losses, leads, uppers

    # Predictions.

    def predict_sets(self, X, w):
        """(n, L) of 0 and 1 for the rows of a matrix."""
        S = self.scores_of(X, w)
        nobody = np.zeros((len(S), self.n_labels), np.uint8)
        return self._sets(S, nobody, 0.0, 0, len(S))[0].astype(np.uint8)

    def margins(self, X, w):
        """(n, L): by how much the best set that is found with a label beats the best that is found
        without."""
        S = self.scores_of(X, w)
        nobody, out = np.zeros((len(S), self.n_labels), np.uint8), np.empty((len(S), self.n_labels))
        for a in range(self.n_labels):
            held, values = S.copy(), []
            far = 2.0 * np.abs(S).sum(axis=1) + 1.0  # more than all others can win
            for forced in (far, -far):
                held[:, a] = forced
                Z = self._sets(held, nobody, 0.0, 0, len(S))[0].astype(float)
                pairs = Z[:, self.edges[:, 0]] * Z[:, self.edges[:, 1]]
                values.append((S * np.concatenate([Z, pairs], axis=1)).sum(axis=1))
            out[:, a] = values[0] - values[1]
        return out

    def sizes(self, data) -> Sizes:
        """How large cuts are, for bounds that hold whatever rounding does (rounding.py)."""
        lengths = np.sqrt(self.n_labels) * data.lengths + np.sqrt(len(self.edges))
        return Sizes((1.0 + 1e-12) * lengths, float(self.n_labels), data.weights)
