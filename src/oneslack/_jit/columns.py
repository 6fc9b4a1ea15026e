"""Loops over features, and coordinate descent on quadratic models of a risk in some of them.

A matrix here is turned: its rows (rows.py) are features, each with the numbers of all examples.  A model is,
of d (k,) and b, with w the weights that it starts from, r >= 0 and held weights at least 0,

    m(d, b) = - sum_i a_i z_i + 1/2 sum_i h_i z_i^2 + sum_j [r_j |w_j + d_j| + damp_j d_j^2 / 2],

    z_i = <x_i, d> + b

Its gradient is kept as g_i = h_i z_i - a_i, one number an example: -g are the duals of the losses' models.
"""

import numpy as np

from .compiler import njit, overload, register_jitable
from .rows import row_add, row_dot

LOOP = {"nogil": True, "cache": True, "error_model": "numpy"}
#: Where the compiler may reorder sums.
SUMS = LOOP | {"fastmath": {"reassoc", "contract"}}


@njit(**SUMS)
def inner(a, b):
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(**SUMS)
def _weighted_square(h, x):
    total = 0.0
    for i in range(x.shape[0]):
        total += h[i] * x[i] * x[i]
    return total


@njit(**SUMS)
def _add_product(c, h, x, g):
    for i in range(x.shape[0]):
        g[i] += c * h[i] * x[i]


@register_jitable
def _dense_dot(X, j, c):
    return inner(X[0][j], c)


@register_jitable
def _dense_square(X, j, h):
    return _weighted_square(h, X[0][j])


@register_jitable
def _dense_weighted(X, j, c, h, g):
    _add_product(c, h, X[0][j], g)


@register_jitable
def _dense_length(X, j):
    return X[0].shape[1]


@register_jitable
def _sparse_dot(X, j, c):
    return row_dot(X, j, c)


@register_jitable
def _sparse_square(X, j, h):
    data, indices, indptr = X
    lo, hi = indptr[j], indptr[j + 1]
    x, rows, total = data[lo:hi], indices[lo:hi], 0.0
    for k in range(x.shape[0]):
        total += h[rows[k]] * x[k] * x[k]
    return total


@register_jitable
def _sparse_weighted(X, j, c, h, g):
    data, indices, indptr = X
    lo, hi = indptr[j], indptr[j + 1]
    x, rows = data[lo:hi], indices[lo:hi]
    for k in range(x.shape[0]):
        i = rows[k]
        g[i] += c * x[k] * h[i]


@register_jitable
def _sparse_length(X, j):
    return X[2][j + 1] - X[2][j]


def _dot(X, j, c):
    """sum_i c_i x_ij."""


def _square(X, j, h):
    """sum_i h_i x_ij^2."""


def _add_weighted(X, j, c, h, g):
    """g_i += c h_i x_ij."""


def _length(X, j):
    """How many numbers feature j has."""


overload(_dot)(lambda X, j, c: _sparse_dot if len(X) == 3 else _dense_dot)
overload(_square)(lambda X, j, h: _sparse_square if len(X) == 3 else _dense_square)
overload(_add_weighted)(lambda X, j, c, h, g: _sparse_weighted if len(X) == 3 else _dense_weighted)
overload(_length)(lambda X, j: _sparse_length if len(X) == 3 else _dense_length)


@njit(**LOOP)
def turn(X, place, data, indices):
    """The features of a CSR matrix; feature j begins at place[j], which is moved to its end."""
    values, columns, starts = X
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            at = place[j]
            data[at] = values[k]
            indices[at] = i
            place[j] = at + 1


@njit(**LOOP)
def feature_sums(X, index, c, out):
    """out[k] = sum_i c_i x_ij of the features j = index[k]."""
    for k in range(index.shape[0]):
        out[k] = _dot(X, index[k], c)


@njit(**LOOP)
def feature_squares(X, index, s, sums, squares):
    """sums[k] = sum_i s_i x_ij and squares[k] = sum_i s_i x_ij^2."""
    for k in range(index.shape[0]):
        sums[k] = _dot(X, index[k], s)
        squares[k] = _square(X, index[k], s)


@njit(**LOOP)
def add_features(X, index, d, out):
    """out[i] += sum_k d_k x_ij."""
    for k in range(index.shape[0]):
        if d[k] != 0.0:
            row_add(X, index[k], d[k], out)


