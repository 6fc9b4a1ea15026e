"""Arenas: growing stores of cuts, numbered in the order they came, that compiled loops read as rows.

Cuts of a model with `cut_view` (protocols.Compact) are remembered as outputs, all others as sparse rows in
the smallest types that hold them exactly.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from .state_coding import check_places, column


def arena_of(problem):
    """An empty arena for the cuts of a problem."""
    if problem.has_batches and hasattr(problem.model, "cut_view"):
        return OutputArena(problem.model, problem.data)
    return SparseArena(problem.n_params)


class Arena:
    """Named arrays that grow together; `b` holds the losses.  A subclass says how cuts become numbers."""

    #: Arrays with a number a cut, arrays with many, and types that an array may also have.
    short, long = ("b",), ()
    wide: ClassVar = {}

    def __init__(self):
        self.b = np.empty(0)
        self.n_rows, self.size = 0, 0

    def append(self, cuts) -> int:
        """Remember cuts; the number of the first."""
        raise NotImplementedError

    def view(self):
        """The rows as compiled loops see them."""
        raise NotImplementedError

    def is_same(self, number, cuts, k) -> bool:
        """Whether the cut remembered as `number` is that of cuts[k], for the same example."""
        raise NotImplementedError

    def keep(self, numbers):
        """Forget all but these cuts, which are numbered 0, 1, ... from now on."""
        raise NotImplementedError

    def outputs(self, numbers) -> list | None:
        """The outputs of these cuts, arrays of whole numbers; None where they were not kept."""

    def _extend(self, **parts):
        """Add to the arrays; returns the number of the first new cut."""
        first = self.n_rows
        for name, part in parts.items():
            old = first if name in self.short else self.size
            array = with_room(getattr(self, name), old + len(part))
            array[old : old + len(part)] = part
            setattr(self, name, array)
        self.n_rows += len(parts["b"])
        self.size += len(parts[self.long[0]])
        return first

    def state(self):
        state = {name: getattr(self, name)[: self.n_rows].copy() for name in self.short}
        return state | {name: getattr(self, name)[: self.size].copy() for name in self.long}

    def restore(self, state):
        for name in (*self.short, *self.long):
            types = getattr(self, name).dtype, *self.wide.get(name, ())
            setattr(self, name, column(f"{name} of the cuts", state[name], *types))
        for names in (self.short, self.long):
            if len({len(getattr(self, name)) for name in names}) > 1:
                raise ValueError(f"{', '.join(names)} of the cuts are not of one length")
        self.n_rows, self.size = len(self.b), len(state[self.long[0]])
        self._check()

    def _check(self):
        """Raise where numbers point nowhere."""
        raise NotImplementedError


class SparseArena(Arena):
    """Rows as CSR: weights numbered by 32 bits where they suffice, values of 4 bytes while that is exact."""

    short, long = ("b", "ends"), ("values", "indices")
    wide: ClassVar = {"values": (np.float64,)}

    def __init__(self, n_params):
        super().__init__()
        self.n_params = n_params
        self.ends = np.empty(0, np.int64)
        self.values = np.empty(0, np.float32)
        self.indices = np.empty(0, np.uint32 if n_params <= 1 << 32 else np.uint64)
        self.known = []  # the output of each cut, for proofs; None where it is not an array of whole numbers

    def append(self, cuts):
        rows = _rows(cuts.deltas)
        self.known += [_whole(output) for output in cuts.outputs or [None] * len(cuts)]
        if self.values.dtype == np.float32 and (rows.data.astype(np.float32) != rows.data).any():
            self.values = self.values.astype(np.float64)
        ends = self.size + rows.indptr[1:].astype(np.int64)
        return self._extend(b=cuts.losses, ends=ends, values=rows.data, indices=rows.indices)

    def view(self):
        from .._jit.cut_rows import SparseCuts

        return SparseCuts(self.values, self.indices, self._indptr())

    def outputs(self, numbers):
        found = [self.known[number] for number in numbers] if len(self.known) == self.n_rows else [None]
        return None if any(output is None for output in found) else found

    def state(self):
        state, found = super().state(), self.outputs(range(self.n_rows))
        if found is None:
            return state
        flat = np.concatenate([np.zeros(0, np.int8), *found])
        return state | {"outputs": flat, "sizes": np.array([len(output) for output in found], np.int64)}

    def restore(self, state):
        super().restore(state)
        self.known = []
        if "outputs" in state and len(state["sizes"]) == self.n_rows:
            self.known = np.split(state["outputs"], np.cumsum(state["sizes"])[:-1]) if self.n_rows else []

    def is_same(self, number, cuts, k):
        row = _rows(cuts.deltas[[k]])
        mine = slice(*self._indptr()[number : number + 2])
        return np.array_equal(self.indices[mine], row.indices) and np.array_equal(self.values[mine], row.data)

    def keep(self, numbers):
        parts = (self.values[: self.size], self.indices[: self.size].astype(np.int64), self._indptr())
        rows = sp.csr_array(parts, shape=(self.n_rows, self.n_params))[numbers]
        self.values, self.indices = rows.data, rows.indices.astype(self.indices.dtype)
        self.ends, self.b = rows.indptr[1:].astype(np.int64), self.b[numbers]
        self.known = [self.known[number] for number in numbers] if len(self.known) == self.n_rows else []
        self.n_rows, self.size = rows.shape[0], rows.nnz

    def _check(self):
        check_places("ends of the cuts", self.ends, self.size + 1)
        check_places("indices of the cuts", self.indices, self.n_params)
        if (np.diff(self._indptr()) < 0).any() or self._indptr()[-1] != self.size:
            raise ValueError("ends of the cuts do not fit")

    def _indptr(self):
        return np.concatenate([np.zeros(1, np.int64), self.ends[: self.n_rows]])


class OutputArena(Arena):
    """Outputs as the model's smallest integers, as many for an example as data.offsets say."""

    short, long = ("b", "starts", "examples", "factors"), ("Z",)

    def __init__(self, model, data):
        super().__init__()
        self.model, self.data = model, data
        self.starts = np.empty(0, np.int64)
        self.examples = np.empty(0, np.int32)
        self.factors = np.empty(0)
        self.Z = np.empty(0, model.output_type)

    def append(self, cuts):
        Z = [np.empty(0, self.Z.dtype), *cuts.outputs]
        starts = self.size + np.cumsum([0, *map(len, cuts.outputs)])[:-1]
        return self._extend(
            b=cuts.losses, starts=starts, examples=cuts.index, factors=cuts.factors, Z=np.concatenate(Z)
        )

    def _check(self):
        check_places("examples of the cuts", self.examples, self.data.n)
        check_places("outputs of the cuts", self.Z, self.model.n_labels)
        check_places("starts of the cuts", self.starts, self.size + 1)
        lengths = np.diff(self.data.offsets)[self.examples]
        check_places("ends of the cuts", self.starts + lengths, self.size + 1)

    def view(self):
        return self.model.cut_view(self.data, self.Z, self.starts, self.examples, self.factors)

    def outputs(self, numbers):
        lengths = np.diff(self.data.offsets)[self.examples[numbers]]
        return [self.Z[at : at + size] for at, size in zip(self.starts[numbers], lengths, strict=True)]

    def is_same(self, number, cuts, k):
        z, start = cuts.outputs[k], self.starts[number]
        return np.array_equal(self.Z[start : start + len(z)], z)

    def keep(self, numbers):
        lengths = np.diff(self.data.offsets)[self.examples[numbers]]
        self.Z = self.Z[ranges(self.starts[numbers], lengths)]
        self.starts = (np.cumsum(lengths) - lengths).astype(np.int64)
        self.b, self.examples = self.b[numbers], self.examples[numbers]
        self.factors = self.factors[numbers]
        self.n_rows, self.size = len(numbers), len(self.Z)


