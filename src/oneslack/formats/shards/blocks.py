"""Check the blocks of rows that a caller hands in."""

import numpy as np

from ...errors import OneslackError
from .manifest_checks import MOST_FEATURES


def checked_block(X, y, weights, groups, dtype):
    """X as C-ordered dense or canonical CSR of `dtype`, and the columns beside it; a sentence if not."""
    X = _matrix(X, dtype)
    n = X.shape[0]
    y, groups = (None if column is None else _column(column, n) for column in (y, groups))
    if weights is not None:
        weights = _column(weights, n).astype(np.float64)
        if not (weights >= 0).all():
            raise OneslackError("sample_weight holds a negative number; give numbers >= 0.")
    return X, y, weights, groups


def _matrix(X, dtype):
    import scipy.sparse as sp

    if sp.issparse(X):
        X = sp.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        numbers = X.data
    else:
        numbers = X = np.ascontiguousarray(X)
    if X.ndim != 2 or numbers.dtype.kind not in "biuf":
        raise OneslackError(f"X is {numbers.dtype} with {X.ndim} axes; expected numbers with two axes.")
    if X.shape[1] > MOST_FEATURES:
        raise OneslackError(f"X has {X.shape[1]:,} features; expected at most {MOST_FEATURES:,}.")
    with np.errstate(over="ignore"):
        X = X.astype(dtype, copy=False)
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise OneslackError(
            f"X holds nan, infinity or a number too large for {dtype.name}; replace it, or use float64."
        )
    return X


def _column(values, n):
    values = np.asarray(values)
    if values.shape != (n,):
        raise OneslackError(f"a column has the shape {values.shape}; expected {n} values, one a row of X.")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise OneslackError("a column of labels, weights or groups holds nan or infinity; replace it.")
    return values
