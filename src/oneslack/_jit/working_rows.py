"""Move rows inside the buffers of a working set: no second copy of them is ever made."""

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
