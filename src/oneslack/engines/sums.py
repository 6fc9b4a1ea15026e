"""Answers of workers: tuples of numbers and vectors that are added up, sparse where that is smaller."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..objective import inner

#: Vectors shorter than this are sent as they are.
SHORT = 10_000
#: A sparse number takes 12 bytes beside 8.
SPARSE = 0.6

#: The answer of a worker that was started anew and does not know what it is asked about.
LOST = "lost"


class SparseVector(NamedTuple):
    """The non-zeros of a vector of so many numbers."""

    index: np.ndarray
    values: np.ndarray
    size: int


def packed(vector):
    """The vector, or its non-zeros where they take less room."""
    if len(vector) < SHORT or np.count_nonzero(vector) > SPARSE * len(vector):
        return vector
    index = np.flatnonzero(vector).astype(number_type(len(vector)))
    return SparseVector(index, vector[index], len(vector))


def number_type(size):
    """Of the numbers of so many weights."""
    return np.int32 if size <= np.iinfo(np.int32).max else np.int64


def unpacked(vector):
    """A dense vector of its own."""
    if not isinstance(vector, SparseVector):
        return vector
    out = np.zeros(vector.size)
    out[vector.index] = vector.values
    return out


def dot_with(vector, w) -> float:
    """<vector, w> for a packed vector."""
    if not isinstance(vector, SparseVector):
        return inner(vector, w)
    from .._jit.sparse_vector import dot

    return dot(vector.index, vector.values, w)


def add_to(vector, c, out):
    """out += c vector for a packed vector."""
    if not isinstance(vector, SparseVector):
        out += c * vector
        return
    from .._jit.sparse_vector import add

    add(c, vector.index, vector.values, out)


def copy_where(vector, source, target):
    """target = source wherever a packed vector may be other than 0."""
    if not isinstance(vector, SparseVector):
        target[:] = source
        return
    from .._jit.sparse_vector import copy_at

    copy_at(vector.index, source, target)


def move_both(vector, point, other):
    """point += vector for a packed vector, and other = point wherever it may be other than 0."""
    if not isinstance(vector, SparseVector):
        point += vector
        other[:] = point
        return
    from .._jit.sparse_vector import add_and_copy

    add_and_copy(vector.index, vector.values, point, other)


def products(vectors):
    """(K, K) inner products of packed vectors."""
    if not all(isinstance(vector, SparseVector) for vector in vectors):
        V = np.array([unpacked(vector) for vector in vectors])
        return V @ V.T
    from .._jit.sparse_vector import dot_sparse

    G = np.empty((len(vectors), len(vectors)))
    for k, x in enumerate(vectors):
        G[k, k] = inner(x.values, x.values)
        for j, y in enumerate(vectors[:k]):
            G[k, j] = G[j, k] = dot_sparse(x.index, x.values, y.index, y.values)
    return G


def combined(vectors, shares):
    """The sum of shares times packed vectors, packed."""
    total, share = vectors[0], shares[0]
    for vector, other in zip(vectors[1:], shares[1:], strict=True):
        total, share = _weighted_sum(share, total, other, vector), 1.0
    if share == 1.0:
        return total
    return total._replace(values=share * total.values) if isinstance(total, SparseVector) else share * total


def _weighted_sum(c, x, d, y):
    if not (isinstance(x, SparseVector) and isinstance(y, SparseVector)):
        return c * unpacked(x) + d * unpacked(y)
    from .._jit.sparse_vector import merge

    room = len(x.index) + len(y.index)
    index, values = np.empty(room, x.index.dtype), np.empty(room)
    count = merge(c, x.index, x.values, d, y.index, y.values, index, values)
    if count > SPARSE * x.size:
        return unpacked(SparseVector(index[:count], values[:count], x.size))
    return SparseVector(index[:count], values[:count], x.size)


def add_up(answers):
    """The sum of tuples, place by place; LOST where one of them is."""
    if any(isinstance(answer, str) for answer in answers):
        return LOST
    return tuple(_sum(values) for values in zip(*answers, strict=True))


def _sum(values):
    if not isinstance(values[0], np.ndarray | SparseVector):
        return sum(values)
    if len(values) == 1:
        return values[0]
    # Always in the order of the workers: sums keep their bits.
    dense = [value for value in values if isinstance(value, np.ndarray)]
    total = dense[0].copy() if dense else np.zeros(values[0].size)
    for value in dense[1:]:
        total += value
    for value in values:
        if isinstance(value, SparseVector):
            total[value.index] += value.values
    return packed(total) if total.ndim == 1 else total


def size_of(value) -> int:
    """Bytes of the arrays in a message or an answer, and 8 for each number."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(size_of, value))
    return 8
