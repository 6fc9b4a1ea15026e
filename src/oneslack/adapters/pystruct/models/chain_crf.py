"""ChainCRF: a label for every step of a sequence."""

from __future__ import annotations

import numpy as np

from .graph_crf import GraphCRF


class ChainCRF(GraphCRF):
    """Linear chains x (length, n_features), y (length,); parameters as for `GraphCRF`.

    Examples
    --------
    >>> import numpy as np
    >>> x, w = np.array([[1.0], [-1.0]]), np.array([-1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    >>> ChainCRF(n_states=2, n_features=1).inference(x, w)
    array([1, 0])
    """

    def __init__(
        self, n_states=None, n_features=None, inference_method=None, class_weight=None, directed=True
    ):
        method = inference_method or "max-product"
        GraphCRF.__init__(self, n_states, n_features, method, class_weight, directed)

    def _first_features(self, x):
        return x

    def _get_features(self, x):
        return np.asarray(x)

    def _get_edges(self, x):
        steps = np.arange(len(x))
        return np.c_[steps[:-1], steps[1:]]