@njit(**LOOP)
def pick_examples(X, index, h, data, indices, indptr):
    """The features `index` of a turned CSR matrix in the examples whose h is not 0.  Returns how many numbers
    these are."""
    values, rows, starts = X
    count = 0
    indptr[0] = 0
    for k in range(index.shape[0]):
        j = index[k]
        for at in range(starts[j], starts[j + 1]):
            i = rows[at]
            if h[i] != 0.0:
                data[count] = values[at]
                indices[count] = i
                count += 1
        indptr[k + 1] = count
    return count


@njit(**LOOP)
def pick_columns(X, place, counts, data, indices, indptr):
    """The CSR matrix of the columns whose place is not below 0, each at its place, and of the rows whose
    count is not 0; `place` keeps the order of columns.  Returns how many numbers and rows it has."""
    values, columns, starts = X
    count, row = 0, 0
    indptr[0] = 0
    for i in range(starts.shape[0] - 1):
        if counts[i] == 0.0:
            continue
        for k in range(starts[i], starts[i + 1]):
            j = place[columns[k]]
            if j >= 0:
                data[count] = values[k]
                indices[count] = j
                count += 1
        row += 1
        indptr[row] = count
    return count, row


@njit(**LOOP)
def gram(values, columns, starts, h, H):
    """H = sum_i h_i x_i x_i' of a CSR matrix with sorted columns, where H was 0."""
    for i in range(h.shape[0]):
        lo, hi = starts[i], starts[i + 1]
        x, index = values[lo:hi], columns[lo:hi]
        for a in range(x.shape[0]):
            scaled, row = h[i] * x[a], H[index[a]]
            for b in range(a + 1):
                row[index[b]] += scaled * x[b]
    for j in range(H.shape[0]):
        for k in range(j):
            H[k, j] = H[j, k]


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
def descend_features(X, index, h, damp, w, r, held, has_bias, d, g, active, aims):
    """Sweeps over the features from d = 0, g = -a, both kept up to date; with `has_bias` b is one more
    weight, without a penalty.  Weights that are at 0 and stay there are left out of later sweeps.

    aims = (share, tight, far, sweeps, loose, product, pair, cube, base, touched): until no subgradient is
    further from 0 than a share of the worst of the first sweep, for `loose` times so many sweeps at most;
    where that was no further than `far`, until none of all weights is further than `tight`.  Or until a Gram
    matrix of those that take part would have cost as much as was `touched` before and here: base, `product`
    times the square of their numbers, `pair` times that of their count, and `cube` times the third power of
    how many of them are not 0, for exact steps.

    Returns (b, the worst of the first sweep, the numbers touched, and where a Gram matrix is due how many it
    is of, active[:count]; else 0)."""
    k, bias, total = index.shape[0], 0.0, 0.0
    share, tight, far, sweeps, loose, product, pair, cube, base, touched = aims
    curve = np.full(k, -1.0)
    for j in range(k):
        active[j] = j
    if has_bias:
        total = h.sum()
    count, is_all, first, sweep = k, True, 0.0, 0
    while True:
        worst = 0.0
        if total > 0.0:
            rest = g.sum()
            worst = abs(rest)
            change = -rest / total
            bias += change
            for i in range(g.shape[0]):
                g[i] += change * h[i]
        kept, entries, support = 0, 0, 0.0
        for a in range(count):
            j = active[a]
            f = index[j]
            old = w[j] + d[j]
            q = _dot(X, f, g) + damp[j] * d[j]
            size = _length(X, f)
            touched += size
            miss = _violation(old, q, r[j], held[j])
            if old == 0.0 and miss == 0.0:
                continue
            active[kept] = j
            kept += 1
            entries += size
            support += old != 0.0
            if miss == 0.0:
                continue
            if curve[j] < 0.0:
                curve[j] = _square(X, f, h) + damp[j]
                touched += size
            if curve[j] <= 0.0:
                continue
            worst = max(worst, miss)
            change = _best(old, q, curve[j], r[j], held[j]) - old
            if change != 0.0:
                d[j] += change
                _add_weighted(X, f, change, h, g)
                touched += size
        if sweep == 0:
            first = worst
        sweep += 1
        is_tight = first <= far
        enough = min(share * first, tight) if is_tight else share * first
        if worst <= enough and (is_all or not is_tight):
            return bias, first, touched, 0
        count, is_all = kept, False
        if worst <= enough:
            count, is_all = k, True
            for j in range(k):
                active[j] = j
        elif touched >= base + product * entries * entries + pair * kept * kept + cube * support**3:
            return bias, first, touched, kept
        if sweep >= (sweeps if is_tight else loose * sweeps):
            return bias, first, touched, 0
