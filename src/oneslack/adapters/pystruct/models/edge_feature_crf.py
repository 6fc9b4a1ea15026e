"""EdgeFeatureGraphCRF: graphs whose edges have features."""

from __future__ import annotations

import numpy as np

from .graph_crf import GraphCRF
from .translated import graph_translation


class EdgeFeatureGraphCRF(GraphCRF):
    """Graphs x = (features (nodes, n_features), edges (edges, 2), edge_features (edges, n_edge_features)).

    Weights: state by feature, then all pairs of states for each edge feature.

    Parameters
    ----------
    n_states, n_features, n_edge_features : int or None
        None: as the data have.
    inference_method, class_weight
        As for `GraphCRF`.
    symmetric_edge_features, antisymmetric_edge_features : lists of int or None
        Edge features whose weights of (a, b) and (b, a) are the same, or opposite.

    Examples
    --------
    >>> EdgeFeatureGraphCRF(n_states=2, n_features=1, n_edge_features=2).size_joint_feature
    10
    """

    def __init__(
        self, n_states=None, n_features=None, n_edge_features=None, inference_method=None, class_weight=None,
        symmetric_edge_features=None, antisymmetric_edge_features=None,
    ):  # fmt: skip
        self._set_edge_features(n_edge_features, symmetric_edge_features, antisymmetric_edge_features)
        GraphCRF.__init__(self, n_states, n_features, inference_method, class_weight, directed=True)

    def _set_edge_features(self, count, symmetric, antisymmetric):
        self.n_edge_features = count
        self.symmetric_edge_features = [] if symmetric is None else symmetric
        self.antisymmetric_edge_features = [] if antisymmetric is None else antisymmetric

    def initialize(self, X, Y):
        self._take_size("n_edge_features", np.shape(self._get_edge_features(X[0]))[1], "edge features")
        super().initialize(X, Y)

    def __repr__(self):
        return (
            f"{type(self).__name__}(n_states: {self.n_states}, inference_method: {self.inference_method}, "
            f"n_features: {self.n_features}, n_edge_features: {self.n_edge_features})"
        )

    def _set_size_joint_feature(self):
        if self.n_edge_features is not None:
            self._check_symmetric()
        if None not in (self.n_states, self.n_features, self.n_edge_features):
            L = self.n_states
            self.size_joint_feature = self._n_input_states() * self.n_features + self.n_edge_features * L * L
            self._set_class_weight()

    def _n_input_states(self):
        """States that node features have weights for."""
        return self.n_states

    def _check_symmetric(self):
        both = set(self.symmetric_edge_features) & set(self.antisymmetric_edge_features)
        if both:
            raise ValueError(f"edge features {sorted(both)} cannot be both symmetric and antisymmetric")
        for feature in [*self.symmetric_edge_features, *self.antisymmetric_edge_features]:
            if not 0 <= feature < self.n_edge_features:
                raise ValueError(f"there is no edge feature {feature}: there are {self.n_edge_features}")

    def _check_size_x(self, x):
        super()._check_size_x(x)
        expected = (len(self._get_edges(x)), self.n_edge_features)
        if np.shape(self._get_edge_features(x)) != expected:
            shape = np.shape(self._get_edge_features(x))
            raise ValueError(f"edge features of x have shape {shape}, expected {expected}")

    def _get_edge_features(self, x):
        return np.asarray(x[2], float)

    def _get_pairwise_potentials(self, x, w):
        L, k = self.n_states, self.n_edge_features
        tables = np.asarray(w, float)[self._n_input_states() * self.n_features :].reshape(k, L, L)
        tables = self._symmetrised(tables).reshape(k, L * L)
        return np.dot(self._get_edge_features(x), tables).reshape(-1, L, L)

    def joint_feature(self, x, y):
        """psi(x, y), where y are labels, or marginals (of nodes, of edges)."""
        self._check_size_x(x)
        nodes, pairs = self._marginals(x, y)
        tables = np.dot(self._get_edge_features(x).T, pairs).reshape(-1, self.n_states, self.n_states)
        features = self._get_features(x)
        by_state = np.dot(nodes[: len(features), : self._n_input_states()].T, features)
        return np.concatenate([by_state.ravel(), self._symmetrised(tables).ravel()])

    def _symmetrised(self, tables):
        """The (anti)symmetric part of tables where only that counts; its own adjoint, so that potentials and
        psi agree at any w."""
        tables = np.array(tables)
        for sign, features in ((1, self.symmetric_edge_features), (-1, self.antisymmetric_edge_features)):
            for j in features:
                tables[j] = (tables[j] + sign * tables[j].T) / 2.0
        return tables

    def _graphs(self, X):
        return [(*graph, self._get_edge_features(x)) for graph, x in zip(super()._graphs(X), X, strict=True)]

    def _translated(self, X, Y):
        is_plain = not len(self.symmetric_edge_features) and not len(self.antisymmetric_edge_features)
        if not is_plain or not self._looks_at_edges(X):
            return None
        losses = self._label_losses()
        return graph_translation(self, self._graphs(X), Y, losses, self.n_edge_features, directed=True)
