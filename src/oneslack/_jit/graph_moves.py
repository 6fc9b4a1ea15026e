"""Expansion moves: many nodes change at once to one label, the best such change by a minimum cut (Boykov,
Veksler & Zabih 2001).  Where an edge does not attract in a move it is cut off at none; a move is taken only
where the score itself rises."""

import numpy as np
from numba.extending import register_jitable

from .graph_cut import solve_cut
from .graph_scores import copy_to, of_edge, score_of


@register_jitable
def fuse(theta, edges, T, starts, arcs, z, other):
    """The best mixture of the labels z and `other`, nearly; z is changed where that is better.  Says whether
    it was."""
    n, m = theta.shape[0], edges.shape[0]
    pair, tables = np.empty((n, 2)), np.empty((m, 2, 2))
    for s in range(n):
        pair[s, 0], pair[s, 1] = theta[s, z[s]], theta[s, other[s]]
    for e in range(m):
        table, a, b = T[of_edge(T, e)], edges[e, 0], edges[e, 1]
        tables[e, 0, 0], tables[e, 0, 1] = table[z[a], z[b]], table[z[a], other[b]]
        tables[e, 1, 0], tables[e, 1, 1] = table[other[a], z[b]], table[other[a], other[b]]
    taken, delta = np.empty(n, z.dtype), np.empty((m, 2, 2))
    solve_cut(pair, edges, tables, starts, arcs, delta, taken)
    for s in range(n):
        taken[s] = other[s] if taken[s] == 1 else z[s]
    if score_of(theta, edges, T, taken)[0] > score_of(theta, edges, T, z)[0]:
        copy_to(taken, z)
        return True
    return False


@register_jitable
def expand(theta, edges, T, starts, arcs, z, rounds):
    """Expansion moves of all labels in turn, until none is better."""
    n, L = theta.shape
    other = np.empty(n, z.dtype)
    for _ in range(rounds):
        moved = False
        for a in range(L):
            other[:] = a
            if fuse(theta, edges, T, starts, arcs, z, other):
                moved = True
        if not moved:
            break
