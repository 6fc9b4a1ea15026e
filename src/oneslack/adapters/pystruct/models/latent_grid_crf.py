"""LatentGridCRF and LatentDirectionalGridCRF: pictures with latent states."""

from __future__ import annotations

from .grid_crf import DirectionalGridCRF, GridCRF
from .latent_graph_crf import LatentStates
from .latent_states import kmeans_init


class LatentGridCRF(LatentStates, GridCRF):
    """Pictures as for `GridCRF`, states as for `LatentGraphCRF`.

    Examples
    --------
    >>> LatentGridCRF(n_labels=2, n_features=1).n_states
    4
    """

    def __init__(
        self, n_labels=None, n_features=None, n_states_per_label=2, inference_method=None, neighborhood=4
    ):
        self._set_latent(n_labels, n_states_per_label)
        GridCRF.__init__(self, None, n_features, inference_method, neighborhood)


class LatentDirectionalGridCRF(LatentStates, DirectionalGridCRF):
    """Pictures as for `DirectionalGridCRF`, states as for `LatentGraphCRF`.

    Examples
    --------
    >>> LatentDirectionalGridCRF(n_labels=2, n_features=1).size_joint_feature
    36
    """

    def __init__(
        self, n_labels=None, n_features=None, n_states_per_label=2, inference_method=None, neighborhood=4
    ):
        self._set_latent(n_labels, n_states_per_label)
        DirectionalGridCRF.__init__(self, None, n_features, inference_method, neighborhood)

    def init_latent(self, X, Y):
        """First states, by k-means of features and the labels in each direction."""
        edges = [self._get_edges(x, flat=False) for x in X]
        features = [self._get_features(x) for x in X]
        sizes = (self.n_labels, self.n_states_per_label)
        return self._like(Y, kmeans_init(features, Y, edges, *sizes, symmetric=False))
