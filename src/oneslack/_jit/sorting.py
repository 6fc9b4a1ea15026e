"""Sorting by radix: the order of n numbers in time proportional to n.

Numbers are thrown into 2^30 cells of equal width, which three stable passes over ten bits each sort
exactly.  Few cells hold more than one number; those are put in order by insertion, and where an
outlier has crowded many into one cell, by cells of their own.
"""

import numpy as np

from .compiler import njit, register_jitable

DIGIT_BITS = 10
DIGIT = (1 << DIGIT_BITS) - 1
CELLS = (1 << 3 * DIGIT_BITS) - 1
#: A packed word is a cell above the index of a number.
INDEX_BITS = 32
INDEX = (1 << INDEX_BITS) - 1
#: Up to so many numbers are sorted by insertion.
SHORT = 24


@njit(nogil=True, cache=True)
def stable_order(values, words, other):
    """Fill words (n,) so that words & INDEX are the indices of `values` in ascending order; of equal ones the
    first stays first.

    `other` (n,) int64 is overwritten.  Numbers closer than 1e-299 may count as equal; where one is not
    finite, any order may come out.
    """
    n = values.shape[0]
    if n <= SHORT or not _sort_cells(values, words, other, True):
        for i in range(n):
            words[i] = i
        if n <= SHORT:
            _insert(values, words)
        return
    pending = np.empty((n // SHORT + 2, 2), np.int64)
    count = _sort_inside(values, words, 0, pending, 0)
    while count:
        count -= 1
        lo, hi = pending[count, 0], pending[count, 1]
        if _sort_cells(values, words[lo:hi], other[lo:hi], False):
            count = _sort_inside(values, words[lo:hi], lo, pending, count)


@register_jitable
def _insert(values, words):
    for i in range(1, words.shape[0]):
        moving = words[i]
        value = values[moving & INDEX]
        k = i
        while k > 0 and values[words[k - 1] & INDEX] > value:
            words[k] = words[k - 1]
            k -= 1
        words[k] = moving


@register_jitable
def _range(values, words, all_of_them):
    low = high = values[0 if all_of_them else words[0] & INDEX]
    if all_of_them:
        for value in values:
            low, high = min(low, value), max(high, value)
    else:
        for word in words:
            value = values[word & INDEX]
            low, high = min(low, value), max(high, value)
    return low, high


@register_jitable
def _sort_cells(values, words, other, all_of_them):
    """Sort the numbers that words name, or all of them, by cell; False where no cell parts them."""
    low, high = _range(values, words, all_of_them)
    spread = high - low
    if not (0.0 < spread < np.inf and CELLS / spread < np.inf):
        return False
    scale = CELLS / spread
    starts = np.zeros((3, DIGIT + 1), np.int64)
    c0, c1, c2 = starts[0], starts[1], starts[2]
    for i in range(words.shape[0]):
        index = i if all_of_them else words[i] & INDEX
        cell = np.int64((values[index] - low) * scale)
        other[i] = (cell << INDEX_BITS) | index
        c0[cell & DIGIT] += 1
        c1[(cell >> DIGIT_BITS) & DIGIT] += 1
        c2[(cell >> 2 * DIGIT_BITS) & DIGIT] += 1  # no other place, even for nan
    for digit in range(3):
        total = 0
        for k in range(DIGIT + 1):
            total, starts[digit, k] = total + starts[digit, k], total
    _scatter(other, words, c0, INDEX_BITS)
    _scatter(words, other, c1, INDEX_BITS + DIGIT_BITS)
    _scatter(other, words, c2, INDEX_BITS + 2 * DIGIT_BITS)
    return True


@register_jitable
def _scatter(source, target, starts, shift):
    for i in range(source.shape[0]):
        word = source[i]
        digit = (word >> shift) & DIGIT
        target[starts[digit]] = word
        starts[digit] += 1


@register_jitable
def _sort_inside(values, words, lo, pending, count):
    """Sort each cell of words, which lie from place lo on; full cells are left to `pending`."""
    n = words.shape[0]
    i = 0
    while i < n:
        cell = words[i] >> INDEX_BITS
        end = i + 1
        while end < n and words[end] >> INDEX_BITS == cell:
            end += 1
        if end - i > SHORT:
            pending[count, 0], pending[count, 1] = lo + i, lo + end
            count += 1
        elif end - i > 1:
            _insert(values, words[i:end])
        i = end
    return count
