"""LatentGraphCRF: every label has several states, and no example tells which."""

from __future__ import annotations

import numbers

import numpy as np

from ..inference.potentials import best_labels
from .base import labels_of
from .graph_crf import GraphCRF
from .latent_states import kmeans_init


class LatentStates:
    """Labels with several states each; mixed into a model of graphs, whose outputs are then states h."""

    def _set_latent(self, n_labels, n_states_per_label):
        self.n_labels, self.n_states_per_label = n_labels, n_states_per_label

    def _set_size_joint_feature(self):
        if self.n_labels is None:
            return
        per_label = self.n_states_per_label
        if isinstance(per_label, numbers.Integral):
            per_label = [per_label] * self.n_labels
        if len(per_label) != self.n_labels:
            raise ValueError(
                f"n_states_per_label must be a number, or one for each of {self.n_labels} labels; got "
                f"{per_label}"
            )
        self.n_states_per_label = np.array(per_label)
        self.n_states = int(self.n_states_per_label.sum())
        self._states_map = np.repeat(np.arange(self.n_labels), self.n_states_per_label)
        super()._set_size_joint_feature()

    def initialize(self, X, Y):
        self._take_size("n_features", np.shape(self._first_features(X[0]))[-1], "features")
        self._take_size("n_labels", labels_of(Y), "labels")
        self._set_size_joint_feature()

    def label_from_latent(self, h):
        """The labels of states."""
        return self._states_map[h]

    def init_latent(self, X, Y):
        """First states, by k-means."""
        edges = [[self._get_edges(x)] for x in X]
        features = [self._get_features(x) for x in X]
        return self._like(Y, kmeans_init(features, Y, edges, self.n_labels, self.n_states_per_label))

    def _like(self, Y, H):
        return np.array(H) if isinstance(Y, np.ndarray) else H

    def latent(self, x, y, w):
        """The best states that have the labels y."""
        self.inference_calls += 1
        others = self._states_map != np.ravel(y)[:, None]
        w = np.asarray(w, float)
        unary, pairwise = self._get_unary_potentials(x, w), self._get_pairwise_potentials(x, w)
        return self._shaped(best_labels(unary, pairwise, self._get_edges(x), others).labels, x)

    def _margins(self, x, h):
        labels = self._states_map[np.ravel(h)]
        return self.class_weight[labels][:, None] * (self._states_map != labels[:, None])

    def _label_losses(self):
        return self.class_weight[self._states_map][:, None] * (self._states_map != self._states_map[:, None])

    def loss(self, h, h_hat):
        """The loss of the labels."""
        if isinstance(h_hat, tuple):
            return self.continuous_loss(h, h_hat[0])
        return super().loss(self.label_from_latent(h), self.label_from_latent(h_hat))

    def continuous_loss(self, h, h_hat):
        marginals = np.asarray(h_hat) @ np.eye(self.n_labels)[self._states_map]
        return super().continuous_loss(self.label_from_latent(h), marginals)

    def base_loss(self, y, y_hat):
        """The loss of labels that are told as labels."""
        return super().loss(y, y_hat)


class LatentGraphCRF(LatentStates, GraphCRF):
    """Graphs as for `GraphCRF`, with states h that are not told behind the labels.

    Parameters
    ----------
    n_labels, n_features : int or None
        None: as the data have.
    n_states_per_label : int or list of int, default=2
    inference_method : as for `GraphCRF`

    Examples
    --------
    >>> crf = LatentGraphCRF(n_labels=2, n_features=1, n_states_per_label=[1, 2])
    >>> crf.n_states, crf.label_from_latent([0, 1, 2]).tolist()
    (3, [0, 1, 1])
    """

    def __init__(self, n_labels=None, n_features=None, n_states_per_label=2, inference_method=None):
        self._set_latent(n_labels, n_states_per_label)
        GraphCRF.__init__(self, None, n_features, inference_method)
