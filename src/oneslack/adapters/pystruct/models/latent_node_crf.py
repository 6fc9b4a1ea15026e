"""LatentNodeCRF: graphs with hidden nodes, whose states no example tells."""

from __future__ import annotations

import numpy as np

from ..inference.potentials import best_labels
from .base import labels_of
from .edge_feature_crf import EdgeFeatureGraphCRF
from .graph_crf import GraphCRF
from .latent_states import kmeans_init_hidden


class HiddenNodes:
    """Nodes with labels first, then hidden ones with states of their own; mixed into a model of graphs.

    x is (features, edges, ..., n_hidden).  Nodes with labels have the states 0 .. n_labels-1, hidden ones
    those behind.
    """

    def _set_hidden(self, n_labels, n_hidden_states, latent_node_features):
        self.n_labels, self.n_hidden_states = n_labels, n_hidden_states
        self.latent_node_features = latent_node_features

    @property
    def n_input_states(self):
        """States that node features have weights for."""
        return self.n_states if self.latent_node_features else self.n_labels

    def _n_input_states(self):
        return self.n_input_states

    def initialize(self, X, Y):
        self._take_size("n_features", np.shape(X[0][0])[1], "features")
        self._take_size("n_labels", labels_of(Y), "labels")
        self.n_states = self.n_labels + self.n_hidden_states
        self._set_size_joint_feature()

    def _n_visible(self, x):
        return len(x[0]) - (int(x[-1]) if self.latent_node_features else 0)

    def _get_unary_potentials(self, x, w):
        self._check_size_w(w)
        self._check_size_x(x)
        forbidden = self._forbidden(x)
        features, inputs = self._get_features(x), self.n_input_states
        scores = np.zeros(forbidden.shape)
        W = np.reshape(w[: inputs * self.n_features], (inputs, self.n_features))
        scores[: len(features), :inputs] = np.dot(features, W.T)
        # Who looks at potentials alone must see what cannot be; `best_labels` is told by the mask.
        tables = np.atleast_3d(self._get_pairwise_potentials(x, w))
        most = np.abs(scores).max(axis=1).sum() + len(self._get_edges(x)) * np.abs(tables).max(initial=0.0)
        scores[forbidden] = -2.0 * (most + len(scores) * self.class_weight.max(initial=1.0)) - 1.0
        return scores

    def _forbidden(self, x):
        n, hidden = self._n_visible(x), int(x[-1])
        is_hidden = np.arange(n + hidden) >= n
        return is_hidden[:, None] != (np.arange(self.n_states) >= self.n_labels)

    def _margins(self, x, h):
        y = self.label_from_latent(np.ravel(h))
        margins = np.zeros((self._n_visible(x) + int(x[-1]), self.n_states))
        wrong = np.arange(self.n_labels) != y[:, None]
        margins[: len(y), : self.n_labels] = wrong * self.class_weight[y][:, None]
        return margins

    def label_from_latent(self, h):
        """The labels: states of the nodes that are not hidden."""
        h = np.asarray(h)
        return h[h < self.n_labels]

    def init_latent(self, X, Y):
        """First states, by k-means of the labels around hidden nodes."""
        return kmeans_init_hidden(X, Y, self.n_labels, self.n_hidden_states)

    def latent(self, x, y, w):
        """The labels y, and the best states of hidden nodes beside them."""
        self.inference_calls += 1
        w, y = np.asarray(w, float), np.ravel(y)
        others = self._forbidden(x)
        others[: len(y), : self.n_labels] = np.arange(self.n_labels) != y[:, None]
        unary, pairwise = self._get_unary_potentials(x, w), self._get_pairwise_potentials(x, w)
        return best_labels(unary, pairwise, self._get_edges(x), others).labels

    def loss(self, h, h_hat):
        """The loss of the labels."""
        if isinstance(h_hat, tuple):
            return self.continuous_loss(h, h_hat[0])
        return super().loss(self.label_from_latent(h), self.label_from_latent(h_hat))

    def continuous_loss(self, h, h_hat):
        y = self.label_from_latent(h)
        return super().continuous_loss(y, np.asarray(h_hat)[: len(y), : self.n_labels])

    def base_loss(self, y, y_hat):
        """The loss of labels that are told as labels."""
        return super().loss(y, y_hat)

    def max_loss(self, h):
        return super().max_loss(self.label_from_latent(h))


class LatentNodeCRF(HiddenNodes, GraphCRF):
    """Graphs x = (features, edges, n_hidden) whose last n_hidden nodes are hidden.

    Parameters
    ----------
    n_labels, n_features : int or None
        None: as the data have.
    n_hidden_states : int, default=2
        States of hidden nodes, beside the labels.
    inference_method, class_weight
        As for `GraphCRF`.
    latent_node_features : bool, default=False
        Whether `features` has rows for hidden nodes, too.

    Examples
    --------
    >>> LatentNodeCRF(n_labels=2, n_features=1, n_hidden_states=2).size_joint_feature
    12
    """

    def __init__(
        self, n_labels=None, n_features=None, n_hidden_states=2, inference_method=None, class_weight=None,
        latent_node_features=False,
    ):  # fmt: skip
        self._set_hidden(n_labels, n_hidden_states, latent_node_features)
        n_states = None if n_labels is None else n_labels + n_hidden_states
        GraphCRF.__init__(self, n_states, n_features, inference_method, class_weight)

    def _set_size_joint_feature(self):
        if None not in (self.n_states, self.n_features):
            pairs = self.n_states * (self.n_states + 1) // 2
            self.size_joint_feature = self.n_input_states * self.n_features + pairs
            self._set_class_weight()

    def _get_pairwise_potentials(self, x, w):
        from ..utils.symmetric import expand_sym

        return expand_sym(np.asarray(w)[self.n_input_states * self.n_features :])

    def joint_feature(self, x, y):
        """psi(x, h), where h are states, or marginals (of nodes, of edges)."""
        from ..utils.symmetric import compress_sym

        self._check_size_x(x)
        nodes, pairs = self._marginals(x, y)
        features = self._get_features(x)
        by_state = np.dot(nodes[: len(features), : self.n_input_states].T, features)
        return np.concatenate(
            [by_state.ravel(), compress_sym(pairs.sum(axis=0).reshape((self.n_states,) * 2))]
        )

    def _translated(self, X, Y):
        # Without hidden nodes it is a GraphCRF.
        if self.n_hidden_states or any(x[-1] for x in X):
            return None
        return super()._translated(X, Y)


class EdgeFeatureLatentNodeCRF(HiddenNodes, EdgeFeatureGraphCRF):
    """Graphs x = (features, edges, edge_features, n_hidden); parameters as for `LatentNodeCRF` and
    `EdgeFeatureGraphCRF`.

    Examples
    --------
    >>> EdgeFeatureLatentNodeCRF(n_labels=2, n_features=1, n_hidden_states=1).size_joint_feature
    11
    """

    def __init__(
        self, n_labels=2, n_features=None, n_edge_features=1, n_hidden_states=2, inference_method=None,
        class_weight=None, latent_node_features=False, symmetric_edge_features=None,
        antisymmetric_edge_features=None,
    ):  # fmt: skip
        self._set_hidden(n_labels, n_hidden_states, latent_node_features)
        self._set_edge_features(n_edge_features, symmetric_edge_features, antisymmetric_edge_features)
        n_features = n_labels if n_features is None else n_features
        states = n_labels + n_hidden_states
        GraphCRF.__init__(self, states, n_features, inference_method, class_weight, directed=True)

    def _translated(self, X, Y):
        return None  # hidden nodes have states of their own, which no compiled model knows
