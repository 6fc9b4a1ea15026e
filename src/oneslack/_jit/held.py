"""Weights that dual loops add rows to, where they are scaled or held >= 0.

Without either they are an array w, and adding c x to the sum v of the duals is w += c x.  With them they are
a `Held`: u = prior + v / r^2 is kept beside w = max(u, low), so that adding c x is

    u_k += c x_k q_k,   w_k = max(u_k, low_k)         q = 1 / r^2,  low = 0 or -inf

at the few k that x touches.  Clipping u itself would forget how far below 0 a weight is, and end at another
point than the optimum.  The loops are written once for both: the functions here are overloaded on the kind.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types

from . import rows
from .compiler import njit, overload, register_jitable


class Held(NamedTuple):
    """Arrays of one shape: (d,), or (d, K) for K weights a feature."""

    w: Any
    u: Any
    q: Any
    low: Any


def _is_held(kind) -> bool:
    return isinstance(kind, types.BaseNamedTuple)


def weights(w):
    """The array to multiply by; asked for once, before the loops."""
    return w.w if isinstance(w, Held) else w


@overload(weights)
def _weights(w):
    if _is_held(w):
        return lambda w: w.w
    return lambda w: w


def metric(w):
    """q = 1 / r^2: what moves the sum v moves weights q times as far.  None for plain ones, where it is 1."""
    return w.q if isinstance(w, Held) else None


@overload(metric)
def _metric(w):
    if _is_held(w):
        return lambda w: w.q
    return lambda w: None


@register_jitable
def _held_add(w, k, c):
    u = w.u[k] + c * w.q[k]
    w.u[k] = u
    w.w[k] = max(u, w.low[k])


@register_jitable
def _held_row_add(row_w, row_u, row_q, row_low, z, c):
    u = row_u[z] + c * row_q[z]
    row_u[z] = u
    row_w[z] = max(u, row_low[z])


def add_at(w, k, c):
    """Add c to coordinate k of v."""
    if isinstance(w, Held):
        _held_add(w, k, c)
    else:
        w[k] += c


@overload(add_at)
def _add_at(w, k, c):
    if _is_held(w):
        return _held_add

    def plain(w, k, c):
        w[k] += c

    return plain


def clear_at(w, k):
    """Coordinate k is 0 again; for sums that began at 0."""
    if isinstance(w, Held):
        w.u[k] = 0.0
    weights(w)[k] = 0.0


@overload(clear_at)
def _clear_at(w, k):
    if _is_held(w):

        def held(w, k):
            w.u[k] = 0.0
            w.w[k] = 0.0

        return held

    def plain(w, k):
        w[k] = 0.0

    return plain


# Rows of a matrix as in rows.py.


@register_jitable
def _csr_add(X, i, c, w):
    data, indices, indptr = X
    for k in range(indptr[i], indptr[i + 1]):
        _held_add(w, indices[k], c * data[k])


@register_jitable
def _dense_add(X, i, c, w):
    x = X[0][i]
    for k in range(x.shape[0]):
        _held_add(w, k, c * x[k])


@register_jitable
def _csr_add_some(X, i, change, classes, count, W):
    data, indices, indptr = X
    for k in range(indptr[i], indptr[i + 1]):
        x, f = data[k], indices[k]
        for j in range(count):
            _held_row_add(W.w[f], W.u[f], W.q[f], W.low[f], classes[j], change[j] * x)


@register_jitable
def _dense_add_some(X, i, change, classes, count, W):
    values = X[0][i]
    for f in range(values.shape[0]):
        if values[f] != 0.0:
            for j in range(count):
                _held_row_add(W.w[f], W.u[f], W.q[f], W.low[f], classes[j], change[j] * values[f])


@register_jitable
def _csr_add_all(X, i, change, W):
    data, indices, indptr = X
    for k in range(indptr[i], indptr[i + 1]):
        x, f = data[k], indices[k]
        for z in range(change.shape[0]):
            _held_row_add(W.w[f], W.u[f], W.q[f], W.low[f], z, change[z] * x)


@register_jitable
def _dense_add_all(X, i, change, W):
    values = X[0][i]
    for f in range(values.shape[0]):
        if values[f] != 0.0:
            for z in range(change.shape[0]):
                _held_row_add(W.w[f], W.u[f], W.q[f], W.low[f], z, change[z] * values[f])


def add_row(X, i, c, w):
    """Add c x_i to v."""
    if isinstance(w, Held):
        return (_csr_add if len(X) == 3 else _dense_add)(X, i, c, w)
    return rows.row_add(X, i, c, w)


@overload(add_row)
def _add_row(X, i, c, w):
    if _is_held(w):
        return _csr_add if len(X) == 3 else _dense_add
    return rows._csr_add if len(X) == 3 else rows._dense_add


def add_row_some(X, i, change, classes, count, W):
    """Add change[j] x_i to v[:, classes[j]] for the first `count` classes."""
    if isinstance(W, Held):
        return (_csr_add_some if len(X) == 3 else _dense_add_some)(X, i, change, classes, count, W)
    return rows.row_add_some(X, i, change, classes, count, W)


@overload(add_row_some)
def _add_row_some(X, i, change, classes, count, W):
    if _is_held(W):
        return _csr_add_some if len(X) == 3 else _dense_add_some
    return rows._csr_add_some if len(X) == 3 else rows._dense_add_some


def add_row_all(X, i, change, W):
    """Add x_i change' to v, change (K,)."""
    if isinstance(W, Held):
        return (_csr_add_all if len(X) == 3 else _dense_add_all)(X, i, change, W)
    return rows.row_add_all(X, i, change, W)


@overload(add_row_all)
def _add_row_all(X, i, change, W):
    if _is_held(W):
        return _csr_add_all if len(X) == 3 else _dense_add_all
    return rows._csr_add_all if len(X) == 3 else rows._dense_add_all


# Products of rows in a metric.


@register_jitable
def _csr_product(X, a, b, q):
    data, indices, indptr = X
    i, j, end_i, end_j = indptr[a], indptr[b], indptr[a + 1], indptr[b + 1]
    total = 0.0
    while i < end_i and j < end_j:
        if indices[i] == indices[j]:
            total += np.float64(data[i]) * data[j] * (1.0 if q is None else q[indices[i]])
            i += 1
            j += 1
        elif indices[i] < indices[j]:
            i += 1
        else:
            j += 1
    return total


@register_jitable
def _dense_product(X, a, b, q):
    x, z = X[0][a], X[0][b]
    total = 0.0
    for k in range(x.shape[0]):
        total += np.float64(x[k]) * z[k] * (1.0 if q is None else q[k])
    return total


def metric_product(X, a, b, q):
    """sum_k q_k x_ak x_bk; all q_k are 1 where q is None."""
    return (_csr_product if len(X) == 3 else _dense_product)(X, a, b, q)


@overload(metric_product)
def _metric_product(X, a, b, q):
    return _csr_product if len(X) == 3 else _dense_product


@njit(nogil=True, cache=True)
def metric_norms(X, q, out):
    """out[i] = sum_k q_k x_ik^2."""
    for i in range(out.shape[0]):
        out[i] = metric_product(X, i, i, q)
