"""GraphCRF: a label for every node of a graph, the same weights for all edges."""

from __future__ import annotations

import numpy as np

from ..utils.symmetric import compress_sym, expand_sym
from .crf import CRF
from .translated import graph_translation


class GraphCRF(CRF):
    """Pairwise model on graphs x = (features (nodes, n_features), edges (edges, 2)); y (nodes,).

    Weights: state by feature, then pairs of states: all of them where edges are directed, else the lower
    triangle.

    Parameters
    ----------
    n_states, n_features : int or None
        None: as the data have.
    inference_method : str, (str, dict) or None
        A name that `inference_dispatch` knows.
    class_weight : array-like of shape (n_states,) or None
        What a mistake costs, by the true label.
    directed : bool, default=False
        Whether (a, b) and (b, a) at the ends of an edge are different.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0], [-0.2], [1.0]]), np.array([[0, 1], [1, 2]])
    >>> GraphCRF(n_states=2, n_features=1).inference(x, np.array([-1.0, 1.0, 1.0, 0.0, 1.0]))
    array([1, 1, 1])
    """

    def __init__(
        self, n_states=None, n_features=None, inference_method=None, class_weight=None, directed=False
    ):
        self.directed = directed
        CRF.__init__(self, n_states, n_features, inference_method, class_weight)

    def _set_size_joint_feature(self):
        if None not in (self.n_states, self.n_features):
            L = self.n_states
            self.size_joint_feature = L * self.n_features + (L * L if self.directed else L * (L + 1) // 2)
            self._set_class_weight()

    def _check_size_x(self, x):
        width = self._get_features(x).shape[1]
        if width != self.n_features:
            raise ValueError(f"nodes of x have {width} features, expected {self.n_features}")

    def _get_unary_potentials(self, x, w):
        self._check_size_w(w)
        self._check_size_x(x)
        W = np.reshape(w[: self.n_states * self.n_features], (self.n_states, self.n_features))
        return np.dot(self._get_features(x), W.T)

    def _get_pairwise_potentials(self, x, w):
        V = np.asarray(w)[self.n_states * self.n_features :]
        return V.reshape(self.n_states, self.n_states) if self.directed else expand_sym(V)

    def joint_feature(self, x, y):
        """psi(x, y), where y are labels, or marginals (of nodes, of edges)."""
        self._check_size_x(x)
        nodes, pairs = self._marginals(x, y)
        pairs = pairs.sum(axis=0).reshape(self.n_states, self.n_states)
        pairs = pairs.ravel() if self.directed else compress_sym(pairs)
        return np.concatenate([np.dot(nodes.T, self._get_features(x)).ravel(), pairs])

    def _marginals(self, x, y):
        """(nodes, n_states), and (edges, n_states^2), or their sum over edges."""
        L = self.n_states
        if isinstance(y, tuple):
            return np.reshape(y[0], (-1, L)), np.reshape(y[1], (-1, L * L))
        y = np.ravel(y)
        one_hot = np.eye(L)
        a, b = np.asarray(self._get_edges(x), int).T
        return one_hot[y], np.eye(L * L)[y[a] * L + y[b]]

    def _label_losses(self):
        """(n_states, n_states): the loss of a label by the true one."""
        return self.class_weight[:, None] * (1.0 - np.eye(self.n_states))

    def _graphs(self, X):
        return [(self._get_features(x), np.asarray(self._get_edges(x))) for x in X]

    def _translated(self, X, Y):
        if not self._looks_at_edges(X):
            return None
        return graph_translation(self, self._graphs(X), Y, self._label_losses(), directed=self.directed)
