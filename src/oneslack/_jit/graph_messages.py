"""Sequential tree-reweighted message passing (TRW-S; Kolmogorov 2006): a bound that never rises, and outputs
that are rounded from it.

A pass visits the nodes in their order; node s, with gathered(s) = theta_s + sum_(e at s) delta[e, s], tells
each neighbour t behind it

    delta[e, t] = max_a  gamma_s gathered(s)[a] - delta[e, s][a] + T_e[a, .]      less its largest

with gamma_s = 1 / max(neighbours before, neighbours behind): its share of each chain of nodes in order that
goes through it.  The next pass goes the other way.  With a share gamma_s gathered(s) of each node put into
the edges that it has told, the largest of an edge's terms is what was taken off, so that a pass knows its
bound.
"""

import numpy as np
from numba.extending import register_jitable

from .graph_scores import copy_to, head, local_search, of_edge, place_of_max, score_of

#: Passes without a fall of the bound by this share of what is open, after which there are no more.
WORTH, PATIENCE = 2e-3, 4
#: What is open, beside the size of the score, that is nothing.
CLOSED = 1e-11


@register_jitable
def shares(edges, starts, arcs, n):
    """gamma (n,), and how many neighbours of each node are before it."""
    gamma, before = np.empty(n), np.zeros(n, np.int64)
    for s in range(n):
        for k in range(starts[s], starts[s + 1]):
            before[s] += head(edges, arcs[k]) < s
        gamma[s] = 1.0 / max(before[s], starts[s + 1] - starts[s] - before[s], 1)
    return gamma, before


@register_jitable
def gather(theta, s, starts, arcs, delta, out):
    copy_to(theta[s], out)
    for k in range(starts[s], starts[s + 1]):
        told = delta[arcs[k] >> 1, arcs[k] & 1]
        for a in range(out.shape[0]):
            out[a] += told[a]


@register_jitable
def tell(share, gathered, T, arc, delta, told):
    """The message along an arc; what was taken off it."""
    L = gathered.shape[0]
    e, side = arc >> 1, arc & 1
    table, mine, theirs = T[of_edge(T, e)], delta[e, side], delta[e, 1 - side]
    for b in range(L):
        told[b] = -np.inf
    for a in range(L):
        base = share * gathered[a] - mine[a]
        for b in range(L):
            value = base + (table[a, b] if side == 0 else table[b, a])
            if value > told[b]:
                told[b] = value
    top = told[0]
    for b in range(1, L):
        top = max(top, told[b])
    for b in range(L):
        theirs[b] = told[b] - top
    return top


@register_jitable
def one_pass(theta, edges, T, starts, arcs, gamma, before, delta, forward):
    """All nodes tell those behind them, or before them; the bound after it."""
    n, L = theta.shape
    gathered, told = np.empty(L), np.empty(L)
    bound = 0.0
    for place in range(n):
        s = place if forward else n - 1 - place
        gather(theta, s, starts, arcs, delta, gathered)
        count = 0
        for k in range(starts[s], starts[s + 1]):
            t = head(edges, arcs[k])
            if (t > s) == forward:
                bound += tell(gamma[s], gathered, T, arcs[k], delta, told)
                count += 1
        bound += (1.0 - count * gamma[s]) * gathered[place_of_max(gathered)]
    return bound


@register_jitable
def round_in_order(theta, edges, T, starts, arcs, delta, z):
    """Labels one after the other: each node knows the labels before it, and the messages from behind."""
    n, L = theta.shape
    values = np.empty(L)
    for s in range(n):
        copy_to(theta[s], values)
        for k in range(starts[s], starts[s + 1]):
            arc = arcs[k]
            e, side, t = arc >> 1, arc & 1, head(edges, arc)
            if t > s:
                for a in range(L):
                    values[a] += delta[e, side, a]
            else:
                table = T[of_edge(T, e)]
                for a in range(L):
                    values[a] += table[a, z[t]] if side == 0 else table[z[t], a]
        z[s] = place_of_max(values)


@register_jitable
def share_out(theta, edges, starts, arcs, gamma, delta):
    """After a pass backward: put each node's shares into the edges that it has told, as the bound has
    them."""
    n, L = theta.shape
    gathered = np.empty((n, L))
    for s in range(n):
        gather(theta, s, starts, arcs, delta, gathered[s])
    for e in range(edges.shape[0]):
        side = 0 if edges[e, 0] > edges[e, 1] else 1
        s = edges[e, side]
        for a in range(L):
            delta[e, side, a] -= gamma[s] * gathered[s, a]


@register_jitable
def pass_messages(theta, edges, T, starts, arcs, passes, precision, base, delta, z):
    """Fill z with the best labels met, and delta with the last reparametrisation.  They may miss a share
    `precision` of what the best score is above `base`."""
    n = theta.shape[0]
    gamma, before = shares(edges, starts, arcs, n)
    delta[:] = 0.0
    for s in range(n):
        z[s] = place_of_max(theta[s])
    local_search(theta, edges, T, starts, arcs, z, 10)
    best, size = score_of(theta, edges, T, z)
    last, idle, other = np.inf, 0, np.empty(n, z.dtype)
    for _ in range(passes):
        one_pass(theta, edges, T, starts, arcs, gamma, before, delta, True)
        bound = one_pass(theta, edges, T, starts, arcs, gamma, before, delta, False)
        round_in_order(theta, edges, T, starts, arcs, delta, other)
        score, _ = score_of(theta, edges, T, other)
        if score <= best:
            local_search(theta, edges, T, starts, arcs, other, 2)
            score, _ = score_of(theta, edges, T, other)
        if score > best:
            best, idle = score, 0
            copy_to(other, z)
        if bound - best <= CLOSED * (size + abs(best)) + precision * max(bound - base, 0.0):
            break
        idle = 0 if last - bound > WORTH * (bound - best) else idle + 1
        last = min(last, bound)
        if idle >= PATIENCE:
            break
    share_out(theta, edges, starts, arcs, gamma, delta)
    local_search(theta, edges, T, starts, arcs, z, 20)
