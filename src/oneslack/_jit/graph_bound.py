"""An upper bound of the best score of a graph by a reparametrisation, which holds whatever rounding does.

For any numbers delta[e, side, label],

    score(z) = sum_s (theta[s, z_s] + sum_(e at s) delta[e, s, z_s])
             + sum_e (T[e, z_a, z_b] - delta[e, a, z_a] - delta[e, b, z_b])        exactly, as they cancel,

so that the sum of the maxima of all terms is a bound: the dual of the linear relaxation of Wainwright,
Jaakkola & Willsky (2005).  Whoever finds delta (message passing, a flow, dynamic programming) need not be
believed: the bound is computed here from these very numbers, every sum with the rounding that it may have
had, gamma_k (sum of sizes), added.
"""

from numba.extending import register_jitable

from .compiler import njit
from .graph_scores import of_edge

#: Twice half the distance of 1 to the next float: covers the rounding of the errors themselves, too.
UNIT = 2.0**-52


@register_jitable
def reparametrised_bound(theta, edges, T, starts, arcs, delta):
    """At least max_z score(z)."""
    n, L = theta.shape
    m = edges.shape[0]
    total, size, error = 0.0, 0.0, 0.0
    for s in range(n):
        best, terms = -1.0e308, starts[s + 1] - starts[s] + 2
        for a in range(L):
            value, sizes = theta[s, a], abs(theta[s, a])
            for k in range(starts[s], starts[s + 1]):
                d = delta[arcs[k] >> 1, arcs[k] & 1, a]
                value += d
                sizes += abs(d)
            best = max(best, value + UNIT * terms * sizes)
        total += best
        size += abs(best)
    for e in range(m):
        table, at, to = T[of_edge(T, e)], delta[e, 0], delta[e, 1]
        best = -1.0e308
        for a in range(L):
            for b in range(L):
                value = table[a, b] - at[a] - to[b]
                best = max(best, value + UNIT * 4.0 * (abs(table[a, b]) + abs(at[a]) + abs(to[b])))
        total += best
        size += abs(best)
    error = UNIT * (n + m + 4) * size
    return total + error + UNIT * abs(total + error)


@njit(nogil=True, cache=True)
def bound_of_graph(theta, edges, T, starts, arcs, delta):
    """The same, where Python asks."""
    return reparametrised_bound(theta, edges, T, starts, arcs, delta)
