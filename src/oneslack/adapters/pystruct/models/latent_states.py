"""First states of latent models: k-means of features and of the labels around."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def kmeans_init(X, Y, all_edges, n_labels, n_states_per_label, symmetric=True):
    """States for the nodes of graphs: within a label, clusters of features and neighbouring labels.

    X: features (nodes, d) of each graph; all_edges: for each graph, edges (m, 2) of one kind or several.
    """
    rows = [
        np.hstack([x, *_neighbours(np.ravel(y), edges, n_labels, symmetric)])
        for x, y, edges in zip(X, Y, all_edges, strict=True)
    ]
    labels = np.concatenate([np.ravel(y) for y in Y])
    first = np.append(0, np.cumsum(n_states_per_label))
    states = np.empty(len(labels), int)
    everything = np.vstack(rows)
    for label in np.unique(labels):
        chosen = labels == label
        states[chosen] = first[label] + _clusters(everything[chosen], n_states_per_label[label])
    ends = np.cumsum([np.size(y) for y in Y])[:-1]
    return [h.reshape(np.shape(y)) for h, y in zip(np.split(states, ends), Y, strict=True)]


def kmeans_init_hidden(X, Y, n_labels, n_hidden_states):
    """States for hidden nodes: clusters of the labels that they are joined with."""
    rows = []
    for x, y in zip(X, Y, strict=True):
        y, n_hidden = np.ravel(y), int(x[-1])
        edges = np.asarray(x[1], int)
        if edges.max(initial=-1) >= len(y) + n_hidden:
            raise ValueError(
                f"edges join nodes up to {edges.max()}, but there are {len(y)} + {n_hidden} hidden"
            )
        one_hot = np.vstack([np.eye(n_labels)[y], np.zeros((n_hidden, n_labels))])
        rows.append(_shares(_graph(edges, len(one_hot), True) @ one_hot)[len(y) :])
    hidden = (
        _clusters(np.vstack(rows), n_hidden_states) + n_labels if sum(map(len, rows)) else np.empty(0, int)
    )
    parts = np.split(hidden, np.cumsum([len(row) for row in rows])[:-1])
    return [np.concatenate([np.ravel(y), part]) for y, part in zip(Y, parts, strict=True)]


def _neighbours(y, kinds, n_labels, symmetric):
    """Shares of the labels around each node: for each kind of edges, and each direction if it counts.
    They are shares of all neighbours of a node, of whatever kind."""
    one_hot = np.eye(n_labels)[y]
    graphs = [_graph(np.asarray(edges), len(y), symmetric) for edges in kinds]
    graphs = graphs if symmetric else [each for graph in graphs for each in (graph, graph.T)]
    return [_shares(np.hstack([graph @ one_hot for graph in graphs]))]


def _graph(edges, n, symmetric):
    graph = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    return graph + graph.T if symmetric else graph


def _shares(counts):
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def _clusters(rows, count):
    from sklearn.cluster import KMeans

    if count <= 1 or len(np.unique(rows, axis=0)) <= count:
        return (
            np.unique(rows, axis=0, return_inverse=True)[1].ravel() if count > 1 else np.zeros(len(rows), int)
        )
    return KMeans(n_clusters=count, n_init=10, random_state=0).fit_predict(rows)
