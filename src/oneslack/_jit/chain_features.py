"""Losses, and features of label sequences: delta(z) = psi(truth) - psi(z) of sentences lo <= i < hi.

A layout is a tuple (L, pairs, triples, start, end): where in w the weights of the order begin, -1 for those
that a model does not have.  Only what differs is touched: tokens with another label, and steps with one.
Labels Z of a block are counted from its first token.
"""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from .rows import row_add_some, row_nonzeros, row_some_scores


@njit(nogil=True, cache=True)
def loss_sums(losses, y, offsets, lo, hi, Z, out):
    """out[i - lo] = sum_t losses[y_t, z_t]; the last row of `losses` is for tokens without a label."""
    base = offsets[lo]
    for i in range(lo, hi):
        total = 0.0
        for t in range(offsets[i], offsets[i + 1]):
            total += losses[y[t], Z[t - base]]
        out[i - lo] = total


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
def _longest(offsets, lo, hi):
    T = 0
    for i in range(lo, hi):
        T = max(T, offsets[i + 1] - offsets[i])
    return T


@njit(nogil=True, cache=True)
def delta_dots(X, w, layout, truth, offsets, lo, hi, Z, out):
    """out[i - lo] = <w, delta_i(z_i)>."""
    L = layout[0]
    W = w[: layout[1]].reshape((layout[1] // L, L))
    index = np.empty(2 * _longest(offsets, lo, hi) + 2, np.int64)
    labels, scores = np.empty(2, np.int64), np.empty(2)
    base = offsets[lo]
    for i in range(lo, hi):
        a, b = offsets[i], offsets[i + 1]
        y, z = truth[a:b], Z[a - base : b - base]
        total = 0.0
        for t in range(b - a):
            if y[t] != z[t]:
                labels[0], labels[1] = y[t], z[t]
                scores[:] = 0.0
                row_some_scores(X, a + t, W, labels, 2, scores)
                total += scores[0] - scores[1]
        for j in range(order_features(layout, y, z, index)):
            total += w[index[j]]
        for j in range(order_features(layout, z, y, index)):
            total -= w[index[j]]
        out[i - lo] = total


@njit(nogil=True, cache=True)
def delta_sum(X, layout, truth, offsets, lo, hi, Z, coefficients, out):
    """out += sum_i coefficients[i - lo] delta_i(z_i)."""
    L = layout[0]
    G = out[: layout[1]].reshape((layout[1] // L, L))
    index = np.empty(2 * _longest(offsets, lo, hi) + 2, np.int64)
    labels, change = np.empty(2, np.int64), np.empty(2)
    base = offsets[lo]
    for i in range(lo, hi):
        c = coefficients[i - lo]
        if c == 0.0:
            continue
        change[0], change[1] = c, -c
        a, b = offsets[i], offsets[i + 1]
        y, z = truth[a:b], Z[a - base : b - base]
        for t in range(b - a):
            if y[t] != z[t]:
                labels[0], labels[1] = y[t], z[t]
                row_add_some(X, a + t, change, labels, 2, G)
        for j in range(order_features(layout, y, z, index)):
            out[index[j]] += c
        for j in range(order_features(layout, z, y, index)):
            out[index[j]] -= c


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
