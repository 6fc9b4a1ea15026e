"""Kernels as estimators take them: the kernel that the parameters make of data, and inputs through a basis.

A model whose weights multiply `n_features` columns of its inputs (Binary, Multiclass, Chain, or a dataclass
of your own) is the same model on the features of a basis, with as many columns as there are basis functions.
"""

from __future__ import annotations

from dataclasses import is_dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...data.rows import Ragged
from ...kernels.mercer import NAMES, Kernel
from .tagged_input import rows_of

#: Up to here kernel values are float64.
WIDE = 4096


def fitted_kernel(model, X, sample_weight=None) -> Kernel:
    """The kernel of the model's parameters kernel, gamma, degree and coef0 for the examples X."""
    name, gamma = model.kernel, model.gamma
    if isinstance(name, str) and name == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"Precomputed kernels must be a square matrix of all training examples; X has shape {X.shape}"
        )
    if isinstance(gamma, str):
        spread = _variance(X, sample_weight) if gamma == "scale" and name in NAMES else 0.0
        gamma = 1.0 / X.shape[1]
        gamma = gamma / spread if spread > 0 else gamma
    kernel = Kernel(name, float(gamma), model.degree, float(model.coef0)).fitted(X)
    return kernel if X.shape[0] <= WIDE else kernel.narrowed(X)


def _variance(X, weights=None):
    """Of all numbers in X, by differences from their mean; a row of weight 2 counts twice."""
    if weights is None and not sp.issparse(X):
        return float(X.var(dtype=np.float64))
    n, d = X.shape
    shares = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    shares = shares / (shares.sum() * d)
    rows = X.tocsr() if sp.issparse(X) else None
    numbers = X if rows is None else rows.data
    stored = shares[:, None] if rows is None else np.repeat(shares, np.diff(rows.indptr))
    mean = float(np.sum(stored * numbers))
    zeros = 0.0 if rows is None else max(1.0 - float(stored.sum()), 0.0)
    return float(np.sum(stored * (numbers - mean) ** 2)) + zeros * mean**2


def check_takes_kernel(model, kernel):
    """Raise unless the model can be had with another number of features."""
    name = type(model).__name__
    if not hasattr(model, "n_features"):
        raise ValueError(
            f"kernel={kernel!r} needs a model that weighs the columns of its inputs; {name} lacks n_features."
            " Use kernel=None."
        )
    if not is_dataclass(model):
        raise ValueError(
            f"kernel={kernel!r} needs a model that can be made anew with another n_features; {name} is no "
            "dataclass. Make it one, or use kernel=None."
        )


def on_basis(model, basis):
    """The model for the features of a fitted basis; as it is where there is none."""
    return model if basis is None else replace(model, n_features=len(basis.mapping_))


def through(basis, X, n_features=None):
    """X on the features of the basis, which is fitted first where `n_features` is given: rows (n, d), or one
    matrix an example."""
    if not isinstance(X, Ragged) and not sp.issparse(X) and not len(X):
        return []
    by_rows = not isinstance(X, Ragged) and (sp.issparse(X) or np.ndim(X[0]) == 1)
    rows = Ragged(X, [0, X.shape[0]]) if sp.issparse(X) else None
    if rows is None:
        rows = Ragged.from_list([np.asarray(X, dtype=float)]) if by_rows else rows_of(None, X)
    if n_features is not None:
        if rows.values.shape[1] != n_features:
            raise ValueError(f"X has {rows.values.shape[1]} columns, but the model has {n_features} features")
        basis.fit(rows.values)
    Z = basis.transform(rows.values)
    return Z if by_rows else [Z[lo:hi] for lo, hi in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)]
