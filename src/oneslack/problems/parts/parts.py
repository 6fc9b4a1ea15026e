"""Parts of the examples: how they are cut, how they travel, and how a worker loads its own.

A part is loaded when it is first used, and again by a worker that was started anew.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ...data.digests import Digest
from ...data.row_parts import rows_between
from ...data.rows import Ragged, stacked, weights_of
from ...errors import OneslackError
from ..per_example import common_count


@dataclass(frozen=True)
class MemoryPart:
    """Examples lo <= i < hi, given."""

    lo: int
    hi: int
    X: object
    Y: object
    weights: np.ndarray | None

    def load(self):
        return self.X, self.Y, self.weights

    @property
    def n_bytes(self) -> int:
        """About; of objects only Python knows."""
        return sum(map(_bytes_of, (self.X, self.Y, self.weights)))


@dataclass(frozen=True)
class ShardPart:
    """Some neighbouring shards of a packed folder, read by the worker itself.

    code     code(shard) -> targets as the model has them
    weigh    weigh(shard) -> weights, or None for those that were packed
    n_bytes  of the files
    """

    lo: int
    hi: int
    folder: str
    shards: tuple[int, ...]
    code: object
    weigh: object = None
    n_bytes: int = 0

    def load(self):
        from ...formats import open_shards

        shards = open_shards(self.folder)
        mine = [shards[k] for k in self.shards]
        weights = [packed_weights(shard, self.weigh) for shard in mine]
        weights = None if weights[0] is None else np.concatenate(weights)
        Y = np.concatenate([self.code(shard) for shard in mine])
        return stacked([shard.X for shard in mine]), Y, weights


def packed_weights(shard, weigh):
    """(rows,) or None."""
    return shard.sample_weight if weigh is None else weigh(shard)


def memory_parts(X, Y, weights, count) -> list[MemoryPart]:
    """At most `count` parts of neighbouring examples with about as much work in each; every part has an
    example with a positive weight."""
    n = common_count(X, Y)
    if weights is not None:
        weights = weights_of(weights, n)
    work = np.cumsum(_sizes(X, n) + 1.0)
    bounds = np.searchsorted(work, work[-1] * np.arange(1, count) / count) if n else []
    bounds = np.unique([0, *bounds, n])
    if weights is not None:
        bounds = _joined(bounds, np.append(0.0, np.cumsum(weights)))
    return [
        MemoryPart(
            int(lo), int(hi), neighbours(X, lo, hi), neighbours(Y, lo, hi),
            None if weights is None else weights[lo:hi],
        )
        for lo, hi in pairwise(bounds)
    ]  # fmt: skip


def _joined(bounds, total):
    """Those of the bounds between which there is a positive weight; total[k]: that of all before bound k."""
    kept = [bounds[0]]
    for bound in bounds[1:-1]:
        if total[kept[-1]] < total[bound] < total[bounds[-1]]:
            kept.append(bound)
    return [*kept, bounds[-1]]


def _sizes(X, n):
    """(n,): how much each example holds."""
    if sp.issparse(X):
        return np.diff(X.tocsr().indptr).astype(float)
    if isinstance(X, Ragged):
        if sp.issparse(X.values):
            return np.diff(X.values.indptr[X.offsets]).astype(float)
        return X.lengths.astype(float)
    return np.zeros(n)


def _bytes_of(X) -> int:
    if sp.issparse(X):
        X = X.tocsr()
        return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    if isinstance(X, Ragged):
        return _bytes_of(X.values) + X.offsets.nbytes
    return getattr(X, "nbytes", 0)


def neighbours(X, lo, hi):
    """Examples lo <= i < hi; numbers are not copied."""
    lo, hi = int(lo), int(hi)
    if sp.issparse(X):
        X = X.tocsr()
        part = rows_between(X, lo, hi)
        part.has_sorted_indices, part.has_canonical_format = X.has_sorted_indices, X.has_canonical_format
        return part
    if isinstance(X, Ragged):
        first, last = X.offsets[lo], X.offsets[hi]
        return Ragged(neighbours(X.values, first, last), X.offsets[lo : hi + 1] - first)
    return X[lo:hi]


def folder_parts(shards, code, weigh, count):
    """(parts, weights (n,)) of a packed folder: of the rows only the weights are read here."""
    weights = [packed_weights(shard, weigh) for shard in shards]
    weights = None if weights[0] is None else np.concatenate(weights)
    weights = weights_of(weights, shards.n_rows)
    return shard_parts(shards, code, weigh, weights, count), weights


def folder_digest(shards, code, weights) -> tuple[str, str | None]:
    """(digest, None) of a packed folder: its checksums, targets and weights (n,)."""
    found = Digest([(entry.rows, entry.crc32) for entry in shards.manifest.shards], weights)
    for shard in shards:
        found.add(np.asarray(code(shard)))
    return found.hex, found.unseen


def shard_parts(shards, code, weigh, weights, count) -> list[ShardPart]:
    """At most `count` parts of whole shards, with about as many bytes in each; every part has an example with
    a positive weight.  weights: (n,) of all examples."""
    if not len(shards):
        raise OneslackError(f"{shards.path}: holds no shard; there is nothing to learn from.")
    ends = np.cumsum([entry.bytes for entry in shards.manifest.shards])
    inner = np.searchsorted(ends, ends[-1] * np.arange(1, count) / count, side="right")
    total = np.append(0.0, np.cumsum(weights))[shards.offsets]
    bounds = _joined(np.unique([0, *inner, len(shards)]), total)
    sizes = np.append(0, ends)
    return [
        ShardPart(
            int(shards.offsets[lo]), int(shards.offsets[hi]), os.path.abspath(shards.path),
            tuple(range(lo, hi)), code, weigh, int(sizes[hi] - sizes[lo]),
        )
        for lo, hi in pairwise(map(int, bounds))
    ]  # fmt: skip
