"""Minimum cuts: the best labels of a graph with two labels whose edges attract, exactly.

An edge attracts where T[0, 0] + T[1, 1] >= T[0, 1] + T[1, 0].  With w = that difference, A = T[0, 0], and
a, b the labels at its ends, its score is

    A + (T[1, 0] - A + w/2) a + (T[1, 1] - T[1, 0] - w/2) b - w/2 [a != b]

so the best labels are a minimum cut between a source (label 0) and a sink (label 1).  A flow of f along the
edge moves f b - f a to the nodes, and is a reparametrisation (graph_bound.py): the largest flow proves the
cut.

The flow is found by augmenting paths between two search trees that grow from source and sink and are repaired
after each path (Boykov & Kolmogorov 2004).  `residual` has a number an arc, `excess` what the source can
still send to a node, or, where it is negative, what the node can still send to the sink.
"""

from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from .graph_scores import head, of_edge

FREE, SOURCE, SINK = 0, 1, 2
#: In place of the arc to a parent.
TERMINAL, ORPHAN = -1, -2


class Trees(NamedTuple):
    """Of each node: its tree, the arc to its parent, its distance to the root as far as known, and when that
    was; a queue of nodes that may grow, and one of orphans."""

    tree: Any
    parent: Any
    distance: Any
    stamp: Any
    queue: Any
    queued: Any
    orphans: Any
    # first of the queue, how many, the time, number of orphans
    counts: Any


@register_jitable
def attracts(T):
    """Whether all tables, of two labels, attract."""
    for e in range(T.shape[0]):  # noqa: SIM110  as loops are compiled
        if T[e, 0, 0] + T[e, 1, 1] < T[e, 0, 1] + T[e, 1, 0]:
            return False
    return True


@register_jitable
def _push(trees, s):
    if not trees.queued[s]:
        counts, n = trees.counts, trees.queue.shape[0]
        trees.queued[s] = True
        trees.queue[(counts[0] + counts[1]) % n] = s
        counts[1] += 1


@register_jitable
def _open(residual, tree, arc):
    """Whether flow can still go along an arc that leaves a node of the tree: to its children, away from the
    source or towards the sink."""
    return residual[arc if tree == SOURCE else arc ^ 1] > 0.0


@register_jitable
def _grow(edges, starts, arcs, residual, trees):
    """The next arc from the source's tree to the sink's; -1 where there is none."""
    tree, parent, distance, stamp, counts = (
        trees.tree, trees.parent, trees.distance, trees.stamp, trees.counts,
    )  # fmt: skip
    n = tree.shape[0]
    while counts[1] > 0:
        s = trees.queue[counts[0]]
        if tree[s] != FREE:
            for k in range(starts[s], starts[s + 1]):
                arc = arcs[k]
                if not _open(residual, tree[s], arc):
                    continue
                t = head(edges, arc)
                if tree[t] == FREE:
                    tree[t], parent[t] = tree[s], arc ^ 1
                    distance[t], stamp[t] = distance[s] + 1, stamp[s]
                    _push(trees, t)
                elif tree[t] != tree[s]:
                    return arc if tree[s] == SOURCE else arc ^ 1
                elif stamp[t] <= stamp[s] and distance[t] > distance[s]:
                    parent[t], distance[t], stamp[t] = arc ^ 1, distance[s] + 1, stamp[s]
        trees.queued[s] = False
        counts[0] = (counts[0] + 1) % n
        counts[1] -= 1
    return -1


@register_jitable
def _orphan(trees, s):
    trees.parent[s] = ORPHAN
    trees.orphans[trees.counts[3]] = s
    trees.counts[3] += 1


@register_jitable
def _augment(edges, residual, excess, trees, middle):
    """Send as much as there is room for along the path through `middle`."""
    parent = trees.parent
    most = residual[middle]
    s = edges[middle >> 1, middle & 1]
    while parent[s] != TERMINAL:
        most = min(most, residual[parent[s] ^ 1])
        s = head(edges, parent[s])
    most = min(most, excess[s])
    t = head(edges, middle)
    while parent[t] != TERMINAL:
        most = min(most, residual[parent[t]])
        t = head(edges, parent[t])
    most = min(most, -excess[t])
    residual[middle] -= most
    residual[middle ^ 1] += most
    for side in range(2):
        s = edges[middle >> 1, middle & 1] if side == 0 else head(edges, middle)
        while parent[s] != TERMINAL:
            arc = parent[s]
            down = arc ^ 1 if side == 0 else arc
            residual[down] -= most
            residual[down ^ 1] += most
            above = head(edges, arc)
            if residual[down] <= 0.0:
                _orphan(trees, s)
            s = above
        excess[s] += -most if side == 0 else most
        if excess[s] == 0.0:
            _orphan(trees, s)


