"""GridCRF and DirectionalGridCRF: labels for the cells of pictures."""

from __future__ import annotations

import numpy as np

from ..utils.grid_edges import make_grid_edges
from .edge_feature_crf import EdgeFeatureGraphCRF
from .graph_crf import GraphCRF


class Grid:
    """Pictures x (height, width, n_features), y (height, width); mixed into a model of graphs."""

    def _get_features(self, x):
        return np.reshape(x, (-1, np.shape(x)[-1]))

    def _get_edges(self, x, flat=True):
        return make_grid_edges(x, self.neighborhood, return_lists=not flat)

    def _shaped(self, labels, x):
        return np.reshape(labels, np.shape(x)[:2] + np.shape(labels)[1:])

    def continuous_loss(self, y, y_hat):
        return super().continuous_loss(np.ravel(y), np.reshape(y_hat, (-1, np.shape(y_hat)[-1])))


class GridCRF(Grid, GraphCRF):
    """Pictures x (height, width, n_features); y (height, width); the same weights for all edges.

    Parameters
    ----------
    n_states, n_features, inference_method
        As for `GraphCRF`.
    neighborhood : {4, 8}, default=4

    Examples
    --------
    >>> import numpy as np
    >>> GridCRF(n_states=2, n_features=1).inference(np.array([[[1.0], [-1.0]]]), np.array([-1.0, 1, 0, 0, 0]))
    array([[1, 0]])
    """

    def __init__(self, n_states=None, n_features=None, inference_method=None, neighborhood=4):
        self.neighborhood = neighborhood
        GraphCRF.__init__(self, n_states, n_features, inference_method)


class DirectionalGridCRF(Grid, EdgeFeatureGraphCRF):
    """Pictures whose edges have weights of their own in each direction; parameters as for `GridCRF`.

    Examples
    --------
    >>> DirectionalGridCRF(n_states=2, n_features=1).size_joint_feature
    10
    """

    def __init__(self, n_states=None, n_features=None, inference_method=None, neighborhood=4):
        self.neighborhood = neighborhood
        EdgeFeatureGraphCRF.__init__(self, n_states, n_features, neighborhood // 2, inference_method)

    def _get_edge_features(self, x):
        edges = self._get_edges(x, flat=False)
        return np.repeat(np.eye(len(edges)), [len(each) for each in edges], axis=0)
