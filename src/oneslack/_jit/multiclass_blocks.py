"""Dual passes of the multi-class hinge on dense rows, through products of matrices.

The steps of multiclass_dual.py, in the same order, B rows at a time.  For a block X_B (B, d)

    S = X_B W' (B, K)       G = X_B X_B' (B, B)

come from two products; a step on row i that adds c_z x_i to the weights of class z adds c_z G_ij to the score
of every later row j of the block, which is all that its steps ask for; and at the end the weights take all
steps together, W += A' X_B.  So the result is that of the pass row by row, up to rounding, and what passes
through memory for every row there, all the weights, does so once a block.

Weights lie class by class here, W (K, d): where few classes are in play, their weights alone are read.
"""

import numpy as np

from .compiler import njit, register_jitable
from .multiclass_dual import draw, leave, offers, step
from .random import shuffle

#: How much faster a number goes through a product of matrices than through a loop over one row.
PRODUCT = 4
#: Rows that are multiplied by all weights at once: they stay in the cache.
ROWS = 64


# The compiler may reorder these sums.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _dot4(x, a, b, c, d):
    """Four products at a time: x is read once for all of them."""
    s, t, u, v = 0.0, 0.0, 0.0, 0.0
    for k in range(x.shape[0]):
        s += x[k] * a[k]
        t += x[k] * b[k]
        u += x[k] * c[k]
        v += x[k] * d[k]
    return s, t, u, v


@register_jitable
def some_scores(x, W, classes, count, out):
    """out[j] = <W[classes[j]], x> for the first `count` classes."""
    last = count - 1
    for j in range(0, count, 4):
        j1, j2, j3 = min(j + 1, last), min(j + 2, last), min(j + 3, last)
        s, t, u, v = _dot4(x, W[classes[j]], W[classes[j1]], W[classes[j2]], W[classes[j3]])
        out[j], out[j1], out[j2], out[j3] = s, t, u, v


@register_jitable
def _add(x, c, w):
    for k in range(x.shape[0]):
        w[k] += c * x[k]


@register_jitable
def gather(values, active, lo, hi, upper, state, out, rows):
    """Draw a block; copy its rows, but those without weight; returns their number."""
    count = 0
    for a in range(hi - 1, lo - 1, -1):
        i = draw(active, lo, a, state)
        if upper[i] > 0.0:
            rows[count] = i
            source, target = values[i], out[count]
            for k in range(source.shape[0]):
                target[k] = source[k]
            count += 1
    return count


@njit(nogil=True, cache=True)
def dense_scores(values, W, bias, lo, hi, out):
    """out[i] = W' x_i + bias (K,) for lo <= i < hi of dense rows, with W (d, K)."""
    XB = np.empty((min(ROWS, hi - lo), values.shape[1]))
    for first in range(lo, hi, ROWS):
        b = min(ROWS, hi - first)
        for r in range(b):
            for k in range(values.shape[1]):
                XB[r, k] = values[first + r, k]
        S = out[first : first + b]
        np.dot(XB[:b], W, S)
        for r in range(b):
            for z in range(S.shape[1]):
                S[r, z] += bias[z]


@register_jitable
def _spread(near, r, b, change, changed, moves, a, S):
    """The step of row r, a (K,), in the scores of the block's later rows."""
    is_dense = PRODUCT * moves > a.shape[0]
    for q in range(r + 1, b):
        product, scores = near[r, q], S[q]
        if is_dense:
            for z in range(a.shape[0]):
                scores[z] += product * a[z]
        else:
            for j in range(moves):
                scores[changed[j]] += product * change[j]


@register_jitable
def _add_block(XB, A, b, moves, W, sums):
    """W += A' X_B, of which `moves` numbers of A are not 0; A is 0 again."""
    K, d = W.shape
    if PRODUCT * moves > b * K:
        np.dot(A[:b].T, XB[:b], sums)
        for z in range(K):
            for k in range(d):
                W[z, k] += sums[z, k]
    for r in range(b):
        for z in range(K):
            c = A[r, z]
            if c != 0.0:
                A[r, z] = 0.0
                if PRODUCT * moves <= b * K:
                    _add(XB[r], c, W[z])


@njit(nogil=True, cache=True)
def block_pass(
    X, y, upper, L, norm2, scale, rate, alpha, W, bias, classes, n_classes, active, count, kept, block,
    zone, state,
):  # fmt: skip
    """`dual_pass` of multiclass_dual.py on dense rows, with W (K, d).

    Where so few classes are in play that products of their weights alone are less work, rows are taken one
    by one."""
    K, d = W.shape
    rows, changed = np.empty(block, np.int64), np.empty(K, np.int64)
    XB, S, near = np.empty((block, d)), np.empty((block, K)), np.empty((0, 0))
    A, sums = np.zeros((block, K)), np.empty((K, d))
    g, change, work = np.empty(K), np.empty(K), np.empty(K)
    segments = np.arange((count + block - 1) // block)
    shuffle(segments, 0, segments.shape[0], state)
    gap, growth, violation, m = 0.0, 0.0, 0.0, 0
    for segment in segments:
        lo, moved = segment * block, 0
        b = gather(X[0], active, lo, min(lo + block, count), upper, state, XB, rows)
        in_play = 0
        for r in range(b):
            in_play += n_classes[rows[r]]
        is_dense = PRODUCT * in_play > b * (K + b)
        if is_dense:
            np.dot(XB[:b], W.T, S[:b])
            near = np.dot(XB[:b], XB[:b].T)
        for r in range(b):
            i = rows[r]
            mine, size, p = classes[i], n_classes[i], alpha[i]
            if is_dense:
                for j in range(size):
                    g[j] = S[r, mine[j]]
            else:
                some_scores(XB[r], W, mine, size, g)
            for j in range(size):
                g[j] += bias[mine[j]]
            highest, lowest, offered = offers(L[y[i]], p, mine, size, g)
            gap += upper[i] * highest - offered
            left = leave(p, mine, size, g, lowest - zone)
            n_classes[i] = left
            if left == 1:
                continue
            kept[m] = i
            m += 1
            if highest - lowest <= 0.0:
                continue
            violation = max(violation, highest - lowest)
            moves, grown = step(
                p, upper[i], g, highest, mine, left, scale * norm2[i], rate, bias, scale, changed, change,
                work,
            )  # fmt: skip
            growth += grown
            moved += moves
            for j in range(moves):
                if is_dense:
                    A[r, changed[j]] = change[j]
                else:
                    _add(XB[r], change[j], W[changed[j]])
            if is_dense:
                _spread(near, r, b, change, changed, moves, A[r], S)
        if is_dense and moved:
            _add_block(XB, A, b, moved, W, sums)
    return m, gap, growth, violation
