"""Compiled loops of ranking one large group of two ranks: pairs are counted by cells of equal width.

With lowers raised by the margin, values are v_i = f_i (uppers) and v_j = f_j + 1 (lowers), and a pair is
active where v_i < v_j.  Pairs in different cells are counted, those in one cell are left out; what they could
add is known, as their values differ by a cell's width at most.  Letters are those of _jit/ranking.py.
"""

import numpy as np

from .compiler import njit

#: As many as 16 bits can number; the tables stay in the cache.
CELLS = 1 << 16


@njit(nogil=True, cache=True)
def gather_values(rows, S, dS, t, lead, v):
    """v = (S + t dS)[rows] + lead; returns the least and the largest.  dS may be None."""
    low, high = np.inf, -np.inf
    for p in range(rows.shape[0]):
        i = rows[p]
        value = (S[i] if dS is None else S[i] + t * dS[i]) + lead
        v[p] = value
        low, high = min(low, value), max(high, value)
    return low, high


@njit(nogil=True, cache=True)
def fill_cells(v, s, low, scale, cells, table):
    """cells_p = the cell of v_p; table (CELLS,) = the weight in each cell, a count where s is None."""
    table[:] = 0
    for p in range(v.shape[0]):
        cell = np.uint16((v[p] - low) * scale)
        cells[p] = cell
        table[cell] += 1 if s is None else s[p]


@njit(nogil=True, cache=True)
def count_pairs(uppers, lowers):
    """From the weights in each cell: uppers becomes the weight of uppers in the cells before, lowers that of
    lowers in the cells behind.  Returns the weight of the pairs that share a cell."""
    shared = 0.0
    total = 0 * uppers[0]
    for k in range(uppers.shape[0]):
        here = uppers[k]
        uppers[k] = total
        total += here
        shared += np.float64(here) * lowers[k]
    total = 0 * lowers[0]
    for k in range(lowers.shape[0] - 1, -1, -1):
        here = lowers[k]
        lowers[k] = total
        total += here
    return shared


@njit(nogil=True, cache=True)
def add_up(rows, cells, table, sign, s, S, dS, t, scale, coefficients):
    """(loss, lead, slope): sums of s_p c_p times 1, score and dS over the piece, c_p = sign table[cell];
    coefficients[rows] = scale s c where they are not None."""
    loss, lead, slope = 0.0, 0.0, 0.0
    for p in range(rows.shape[0]):
        i = rows[p]
        a = sign * table[cells[p]]
        if s is not None:
            a *= s[p]
        if coefficients is not None:
            coefficients[i] = scale * a
        loss += a
        if dS is None:
            lead += a * S[i]
        else:
            lead += a * (S[i] + t * dS[i])
            slope += a * dS[i]
    return loss, lead, slope
