"""MultiLabelClf: a set of labels, with weights for pairs of them."""

from __future__ import annotations

import numpy as np

from .crf import CRF


class MultiLabelClf(CRF):
    """Labels y (n_labels,) of 0 and 1 for x (n_features,).

    Weights: label by feature, whose sign is that of the label, then four for each edge.

    Parameters
    ----------
    n_labels, n_features : int or None
        None: as the data have.
    edges : integer array of shape (edges, 2) or None
        Pairs of labels that are looked at together.
    inference_method : as for `GraphCRF`

    Examples
    --------
    >>> import numpy as np
    >>> MultiLabelClf(n_labels=2, n_features=1).inference(np.array([1.0]), np.array([2.0, -1.0]))
    array([1, 0])
    """

    def __init__(self, n_labels=None, n_features=None, edges=None, inference_method=None):
        self.n_labels, self.edges = n_labels, edges
        CRF.__init__(self, 2, n_features, inference_method)

    def _set_size_joint_feature(self):
        if None not in (self.n_labels, self.n_features):
            self.edges = np.zeros((0, 2), int) if self.edges is None else np.asarray(self.edges)
            self.size_joint_feature = self.n_features * self.n_labels + 4 * len(self.edges)

    def initialize(self, X, Y):
        self._take_size("n_features", np.shape(X)[1], "features")
        self._take_size("n_labels", np.shape(Y)[1], "labels")
        self._set_size_joint_feature()

    def _get_features(self, x):
        return np.reshape(x, (1, -1))

    def _copies(self):
        return self.n_labels

    def _get_edges(self, x):
        return self.edges

    def _margins(self, x, y):
        return np.arange(2) != np.ravel(y)[:, None]

    def _get_unary_potentials(self, x, w):
        count = self.n_labels * self.n_features
        scores = np.reshape(w[:count], (self.n_labels, self.n_features)) @ np.ravel(x)
        return np.c_[-scores, scores]

    def _get_pairwise_potentials(self, x, w):
        return np.asarray(w)[self.n_labels * self.n_features :].reshape(-1, 2, 2)

    def joint_feature(self, x, y):
        """psi(x, y), where y are labels, or marginals (of labels, of edges)."""
        if isinstance(y, tuple):
            on, pairs = np.asarray(y[0])[:, 1], np.ravel(y[1])[: 4 * len(self.edges)]
        else:
            on = np.ravel(y).astype(int)
            a, b = self.edges.T
            pairs = np.eye(4)[2 * on[a] + on[b]].ravel()
        return np.concatenate([np.outer(2 * on - 1, x).ravel(), pairs])

    def _prices(self, y):
        return 1
