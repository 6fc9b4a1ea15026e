"""Rows of a matrix, dense or CSR, seen by compiled loops in one way.

A matrix `X` is a tuple: `(data, indices, indptr)` for CSR, `(values,)` for dense (n, d).  The few
functions that touch a row are overloaded on the length of that tuple; every loop above them is
written once.  Indices are viewed as unsigned: it spares the test for negative ones.
"""

import numpy as np

from .compiler import njit, overload, register_jitable


@register_jitable
def _csr_row(X, i):
    """The numbers of row i and their columns.  A slice of its own: its loops need no test for negative
    places either."""
    data, indices, indptr = X
    return data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]


@register_jitable
def _csr_dot(X, i, w):
    data, indices, indptr = X
    one = np.uint64(1)
    k, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
    # Four sums hide the latency of the additions; the compiler may not reorder them by itself.
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    while k + np.uint64(4) <= last:
        s0 += data[k] * w[indices[k]]
        k += one
        s1 += data[k] * w[indices[k]]
        k += one
        s2 += data[k] * w[indices[k]]
        k += one
        s3 += data[k] * w[indices[k]]
        k += one
    while k < last:
        s0 += data[k] * w[indices[k]]
        k += one
    return (s0 + s1) + (s2 + s3)


@register_jitable
def _dense_dot(X, i, w):
    x = X[0][i]
    d = x.shape[0]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    even = d & -4
    for k in range(0, even, 4):
        s0 += x[k] * w[k]
        s1 += x[k + 1] * w[k + 1]
        s2 += x[k + 2] * w[k + 2]
        s3 += x[k + 3] * w[k + 3]
    for k in range(even, d):
        s0 += x[k] * w[k]
    return (s0 + s1) + (s2 + s3)


@register_jitable
def _csr_add(X, i, c, w):
    x, columns = _csr_row(X, i)
    for k in range(x.shape[0]):
        w[columns[k]] += c * x[k]


@register_jitable
def _dense_add(X, i, c, w):
    x = X[0][i]
    for k in range(x.shape[0]):
        w[k] += c * x[k]


# The compiler may reorder these sums.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _sum_of_squares(x):
    total = 0.0
    for k in range(x.shape[0]):
        total += np.float64(x[k]) * x[k]
    return total


@register_jitable
def _csr_norm2(X, i):
    return _sum_of_squares(_csr_row(X, i)[0])


@register_jitable
def _dense_norm2(X, i):
    return _sum_of_squares(X[0][i])


@register_jitable
def _csr_scores(X, i, W, out):
    x, columns = _csr_row(X, i)
    # Four features at a time: their rows of W come from memory together.
    even = x.shape[0] & -4
    for k in range(0, even, 4):
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        r0, r1, r2, r3 = W[columns[k]], W[columns[k + 1]], W[columns[k + 2]], W[columns[k + 3]]
        for z in range(out.shape[0]):
            out[z] += (x0 * r0[z] + x1 * r1[z]) + (x2 * r2[z] + x3 * r3[z])
    for k in range(even, x.shape[0]):
        row = W[columns[k]]
        for z in range(out.shape[0]):
            out[z] += x[k] * row[z]


@register_jitable
def _dense_scores(X, i, W, out):
    values = X[0][i]
    for k in range(values.shape[0]):
        x = values[k]
        if x != 0.0:
            for z in range(out.shape[0]):
                out[z] += x * W[k, z]


@register_jitable
def _csr_some_scores(X, i, W, classes, count, out):
    x, columns = _csr_row(X, i)
    for k in range(x.shape[0]):
        row = W[columns[k]]
        for j in range(count):
            out[j] += x[k] * row[classes[j]]


@register_jitable
def _dense_some_scores(X, i, W, classes, count, out):
    values = X[0][i]
    for k in range(values.shape[0]):
        x = values[k]
        if x != 0.0:
            for j in range(count):
                out[j] += x * W[k, classes[j]]


@register_jitable
def _csr_add_some(X, i, change, classes, count, W):
    x, columns = _csr_row(X, i)
    for k in range(x.shape[0]):
        row = W[columns[k]]
        for j in range(count):
            row[classes[j]] += change[j] * x[k]


@register_jitable
def _dense_add_some(X, i, change, classes, count, W):
    values = X[0][i]
    for k in range(values.shape[0]):
        x = values[k]
        if x != 0.0:
            for j in range(count):
                W[k, classes[j]] += change[j] * x


@register_jitable
def _csr_add_all(X, i, change, W):
    x, columns = _csr_row(X, i)
    for k in range(x.shape[0]):
        row = W[columns[k]]
        for z in range(change.shape[0]):
            row[z] += change[z] * x[k]


@register_jitable
def _dense_add_all(X, i, change, W):
    values = X[0][i]
    for k in range(values.shape[0]):
        x = values[k]
        if x != 0.0:
            for z in range(change.shape[0]):
                W[k, z] += change[z] * x


@register_jitable
def _csr_nonzeros(X, i, indices_out, values_out):
    x, columns = _csr_row(X, i)
    count = x.shape[0]
    for k in range(count):  # a copy of slices would compile a message on shapes, for two seconds
        indices_out[k] = columns[k]
        values_out[k] = x[k]
    return count


