"""Rows in memory while others stay on disk: one buffer of a fixed size, filled and thinned out in place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.row_parts import csr_of


class WorkingSet:
    """Up to `rows` rows with up to `numbers` stored numbers, each with the number of its example.

    index : (m,) which examples they are
    data : packed data of the rows, in views of the buffers
    """

    def __init__(self, source, rows, numbers):
        self.is_sparse, self.n_features = source.is_sparse, source.n_features
        self.m = self.n_numbers = 0
        part = source.part(0, 1)
        # The size of a loss is that of all rows, where they have one.
        self._template = replace(part, unit=source.unit) if getattr(part, "unit", None) else part
        self._index = np.empty(rows, np.int64)
        self._y = np.empty(rows, part.y.dtype)
        self._weights = np.empty(rows)
        if self.is_sparse:
            self._values = np.empty(numbers, source.dtype)
            self._indices = np.empty(numbers, np.int32)
            self._indptr = np.zeros(rows + 1, np.int64 if numbers >= 2**31 else np.int32)
        else:
            self._values = np.empty((rows, self.n_features), source.dtype)

    @property
    def index(self):
        return self._index[: self.m]

    @property
    def data(self):
        m = self.m
        if self.is_sparse:
            end = self.n_numbers
            parts = (self._values[:end], self._indices[:end], self._indptr[: m + 1])
            X = csr_of(*parts, self.n_features)
        else:
            X = self._values[:m]
        return replace(self._template, X=X, y=self._y[:m], weights=self._weights[:m])

    def has_room_for(self, part):
        """Whether these packed rows fit behind those that are there."""
        is_short = self.m + part.n <= len(self._index)
        return is_short and (not self.is_sparse or self.n_numbers + part.X.nnz <= len(self._values))

    def add(self, part, examples):
        """Put packed rows behind those that are there; `examples` are their numbers."""
        a, b = self.m, self.m + part.n
        self._index[a:b], self._y[a:b], self._weights[a:b] = examples, part.y, part.weights
        if self.is_sparse:
            end = self.n_numbers + part.X.nnz
            self._values[self.n_numbers : end] = part.X.data
            self._indices[self.n_numbers : end] = part.X.indices
            self._indptr[a : b + 1] = part.X.indptr
            self._indptr[a : b + 1] += self.n_numbers
            self.n_numbers = end
        else:
            self._values[a:b] = part.X
            self.n_numbers += part.X.size
        self.m = b

    def keep(self, rows):
        """Forget all but these rows (rising positions)."""
        from .._jit.working_rows import keep_dense, keep_sparse

        if len(rows) == self.m:
            return
        for array in (self._index, self._y, self._weights):
            array[: len(rows)] = array[rows]
        if self.is_sparse:
            self.n_numbers = int(keep_sparse(self._values, self._indices, self._indptr, rows))
        else:
            keep_dense(self._values, rows)
            self.n_numbers = len(rows) * self.n_features
        self.m = len(rows)

    def sizes(self):
        """(m,): stored numbers of each row."""
        if self.is_sparse:
            return np.diff(self._indptr[: self.m + 1])
        return np.full(self.m, self.n_features)
