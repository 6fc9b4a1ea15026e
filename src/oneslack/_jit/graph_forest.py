"""Max-product on forests: exact, from the leaves to a root of each tree and back."""

import numpy as np
from numba.extending import register_jitable

from .graph_scores import copy_to, head, of_edge


@register_jitable
def solve_forest(theta, edges, T, starts, arcs, delta, z):
    """Fill z with the best labels, and delta so that its bound (graph_bound.py) is their score:

    delta[e, parent] = the message,   delta[e, child] = - all that the child has gathered
    """
    n, L = theta.shape
    order, up = np.empty(n, np.int64), np.full(n, -2, np.int64)  # the arc to the parent, -1 for a root
    count = 0
    for root in range(n):
        if up[root] != -2:
            continue
        up[root] = -1
        order[count] = root
        done = count
        count += 1
        while done < count:
            s = order[done]
            done += 1
            for k in range(starts[s], starts[s + 1]):
                t = head(edges, arcs[k])
                if up[t] == -2:
                    up[t] = arcs[k] ^ 1
                    order[count] = t
                    count += 1
    gathered = np.empty((n, L))
    for s in range(n):
        copy_to(theta[s], gathered[s])
    for k in range(n - 1, -1, -1):
        s = order[k]
        if up[s] == -1:
            continue
        arc, mine = up[s], gathered[s]
        e, side = arc >> 1, arc & 1
        table, parent = T[of_edge(T, e)], edges[e, 1 - side]
        for b in range(L):
            best = -np.inf
            for a in range(L):
                best = max(best, mine[a] + (table[a, b] if side == 0 else table[b, a]))
            delta[e, 1 - side, b] = best
            gathered[parent, b] += best
        for a in range(L):
            delta[e, side, a] = -mine[a]
    for k in range(n):
        s = order[k]
        arc = up[s]
        best, label = -np.inf, 0
        for a in range(L):
            value = gathered[s, a]
            if arc >= 0:
                table, above = T[of_edge(T, arc >> 1)], z[head(edges, arc)]
                value += table[a, above] if arc & 1 == 0 else table[above, a]
            if value > best:
                best, label = value, a
        z[s] = label
