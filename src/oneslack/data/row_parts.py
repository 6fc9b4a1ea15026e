"""Some neighbouring rows of packed examples, as views: nothing is copied."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sp


def rows_between(X, lo, hi):
    """X[lo:hi]; SciPy would copy the rows of a CSR matrix."""
    if not sp.issparse(X):
        return X[lo:hi]
    first, last = int(X.indptr[lo]), int(X.indptr[hi])
    numbers = (X.data[first:last], X.indices[first:last], X.indptr[lo : hi + 1] - first)
    return csr_of(*numbers, X.shape[1], type(X))


def csr_of(values, indices, indptr, n_features, kind=sp.csr_array):
    """A CSR matrix of arrays that are known to be in order."""
    X = kind((len(indptr) - 1, n_features), dtype=values.dtype)
    # Given to the constructor, short views of long arrays would be copied.
    X.data, X.indices, X.indptr = values, indices, indptr
    X.has_sorted_indices = X.has_canonical_format = True  # else SciPy reads it all to find out
    return X


def part_of(data, lo, hi):
    """Examples lo <= i < hi of packed data of a model on a feature matrix."""
    return replace(data, X=rows_between(data.X, lo, hi), y=data.y[lo:hi], weights=data.weights[lo:hi])


def row_bytes(X):
    """What a row takes in the mean."""
    numbers = X.nnz if sp.issparse(X) else X.size
    return bytes_of_numbers(numbers, X.shape[0], X.dtype.itemsize, sp.issparse(X)) / max(X.shape[0], 1)


def bytes_of_numbers(numbers, rows, itemsize, is_sparse):
    """Bytes of rows with so many numbers in all, with 32-bit indices where they are sparse."""
    return numbers * (itemsize + 4) + 4 * rows if is_sparse else numbers * itemsize


class RowsInMemory:
    """Packed data in memory, seen as a folder of shards is (sharded_problem.ShardedData)."""

    def __init__(self, data):
        self.data, self.n = data, data.n
        self.n_features, self.dtype = data.X.shape[1], data.X.dtype
        self.is_sparse = sp.issparse(data.X)
        self.n_numbers = data.X.nnz if self.is_sparse else data.X.size
        self.row_bytes = row_bytes(data.X)
        self.unit = getattr(data, "unit", None) or 1.0

    def pieces(self, rows):
        """Bounds (lo, hi) of ranges of at most `rows` rows."""
        count = max(1, -(-self.n // max(1, rows)))
        return list(pairwise(self.n * k // count for k in range(count + 1)))

    def numbers(self, bounds):
        """(len(bounds),): stored numbers of each range."""
        if not self.is_sparse:
            return np.array([(hi - lo) * self.n_features for lo, hi in bounds], np.int64)
        indptr = self.data.X.indptr
        return np.array([int(indptr[hi]) - int(indptr[lo]) for lo, hi in bounds], np.int64)

    def part(self, lo, hi):
        return part_of(self.data, lo, hi)

    def read_ahead(self, lo, hi):
        """They are there."""

    def release(self, lo):
        """Nothing is to be let go of."""

    def take(self, index):
        return self.data.take(np.asarray(index))