@register_jitable
def _root_distance(edges, trees, s):
    """How far the root of s is; -1 where its tree has lost it.  What is found is written on the way."""
    parent, distance, stamp, now = trees.parent, trees.distance, trees.stamp, trees.counts[2]
    steps, t = 0, s
    while True:
        if stamp[t] == now:
            steps += distance[t]
            break
        if parent[t] == TERMINAL:
            stamp[t], distance[t] = now, 1
            steps += 1
            break
        if parent[t] == ORPHAN:
            return -1
        steps += 1
        t = head(edges, parent[t])
    far, t = steps, s
    while stamp[t] != now:
        stamp[t], distance[t] = now, far
        far -= 1
        t = head(edges, parent[t])
    return steps


@register_jitable
def _adopt(edges, starts, arcs, residual, trees):
    """Find a parent for every orphan, or set it free, and its children with it."""
    tree, parent, counts = trees.tree, trees.parent, trees.counts
    counts[2] += 1
    while counts[3] > 0:
        counts[3] -= 1
        s = trees.orphans[counts[3]]
        best, least = -1, 1 << 62
        for k in range(starts[s], starts[s + 1]):
            arc = arcs[k]
            t = head(edges, arc)
            if tree[t] == tree[s] and _open(residual, tree[s], arc ^ 1):
                far = _root_distance(edges, trees, t)
                if 0 <= far < least:
                    best, least = arc, far
        if best >= 0:
            parent[s], trees.stamp[s], trees.distance[s] = best, counts[2], least + 1
            continue
        for k in range(starts[s], starts[s + 1]):
            arc = arcs[k]
            t = head(edges, arc)
            if tree[t] == tree[s]:
                if _open(residual, tree[s], arc ^ 1):
                    _push(trees, t)
                if parent[t] == arc ^ 1:
                    _orphan(trees, t)
        tree[s] = FREE


@register_jitable
def largest_flow(edges, starts, arcs, residual, excess, z):
    """Change residual and excess to those of the largest flow; z is 0 on the source's side of the cut."""
    n = excess.shape[0]
    trees = Trees(
        np.zeros(n, np.int8), np.full(n, ORPHAN, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64),
        np.empty(n, np.int64), np.zeros(n, np.bool_), np.empty(n, np.int64), np.zeros(4, np.int64),
    )  # fmt: skip
    for s in range(n):
        if excess[s] != 0.0:
            trees.tree[s] = SOURCE if excess[s] > 0.0 else SINK
            trees.parent[s], trees.distance[s] = TERMINAL, 1
            _push(trees, s)
    while True:
        arc = _grow(edges, starts, arcs, residual, trees)
        if arc < 0:
            break
        _augment(edges, residual, excess, trees, arc)
        _adopt(edges, starts, arcs, residual, trees)
    for s in range(n):
        z[s] = 0 if trees.tree[s] == SOURCE else 1


@register_jitable
def solve_cut(theta, edges, T, starts, arcs, delta, z):
    """Fill z with the best labels of two, and delta with the reparametrisation of the flow."""
    n, m = theta.shape[0], edges.shape[0]
    residual, excess = np.empty(2 * m), np.empty(n)
    for s in range(n):
        excess[s] = theta[s, 0] - theta[s, 1]  # label 1 costs so much more
    for e in range(m):
        table = T[of_edge(T, e)]
        half = 0.5 * max(table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0], 0.0)
        residual[2 * e] = residual[2 * e + 1] = half
        delta[e, :, 0] = 0.0
        delta[e, 0, 1] = table[1, 0] - table[0, 0] + half
        delta[e, 1, 1] = table[1, 1] - table[1, 0] - half
        excess[edges[e, 0]] -= delta[e, 0, 1]
        excess[edges[e, 1]] -= delta[e, 1, 1]
    largest_flow(edges, starts, arcs, residual, excess, z)
    for e in range(m):
        flow = 0.5 * (residual[2 * e + 1] - residual[2 * e])
        delta[e, 0, 1] += flow
        delta[e, 1, 1] -= flow
