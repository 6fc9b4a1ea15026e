"""The normals of a bundle's planes: a matrix, or one row each, sparse where that is smaller.

With millions of weights most of a plane is zero: the features of the examples that are wrong.  Most weights
are zero in all planes, too: those that are not are numbered in the order in which planes bring them, and all
sums and products are taken over these, in vectors a fraction as long.
"""

from __future__ import annotations

import numpy as np

from ..memory.arenas import with_room
from ..memory.state_coding import check_places

#: Weights from which on rows are kept one by one.
MANY = 100_000
#: A sparse number takes 12 bytes beside 8: rows with more than this share of non-zeros stay dense.
SPARSE = 0.4


def new_normals(n_params, nonnegative, free=None):
    """Room for normals; all as one matrix where weights are held >= 0, as parts of it are asked for then.
    `free` are the coordinates that `free_columns` gives."""
    free = np.empty(0, int) if free is None else free
    return (NormalRows if n_params >= MANY and not nonnegative else NormalMatrix)(n_params, free)


class NormalMatrix:
    """All normals as one growing matrix."""

    def __init__(self, n_params, free):
        self._all, self._size, self._free = np.empty((8, n_params)), 0, free

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

    def free_columns(self):
        """(m, n_free): the free coordinates of all."""
        return self.columns(self._free)

    def keep(self, kept):
        self._all[: len(kept)] = self._all[kept]
        self._size = len(kept)

    def state(self):
        return self.matrix.copy()

    def restore(self, state):
        self._all, self._size = state.copy(), len(state)


class NormalRows:
    """Normals one by one, over the weights that are not zero in all of them; rows are never changed.

    numbers  the weights met so far, in the order in which they came; `places` says where each is, or -1
    rows     a row over the first of `numbers`, or (places, values) of its non-zeros
    """

    def __init__(self, n_params, free):
        self.n_params, self._free = n_params, free
        self._small = np.int32 if n_params <= np.iinfo(np.int32).max else np.int64
        self._clear()

    def _clear(self):
        self._places = np.full(self.n_params, -1, self._small)
        self._numbers, self._size = np.empty(0, self._small), 0
        self._rows, self._of_free = [], []

    def __len__(self):
        return len(self._rows)

    @property
    def nbytes(self):
        return sum(sum(part.nbytes for part in row) for row in self._rows)

    def append(self, normal):
        from .._jit.sparse_vector import nonzeros

        size = np.count_nonzero(normal)
        index, values = np.empty(size + 1, self._small), np.empty(size + 1)
        nonzeros(normal, index, values)
        self._append(index[:size], values[:size])
        self._of_free.append(normal[self._free])

    def _append(self, index, values):
        """The row with these non-zeros."""
        from .._jit.sparse_vector import number

        self._numbers = with_room(self._numbers, min(self._size + len(index), self.n_params))
        places = np.empty(len(index), self._small)
        self._size = number(index, self._places, self._numbers, self._size, places)
        if len(index) > SPARSE * self._size:
            row = np.zeros(self._size)
            row[places] = values
            self._rows.append((row,))
        else:
            self._rows.append((places, values.copy()))

    def dots(self, w):
        """(m,): <g_j, w>."""
        from .._jit.sparse_vector import dot

        w = w[self._numbers[: self._size]]
        return np.array([dot(*row, w) if len(row) == 2 else row[0] @ w[: len(row[0])] for row in self._rows])

    def combine(self, a):
        """(n_params,): sum_j a_j g_j."""
        from .._jit.sparse_vector import add

        total = np.zeros(self._size)
        for a_j, row in zip(a.tolist(), self._rows, strict=True):
            if a_j == 0.0:
                continue
            if len(row) == 2:
                add(a_j, *row, total)
            else:
                total[: len(row[0])] += a_j * row[0]
        out = np.zeros(self.n_params)
        out[self._numbers[: self._size]] = total
        return out

    def free_columns(self):
        """(m, n_free): the free coordinates of all."""
        return np.array(self._of_free).reshape(len(self._rows), len(self._free))

    def keep(self, kept):
        self._rows = [self._rows[j] for j in kept]
        self._of_free = [self._of_free[j] for j in kept]

    def state(self):
        """Rows as (numbers, values) of their non-zeros, numbers rising."""
        return [self._written(row) for row in self._rows]

    def _written(self, row):
        places, values = (np.flatnonzero(row[0]), row[0]) if len(row) == 1 else row
        index = self._numbers[places]
        values = values[places] if len(row) == 1 else values
        order = np.argsort(index)
        return index[order], values[order]

    def restore(self, state):
        self._clear()
        for row in state:
            if len(row) == 1:  # a whole one, as they were once written down
                self.append(row[0])
                continue
            index, values = row
            check_places("numbers of a plane", index, self.n_params)
            if len(index) != len(values) or (np.diff(index) <= 0).any():
                raise ValueError("the numbers of a plane do not rise, or are not as many as its values")
            self._append(index.astype(self._small), values)
            found = np.searchsorted(index, self._free)
            inside = np.minimum(found, max(len(index) - 1, 0))
            is_there = (found < len(index)) & (index[inside] == self._free) if len(index) else found < 0
            self._of_free.append(np.where(is_there, values[inside] if len(index) else 0.0, 0.0))
