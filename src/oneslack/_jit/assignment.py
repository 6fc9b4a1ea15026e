"""Assignments of the highest score: rows of a matrix to distinct columns, or to none.

Shortest augmenting paths with prices of rows and columns (Kuhn 1955; Jonker & Volgenant 1987): each row in
turn looks for the cheapest way to a free column, moving rows that are in its way; n^2 m steps for n rows and
m columns.
"""

import numpy as np
from numba.extending import register_jitable

from .compiler import njit


@register_jitable
def assign(cost, n, m, partner):
    """Fill partner (n,) with the columns of the cheapest assignment of n <= m rows; cost (n, m) is finite."""
    u, v = np.zeros(n + 1), np.zeros(m + 1)
    row_of, before = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)  # rows count from 1; 0 is none
    slack, done = np.empty(m + 1), np.empty(m + 1, np.uint8)
    for i in range(1, n + 1):
        row_of[0] = i
        j = 0
        slack[:] = np.inf
        done[:] = 0
        while row_of[j] != 0:
            done[j] = 1
            row, least, following = row_of[j], np.inf, 0
            for k in range(1, m + 1):
                if done[k]:
                    continue
                reduced = cost[row - 1, k - 1] - u[row] - v[k]
                if reduced < slack[k]:
                    slack[k], before[k] = reduced, j
                if slack[k] < least:
                    least, following = slack[k], k
            for k in range(m + 1):
                if done[k]:
                    u[row_of[k]] += least
                    v[k] -= least
                else:
                    slack[k] -= least
            j = following
        while j != 0:
            row_of[j] = row_of[before[j]]
            j = before[j]
    for k in range(1, m + 1):
        if row_of[k] != 0:
            partner[row_of[k] - 1] = k - 1


@njit(nogil=True, cache=True)
def match_batch(S, rows, columns, starts, offsets, nobody, may_stay, y, extra, lo, hi, Z, losses, leads):
    """The best matchings Z of the examples lo <= i < hi, and their losses and leads over the truth y.

    S        scores of all pairs of these examples, row by row, from the first one's on
    starts   where each example's pairs begin; offsets, where its rows do
    nobody   the score of a row without a partner, which it `may_stay`
    extra    what a wrong partner counts: 1 in training; 0 to predict, when losses and leads are not filled
    """
    for i in range(lo, hi):
        n, m = rows[i], columns[i]
        first, at = starts[i] - starts[lo], offsets[i] - offsets[lo]
        truth = y[offsets[i] : offsets[i + 1]]
        width = m + n if may_stay else m
        cost = np.empty((n, width))
        for a in range(n):
            for b in range(m):
                cost[a, b] = -S[first + a * m + b] - (extra if truth[a] != b else 0.0)
            for b in range(m, width):
                cost[a, b] = -nobody - (extra if truth[a] >= 0 else 0.0)
        partner = Z[at : at + n]
        assign(cost, n, width, partner)
        loss, lead = 0.0, 0.0
        for a in range(n):
            if partner[a] >= m:
                partner[a] = -1
            if extra > 0.0 and partner[a] != truth[a]:
                loss += 1.0
                lead += nobody if truth[a] < 0 else S[first + a * m + truth[a]]
                lead -= nobody if partner[a] < 0 else S[first + a * m + partner[a]]
        if extra > 0.0:
            losses[i - lo], leads[i - lo] = loss, lead


@njit(nogil=True, cache=True)
def match_deltas(F, columns, starts, offsets, y, lo, hi, Z, factors, out):
    """out[i - lo] (d + 1,) = factors_i (psi(x_i, y_i) - psi(x_i, z_i)); their sum where out has one row."""
    d = F.shape[1]
    for i in range(lo, hi):
        factor = factors[i - lo]
        if factor == 0.0:
            continue
        row = out[0] if out.shape[0] == 1 else out[i - lo]
        for t in range(offsets[i], offsets[i + 1]):
            z = Z[t - offsets[lo]]
            if z == y[t]:
                continue
            first = starts[i] + (t - offsets[i]) * columns[i]
            if y[t] < 0:
                row[d] += factor
            else:
                for k in range(d):
                    row[k] += factor * F[first + y[t], k]
            if z < 0:
                row[d] -= factor
            else:
                for k in range(d):
                    row[k] -= factor * F[first + z, k]
