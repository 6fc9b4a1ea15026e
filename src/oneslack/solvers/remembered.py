"""Remembered cuts of each example, with their duals: the working set of n-slack and dual methods."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

#: Room for cuts of an example at the start; doubled when all of them hold dual.
FIRST_ROOM = 4


_STATE = (
    "data", "indices", "indptr", "b", "n_rows", "size",
    "slots", "counts", "alpha", "gram", "used", "w", "now",
)  # fmt: skip


class Remembered:
    """Cuts (x_j, b_j) of n examples in one growing CSR arena, duals alpha, and w = sum alpha_j x_j.

    limit  cuts an example keeps at most where some of them hold no dual: the one longest without goes
    """

    def __init__(self, n, n_params, upper, limit=50):
        self.n, self.n_params, self.limit = n, n_params, limit
        self.upper = np.ascontiguousarray(upper, dtype=np.float64)
        self.data, self.indices = np.empty(0), np.empty(0, np.int64)
        self.indptr, self.b = np.zeros(1, np.int64), np.empty(0)
        self.n_rows, self.size = 0, 0
        room = FIRST_ROOM
        self.slots = np.zeros((n, room), np.int64)
        self.counts = np.zeros(n, np.int64)
        self.alpha = np.zeros((n, room))
        self.gram = np.zeros((n, room, room))
        self.used = np.zeros((n, room), np.int64)
        self.w = np.zeros(n_params)
        self.now = 0

    def __len__(self):
        return int(self.counts.sum())

    # Adding.

    def add(self, index, rows, losses):
        """Remember a cut for each example of `index`; rows is CSR (m, n_params)."""
        rows = sp.csr_array(rows)
        rows.sum_duplicates()
        first = self._append(rows, losses)
        places = np.array([self._place(i) for i in index], dtype=np.int64)
        self.slots[index, places] = first + np.arange(len(index))
        self.alpha[index, places] = 0.0
        self.used[index, places] = self.now
        self._fill_gram(np.asarray(index, np.int64), places)

    def _append(self, rows, losses):
        first, m = self.n_rows, rows.shape[0]
        self.data = _with_room(self.data, self.size + rows.nnz)
        self.indices = _with_room(self.indices, self.size + rows.nnz)
        self.indptr = _with_room(self.indptr, first + m + 1)
        self.b = _with_room(self.b, first + m)
        self.data[self.size : self.size + rows.nnz] = rows.data
        self.indices[self.size : self.size + rows.nnz] = rows.indices
        self.indptr[first + 1 : first + m + 1] = self.size + rows.indptr[1:]
        self.b[first : first + m] = losses
        self.n_rows, self.size = first + m, self.size + rows.nnz
        return first

    def _place(self, i):
        """Where the next cut of example i goes."""
        m = self.counts[i]
        if m >= self.limit:
            idle = np.flatnonzero(self.alpha[i, :m] == 0.0)
            if len(idle):
                return int(idle[np.argmin(self.used[i, idle])])
        if m == self.slots.shape[1]:
            self._widen()
        self.counts[i] += 1
        return int(m)

    def _widen(self):
        old = self.slots.shape[1]
        wider = ((0, 0), (0, old))
        self.slots, self.alpha = np.pad(self.slots, wider), np.pad(self.alpha, wider)
        self.used, self.gram = np.pad(self.used, wider), np.pad(self.gram, (*wider, (0, old)))

    def _fill_gram(self, index, places):
        from .._jit.groups import fill_gram

        fill_gram(self.data, self.indices, self.indptr, self.slots, self.counts, self.gram, index, places)

    def forget(self, idle):
        """Drop the cuts without dual for more than `idle` passes, and their rows."""
        room = np.arange(self.slots.shape[1])
        present = room < self.counts[:, None]
        keep = present & ((self.alpha > 0.0) | (self.used >= self.now - idle))
        if keep.sum() == present.sum() and self.n_rows <= 2 * present.sum() + 64:
            return
        order = np.argsort(~keep, axis=1, kind="stable")
        self.slots = np.take_along_axis(self.slots, order, 1)
        self.alpha = np.take_along_axis(self.alpha, order, 1)
        self.used = np.take_along_axis(self.used, order, 1)
        self.gram = np.take_along_axis(np.take_along_axis(self.gram, order[:, :, None], 1), order[:, None], 2)
        self.counts = keep.sum(axis=1).astype(np.int64)
        self._compact()

    def _compact(self):
        held = np.arange(self.slots.shape[1]) < self.counts[:, None]
        rows = self.matrix()[self.slots[held]]
        self.b = self.b[self.slots[held]].copy()
        self.data, self.indices, self.indptr = (
            rows.data,
            rows.indices.astype(np.int64),
            rows.indptr.astype(np.int64),
        )
        self.n_rows, self.size = rows.shape[0], rows.nnz
        self.slots[held] = np.arange(self.n_rows)

    def matrix(self):
        """The arena as CSR."""
        parts = (self.data[: self.size], self.indices[: self.size], self.indptr[: self.n_rows + 1])
        return sp.csr_array(parts, shape=(self.n_rows, self.n_params))

    # The dual.

    def visit(self, order, precision=1e-3):
        """Exact block steps on the examples `order`; (sum of their gaps before, growth of the dual)."""
        from .._jit.groups import visit

        self.now += 1
        return visit(
            self.data, self.indices, self.indptr, self.b, self.slots, self.counts, self.alpha, self.gram,
            self.upper, self.used, self.now, np.asarray(order, np.int64), self.w, precision,
        )  # fmt: skip

    def refresh(self):
        """w anew from the duals, without the rounding of many small steps."""
        from .._jit.groups import add_rows

        i, j = np.nonzero(self.alpha)
        self.w[:] = 0.0
        add_rows(self.data, self.indices, self.indptr, self.slots[i, j], self.alpha[i, j], self.w)

    @property
    def linear(self) -> float:
        """sum alpha_j b_j."""
        i, j = np.nonzero(self.alpha)
        return float(self.alpha[i, j] @ self.b[self.slots[i, j]])

    def best(self, w, index):
        """(values, places) of the most violated remembered cut of the examples `index`; -1 for none."""
        from .._jit.groups import best_remembered

        values, places = np.empty(len(index)), np.empty(len(index), np.int64)
        best_remembered(
            self.data, self.indices, self.indptr, self.b, self.slots, self.counts, w,
            np.asarray(index, np.int64), values, places,
        )  # fmt: skip
        return values, places

    def ask(self, problem, w, block):
        """(cuts, values, known): the oracle's cuts of the examples `block` at w, and for each of the block
        what the oracle's cut and what the best remembered one is worth there; 0 is the truth."""
        cuts = problem.cuts(w, block)
        values = np.zeros(len(block))
        values[np.searchsorted(block, cuts.index)] = cuts.values(w)
        return cuts, values, self.best(w, block)[0]

    def learn(self, problem, w, block):
        """Ask, and remember what is worse than all that is remembered.  Returns the examples' hinges: an
        answer that is no better than a remembered cut is replaced by it."""
        cuts, values, known = self.ask(problem, w, block)
        self.add_some(cuts, (values > known + 1e-12 * (1.0 + known))[np.searchsorted(block, cuts.index)])
        return np.maximum(values, known)

    def add_some(self, cuts, new):
        """Remember the cuts where `new` is true; returns how many."""
        if new.any():
            self.add(cuts.index[new], cuts.deltas[new], cuts.losses[new])
        return int(new.sum())

    def state(self):
        return {name: np.copy(getattr(self, name)) for name in _STATE}

    def restore(self, state):
        for name, value in state.items():
            setattr(self, name, int(value) if value.ndim == 0 else value.copy())


def _with_room(array, size):
    if len(array) >= size:
        return array
    bigger = np.zeros(max(size, 2 * len(array), 64), array.dtype)
    bigger[: len(array)] = array
    return bigger
