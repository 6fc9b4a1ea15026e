"""Cuts of a chain that are remembered as labels: delta(z) = psi(truth) - psi(z) is made anew at each use.

The labels of cut j are Z[starts_j :], as many as its sentence examples_j has tokens; its row is delta(z)
times factors_j.  A layout is that of chain_features.py.  Labels take a byte a token where delta has twenty
or more numbers for each wrong one, and all cuts of a sentence read the same features.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload, register_jitable

from .cut_rows import know

_DOT, _ADD, _CLEAR = 0, 1, 2


class ChainCuts(NamedTuple):
    """X is the matrix of tokens as in rows.py; truth and offsets are the data's."""

    X: Any
    layout: Any
    truth: Any
    offsets: Any
    Z: Any
    starts: Any
    examples: Any
    factors: Any


@register_jitable
def _csr_token(X, i, W, p, q, c, job):
    data, indices, indptr = X
    total = 0.0
    if job == _DOT:
        # Two sums, so that the rows of W come from memory together.
        first, last = indptr[i], indptr[i + 1]
        even, other = first + ((last - first) & -2), 0.0
        for k in range(first, even, 2):
            row, next_row = W[indices[k]], W[indices[k + 1]]
            total += data[k] * (row[p] - row[q])
            other += data[k + 1] * (next_row[p] - next_row[q])
        if even < last:
            row = W[indices[even]]
            total += data[even] * (row[p] - row[q])
        total += other
    elif job == _ADD:
        for k in range(indptr[i], indptr[i + 1]):
            row, x = W[indices[k]], c * data[k]
            row[p] += x
            row[q] -= x
    else:
        for k in range(indptr[i], indptr[i + 1]):
            row = W[indices[k]]
            row[p] = row[q] = 0.0
    return total


@register_jitable
def _dense_token(X, i, W, p, q, c, job):
    x = X[0][i]
    total = 0.0
    for k in range(x.shape[0]):
        row = W[k]
        if job == _DOT:
            total += x[k] * (row[p] - row[q])
        elif job == _ADD:
            row[p] += c * x[k]
            row[q] -= c * x[k]
        else:
            row[p] = row[q] = 0.0
    return total


def _token(X, i, W, p, q, c, job):
    """The features of token i with label p instead of q."""
    return (_csr_token if len(X) == 3 else _dense_token)(X, i, W, p, q, c, job)


@overload(_token)
def _overloaded_token(X, i, W, p, q, c, job):
    return _csr_token if len(X) == 3 else _dense_token


@register_jitable
def _weight(w, p, q, c, job):
    """One weight p instead of q."""
    if job == _DOT:
        return w[p] - w[q]
    if job == _ADD:
        w[p] += c
        w[q] -= c
    else:
        w[p] = w[q] = 0.0
    return 0.0


@register_jitable
def _place(L, a, b):
    """Where the pair (a, b) lies among all; labels may be of types too small for such numbers."""
    return np.int64(a) * L + np.int64(b)


@register_jitable
def _order(layout, y, z, w, c, job):
    """The order of y instead of that of z."""
    L, pairs, triples, start, end = layout
    T = y.shape[0]
    total = 0.0
    if T and start >= 0 and y[0] != z[0]:
        total += _weight(w, start + np.int64(y[0]), start + np.int64(z[0]), c, job)
    if T and end >= 0 and y[T - 1] != z[T - 1]:
        total += _weight(w, end + np.int64(y[T - 1]), end + np.int64(z[T - 1]), c, job)
    for t in range(1, T):
        differs = y[t] != z[t] or y[t - 1] != z[t - 1]
        if differs:
            p, q = _place(L, y[t - 1], y[t]), _place(L, z[t - 1], z[t])
            total += _weight(w, pairs + p, pairs + q, c, job)
        if triples >= 0 and t > 1 and (differs or y[t - 2] != z[t - 2]):
            p = _place(L, _place(L, y[t - 2], y[t - 1]), y[t])
            q = _place(L, _place(L, z[t - 2], z[t - 1]), z[t])
            total += _weight(w, triples + p, triples + q, c, job)
    return total


@register_jitable
def _walk(rows, j, c, w, job):
    """All that cut j touches."""
    X, layout, truth, offsets, Z, starts, examples, _ = rows
    i = examples[j]
    a, b = offsets[i], offsets[i + 1]
    y, z = truth[a:b], Z[starts[j] : starts[j] + b - a]
    L = layout[0]
    W = w[: layout[1]].reshape((layout[1] // L, L))
    total = 0.0
    for t in range(b - a):
        if y[t] != z[t]:
            total += _token(X, a + t, W, np.uintp(y[t]), np.uintp(z[t]), c, job)
    return total + _order(layout, y, z, w, c, job)


@register_jitable
def _chain_dot(rows, j, w):
    return rows.factors[j] * _walk(rows, j, 0.0, w, _DOT)


@register_jitable
def _chain_add(rows, j, c, w):
    _walk(rows, j, c * rows.factors[j], w, _ADD)


@register_jitable
def _chain_clear(rows, j, w):
    _walk(rows, j, 0.0, w, _CLEAR)


know(ChainCuts, _chain_dot, _chain_add, _chain_clear)
