"""Matrices of tokens through a kernel: what a tagger puts between them and its chain.

With a kernel, token t scores sum_j beta_ja k(x_t, b_j) for label a, over the tokens b_j of a basis; the
weights of neighbouring labels stay linear.  On the features of the basis (KernelFeatures) that is an ordinary
chain with the same norm, so its certificate is one of the span.
"""

from __future__ import annotations

import numpy as np

from ..errors import OneslackError
from ..mercer import Kernel
from .kernel_features import KernelFeatures
from .saving import check_shape
from .tagged_input import rows_of

_FIELDS = ("gamma", "degree", "coef0")


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
        kernel, fitted = self.features._kernel, self.features
        if callable(kernel.name):
            raise OneslackError(
                "cannot save a model whose kernel is a function; use a named kernel, or pickle the model"
            )
        about = {"kernel": kernel.name, "dtype": np.dtype(kernel.dtype).name}
        about["columns"] = int(fitted.n_features_in_)
        about |= {name: float(getattr(kernel, name)) for name in _FIELDS}
        basis = fitted.components_
        arrays = {"basis": basis.toarray() if hasattr(basis, "toarray") else np.ascontiguousarray(basis)}
        arrays["mapping"] = fitted.mapping_
        if kernel.centre is not None:
            arrays["centre"] = kernel.centre
        return about, arrays

    @classmethod
    def from_arrays(cls, about, arrays):
        """Of a model file; a ValueError, TypeError or KeyError where something is missing."""
        d, basis, mapping = int(about["columns"]), arrays["basis"], arrays["mapping"]
        check_shape("rows of the basis", basis, (len(mapping), d))
        check_shape("mapping of the basis", mapping, (len(basis), len(basis)))
        numbers = [float(about[name]) for name in _FIELDS]
        dtype = {"float32": np.float32, "float64": np.float64}[about["dtype"]]
        fitted = KernelFeatures(str(about["kernel"]), *numbers, n_basis=max(len(basis), 1))
        fitted._kernel = Kernel(str(about["kernel"]), *numbers, dtype, arrays.get("centre"))
        fitted.components_, fitted.mapping_ = basis, mapping
        fitted.n_features_in_, fitted._n_features_out = d, len(basis)
        return cls(fitted)
