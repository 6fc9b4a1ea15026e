"""The normals of a bundle's planes: a matrix, or one row each, sparse where that is smaller.

With millions of weights most of a plane is zero: the features of the examples that are wrong.
"""

from __future__ import annotations

import numpy as np

#: Weights from which on rows are kept one by one.
MANY = 100_000
#: A sparse number takes 12 bytes beside 8: rows with more than this share of non-zeros stay dense.
SPARSE = 0.4


def new_normals(n_params, nonnegative):
    """Room for normals; all as one matrix where weights are held >= 0, as parts of it are asked for then."""
    return NormalRows(n_params) if n_params >= MANY and not nonnegative else NormalMatrix(n_params)


class NormalMatrix:
    """All normals as one growing matrix."""

    def __init__(self, n_params):
        self._all, self._size = np.empty((8, n_params)), 0

    def __len__(self):
        return self._size

    @property
    def matrix(self):
        return self._all[: self._size]

    @property
    def nbytes(self):
        return self.matrix.nbytes

    def append(self, normal):
        if self._size == len(self._all):
            more = np.empty((max(8, self._size), self._all.shape[1]))
            self._all = np.concatenate([self._all, more])
        self._all[self._size] = normal
        self._size += 1

    def dots(self, w):
        """(m,): <g_j, w>."""
        return self.matrix @ w

    def combine(self, a):
        """(n_params,): sum_j a_j g_j."""
        return a @ self.matrix

    def columns(self, index):
        """(m, len(index)): some coordinates of all."""
        return self.matrix[:, index]

    def keep(self, kept):
        self._all[: len(kept)] = self._all[kept]
        self._size = len(kept)

    def state(self):
        return self.matrix.copy()

    def restore(self, state):
        self._all, self._size = state.copy(), len(state)


class NormalRows:
    """Normals one by one, each an array or (numbers, values) of its non-zeros; they are never changed."""

    def __init__(self, n_params):
        self.n_params, self._rows = n_params, []

    def __len__(self):
        return len(self._rows)

    @property
    def nbytes(self):
        return sum(sum(part.nbytes for part in row) for row in self._rows)

    def append(self, normal):
        if np.count_nonzero(normal) > SPARSE * self.n_params:
            self._rows.append((normal.copy(),))
            return
        index = np.flatnonzero(normal)
        small = np.int32 if self.n_params <= np.iinfo(np.int32).max else np.int64
        self._rows.append((index.astype(small), normal[index]))

    def dots(self, w):
        """(m,): <g_j, w>."""
        from .._jit.sparse_vector import dot

        return np.array([dot(*row, w) if len(row) == 2 else row[0] @ w for row in self._rows])

    def combine(self, a):
        """(n_params,): sum_j a_j g_j."""
        from .._jit.sparse_vector import add

        out = np.zeros(self.n_params)
        for a_j, row in zip(a.tolist(), self._rows, strict=True):
            if a_j == 0.0:
                continue
            if len(row) == 2:
                add(a_j, *row, out)
            else:
                out += a_j * row[0]
        return out

    def columns(self, index):
        """(m, len(index)): some coordinates of all."""
        found = np.zeros((len(self._rows), len(index)))
        for values, row in zip(found, self._rows, strict=True):
            if len(row) == 1:
                values[:] = row[0][index]
            else:
                place = np.minimum(np.searchsorted(row[0], index), max(len(row[0]) - 1, 0))
                if len(row[0]):
                    values[:] = np.where(row[0][place] == index, row[1][place], 0.0)
        return found

    def keep(self, kept):
        self._rows = [self._rows[j] for j in kept]

    def state(self):
        return list(self._rows)

    def restore(self, state):
        self._rows = list(state)
