"""Columns of ones, token by token, as a CSR matrix."""

import numpy as np


def ones_matrix(columns, n_features, dtype, ordered):
    """The CSR matrix with a 1 at each of columns (n, templates) that is >= 0; equal ones of a row add up.

    `ordered` says that the columns of every row strictly increase.
    """
    from scipy.sparse import csr_matrix

    if not ordered:
        columns.sort(axis=1)
    present = columns >= 0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(present, axis=1))])
    indices = columns.ravel() if indptr[-1] == columns.size else columns[present]
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)  # the type of the indices: scipy would copy both otherwise
    X = csr_matrix((np.ones(len(indices), dtype), indices, indptr), shape=(len(columns), n_features))
    X.has_sorted_indices = True
    if ordered:
        X.has_canonical_format = True
    else:
        X.sum_duplicates()
    return X
