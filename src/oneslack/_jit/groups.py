"""Compiled loops over remembered cuts: groups of sparse rows that share a slack.

Group i remembers the cuts slots[i, :counts[i]], each a row x_j of a CSR arena with a margin b_j; its duals
alpha[i, :] are >= 0 and sum to at most upper_i, the rest belonging to the zero cut.  w = sum alpha_j x_j is
kept up to date.  gram[i] holds the products of the group's rows, so that its block of the dual

    max  sum_j alpha_j b_j - 1/2 |w|^2          is solved without touching the rows again.
"""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def _dot(data, indices, first, last, w):
    total = 0.0
    for k in range(first, last):
        total += data[k] * w[indices[k]]
    return total


@njit(nogil=True, cache=True)
def _rows_product(data, indices, indptr, a, b):
    """<x_a, x_b>; indices rise inside a row."""
    i, j = indptr[a], indptr[b]
    end_i, end_j = indptr[a + 1], indptr[b + 1]
    total = 0.0
    while i < end_i and j < end_j:
        if indices[i] == indices[j]:
            total += np.float64(data[i]) * data[j]
            i += 1
            j += 1
        elif indices[i] < indices[j]:
            i += 1
        else:
            j += 1
    return total


@njit(nogil=True, cache=True)
def fill_gram(data, indices, indptr, slots, counts, gram, groups, places):
    """The Gram rows of the cuts slots[groups, places]."""
    for k in range(groups.shape[0]):
        i, a = groups[k], places[k]
        for b in range(counts[i]):
            value = _rows_product(data, indices, indptr, slots[i, a], slots[i, b])
            gram[i, a, b] = value
            gram[i, b, a] = value


@njit(nogil=True, cache=True)
def _solve_block(g, alpha, gram, m, upper, change, precision):
    """Pairwise steps on one group until its gap is `precision` times the first; g and alpha move.

    A step takes dual from the worst cut that has some to the best one; the zero cut, whose g is 0, is
    number m.  Returns the growth of the dual.
    """
    rest = upper
    for j in range(m):
        rest -= alpha[j]
        change[j] = 0.0
    growth, first = 0.0, -1.0
    for _ in range(20 + 10 * m):
        high, low = m, m if rest > 0.0 else -1
        g_high, g_low = 0.0, 0.0 if rest > 0.0 else np.inf
        offered = 0.0
        for j in range(m):
            offered += alpha[j] * g[j]
            if g[j] > g_high:
                high, g_high = j, g[j]
            if alpha[j] > 0.0 and g[j] < g_low:
                low, g_low = j, g[j]
        violation = g_high - g_low
        if low < 0 or violation <= 0.0:
            break
        gap = upper * g_high - offered
        if first < 0.0:
            first = gap
        elif gap <= precision * first:
            break
        q = 0.0
        if high < m:
            q += gram[high, high]
        if low < m:
            q += gram[low, low]
        if high < m and low < m:
            q -= 2.0 * gram[high, low]
        available = alpha[low] if low < m else rest
        t = min(violation / q, available) if q > 0.0 else available
        if high < m:
            alpha[high] += t
            change[high] += t
        else:
            rest += t
        if low < m:
            alpha[low] = 0.0 if t == available else alpha[low] - t
            change[low] -= t
        else:
            rest = 0.0 if t == available else rest - t
        growth += t * violation - 0.5 * t * t * q
        for j in range(m):
            if high < m:
                g[j] -= t * gram[j, high]
            if low < m:
                g[j] += t * gram[j, low]
    return growth


@njit(nogil=True, cache=True)
def visit(data, indices, indptr, b, slots, counts, alpha, gram, upper, used, now, order, w, precision):
    """One exact block step for each group of `order`.  Returns the sum of the groups' own gaps,
    upper max(0, max g) - sum alpha g, before their steps, and the growth of the dual.

    used[i, j] = `now` where a cut holds some dual.
    """
    F = slots.shape[1]
    g, change = np.empty(F), np.empty(F)
    gap, growth = 0.0, 0.0
    for i in order:
        m = counts[i]
        if m == 0:
            continue
        best, offered = 0.0, 0.0
        for j in range(m):
            row = slots[i, j]
            g[j] = b[row] - _dot(data, indices, indptr[row], indptr[row + 1], w)
            best = max(best, g[j])
            offered += alpha[i, j] * g[j]
        gap += upper[i] * best - offered
        growth += _solve_block(g, alpha[i], gram[i], m, upper[i], change, precision)
        for j in range(m):
            if change[j] != 0.0:
                row = slots[i, j]
                for k in range(indptr[row], indptr[row + 1]):
                    w[indices[k]] += change[j] * data[k]
            if alpha[i, j] > 0.0:
                used[i, j] = now
    return gap, growth


@njit(nogil=True, cache=True)
def best_remembered(data, indices, indptr, b, slots, counts, w, groups, values, places):
    """The most violated remembered cut of each of the groups, or (0, -1) for the zero cut."""
    for k in range(groups.shape[0]):
        i = groups[k]
        values[k], places[k] = 0.0, -1
        for j in range(counts[i]):
            row = slots[i, j]
            value = b[row] - _dot(data, indices, indptr[row], indptr[row + 1], w)
            if value > values[k]:
                values[k], places[k] = value, j


@njit(nogil=True, cache=True)
def add_rows(data, indices, indptr, rows, coefficients, out):
    """out += sum_k coefficients_k x_rows_k."""
    for k in range(rows.shape[0]):
        for p in range(indptr[rows[k]], indptr[rows[k] + 1]):
            out[indices[p]] += coefficients[k] * data[p]
