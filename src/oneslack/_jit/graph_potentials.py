"""Inference on one graph that is given by its potentials, with a bound of the best score."""

import numpy as np

from .compiler import njit
from .graph_decode import infer
from .graph_scores import is_forest, list_arcs, score_of


@njit(nogil=True, cache=True)
def infer_potentials(theta, edges, T, how, passes, z):
    """Fill z (n,) with good labels; return a bound of the best score and the score of z.

    theta (n, L) scores of nodes; edges (m, 2) int32, pairs of different nodes; T (m, L, L) scores of edges,
    or (1, L, L) where all have the same.  A bound of -inf says that an edge joins no pair of nodes.
    """
    n, L = theta.shape
    m = edges.shape[0]
    starts, arcs = np.zeros(n + 1, np.int64), np.zeros(2 * m, np.int64)
    if list_arcs(edges, starts, arcs) >= 0:
        return -np.inf, 0.0
    delta = np.empty((m, 2, L))
    forest = is_forest(edges, n)
    upper = infer(theta, edges, T, starts, arcs, forest, how, passes, 0.0, 0.0, delta, z)
    return upper, score_of(theta, edges, T, z)[0]
