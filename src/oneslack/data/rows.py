"""Rows: matrices, dense or CSR, as compiled loops read them, and ragged ones; shards of neighbours; what each
weighs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

#: Products of larger numbers, and sums of them, may be too large for a float; float32 is compared with it as
#: float64.
LARGEST = np.float64(1e100)
#: Numbers of a matrix that a compiled loop is not worth loading for.
SMALL = 10_000
#: A shard is worth a thread when it holds at least so many numbers.
SHARD_SIZE = 200_000
MAX_SHARDS = 4
#: Sums of weights that can still be divided by.
SMALLEST = 1e-200
#: DLPack's number of the memory that the processor reads.
CPU = 1


def as_numpy(values):
    """NumPy's view of a tensor or another array with DLPack (`__dlpack__`); anything else as it is.

    scikit-learn's `array_api_dispatch` would keep it what it is, which compiled loops cannot read.
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__"):
        return values
    if values.__dlpack_device__()[0] != CPU:
        where = getattr(values, "device", "another device")
        raise ValueError(f"an array is on {where}, but training is on the CPU; copy it there, as by .cpu()")
    if hasattr(values, "detach"):
        values = values.detach()  # gradients end here
    return np.asarray(values) if hasattr(values, "__array__") else np.from_dlpack(values)


def as_rows(X):
    """`X` as float32 or float64, C-ordered dense or CSR with sorted indices and no duplicates, copied
    only where it must be."""
    if sp.issparse(X):
        X = X.tocsr()
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return X
    X = np.asarray(X)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return np.ascontiguousarray(X)


def check_finite(X, name_of="row {}".format):
    """Raise where a matrix, dense or CSR, holds a number that is not finite, or too large to be squared;
    name_of(i) is what row i is called."""
    values = X.data if sp.issparse(X) else X
    if not values.size or (float(values.min()) >= -LARGEST and float(values.max()) <= LARGEST):
        return
    bad = np.flatnonzero(~(np.abs(values.ravel().astype(np.float64)) <= LARGEST))
    if sp.issparse(X):
        i, k = np.searchsorted(X.indptr, bad[0], side="right") - 1, X.indices[bad[0]]
    else:
        i, k = divmod(int(bad[0]), X.shape[1])
    value = values.ravel()[bad[0]]
    what = "scale the features" if np.isfinite(value) else "give finite numbers"
    raise ValueError(f"X has {value} in {name_of(i)}, column {k}; {what}")


def small_norms(X) -> np.ndarray:
    """|x_i|^2 of the rows of a small matrix, without compiled code."""
    with np.errstate(over="ignore"):  # check_finite has the sentence
        squares = np.square(X if isinstance(X, np.ndarray) else X.data, dtype=np.float64)
    if isinstance(X, np.ndarray):
        return squares.sum(axis=1)
    n = X.shape[0]
    return np.bincount(np.repeat(np.arange(n), np.diff(X.indptr)), squares, minlength=n)


def longest_row(X) -> int:
    """The most numbers that a row of a matrix holds."""
    return X.shape[1] if isinstance(X, np.ndarray) else int(np.diff(X.indptr).max(initial=0))


def stacked(matrices):
    """Matrices one below the other: CSR where all are sparse, else dense.  A single one is not copied."""
    if len(matrices) == 1:
        return matrices[0]
    if all(sp.issparse(X) for X in matrices):
        return sp.vstack(matrices, format="csr")
    return np.concatenate([X.toarray() if sp.issparse(X) else X for X in matrices])


def compiled_view(X):
    """The tuple by which compiled loops see a matrix (see _jit/rows.py).

    Always read-only: a memory-mapped matrix then needs no second compilation.
    """
    if isinstance(X, np.ndarray):
        return (_read_only(X),)
    unsigned = np.uint32 if X.indices.dtype.itemsize == 4 else np.uint64
    return (_read_only(X.data), _read_only(X.indices.view(unsigned)), _read_only(X.indptr))


def _read_only(array):
    view = array.view()
    view.flags.writeable = False
    return view


def one_by_one(function, pieces):
    """The map of an engine without threads."""
    return [function(piece) for piece in pieces]


class Shard(NamedTuple):
    """Rows lo <= i < hi.  `map` works on pieces of the shard: in threads where it is the only one."""

    lo: int
    hi: int
    map: Callable = one_by_one


def cut_into_shards(n, size) -> list[Shard]:
    """n rows with `size` numbers in all as a few shards of about equal work.

    They depend on the data only, never on the number of threads.
    """
    return equal_shards(0, n, min(MAX_SHARDS, size // SHARD_SIZE, n))


def equal_shards(lo, hi, count) -> list[Shard]:
    """The rows lo <= i < hi as `count` shards, at least one."""
    count = int(max(1, count))
    bounds = [lo + (hi - lo) * k // count for k in range(count + 1)]
    return [Shard(a, b) for a, b in pairwise(bounds)]


def weights_of(weights, n) -> np.ndarray:
    """(n,) float64, finite and >= 0; ones where none are given."""
    if weights is None:
        return np.ones(n)
    try:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one for each example") from None
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({n},)")
    check_weights(weights)
    return weights


def check_weights(weights) -> float:
    """Raise unless all weights are >= 0 and finite; their sum."""
    total = float(weights.sum())
    if weights.min(initial=0.0) >= 0.0 and total < np.inf:
        return total
    bad = np.flatnonzero(~((weights >= 0.0) & (weights < np.inf)))
    if not len(bad):
        return total
    value = float(weights[bad[0]])
    expected = "finite" if value == np.inf else ">= 0"
    raise ValueError(f"sample_weight must be {expected}; example {bad[0]} has {value!r}")


def check_total(total, C):
    """Raise unless examples whose weights sum to `total` can be averaged, and weigh something by C."""
    if not total > 0.0:
        raise ValueError("there is no example with a positive weight")
    for value, what in ((total, "the sample weights sum to"), (C * total, "C times their sum is")):
        if not SMALLEST <= value <= 1.0 / SMALLEST:
            raise ValueError(f"{what} {value:g}, which is too near to 0 or infinity; choose another scale")


@dataclass(frozen=True, eq=False)
class Ragged:
    """Sequence i is values[offsets[i]:offsets[i + 1]]; values are an array (N, ...) or a CSR matrix (N, d).

    >>> from oneslack.data.rows import Ragged
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
