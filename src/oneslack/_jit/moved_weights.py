"""Which weights some cuts touch: marked in bytes, so that no look at all weights is needed."""

from numba import njit

from .cut_rows import cut_clear


@njit(nogil=True, cache=True)
def mark(rows, numbers, marks):
    """marks = 0 where one of the cuts `numbers` may be other than 0."""
    for k in range(numbers.shape[0]):
        cut_clear(rows, numbers[k], marks)


@njit(nogil=True, cache=True)
def collect(eights, marks, index):
    """Fill in the places where marks are 0, in the eights of them that are named; returns how many."""
    k = 0
    for j in eights:
        for i in range(8 * j, min(8 * j + 8, marks.shape[0])):
            index[k] = i
            k += marks[i] == 0
    return k


@njit(nogil=True, cache=True)
def differences(index, after, before, scale, values):
    """values = (after - before) / scale at the places `index`; without a branch, so that many weights come
    from memory together."""
    for k in range(index.shape[0]):
        values[k] = (after[index[k]] - before[index[k]]) / scale