@register_jitable
def _dense_nonzeros(X, i, indices_out, values_out):
    x = X[0][i]
    count = 0
    for k in range(x.shape[0]):
        if x[k] != 0.0:
            indices_out[count] = k
            values_out[count] = x[k]
            count += 1
    return count


def row_dot(X, i, w):
    """<x_i, w>."""
    return _csr_dot(X, i, w) if len(X) == 3 else _dense_dot(X, i, w)


def row_add(X, i, c, w):
    """w += c x_i."""
    return _csr_add(X, i, c, w) if len(X) == 3 else _dense_add(X, i, c, w)


def row_norm2(X, i):
    """|x_i|^2."""
    return _csr_norm2(X, i) if len(X) == 3 else _dense_norm2(X, i)


def row_scores(X, i, W, out):
    """out += W' x_i, with W (d, K): the K weights of a feature lie side by side."""
    return _csr_scores(X, i, W, out) if len(X) == 3 else _dense_scores(X, i, W, out)


def row_some_scores(X, i, W, classes, count, out):
    """out[j] += <W[:, classes[j]], x_i> for the first `count` classes."""
    if len(X) == 3:
        return _csr_some_scores(X, i, W, classes, count, out)
    return _dense_some_scores(X, i, W, classes, count, out)


def row_add_some(X, i, change, classes, count, W):
    """W[:, classes[j]] += change[j] x_i for the first `count` classes."""
    if len(X) == 3:
        return _csr_add_some(X, i, change, classes, count, W)
    return _dense_add_some(X, i, change, classes, count, W)


def row_add_all(X, i, change, W):
    """W += x_i change', change (K,)."""
    return _csr_add_all(X, i, change, W) if len(X) == 3 else _dense_add_all(X, i, change, W)


def row_nonzeros(X, i, indices_out, values_out):
    """Copy the non-zeros of x_i out; return their number."""
    if len(X) == 3:
        return _csr_nonzeros(X, i, indices_out, values_out)
    return _dense_nonzeros(X, i, indices_out, values_out)


@overload(row_dot, inline="never")
def _row_dot(X, i, w):
    return _csr_dot if len(X) == 3 else _dense_dot


@overload(row_add)
def _row_add(X, i, c, w):
    return _csr_add if len(X) == 3 else _dense_add


@overload(row_norm2)
def _row_norm2(X, i):
    return _csr_norm2 if len(X) == 3 else _dense_norm2


@overload(row_scores)
def _row_scores(X, i, W, out):
    return _csr_scores if len(X) == 3 else _dense_scores


@overload(row_some_scores)
def _row_some_scores(X, i, W, classes, count, out):
    return _csr_some_scores if len(X) == 3 else _dense_some_scores


@overload(row_add_some)
def _row_add_some(X, i, change, classes, count, W):
    return _csr_add_some if len(X) == 3 else _dense_add_some


@overload(row_add_all)
def _row_add_all(X, i, change, W):
    return _csr_add_all if len(X) == 3 else _dense_add_all


@overload(row_nonzeros)
def _row_nonzeros(X, i, indices_out, values_out):
    return _csr_nonzeros if len(X) == 3 else _dense_nonzeros


@njit(nogil=True, cache=True)
def scores(X, w, bias, lo, hi, out):
    """out[i] = <x_i, w> + bias for lo <= i < hi."""
    for i in range(lo, hi):
        out[i] = row_dot(X, i, w) + bias


@njit(nogil=True, cache=True)
def adjoint(X, c, lo, hi, out):
    """out += sum_{lo <= i < hi} c_i x_i."""
    for i in range(lo, hi):
        if c[i] != 0.0:
            row_add(X, i, c[i], out)


@njit(nogil=True, cache=True)
def class_scores(X, W, bias, lo, hi, out):
    """out[i] = W' x_i + bias (K,) for lo <= i < hi."""
    for i in range(lo, hi):
        row = out[i]
        for z in range(row.shape[0]):
            row[z] = bias[z]
        row_scores(X, i, W, row)


@njit(nogil=True, cache=True)
def class_adjoint(X, A, lo, hi, out):
    """out (d, K) += sum_{lo <= i < hi} x_i a_i'; the rows of A are mostly zeros."""
    K = A.shape[1]
    classes = np.empty(K, np.int64)
    change = np.empty(K)
    for i in range(lo, hi):
        count = 0
        for z in range(K):
            if A[i, z] != 0.0:
                classes[count] = z
                change[count] = A[i, z]
                count += 1
        if count:
            row_add_some(X, i, change, classes, count, out)


@njit(nogil=True, cache=True)
def squares(X, h, lo, hi, has_constant, H):
    """H += sum_i h_i x_i x_i' (lower triangle), h_i counted from lo; a constant comes last."""
    d = H.shape[0]
    index = np.empty(d, np.int64)
    number = np.empty(d)
    for i in range(lo, hi):
        scale = h[i - lo]
        if scale == 0.0:
            continue
        count = row_nonzeros(X, i, index, number)
        if has_constant:
            index[count] = d - 1
            number[count] = 1.0
            count += 1
        for a in range(count):
            xa = scale * number[a]
            row = H[index[a]]
            for b in range(a + 1):
                row[index[b]] += xa * number[b]


@njit(nogil=True, cache=True)
def squared_norms(X, lo, hi, out):
    """out[i] = |x_i|^2."""
    for i in range(lo, hi):
        out[i] = row_norm2(X, i)