class RunArena(Arena):
    """Outputs that differ from the truth in one stretch of tokens, as the labels of these; compiled loops
    append them (_jit/stretches.py)."""

    short, long = ("b", "starts", "firsts", "lengths", "examples"), ("Z",)

    def __init__(self, model, data):
        super().__init__()
        self.model, self.data = model, data
        self.starts, self.firsts, self.lengths = np.empty((3, 0), np.int64)
        self.examples = np.empty(0, np.int32)
        self.Z = np.empty(0, model.output_type)
        places = int(data.X.lengths.max(initial=0)) * model.n_labels
        self._room = np.full(places, np.nan), np.zeros(places)

    def reserve(self, rows, labels):
        """Room for so many more."""
        for name in self.short:
            setattr(self, name, with_room(getattr(self, name), self.n_rows + rows))
        self.Z = with_room(self.Z, self.size + labels)

    def view(self):
        cuts = (self.Z, self.starts, self.firsts, self.lengths, self.examples)
        return self.model.run_view(self.data, *cuts, *self._room)

    def keep(self, numbers):
        lengths = self.lengths[numbers]
        self.Z = self.Z[ranges(self.starts[numbers], lengths)]
        self.starts, self.lengths = np.cumsum(lengths) - lengths, lengths
        self.firsts, self.examples, self.b = (each[numbers] for each in (self.firsts, self.examples, self.b))
        self.n_rows, self.size = len(numbers), len(self.Z)

    def _check(self):
        check_places("examples of the cuts", self.examples, self.data.n)
        check_places("outputs of the cuts", self.Z, self.model.n_labels)
        check_places("lengths of the cuts", self.lengths - 1, self.size + 1)
        check_places("starts of the cuts", self.starts, self.size + 1)
        check_places("ends of the cuts", self.starts + self.lengths, self.size + 1)
        begins, ends = self.data.offsets[self.examples], self.data.offsets[self.examples + 1]
        check_places("tokens of the cuts", self.firsts - begins, len(self.data.y) + 1)
        check_places("tokens of the cuts", ends - self.firsts - self.lengths, len(self.data.y) + 1)


def ranges(starts, lengths):
    """start, start + 1, ..., start + length - 1 of each, one behind the other."""
    return np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)


def _rows(deltas):
    """As CSR with sorted numbers and without zeros."""
    rows = sp.csr_array(deltas)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def with_room(array, size):
    """The array, or a copy with room for `size` numbers and some more."""
    if len(array) >= size:
        return array
    bigger = np.zeros(max(size, len(array) + len(array) // 2, 64), array.dtype)
    bigger[: len(array)] = array
    return bigger


def _whole(output):
    """An output that is a column of whole numbers, in the smallest type; else None."""
    is_column = isinstance(output, np.ndarray) and output.ndim == 1 and output.dtype.kind in "iu"
    return smallest(output) if is_column else None


def smallest(numbers):
    """Whole numbers in the smallest type that holds them."""
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    fits = [
        kind
        for kind in (np.int8, np.int16, np.int32)
        if np.iinfo(kind).min <= low <= high <= np.iinfo(kind).max
    ]
    return numbers.astype(fits[0] if fits else np.int64)
