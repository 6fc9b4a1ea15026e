"""Which pairs of labels have a weight: the tree of Chow and Liu, and graphs as decoders walk them."""

from __future__ import annotations

import numpy as np


def chow_liu_tree(Y, weights=None) -> np.ndarray:
    """(L - 1, 2): the tree with the largest sum of mutual information of labels (Chow & Liu 1968).

    Y (n, L) of 0 and 1, weights (n,) or None.  Of equal trees always the same one is taken.

    >>> import numpy as np
    >>> from oneslack.models.labels import chow_liu_tree
    >>> chow_liu_tree(np.array([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]])).tolist()
    [[0, 2], [0, 1]]
    """
    information = mutual_information(np.asarray(Y, float), weights)
    L = len(information)
    inside = np.zeros(L, bool)
    inside[0] = True
    best, link = information[0].copy(), np.zeros(L, int)
    edges = []
    for _ in range(L - 1):  # Prim
        a = int(np.argmax(np.where(inside, -1.0, best)))
        edges.append(sorted((int(link[a]), a)))
        inside[a] = True
        closer = information[a] > best
        best, link = np.where(closer, information[a], best), np.where(closer, a, link)
    return np.array(edges, dtype=np.int64).reshape(-1, 2)


def mutual_information(Y, weights=None) -> np.ndarray:
    """(L, L), >= 0: of each pair of columns of 0 and 1, by their shares."""
    s = np.ones(len(Y)) if weights is None else np.asarray(weights, float)
    total = s.sum()
    on = np.stack([1.0 - Y, Y])  # (2, n, L)
    single = np.einsum("vnl,n->vl", on, s) / total
    found = np.zeros((Y.shape[1], Y.shape[1]))
    for u in range(2):
        for v in range(2):
            joint = (on[u] * s[:, None]).T @ on[v] / total
            apart = np.outer(single[u], single[v])
            seen = joint > 0
            found[seen] += joint[seen] * np.log(joint[seen] / apart[seen])
    return np.maximum(found, 0.0)


def all_pairs(n_labels) -> np.ndarray:
    """(L (L - 1) / 2, 2)."""
    return np.stack(np.triu_indices(n_labels, 1), axis=1).astype(np.int64)


def walk(n_labels, edges) -> np.ndarray | None:
    """(L, 3): (label, parent, edge) with children before their parents, the root last; None where the edges
    have a cycle.  Trees of a forest hang below the first one's root by edge -1, which has no weight."""
    near = [[] for _ in range(n_labels)]
    for e, (a, b) in enumerate(edges.tolist()):
        near[a].append((b, e))
        near[b].append((a, e))
    seen, order = np.zeros(n_labels, bool), []
    for root in range(n_labels):
        if seen[root]:
            continue
        seen[root] = True
        stack = [(root, 0 if root else -1, -1)]
        while stack:
            a, parent, edge = stack.pop()
            order.append((a, parent, edge))
            for b, e in near[a]:
                if e != edge:
                    if seen[b]:
                        return None
                    seen[b] = True
                    stack.append((b, a, e))
    return np.array(order[::-1], dtype=np.int64).reshape(-1, 3)
