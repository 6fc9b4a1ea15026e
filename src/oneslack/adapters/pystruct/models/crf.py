"""CRF: what the pairwise models share: potentials in, labels out."""

from __future__ import annotations

import numpy as np

from ....certificate.rounding import gamma
from ..inference.dispatch import get_installed, inference_dispatch
from ..inference.potentials import worst_labels
from .base import StructuredModel, labels_of


class CRF(StructuredModel):
    """Base class of the pairwise models; its subclasses say what features and edges an x has.

    Parameters
    ----------
    n_states, n_features : int or None
        None: as the data have.
    inference_method : str, (str, dict) or None
        A name that `inference_dispatch` knows.
    class_weight : array-like of shape (n_states,) or None
        What a mistake costs, by the true label.

    Examples
    --------
    >>> import numpy as np
    >>> from oneslack.adapters.pystruct.models import GraphCRF
    >>> crf = GraphCRF(n_states=2, n_features=1)
    >>> isinstance(crf, CRF), crf.size_joint_feature
    (True, 5)
    """

    #: Of subclasses with methods of their own; ours tell bounds.
    exact = False

    def __init__(self, n_states=None, n_features=None, inference_method=None, class_weight=None):
        self.n_states, self.n_features, self.class_weight = n_states, n_features, class_weight
        self.inference_method = inference_method or get_installed(["ad3", "max-product", "lp"])[0]
        self.inference_calls = 0
        self._set_size_joint_feature()

    def initialize(self, X, Y):
        self._take_size("n_features", np.shape(self._first_features(X[0]))[-1], "features")
        self._take_size("n_states", labels_of(Y), "states")
        self._set_size_joint_feature()

    def _first_features(self, x):
        return x[0]

    def __repr__(self):
        return f"{type(self).__name__}(n_states: {self.n_states}, inference_method: {self.inference_method})"

    # What subclasses say.

    def _set_size_joint_feature(self):
        raise NotImplementedError

    def _get_features(self, x):
        """(nodes, n_features)."""
        return np.asarray(x[0])

    def _get_edges(self, x):
        """(edges, 2)."""
        return np.asarray(x[1])

    def _get_edge_features(self, x):
        """(edges, n_edge_features), or None where edges have none."""

    def _get_unary_potentials(self, x, w):
        raise NotImplementedError

    def _get_pairwise_potentials(self, x, w):
        raise NotImplementedError

    def _forbidden(self, x):
        """(nodes, n_states) mask of states that nodes cannot have, or None."""

    def _margins(self, x, y):
        """(nodes, n_states): what labels earn by being wrong."""
        y = np.ravel(y)
        return (np.arange(self.n_states) != y[:, None]) * self.class_weight[y][:, None]

    def _shaped(self, labels, x):
        """Labels, or marginals, of nodes in the shape of y."""
        return labels

    # Inference.

    def inference(self, x, w, relaxed=False, return_energy=False, constraints=None):
        """Labels of the highest <w, psi(x, z)>; with return_energy and minus that score."""
        return self._infer(x, w, 0.0, relaxed, return_energy, constraints)

    def loss_augmented_inference(self, x, y, w, relaxed=False, return_energy=False):
        """Labels of the highest <w, psi(x, z)> + loss(y, z)."""
        return self._infer(x, w, self._margins(x, y), relaxed, return_energy)

    def _infer(self, x, w, margins, relaxed, return_energy, constraints=None):
        self.inference_calls += 1
        w = np.asarray(w, float)
        self._check_size_w(w)
        options = {"constraints": constraints} if constraints else {}
        unary, pairwise = self._get_unary_potentials(x, w) + margins, self._get_pairwise_potentials(x, w)
        answer, energy = inference_dispatch(
            unary, pairwise, self._get_edges(x), self.inference_method, return_energy=True, relaxed=relaxed,
            **options,
        )  # fmt: skip
        if isinstance(answer, tuple):
            answer = (self._shaped(answer[0], x), answer[1])
        else:
            answer = self._shaped(answer, x)
        return (answer, energy) if return_energy else answer

    def loss_augmented_bound(self, x, y, w):
        """(z, upper): a good labelling, and at least the highest <w, psi(x, z)> + loss(y, z), rounding
        included; what the certificates of the learners stand on."""
        self.inference_calls += 1
        margins = self._margins(x, y)
        unary, pairwise = self._get_unary_potentials(x, w) + margins, self._get_pairwise_potentials(x, w)
        found = worst_labels(unary, pairwise, self._get_edges(x), np.ravel(y), self._forbidden(x))
        features, edge_features = self._get_features(x), self._get_edge_features(x)
        # |fl(<a, b>) - <a, b>| <= gamma_k |a| |b|, for the scores of each node and edge.
        lengths = np.linalg.norm(features, axis=-1).sum() * self._copies() + len(self._get_edges(x))
        width = features.shape[-1]
        if edge_features is not None:
            lengths += np.linalg.norm(edge_features, axis=1).sum()
            width += edge_features.shape[1]
        size = np.linalg.norm(w) * lengths + np.abs(margins).sum()
        return self._shaped(found.labels, x), found.upper + 4.0 * gamma(width + 8) * size

    def _copies(self):
        """How many nodes share a row of features."""
        return 1

    def loss_augment_unaries(self, unary_potentials, y):
        """Add the loss to potentials, in place."""
        unary_potentials += self._margins(None, y)

    # How to train fast.

    def _translated(self, X, Y):
        """The same examples for a compiled model (translated.py), or None."""

    def _looks_at_edges(self, X):
        """Whether inference is that of the whole model."""
        return not self.ignores_edges or not any(len(self._get_edges(x)) for x in X)

    @property
    def ignores_edges(self):
        """Whether inference looks at nodes alone, and so at another model than this one."""
        return self.inference_method in ("unary", ("unary", {}))
