"""Sparse rows that come in blocks, written to files and mapped: memory holds where each row begins."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager

import numpy as np

from ..errors import OneslackError


class RowsOnDisk:
    """Append CSR blocks, then use them as one CSR matrix until the end of the `with` block.

    The files are made in the system's folder for such ones, which TMPDIR names, and removed.

    >>> import scipy.sparse as sp
    >>> from oneslack.features.rows_on_disk import RowsOnDisk
    >>> with RowsOnDisk(3) as rows:
    ...     for block in ([[1, 0, 2]], [[0, 3, 0], [0, 0, 0]]):
    ...         rows.append(sp.csr_array(block))
    ...     print(rows.matrix().toarray().tolist())
    [[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, n_features):
        self.n_features = n_features
        with _no_room_said():
            self._place = tempfile.TemporaryDirectory(prefix="oneslack-rows-")
        self._sizes = [np.zeros(1, np.int32)]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._place.cleanup()

    def append(self, X):
        """Rows of a CSR matrix, behind those that are there."""
        self._write("values", X.data, np.float64)
        self._write("indices", X.indices, np.int32)
        self._sizes.append(np.diff(X.indptr).astype(np.int32))

    def matrix(self):
        """All rows so far, as views of the files."""
        from ..data.row_parts import csr_of

        indptr = np.cumsum(np.concatenate(self._sizes), dtype=np.int64)
        if indptr[-1] < 2**31:
            indptr = indptr.astype(np.int32)
        values, indices = self._map("values", np.float64), self._map("indices", np.int32)
        return csr_of(values, indices, indptr, self.n_features)

    def _path(self, name):
        return os.path.join(self._place.name, name)

    def _write(self, name, array, dtype):
        with _no_room_said(), open(self._path(name), "ab") as file:
            file.write(np.ascontiguousarray(array, dtype))

    def _map(self, name, dtype):
        path = self._path(name)
        if not os.path.exists(path) or not os.path.getsize(path):
            return np.empty(0, dtype)
        return np.memmap(path, dtype, mode="r").view(np.ndarray)


@contextmanager
def _no_room_said():
    try:
        yield
    except OSError as error:
        from ..formats.shards.writer import NO_ROOM

        folder = tempfile.tempdir or "any folder for temporary files"
        why = "the disk is full" if error.errno in NO_ROOM else error.strerror
        raise OneslackError(
            f"features cannot be written to {folder} ({why}); make room, or name another folder by TMPDIR."
        ) from error
