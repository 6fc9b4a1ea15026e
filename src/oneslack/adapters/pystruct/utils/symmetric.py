"""Symmetric matrices as the vector of their lower triangle, row by row."""

from __future__ import annotations

import numpy as np


def expand_sym(sym_compressed):
    """The symmetric matrix of a lower triangle.

    >>> import numpy as np
    >>> expand_sym(np.array([1.0, 2.0, 3.0])).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    values = np.asarray(sym_compressed, float)
    size = round((np.sqrt(8 * values.size + 1) - 1) / 2)
    full = np.zeros((size, size))
    a, b = np.tril_indices(size)
    full[a, b] = full[b, a] = values
    return full


def compress_sym(sym_expanded, make_symmetric=True):
    """The lower triangle; with make_symmetric what lies above the diagonal is added to it first.

    >>> import numpy as np
    >>> compress_sym(np.array([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [1.0, 2.0, 3.0]
    """
    full = np.asarray(sym_expanded)
    lower = np.tril(full) + np.triu(full, 1).T if make_symmetric else full
    return lower[np.tril_indices(len(full))]
