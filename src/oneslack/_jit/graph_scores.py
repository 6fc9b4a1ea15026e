"""Scores of one graph: of nodes by label, of edges by both labels, and of labellings.

    score(z) = sum_s theta[s, z_s] + sum_e T[e, z_a, z_b]        e = (a, b) = edges[e]

Tables T are (m, L, L), or (1, L, L) where all edges share one.  `arcs` lists, from starts[s] on, the arcs
that leave node s: arc 2 e goes from edges[e, 0] to edges[e, 1], and arc 2 e + 1 back.
"""

import numpy as np
from numba.extending import register_jitable

from .compiler import njit
from .rows import row_scores


@register_jitable
def copy_to(source, out):
    """out = source, by a loop: slices take long to compile."""
    for k in range(out.shape[0]):
        out[k] = source[k]


@register_jitable
def place_of_max(values):
    """The first of the largest."""
    best = 0
    for k in range(1, values.shape[0]):
        if values[k] > values[best]:
            best = k
    return best


@register_jitable
def node_scores(X, W, node, theta):
    """theta[s] = W' x of the nodes from `node` on."""
    for s in range(theta.shape[0]):
        theta[s, :] = 0.0
        row_scores(X, node + s, W, theta[s])


@register_jitable
def edge_tables(F, V, first, T):
    """T[e] = sum_j F[first + e, j] V[j]; one shared table where edges have no features."""
    L = V.shape[1]
    if F.shape[1] == 0:
        for a in range(L):
            copy_to(V[0, a], T[0, a])
        return
    for e in range(T.shape[0]):
        table = T[e]
        table[:, :] = 0.0
        for j in range(F.shape[1]):
            f = F[first + e, j]
            if f != 0.0:
                part = V[j]
                for a in range(L):
                    for b in range(L):
                        table[a, b] += f * part[a, b]


@register_jitable
def of_edge(T, e):
    """Which table an edge has."""
    return e if T.shape[0] > 1 else 0


@register_jitable
def score_of(theta, edges, T, z):
    """(score, the sizes of all that it sums up)."""
    total, size = 0.0, 0.0
    for s in range(theta.shape[0]):
        total += theta[s, z[s]]
        size += abs(theta[s, z[s]])
    for e in range(edges.shape[0]):
        value = T[of_edge(T, e), z[edges[e, 0]], z[edges[e, 1]]]
        total += value
        size += abs(value)
    return total, size


@register_jitable
def head(edges, arc):
    """The node that an arc goes to."""
    return edges[arc >> 1, 1 - (arc & 1)]


@register_jitable
def local_search(theta, edges, T, starts, arcs, z, sweeps):
    """Iterated conditional modes: each node in turn takes the best label beside its neighbours'."""
    n, L = theta.shape
    values = np.empty(L)
    for _ in range(sweeps):
        moved = False
        for s in range(n):
            copy_to(theta[s], values)
            for k in range(starts[s], starts[s + 1]):
                arc = arcs[k]
                table, other = T[of_edge(T, arc >> 1)], z[head(edges, arc)]
                for a in range(L):
                    values[a] += table[a, other] if arc & 1 == 0 else table[other, a]
            best = z[s]
            for a in range(L):
                if values[a] > values[best]:
                    best = a
            if best != z[s]:
                z[s] = best
                moved = True
        if not moved:
            break


@njit(nogil=True, cache=True)
def list_arcs(edges, starts, arcs):
    """Fill starts (n + 1,) and arcs (2 m,) of one graph; the number of an edge's node that there is not, or
    -1."""
    n = starts.shape[0] - 1
    starts[:] = 0
    for e in range(edges.shape[0]):
        for side in range(2):
            if not 0 <= edges[e, side] < n or edges[e, 0] == edges[e, 1]:
                return e
            starts[edges[e, side] + 1] += 1
    for s in range(n):
        starts[s + 1] += starts[s]
    place = np.empty(n, np.int64)
    copy_to(starts, place)
    for e in range(edges.shape[0]):
        for side in range(2):
            s = edges[e, side]
            arcs[place[s]] = 2 * e + side
            place[s] += 1
    return -1


@njit(nogil=True, cache=True)
def is_forest(edges, n):
    """Whether a graph has no cycle: every edge joins two parts (union-find)."""
    root = np.arange(n)
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        if a == b:
            return False
        root[a] = b
    return True
