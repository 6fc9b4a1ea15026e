"""Graphs and their labels, in any form that a GraphTagger takes, as packed graphs and codes of labels."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...data.rows import Ragged
from ...models.graph import GraphData, pack_graphs
from ...models.graph.data import UNKNOWN
from .tagged_input import flat_labels

#: The attribute of networkx's nodes and edges that holds their features.
ATTRIBUTE = "x"


def graphs_of(X, n_features=None, n_edge_features=None) -> GraphData:
    """Packed, without labels; sizes are those of the first graph where they are not given."""
    if isinstance(X, GraphData):
        return X
    X = [_from_networkx(i, x) if hasattr(x, "nodes") else x for i, x in enumerate(X)]
    if n_features is None:
        if not X:
            raise ValueError("X has no graph: there is nothing to learn from")
        n_features, n_edge_features = _widths(X)
    data = pack_graphs(X, None, None, n_features, 1, n_edge_features)
    data.check_finite()
    return data


def _widths(X):
    first = X[0]
    if not isinstance(first, tuple | list) or len(first) not in (2, 3):
        return 0, 0  # which is told with its place
    rows = first[0] if sp.issparse(first[0]) else np.asarray(first[0])
    features = [np.asarray(x[2]) for x in X if isinstance(x, tuple | list) and len(x) == 3 and len(x[1])]
    k = features[0].shape[1] if features and features[0].ndim == 2 else 0
    return (rows.shape[1] if rows.ndim == 2 else 0), k


def _from_networkx(i, graph):
    """(features, edges[, edge_features]) of a networkx graph: nodes in their order, features in attribute
    x."""
    number = {node: k for k, node in enumerate(graph.nodes)}
    rows = [graph.nodes[node].get(ATTRIBUTE) for node in graph.nodes]
    if any(row is None for row in rows):
        missing = next(node for node in graph.nodes if graph.nodes[node].get(ATTRIBUTE) is None)
        raise ValueError(f"graph {i}: node {missing!r} has no attribute {ATTRIBUTE!r} with its features")
    edges = [(number[a], number[b]) for a, b in graph.edges()]
    features = [about.get(ATTRIBUTE) for _, _, about in graph.edges(data=True)]
    known = sum(feature is not None for feature in features)
    if known not in (0, len(features)):
        raise ValueError(f"graph {i}: {known} of {len(features)} edges have an attribute {ATTRIBUTE!r}")
    nodes = np.array([np.atleast_1d(row) for row in rows], dtype=float)
    edges = np.array(edges, dtype=np.int32).reshape(-1, 2)
    if not known:
        return nodes, edges
    return nodes, edges, np.array([np.atleast_1d(feature) for feature in features], dtype=float)


def codes_of(Y, data):
    """(classes, Ragged of codes); -1 where the label is None, so not known."""
    labels, known = labels_of(Y, data)
    if not len(known):
        raise ValueError("X has no node: there is nothing to learn from")
    if not len(labels):
        raise ValueError("no node has a label: there is nothing to learn from")
    classes, codes = np.unique(labels, return_inverse=True)
    flat = np.full(len(known), UNKNOWN, np.int32)
    flat[known] = codes
    return classes, Ragged(flat, data.offsets)


def labels_of(Y, data):
    """(labels of the nodes that have one, known (nodes,) of bool), checked against the graphs."""
    Y, lengths = [np.ravel(y).tolist() if isinstance(y, np.ndarray) else y for y in Y], data.X.lengths
    if len(Y) != len(lengths):
        raise ValueError(f"X has {len(lengths)} graphs but Y has {len(Y)}")
    for i, (labels, length) in enumerate(zip(Y, lengths, strict=True)):
        if not hasattr(labels, "__len__") or isinstance(labels, str):
            raise ValueError(f"graph {i}: its labels are {labels!r}, expected a list, one label a node")
        if len(labels) != length:
            raise ValueError(f"graph {i} has {length} nodes but {len(labels)} labels")
    return flat_labels(Y, lengths)
