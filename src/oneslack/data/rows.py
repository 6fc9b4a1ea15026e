"""Rows: the feature matrix of linear models, dense or CSR, cut into shards of neighbouring rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

#: Products of larger numbers, and sums of them, may be too large for a float; float32 is compared with it as
#: float64.
LARGEST = np.float64(1e100)
#: A shard is worth a thread when it holds at least so many numbers.
SHARD_SIZE = 200_000
MAX_SHARDS = 4


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
    if not sp.issparse(X):
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


@dataclass(frozen=True)
class Shard:
    """Rows lo <= i < hi.  `map` works on pieces of the shard: in threads where it is the only one."""

    lo: int
    hi: int
    map: Callable = field(default=one_by_one, compare=False, repr=False)


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
