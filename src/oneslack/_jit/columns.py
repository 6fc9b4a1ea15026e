"""Loops over some columns of a matrix (rows.py), and coordinate descent on the quadratic models of them.

A model is, of d (k,), with w the weights that it starts from, r >= 0 and held weights at least 0,

    m(d) = <g, d> + 1/2 <d, (H + diag(damp)) d> + sum_j r_j |w_j + d_j|

where H is given as a matrix, or as X X': the rows of X are the columns, times the roots of the curvatures of
the losses.
"""

import numpy as np
from numba.extending import register_jitable

from .compiler import njit
from .rows import row_add, row_dot

LOOP = {"nogil": True, "cache": True, "error_model": "numpy"}


@njit(**LOOP)
def pick_columns(X, place, data, indices, indptr):
    """The CSR matrix of the columns whose place is not below 0, each at its place; `place` does not change
    their order.  Returns how many numbers it has."""
    values, columns, starts = X
    count = 0
    indptr[0] = 0
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            j = place[columns[k]]
            if j >= 0:
                data[count] = values[k]
                indices[count] = j
                count += 1
        indptr[i + 1] = count
    return count


@njit(**LOOP)
def column_counts(X, rows, out):
    """out[j + 1] += the numbers that column j has in the rows."""
    _, columns, starts = X
    for i in rows:
        for k in range(starts[i], starts[i + 1]):
            out[np.int64(columns[k]) + 1] += 1


@njit(**LOOP)
def turn(X, rows, scale, place, data, indices):
    """The rows of a CSR matrix, each times its scale, as columns; column j of X begins at place[j], which is
    moved to its end."""
    values, columns, starts = X
    for r in range(rows.shape[0]):
        i = rows[r]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            data[place[j]] = scale[r] * values[k]
            indices[place[j]] = r
            place[j] += 1


@njit(**LOOP)
def gram(X, h, H):
    """H += sum_i h_i x_i x_i' (lower triangle) of a CSR matrix with sorted columns."""
    values, columns, starts = X
    for i in range(h.shape[0]):
        if h[i] == 0.0:
            continue
        lo, hi = starts[i], starts[i + 1]
        x, index = values[lo:hi], columns[lo:hi]
        for a in range(x.shape[0]):
            scaled, row = h[i] * x[a], H[index[a]]
            for b in range(a + 1):
                row[index[b]] += scaled * x[b]


@njit(**LOOP)
def column_squares(X, s, lo, hi, sums, squares):
    """sums[j] += sum_i s_i x_ij and squares[j] += sum_i s_i x_ij^2 of a CSR matrix."""
    values, columns, starts = X
    for i in range(lo, hi):
        for k in range(starts[i], starts[i + 1]):
            x = np.float64(values[k])
            sums[columns[k]] += s[i] * x
            squares[columns[k]] += s[i] * x * x


@register_jitable
def _best(u, q, curve, r, is_held):
    """argmin of q (x - u) + curve/2 (x - u)^2 + r |x|."""
    x = curve * u - q
    if x > r:
        return (x - r) / curve
    if x < -r and not is_held:
        return (x + r) / curve
    return 0.0


@register_jitable
def _violation(u, q, r, is_held):
    """How far 0 is from the subdifferential of q x + r |x| at u."""
    if u > 0.0:
        return abs(q + r)
    if u < 0.0:
        return abs(q - r)
    return max(-q - r, 0.0 if is_held else q - r, 0.0)


@njit(**LOOP)
def descend_gram(H, q, w, r, held, d, sweeps, enough):
    """Up to `sweeps` sweeps from d with the gradient q = g + H d, both kept up to date, over the weights that
    were not at rest before.  Returns how far the worst subgradient was from 0, of all weights before; at most
    `enough` where nothing was done."""
    k = q.shape[0]
    active = np.empty(k, np.int64)
    count, before = 0, 0.0
    for j in range(k):
        u = w[j] + d[j]
        miss = _violation(u, q[j], r[j], held[j])
        before = max(before, miss)
        if miss > 0.0 or u != 0.0:
            active[count] = j
            count += 1
    if before <= enough:
        return before
    for _ in range(sweeps):
        worst = 0.0
        for a in range(count):
            j = active[a]
            u, curve = w[j] + d[j], H[j, j]
            miss = _violation(u, q[j], r[j], held[j])
            if miss == 0.0 or curve <= 0.0:
                continue
            worst = max(worst, miss)
            change = _best(u, q[j], curve, r[j], held[j]) - u
            if change != 0.0:
                d[j] += change
                row = H[j]
                for b in range(k):
                    q[b] += change * row[b]
        if worst <= 0.3 * enough:
            break
    return before


@njit(**LOOP)
def descend_columns(X, g, curve, damp, root, slope, w, r, held, d, u, sweeps, enough):
    """The same by columns, the rows of X, where H = X X': u = X' d + b root is kept up to date.  With a
    `root` b is one more weight, without a penalty, and `slope` the gradient there.  Weights that are at 0 and
    stay there are left out until the others rest.

    Returns b."""
    k, bias = g.shape[0], 0.0
    total = inner(root, root)
    active = np.arange(k)
    count, is_all = k, True
    for _ in range(sweeps):
        worst = 0.0
        if total > 0.0:
            rest = slope + inner(root, u)
            worst = abs(rest)
            bias -= rest / total
            for i in range(root.shape[0]):
                u[i] -= rest / total * root[i]
        kept = 0
        for a in range(count):
            j = active[a]
            old = w[j] + d[j]
            q = g[j] + row_dot(X, j, u) + damp[j] * d[j]
            miss = _violation(old, q, r[j], held[j])
            if old != 0.0 or miss > 0.0:
                active[kept] = j
                kept += 1
            if miss == 0.0 or curve[j] <= 0.0:
                continue
            worst = max(worst, miss)
            change = _best(old, q, curve[j], r[j], held[j]) - old
            if change != 0.0:
                d[j] += change
                row_add(X, j, change, u)
        if worst <= enough and is_all:
            break
        count, is_all = kept, False
        if worst <= enough:
            count, is_all = k, True
            for j in range(k):
                active[j] = j
    return bias


@register_jitable
def inner(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


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
