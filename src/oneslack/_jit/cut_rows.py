"""Remembered cuts, seen by compiled loops in one way: as rows x_j that are multiplied and added.

A kind of cuts is a named tuple of arrays with three functions on it, made known by `know`; the loops of
groups.py are written once for all kinds.  Here are rows of a CSR matrix; chain_features.py has rows that are
remembered as outputs.
"""

from typing import Any, NamedTuple

from .compiler import njit, overload, register_jitable
from .held import add_at, clear_at

_KINDS = {}


def know(kind, dot, add, clear, dots=None, adds=None):
    """Functions dot(rows, j, w), add(rows, j, c, w) and clear(rows, j, w) for rows of this kind; and, where
    several rows share some work, dots(rows, numbers, w, out) and adds(rows, numbers, coefficients, c, w)."""
    _KINDS[kind] = dot, add, clear, dots or _one_by_one, adds or _add_one_by_one


def cut_dot(rows, j, w):
    """<x_j, w>."""
    return _KINDS[type(rows)][0](rows, j, w)


def cut_add(rows, j, c, w):
    """w += c x_j; of a CSR matrix's rows also where w is a Held (held.py)."""
    return _KINDS[type(rows)][1](rows, j, c, w)


def cut_clear(rows, j, w):
    """w = 0 where x_j may be other than 0."""
    return _KINDS[type(rows)][2](rows, j, w)


def cuts_dot(rows, numbers, w, out):
    """out_k = <x_numbers_k, w>."""
    return _KINDS[type(rows)][3](rows, numbers, w, out)


def cuts_add(rows, numbers, coefficients, c, w):
    """w += c sum_k coefficients_k x_numbers_k, of neighbours: rows of one group."""
    return _KINDS[type(rows)][4](rows, numbers, coefficients, c, w)


@overload(cuts_dot)
def _cuts_dot(rows, numbers, w, out):
    return _KINDS[rows.instance_class][3]


@overload(cuts_add)
def _cuts_add(rows, numbers, coefficients, c, w):
    return _KINDS[rows.instance_class][4]


@overload(cut_dot)
def _cut_dot(rows, j, w):
    return _KINDS[rows.instance_class][0]


@overload(cut_add)
def _cut_add(rows, j, c, w):
    return _KINDS[rows.instance_class][1]


@overload(cut_clear)
def _cut_clear(rows, j, w):
    return _KINDS[rows.instance_class][2]


@register_jitable
def _one_by_one(rows, numbers, w, out):
    for k in range(numbers.shape[0]):
        out[k] = cut_dot(rows, numbers[k], w)


@register_jitable
def _add_one_by_one(rows, numbers, coefficients, c, w):
    for k in range(numbers.shape[0]):
        if coefficients[k] != 0.0:
            cut_add(rows, numbers[k], c * coefficients[k], w)


class SparseCuts(NamedTuple):
    """Rows of a CSR matrix; indices are unsigned, as in rows.py."""

    values: Any
    indices: Any
    indptr: Any


@register_jitable
def _sparse_dot(rows, j, w):
    values, indices, indptr = rows
    first, last = indptr[j], indptr[j + 1]
    s0, s1 = 0.0, 0.0
    even = first + ((last - first) & -2)
    for k in range(first, even, 2):
        s0 += values[k] * w[indices[k]]
        s1 += values[k + 1] * w[indices[k + 1]]
    if even < last:
        s0 += values[even] * w[indices[even]]
    return s0 + s1


@register_jitable
def _sparse_add(rows, j, c, w):
    values, indices, indptr = rows
    for k in range(indptr[j], indptr[j + 1]):
        add_at(w, indices[k], c * values[k])


@register_jitable
def _sparse_clear(rows, j, w):
    _, indices, indptr = rows
    for k in range(indptr[j], indptr[j + 1]):
        clear_at(w, indices[k])


know(SparseCuts, _sparse_dot, _sparse_add, _sparse_clear)


@njit(nogil=True, cache=True)
def add_cuts(rows, numbers, coefficients, out):
    """out += sum_k coefficients_k x_numbers_k."""
    for k in range(numbers.shape[0]):
        cut_add(rows, numbers[k], coefficients[k], out)


# Which weights some cuts touch: marked in bytes, so that no look at all weights is needed.


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
