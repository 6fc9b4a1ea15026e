"""LabelSets: every label on or off, with weights for features and for pairs of labels that are on together.

    <w, psi(x, y)> = sum_l y_l <W[:, l], x> + sum_e J_e y_a y_b          e = (a, b)

An example is seen through its scores, s_l = <W[:, l], x> and J, which are linear in w.  Loss-augmented
inference is exact, for every loss: by sorting without edges, by max-product on a tree, by going through all
sets on other graphs of few labels (_jit/label_sets.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from ...certificate.rounding import Sizes
from ...data.rows import longest_row, weights_of
from ..linear.rows import LinearData, pack_rows
from .dependencies import walk

#: Numbers of the losses in _jit/label_sets.py.
LOSSES = {"hamming": 0, "f1": 1, "subset": 2}
NOTHING = 3
#: Labels whose sets can all be gone through.
MAX_LABELS = 16


@dataclass(frozen=True)
class LabelData(LinearData):
    """LinearData with y (n, L) of 0 and 1; a score of a set sums up labels and pairs, too."""

    n_pairs: int = 0

    @property
    def depth(self) -> int:
        return longest_row(self.X) + self.y.shape[1] + self.n_pairs

    def take(self, index) -> LabelData:
        return LabelData(self.X[index], self.y[index], self.weights[index], n_pairs=self.n_pairs)


class SetWeights:
    """What models of sets share: which weight is which.  Fields n_features, n_labels, loss_name, edges."""

    def _check_edges(self):
        edges = np.array([] if self.edges is None else self.edges, dtype=np.int64).reshape(-1, 2)
        distinct = len({tuple(sorted(edge)) for edge in edges.tolist()}) == len(edges)
        inside = ((edges >= 0) & (edges < self.n_labels)).all()
        if not inside or not distinct or (edges[:, 0] == edges[:, 1]).any():
            raise ValueError(f"edges must be distinct pairs of the labels 0 .. {self.n_labels - 1}")
        object.__setattr__(self, "edges", edges)

    @property
    def n_params(self) -> int:
        return self.n_features * self.n_labels + len(self.edges)

    @property
    def blocks(self) -> dict[str, slice]:
        """Names for the kinds of weights."""
        n = self.n_features * self.n_labels
        return {"features": slice(0, n), "pairs": slice(n, self.n_params)}

    def joint_feature(self, x, y):
        y = np.asarray(y, float)
        x = x.toarray().ravel() if hasattr(x, "toarray") else np.asarray(x, float)
        return np.concatenate([np.outer(x, y).ravel(), y[self.edges[:, 0]] * y[self.edges[:, 1]]])

    def loss(self, y, y_hat):
        y, y_hat = np.asarray(y) != 0, np.asarray(y_hat) != 0
        wrong = int(np.sum(y != y_hat))
        if self.loss_name == "hamming":
            return float(wrong)
        size = int(y.sum() + y_hat.sum())
        return float(wrong > 0) if self.loss_name == "subset" or not size else wrong / size

    def outputs(self, x):
        if self.n_labels > MAX_LABELS:
            raise ValueError(f"{self.n_labels} labels have too many sets to list")
        return (np.array(z, dtype=np.uint8) for z in product((0, 1), repeat=self.n_labels))

    def _of_one(self, x, y):
        row = x.reshape(1, -1) if hasattr(x, "toarray") else np.atleast_2d(np.asarray(x, float))
        return self.pack(row, [y])

    def _checked(self, Y):
        Y = np.asarray(Y)
        if Y.ndim != 2 or Y.shape[1] != self.n_labels or not np.isin(Y, (0, 1)).all():
            raise ValueError(f"Y must be a matrix of 0 and 1 with {self.n_labels} columns; got {Y.shape}")
        return Y.astype(np.uint8)

    def scores_of(self, X, w):
        """(n, L + E) of the rows of a matrix."""
        out = np.empty((X.shape[0], self.n_labels + len(self.edges)))
        out[:, : self.n_labels] = X @ self._weights(w)
        out[:, self.n_labels :] = w[self.n_features * self.n_labels :]
        return out

    def _weights(self, w):
        return w[: self.n_features * self.n_labels].reshape(self.n_features, self.n_labels)


@dataclass(frozen=True, eq=False)
class LabelSets(SetWeights):
    """x (d,), y (L,) of 0 and 1.

    Weight (feature k, label l) is number k L + l; then come the weights of the pairs, one an edge.

    loss    "hamming": the number of wrong labels; "f1": 1 - F1 of the example, which is 0 where both sets
            are empty; "subset": 1 unless all labels are right
    edges   (E, 2) pairs of labels, or None

    >>> import numpy as np
    >>> from oneslack.models.labels import LabelSets
    >>> model = LabelSets(1, 3, edges=[[0, 1]])
    >>> model.decode(np.array([1.0, -0.5, -1.0, 0.8]), np.array([1.0])).tolist()
    [1, 1, 0]
    """

    n_features: int
    n_labels: int
    loss_name: str = "hamming"
    edges: np.ndarray | None = None

    def __post_init__(self):
        if self.loss_name not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}; got {self.loss_name!r}")
        self._check_edges()
        if self._tree is None and self.n_labels > MAX_LABELS:
            raise ValueError(
                f"labels that depend on each other in a cycle are decoded exactly up to {MAX_LABELS}, "
                f"but there are {self.n_labels}; use a tree"
            )

    @cached_property
    def _tree(self):
        return walk(self.n_labels, self.edges)

    @cached_property
    def _graph(self):
        """(shape, edges, tree) as compiled loops take them."""
        shape = 0 if not len(self.edges) else 1 if self._tree is not None else 2
        return shape, self.edges, np.empty((0, 3), np.int64) if self._tree is None else self._tree

    # One example.

    def decode(self, w, x, y=None):
        """(L,) of 0 and 1: the best set, with the loss against y when it is given."""
        data = self._of_one(x, np.zeros(self.n_labels) if y is None else y)
        S = self.scores_of(data.X, np.asarray(w, float))
        return self._sets(S, data.y, NOTHING if y is None else LOSSES[self.loss_name])[0]

    # Blocks of examples, through their scores (n, L + E).

    def pack(self, X, Y, weights=None) -> LabelData:
        rows = pack_rows(X, self._checked(Y), weights)
        return LabelData(rows.X, rows.y, weights_of(weights, rows.n), n_pairs=len(self.edges))

    def new_scores(self, data):
        return np.empty((data.n, self.n_labels + len(self.edges)))

    def scores(self, data, shard, w, out):
        whole = shard.hi - shard.lo == data.n
        out[shard.lo : shard.hi] = self.scores_of(data.X if whole else data.X[shard.lo : shard.hi], w)

    def cut(self, data, shard, S, coefficients):
        return self._hinges(data, shard, S, coefficients)[0]

    def risk(self, data, shard, S):
        return self._hinges(data, shard, S, np.empty((0, 0)))[1]

    def _hinges(self, data, shard, S, coefficients):
        from ..._jit.label_sets import hinges

        kind = LOSSES[self.loss_name]
        return hinges(S, data.y, data.weights, kind, *self._graph, shard.lo, shard.hi, coefficients)

    def along(self, data, shard, S, dS, t):
        from ..._jit.label_sets import hinges_along

        kind = LOSSES[self.loss_name]
        return hinges_along(S, dS, t, data.y, data.weights, kind, *self._graph, shard.lo, shard.hi)

    def adjoint(self, data, shard, coefficients):
        rows = slice(shard.lo, shard.hi)
        X = data.X if shard.hi - shard.lo == data.n else data.X[rows]
        of_labels = X.T @ coefficients[rows, : self.n_labels]
        return np.concatenate([of_labels.ravel(), coefficients[rows, self.n_labels :].sum(axis=0)])

    def predict_sets(self, X, w):
        """(n, L) of 0 and 1 for the rows of a matrix."""
        S = self.scores_of(X, w)
        return self._sets(S, np.zeros((len(S), self.n_labels), np.uint8), NOTHING)

    def _sets(self, S, Y, kind):
        from ..._jit.label_sets import decode_sets

        Z = np.empty((len(S), self.n_labels), np.uint8)
        decode_sets(S, Y, kind, *self._graph, 0, len(S), Z)
        return Z

    def margins(self, X, w):
        """(n, L): by how much the best set with a label beats the best set without it."""
        from ..._jit.label_sets import set_margins

        out = np.empty((X.shape[0], self.n_labels))
        set_margins(self.scores_of(X, w), *self._graph, out)
        return out

    # How large things are, for bounds that hold whatever rounding does (rounding.py).

    def sizes(self, data) -> Sizes:
        lengths = np.maximum(data.lengths, 1.0) if len(self.edges) else data.lengths
        largest = self.n_labels if self.loss_name == "hamming" else 1
        return Sizes(lengths, float(largest), self._n_scores * data.weights)

    @property
    def _n_scores(self):
        return float(self.n_labels + len(self.edges))

    def worsened(self, data, S, e):
        """Scores that have every wrong set's value raised by all that e (n,) a score can do to any set."""
        signs = 1.0 - 2.0 * data.y
        both = data.y[:, self.edges[:, 0]] & data.y[:, self.edges[:, 1]]
        return S + self._n_scores * e[:, None] * np.concatenate([signs, 1.0 - 2.0 * both], axis=1)
