"""All examples at once: their scores, weighted sums of them, and of their squares.  Row by row where they are
sparse; dense ones come in blocks (data/blocks.py), whose numbers of a feature lie side by side.
"""

import numpy as np

from .compiler import overload, register_jitable
from .rows import row_add, row_dot, row_nonzeros

#: Examples of a block.
ROWS = 64


# The compiler may reorder this sum.
@register_jitable(fastmath={"reassoc", "contract"})
def short_dot(x, y, count):
    """<x, y> of the first `count` numbers."""
    total = 0.0
    for k in range(count):
        total += x[k] * y[k]
    return total


@register_jitable
def _csr_project(X, w, has_bias, out):
    bias = w[w.shape[0] - 1] if has_bias else 0.0
    for i in range(out.shape[0]):
        out[i] = row_dot(X, i, w) + bias


@register_jitable
def _block_project(X, w, has_bias, out):
    blocks, z = X[0], np.empty(ROWS)
    for k in range(blocks.shape[0]):
        block, lo = blocks[k], k * ROWS
        z[:] = 0.0
        for a in range(w.shape[0]):
            x, c = block[a], w[a]
            for i in range(ROWS):
                z[i] += c * x[i]
        for i in range(min(ROWS, out.shape[0] - lo)):
            out[lo + i] = z[i]


@register_jitable
def _csr_gather(X, c, has_bias, v):
    v[:] = 0.0
    pushed = 0.0
    for i in range(c.shape[0]):
        if c[i] != 0.0:
            row_add(X, i, c[i], v)
            pushed += c[i]
    if has_bias:
        v[v.shape[0] - 1] = pushed


@register_jitable
def _block_gather(X, c, has_bias, v):
    blocks, some = X[0], np.zeros(ROWS)
    v[:] = 0.0
    for k in range(blocks.shape[0]):
        block, lo = blocks[k], k * ROWS
        count = min(ROWS, c.shape[0] - lo)
        for i in range(count):
            some[i] = c[lo + i]
        for a in range(v.shape[0]):
            v[a] += short_dot(block[a], some, count)


@register_jitable
def _csr_squares(X, h, d, has_bias, H):
    index, number = np.empty(d, np.int64), np.empty(d)
    for i in range(h.shape[0]):
        if h[i] == 0.0:
            continue
        count = row_nonzeros(X, i, index, number)
        if has_bias:
            index[count], number[count] = d - 1, 1.0
            count += 1
        for a in range(count):
            xa, row = h[i] * number[a], H[index[a]]
            for b in range(a + 1):
                row[index[b]] += xa * number[b]


@register_jitable
def _block_squares(X, h, d, has_bias, H):
    """Those of a block that have a part in it wait for more, unless they are most of it."""
    blocks, size = X[0], H.shape[0]
    A, hA, waiting = np.empty((size, ROWS)), np.empty((size, ROWS)), 0
    for k in range(blocks.shape[0]):
        block, lo, active = blocks[k], k * ROWS, 0
        count = min(ROWS, h.shape[0] - lo)
        for i in range(count):
            active += h[lo + i] != 0.0
        if waiting + active > ROWS or 2 * active > ROWS:
            _add_products(hA, A, waiting, H)
            waiting = 0
        if 2 * active > ROWS:
            for a in range(size):
                for i in range(count):
                    hA[a, i] = h[lo + i] * block[a, i]
            _add_products(hA, block, count, H)
            continue
        for i in range(count):
            if h[lo + i] != 0.0:
                for a in range(size):
                    A[a, waiting], hA[a, waiting] = block[a, i], h[lo + i] * block[a, i]
                waiting += 1
    _add_products(hA, A, waiting, H)


# The compiler may reorder these sums.
@register_jitable(fastmath={"reassoc", "contract"})
def _add_products(A, B, count, H):
    """H += A B' (lower triangle) of their first `count` columns, in tiles of 2 x 2: a number is read once for
    two products."""
    for a in range(0, H.shape[0], 2):
        a0, a1 = A[a], A[a + 1]
        for b in range(0, a + 1, 2):
            b0, b1 = B[b], B[b + 1]
            h00, h01, h10, h11 = 0.0, 0.0, 0.0, 0.0
            for k in range(count):
                h00 += a0[k] * b0[k]
                h01 += a0[k] * b1[k]
                h10 += a1[k] * b0[k]
                h11 += a1[k] * b1[k]
            H[a, b] += h00
            H[a, b + 1] += h01
            H[a + 1, b] += h10
            H[a + 1, b + 1] += h11


def project(X, w, has_bias, out):
    """The scores of all examples."""
    return (_csr_project if len(X) == 3 else _block_project)(X, w, has_bias, out)


def gather(X, c, has_bias, v):
    """v = sum_i c_i x_i."""
    return (_csr_gather if len(X) == 3 else _block_gather)(X, c, has_bias, v)


def add_squares(X, h, d, has_bias, H):
    """H += sum_i h_i x_i x_i' (lower triangle) for d weights; H has an even number of rows, the last of which
    may be spare."""
    return (_csr_squares if len(X) == 3 else _block_squares)(X, h, d, has_bias, H)


@overload(project)
def _project(X, w, has_bias, out):
    return _csr_project if len(X) == 3 else _block_project


@overload(gather)
def _gather(X, c, has_bias, v):
    return _csr_gather if len(X) == 3 else _block_gather


@overload(add_squares)
def _add_squares(X, h, d, has_bias, H):
    return _csr_squares if len(X) == 3 else _block_squares
