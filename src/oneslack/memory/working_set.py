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

    def room_for(self, part, chosen) -> int:
        """How many of these rows of packed ones fit behind those that are there."""
        count = min(len(self._index) - self.m, len(chosen))
        if not self.is_sparse:
            return count
        starts, chosen = part.X.indptr, chosen[:count]
        numbers = np.cumsum(starts[chosen + 1] - starts[chosen])
        return int(np.searchsorted(numbers, len(self._values) - self.n_numbers, side="right"))

    def add(self, part, examples, chosen=None):
        """Put packed rows, or the chosen ones, behind those that are there; `examples` are their numbers."""
        from .._jit.working_rows import take_sparse

        chosen = np.arange(part.n) if chosen is None else chosen
        a, b = self.m, self.m + len(chosen)
        self._index[a:b] = examples
        self._y[a:b], self._weights[a:b] = part.y[chosen], part.weights[chosen]
        if self.is_sparse:
            into = self._values, self._indices, self._indptr
            self.n_numbers = int(take_sparse(part.view, chosen, *into, a))
        else:
            self._values[a:b] = part.X[chosen]
            self.n_numbers += len(chosen) * self.n_features
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
