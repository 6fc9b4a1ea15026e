"""Inputs of a StructuralSVM through a kernel, where its model reads rows of numbers.

A model whose weights multiply `n_features` columns of its inputs (Binary, Multiclass, Chain, or a dataclass
of your own) is the same model on the features of a basis, with as many columns as there are basis functions.
"""

from __future__ import annotations

from dataclasses import is_dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...data.ragged import Ragged
from .tagged_input import rows_of


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
