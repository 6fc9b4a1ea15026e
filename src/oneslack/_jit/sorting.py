"""Sorting by radix: the order of n numbers in time proportional to n.

Numbers are thrown into 2^31 cells of equal width, which four stable passes over eight bits each sort
exactly.  Few cells hold more than one number; those are put in order by insertion, and where an
outlier has crowded many into one cell, by cells of their own.
"""

import numpy as np
from numba import njit

CELLS = (1 << 31) - 1
#: A packed word is a cell above the index of a number.
INDEX_BITS = 32
INDEX = (1 << INDEX_BITS) - 1
#: Up to so many numbers are sorted by insertion.
SHORT = 24


@njit(nogil=True, cache=True)
def stable_order(values, order, room, other):
    """Fill order (n,) with the indices of `values` in ascending order; of equal ones the first stays first.

    `room` and `other` (n,) int64 are overwritten.  Numbers closer than 1e-299 may count as equal; where one
    is not finite, any order may come out.
    """
    n = values.shape[0]
    for i in range(n):
        order[i] = i
    pending = np.empty((n // SHORT + 2, 2), np.int64)
    pending[0, 0], pending[0, 1] = 0, n
    count = 1
    while count:
        count -= 1
        lo, hi = pending[count, 0], pending[count, 1]
        if hi - lo <= SHORT:
            _insert(values, order[lo:hi])
        elif _sort_cells(values, order[lo:hi], room[lo:hi], other[lo:hi]):
            count = _sort_inside(values, room[lo:hi], lo, order, pending, count)


@njit(nogil=True, cache=True)
def _insert(values, order):
    for i in range(1, order.shape[0]):
        moving = order[i]
        value = values[moving]
        k = i
        while k > 0 and values[order[k - 1]] > value:
            order[k] = order[k - 1]
            k -= 1
        order[k] = moving


@njit(nogil=True, cache=True)
def _sort_cells(values, order, words, other):
    """Fill words with (cell, index), sorted by cell; False where no cell parts the numbers."""
    low = high = values[order[0]]
    for index in order:
        low, high = min(low, values[index]), max(high, values[index])
    spread = high - low
    if not (0.0 < spread < np.inf and CELLS / spread < np.inf):
        return False
    scale = CELLS / spread
    starts = np.zeros((4, 256), np.int64)
    c0, c1, c2, c3 = starts[0], starts[1], starts[2], starts[3]
    for i in range(order.shape[0]):
        index = order[i]
        cell = np.int64((values[index] - low) * scale)
        words[i] = (cell << INDEX_BITS) | index
        c0[cell & 255] += 1
        c1[(cell >> 8) & 255] += 1
        c2[(cell >> 16) & 255] += 1
        c3[(cell >> 24) & 255] += 1
    for digit in range(4):
        total = 0
        for k in range(256):
            total, starts[digit, k] = total + starts[digit, k], total
    _scatter(words, other, c0, INDEX_BITS)
    _scatter(other, words, c1, INDEX_BITS + 8)
    _scatter(words, other, c2, INDEX_BITS + 16)
    _scatter(other, words, c3, INDEX_BITS + 24)
    return True


@njit(nogil=True, cache=True)
def _scatter(source, target, starts, shift):
    for i in range(source.shape[0]):
        word = source[i]
        digit = (word >> shift) & 255
        target[starts[digit]] = word
        starts[digit] += 1


@njit(nogil=True, cache=True)
def _sort_inside(values, words, lo, order, pending, count):
    """Unpack the words into order[lo:], each cell sorted; full cells are left to `pending`."""
    n = words.shape[0]
    i = 0
    while i < n:
        cell = words[i] >> INDEX_BITS
        order[lo + i] = words[i] & INDEX
        end = i + 1
        while end < n and words[end] >> INDEX_BITS == cell:
            order[lo + end] = words[end] & INDEX
            end += 1
        if end - i > SHORT:
            pending[count, 0], pending[count, 1] = lo + i, lo + end
            count += 1
        elif end - i > 1:
            _insert(values, order[lo + i : lo + end])
        i = end
    return count
