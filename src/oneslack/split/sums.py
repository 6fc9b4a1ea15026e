"""Answers of workers: tuples of numbers and vectors that are added up, sparse where that is smaller."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
    index = np.flatnonzero(vector)
    small = np.int32 if len(vector) <= np.iinfo(np.int32).max else np.int64
    return SparseVector(index.astype(small), vector[index], len(vector))


def unpacked(vector):
    """A dense vector of its own."""
    if not isinstance(vector, SparseVector):
        return vector
    out = np.zeros(vector.size)
    out[vector.index] = vector.values
    return out


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
