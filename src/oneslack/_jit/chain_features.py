"""Features of label sequences: rows delta(z) = psi(truth) - psi(z), made anew at each use or written down.

A layout is a tuple (L, pairs, triples, start, end): where in w the weights of the order begin, -1 for those
that a model does not have.  Only what differs is touched: tokens with another label, and steps with one.
"""

from typing import Any, NamedTuple

import numpy as np

from .compiler import njit, overload, register_jitable
from .cut_rows import know
from .rows import row_nonzeros

# Cuts that are remembered as labels.  Labels take a byte a token where delta has twenty or more numbers for
# each wrong one, and all cuts of a sentence read the same features.

_DOT, _ADD, _CLEAR = 0, 1, 2


class ChainCuts(NamedTuple):
    """The labels of cut j are Z[starts_j :], as many as its sentence examples_j has tokens; its row is
    delta(z) times factors_j.  X is the matrix of tokens as in rows.py; truth and offsets are the data's."""

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
    first, last = X[2][i], X[2][i + 1]
    x, columns = X[0][first:last], X[1][first:last]
    total = 0.0
    if job == _DOT:
        # Two sums, so that the rows of W come from memory together.
        even, other = x.shape[0] & -2, 0.0
        for k in range(0, even, 2):
            row, next_row = W[columns[k]], W[columns[k + 1]]
            total += x[k] * (row[p] - row[q])
            other += x[k + 1] * (next_row[p] - next_row[q])
        if even < x.shape[0]:
            row = W[columns[even]]
            total += x[even] * (row[p] - row[q])
        total += other
    elif job == _ADD:
        for k in range(x.shape[0]):
            row, change = W[columns[k]], c * x[k]
            row[p] += change
            row[q] -= change
    else:
        for k in range(x.shape[0]):
            row = W[columns[k]]
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


@register_jitable
def _chain_dots(rows, numbers, w, out):
    """Of cuts of one sentence: what a token's features say of a wrong label is looked up once for all."""
    X, layout, truth, offsets, Z, starts, examples, factors = rows
    i, L = examples[numbers[0]], layout[0]
    a, b = offsets[i], offsets[i + 1]
    y = truth[a:b]
    W = w[: layout[1]].reshape((layout[1] // L, L))
    known = np.full((b - a) * L, np.nan)
    for k in range(numbers.shape[0]):
        j = numbers[k]
        z, total = Z[starts[j] : starts[j] + b - a], 0.0
        for t in range(b - a):
            if y[t] != z[t]:
                place = t * L + np.int64(z[t])
                if np.isnan(known[place]):
                    known[place] = _token(X, a + t, W, np.uintp(y[t]), np.uintp(z[t]), 0.0, _DOT)
                total += known[place]
        out[k] = factors[j] * (total + _order(layout, y, z, w, 0.0, _DOT))


know(ChainCuts, _chain_dot, _chain_add, _chain_clear, _chain_dots)


# Rows of a CSR matrix.  Labels Z of a block of sentences are counted from its first token.


@register_jitable
def order_features(layout, z, other, out):
    """The weights that the order of z uses where it differs from `other`; returns their number."""
    L, pairs, triples, start, end = layout
    T = z.shape[0]
    count = 0
    if T == 0:
        return count
    if start >= 0 and z[0] != other[0]:
        out[count] = start + z[0]
        count += 1
    if end >= 0 and z[T - 1] != other[T - 1]:
        out[count] = end + z[T - 1]
        count += 1
    for t in range(1, T):
        pair = z[t] != other[t] or z[t - 1] != other[t - 1]
        if pair:
            out[count] = pairs + z[t - 1] * L + z[t]
            count += 1
        if triples >= 0 and t > 1 and (pair or z[t - 2] != other[t - 2]):
            out[count] = triples + (z[t - 2] * L + z[t - 1]) * L + z[t]
            count += 1
    return count


@register_jitable
def _append(X, layout, token, z, other, sign, index, values, count):
    """Features of z, times sign, where it differs from `other`, unsorted."""
    L = layout[0]
    for t in range(z.shape[0]):
        if z[t] != other[t]:
            m = row_nonzeros(X, token + t, index[count:], values[count:])
            for j in range(count, count + m):
                index[j] = index[j] * L + z[t]
                values[j] *= sign
            count += m
    m = order_features(layout, z, other, index[count:])
    for j in range(count, count + m):
        values[j] = sign
    return count + m


@register_jitable
def _sort(index, values):
    """Both, in ascending order of index: merges of neighbouring runs, twice as long in each round."""
    n = index.shape[0]
    other, other_values = np.empty_like(index), np.empty_like(values)
    width = 1
    while width < n:
        for lo in range(0, n, 2 * width):
            i, j = lo, min(lo + width, n)
            middle, end = j, min(lo + 2 * width, n)
            for k in range(lo, end):
                if i < middle and (j >= end or index[i] <= index[j]):
                    other[k], other_values[k] = index[i], values[i]
                    i += 1
                else:
                    other[k], other_values[k] = index[j], values[j]
                    j += 1
        index, other = other, index
        values, other_values = other_values, values
        width *= 2
    return index, values


@register_jitable
def _merge(index, values, factor, out_index, out_values):
    """Sort by index, add up what has the same one, drop zeros; returns how many are left."""
    index, values = _sort(index, values)
    m, j = 0, 0
    while j < index.shape[0]:
        k = index[j]
        total = 0.0
        while j < index.shape[0] and index[j] == k:
            total += values[j]
            j += 1
        if total != 0.0:
            out_index[m], out_values[m] = k, factor * total
            m += 1
    return m


@njit(nogil=True, cache=True)
def feature_row(X, layout, z, other, size):
    """psi(x, z) as sorted (indices, values), x all rows of X; other_t = -1, so that z differs everywhere."""
    index, values = np.empty(size, np.int64), np.empty(size)
    count = _append(X, layout, 0, z, other, 1.0, index, values, 0)
    m = _merge(index[:count], values[:count], 1.0, index, values)
    return index[:m].copy(), values[:m].copy()


@njit(nogil=True, cache=True)
def delta_rows(X, layout, truth, offsets, lo, hi, Z, factors, sizes):
    """factors[i - lo] delta_i(z_i) as the rows of a CSR matrix: values, indices and where rows end.

    sizes[i - lo] bounds the entries of a row before they are merged.
    """
    room, largest = 0, 0
    for k in range(hi - lo):
        if factors[k] != 0.0:
            room += sizes[k]
            largest = max(largest, sizes[k])
    indices, data, ends = np.empty(room, np.int64), np.empty(room), np.zeros(hi - lo + 1, np.int64)
    index, values = np.empty(largest, np.int64), np.empty(largest)
    base, total = offsets[lo], 0
    for i in range(lo, hi):
        factor = factors[i - lo]
        if factor != 0.0:
            a, b = offsets[i], offsets[i + 1]
            y, z = truth[a:b], Z[a - base : b - base]
            count = _append(X, layout, a, y, z, 1.0, index, values, 0)
            count = _append(X, layout, a, z, y, -1.0, index, values, count)
            total += _merge(index[:count], values[:count], factor, indices[total:], data[total:])
        ends[i - lo + 1] = total
    return data[:total].copy(), indices[:total].copy(), ends
