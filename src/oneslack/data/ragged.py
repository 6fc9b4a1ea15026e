"""Ragged: examples of different lengths as one array and offsets, so that loops run over flat memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class Ragged:
    """Sequence i is values[offsets[i]:offsets[i + 1]]; values are an array (N, ...) or a CSR matrix (N, d).

    >>> from oneslack.data.ragged import Ragged
    >>> words = Ragged.from_list([[3, 1], [], [2]])
    >>> len(words), words[0], words.take([2, 0]).values
    (3, array([3, 1]), array([2, 3, 1]))
    """

    values: object
    offsets: np.ndarray

    def __post_init__(self):
        offsets = np.ascontiguousarray(self.offsets, dtype=np.int64)
        size = self.values.shape[0]
        if offsets.ndim != 1 or not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ValueError("offsets must start with 0 and never fall")
        if offsets[-1] != size:
            raise ValueError(f"the last offset is {offsets[-1]}, but there are {size} rows of values")
        if sp.issparse(self.values) and self.values.format != "csr":
            object.__setattr__(self, "values", self.values.tocsr())
        object.__setattr__(self, "offsets", offsets)

    @staticmethod
    def from_list(items) -> Ragged:
        """Arrays, lists or sparse matrices, one a sequence; CSR when any of them is sparse."""
        items = list(items)
        if any(sp.issparse(item) for item in items):
            values = sp.vstack([sp.csr_array(item) for item in items], format="csr")
            lengths = [item.shape[0] for item in items]
        else:
            items = [np.asarray(item) for item in items]
            lengths = [len(item) for item in items]
            filled = [item for item in items if len(item)] or items[:1]  # an empty list has no dtype to go by
            values = np.concatenate(filled) if filled else np.empty(0)
        return Ragged(values, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    @staticmethod
    def joined(parts) -> Ragged:
        """The sequences of several Ragged with dense values, one behind the other."""
        lengths = [part.lengths for part in parts]
        offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
        return Ragged(np.concatenate([part.values for part in parts]), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i):
        """Sequence i; a slice gives a Ragged of neighbours.  Dense values are not copied."""
        if isinstance(i, slice):
            lo, hi, step = i.indices(len(self))
            if step != 1:
                return self.take(np.arange(lo, hi, step))
            first, last = self.offsets[lo], self.offsets[max(lo, hi)]
            return Ragged(self._rows(first, last), self.offsets[lo : max(lo, hi) + 1] - first)
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"sequence {i} of {n}")
        i %= n
        return self._rows(self.offsets[i], self.offsets[i + 1])

    def _rows(self, lo, hi):
        return self.values[int(lo) : int(hi)]

    def take(self, index) -> Ragged:
        """The sequences `index`, in that order, as a copy."""
        index = np.asarray(index, dtype=np.int64)
        return Ragged(self.values[self.places(index)], np.append(0, np.cumsum(self.lengths[index])))

    def places(self, index) -> np.ndarray:
        """The rows of values that hold the sequences `index`."""
        lengths = self.lengths[index]
        before = np.cumsum(lengths) - lengths
        return np.arange(lengths.sum()) + np.repeat(self.offsets[index] - before, lengths)

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)
