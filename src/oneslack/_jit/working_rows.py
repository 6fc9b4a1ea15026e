"""Move rows into the buffers of a working set, and inside them: no second copy of them is ever made."""

from .compiler import njit


@njit(nogil=True, cache=True)
def keep_dense(X, keep):
    """Row k becomes row keep[k]; `keep` rises."""
    for k in range(keep.shape[0]):
        i = keep[k]
        if i != k:
            for j in range(X.shape[1]):
                X[k, j] = X[i, j]


@njit(nogil=True, cache=True)
def keep_sparse(values, indices, indptr, keep):
    """The same in CSR; returns how many numbers there are then."""
    end = 0
    for k in range(keep.shape[0]):
        first, last = indptr[keep[k]], indptr[keep[k] + 1]
        for a in range(first, last):
            values[end + a - first] = values[a]
            indices[end + a - first] = indices[a]
        # indptr[k] is not needed any more: it lies at or before the row that was read.
        indptr[k] = end
        end += last - first
    indptr[keep.shape[0]] = end
    return end


@njit(nogil=True, cache=True)
def take_sparse(X, rows, values, indices, indptr, m):
    """Rows `rows` of X, a view of CSR, behind the m that are there; returns how many numbers there are."""
    from_values, from_indices, from_indptr = X
    end = indptr[m]
    for k in range(rows.shape[0]):
        first, last = from_indptr[rows[k]], from_indptr[rows[k] + 1]
        for a in range(first, last):
            values[end + a - first] = from_values[a]
            indices[end + a - first] = from_indices[a]
        end += last - first
        indptr[m + k + 1] = end
    return end
