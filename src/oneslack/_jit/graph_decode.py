"""Loss-augmented inference on blocks of graphs, with a bound of the best score.

Forests by max-product, two labels whose edges attract by a minimum cut, exactly; all others by message
passing, whose outputs are improved by expansion moves where the bound is not reached.  All tell a
reparametrisation, and graph_bound.py makes a bound of it.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from .compiler import njit
from .graph_bound import UNIT, reparametrised_bound
from .graph_cut import attracts, solve_cut
from .graph_forest import solve_forest
from .graph_messages import CLOSED, pass_messages
from .graph_moves import expand
from .graph_scores import edge_tables, node_scores, of_edge, score_of

#: How to infer: as the graph allows, or by messages alone.
AUTO, MESSAGES = 0, 1


class Graphs(NamedTuple):
    """Packed graphs: nodes X (rows as in rows.py) from offsets_i on; edges (M, 2), numbered within each
    graph, and their features F (M, k) from edge_offsets_i on; starts and arcs (graph_scores.py) of all
    graphs one behind the other; which are forests."""

    X: Any
    offsets: Any
    edges: Any
    edge_offsets: Any
    F: Any
    starts: Any
    arcs: Any
    forests: Any


@register_jitable
def infer(theta, edges, T, starts, arcs, forest, how, passes, precision, base, delta, z):
    """Fill z with good labels; return a bound of the best score.  Where inference is not exact, it stops when
    no more than a share `precision` of what the score is above `base` is open."""
    if forest and how == AUTO:
        solve_forest(theta, edges, T, starts, arcs, delta, z)
    elif theta.shape[1] == 2 and how == AUTO and attracts(T):
        solve_cut(theta, edges, T, starts, arcs, delta, z)
    else:
        pass_messages(theta, edges, T, starts, arcs, passes, precision, base, delta, z)
        upper = reparametrised_bound(theta, edges, T, starts, arcs, delta)
        score, size = score_of(theta, edges, T, z)
        if upper - score > CLOSED * size + 1e-9 * abs(upper) + precision * max(upper - base, 0.0):
            expand(theta, edges, T, starts, arcs, z, 3)
        return upper
    return reparametrised_bound(theta, edges, T, starts, arcs, delta)


@register_jitable
def loss_and_lead(theta, edges, T, extra, y, truth, z):
    """Loss of z, and the score of the truth minus that of z, from scores that hold the loss already."""
    loss, lead = 0.0, 0.0
    for s in range(theta.shape[0]):
        if z[s] != truth[s]:
            more = extra[y[s], z[s]]
            loss += more
            lead += theta[s, truth[s]] - (theta[s, z[s]] - more)
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        if z[a] != truth[a] or z[b] != truth[b]:
            table = T[of_edge(T, e)]
            lead += table[truth[a], truth[b]] - table[z[a], z[b]]
    return loss, lead


@njit(nogil=True, cache=True)
def decode_graphs(
    graphs, W, V, extra, y, truth, how, passes, precision, lo, hi, Z, losses, leads, uppers, deltas
):  # fmt: skip
    """Good labels Z of the graphs lo <= i < hi, extra[y_s] added to the scores of a node.

    `extra` (L + 1, L) is a loss, a price for other labels (completions) or nothing (predictions); its last
    row is for nodes without a label, y_s = -1.  Where there is room for them: the loss and <w, delta> of
    what is found; `uppers`: at least the hinge H, where truths are given, else at least the best score; and
    deltas (edges of all graphs, 2, L): the reparametrisation that this follows from.  Where inference is not
    exact, and losses are asked for, it may leave open a share `precision` of H.
    """
    L, base = W.shape[1], graphs.offsets[lo]
    for i in range(lo, hi):
        at, end = graphs.offsets[i], graphs.offsets[i + 1]
        first, last = graphs.edge_offsets[i], graphs.edge_offsets[i + 1]
        edges, z = graphs.edges[first:last], Z[at - base : end - base]
        theta = np.empty((end - at, L))
        node_scores(graphs.X, W, at, theta)
        for s in range(end - at):
            for a in range(L):
                theta[s, a] += extra[y[at + s], a]
        T = np.empty((last - first if graphs.F.shape[1] else 1, L, L))
        edge_tables(graphs.F, V, first, T)
        starts, arcs = graphs.starts[at + i : end + i + 1], graphs.arcs[2 * first : 2 * last]
        delta = deltas[first:last] if deltas.shape[0] else np.empty((last - first, 2, L))
        score, size, share = 0.0, 0.0, 0.0
        if losses.shape[0]:
            # The truth has no loss, so its scores are as they were.
            score, size = score_of(theta, edges, T, truth[at:end])
            share = precision
        forest = graphs.forests[i]
        upper = infer(theta, edges, T, starts, arcs, forest, how, passes, share, score, delta, z)
        if losses.shape[0]:
            losses[i - lo], leads[i - lo] = loss_and_lead(theta, edges, T, extra, y[at:end], truth[at:end], z)
            upper = upper - score + UNIT * (theta.shape[0] + edges.shape[0] + 4) * (size + abs(upper))
        if uppers.shape[0]:
            uppers[i - lo] = upper
