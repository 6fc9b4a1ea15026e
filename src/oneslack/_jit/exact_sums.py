"""Sums of products with twice the digits (Ogita, Rump & Oishi 2005)."""

import numpy as np

from .compiler import njit, register_jitable

LOOP = {"nogil": True, "cache": True, "error_model": "numpy"}


@register_jitable
def _halves(a):
    """Two numbers of half the digits each whose sum is a (Veltkamp)."""
    c = 134217729.0 * a
    high = c - (c - a)
    return high, a - high


@register_jitable
def _add_product(c, x, high, low, j):
    """high[j] + low[j] += c x, as if computed with twice the digits (Ogita, Rump & Oishi 2005, Dot2)."""
    c1, c2 = _halves(c)
    x1, x2 = _halves(x)
    product = c * x
    rest = c2 * x2 - (((product - c1 * x1) - c2 * x1) - c1 * x2)
    old = high[j]
    new = old + product
    part = new - old
    high[j] = new
    low[j] += ((old - (new - part)) + (product - part)) + rest


@njit(**LOOP)
def add_sparse_exactly(X, c, high, low):
    """high + low += sum_i c_i x_i of a CSR matrix, with twice the digits."""
    values, columns, starts = X
    for i in range(c.shape[0]):
        if c[i] != 0.0:
            for k in range(starts[i], starts[i + 1]):
                _add_product(c[i], np.float64(values[k]), high, low, columns[k])


@njit(**LOOP)
def add_dense_exactly(X, c, high, low):
    """The same of a dense one."""
    for i in range(c.shape[0]):
        if c[i] != 0.0:
            x = X[0][i]
            for k in range(x.shape[0]):
                _add_product(c[i], np.float64(x[k]), high, low, k)
