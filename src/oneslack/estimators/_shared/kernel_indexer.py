"""Matrices of tokens through a kernel: what a tagger puts between them and its chain.

With a kernel, token t scores sum_j beta_ja k(x_t, b_j) for label a, over the tokens b_j of a basis; the
weights of neighbouring labels stay linear.  On the features of the basis (KernelFeatures) that is an ordinary
chain with the same norm, so its certificate is one of the span.
"""

from __future__ import annotations

import numpy as np

from .._saving.basis import basis_from_file, basis_to_file
from ..kernel_features import KernelFeatures
from .tagged_input import rows_of


class KernelIndexer:
    """From one matrix a sentence to (features (tokens, k), offsets)."""

    def __init__(self, features: KernelFeatures):
        self.features = features

    @property
    def n_features(self) -> int:
        return self.features.mapping_.shape[1]

    def feature_names(self):
        """None: a basis function is not a thing that weights are asked of by name."""
        return []

    def fit_transform(self, X):
        """Choose the basis among the tokens of X."""
        rows = rows_of(None, X)
        return self.features.fit(rows.values).transform(rows.values), rows.offsets

    def transform(self, X):
        """Of new sentences, with as many columns."""
        rows = rows_of(None, X)
        if not rows.values.shape[0]:
            return np.empty((0, self.n_features)), rows.offsets
        return self.features.transform(rows.values), rows.offsets

    def to_arrays(self):
        """(header, arrays) for a model file."""
        return basis_to_file(self.features)

    @classmethod
    def from_arrays(cls, about, arrays):
        """Of a model file; a ValueError, TypeError or KeyError where something is missing."""
        return cls(basis_from_file(about, arrays))
