"""Small examples of every model, for brute force."""

import numpy as np

from oneslack.adapters.pystruct.models import (
    BinaryClf,
    ChainCRF,
    DirectionalGridCRF,
    EdgeFeatureGraphCRF,
    EdgeFeatureLatentNodeCRF,
    GraphCRF,
    GridCRF,
    LatentDirectionalGridCRF,
    LatentGraphCRF,
    LatentGridCRF,
    LatentNodeCRF,
    MultiClassClf,
    MultiLabelClf,
)

RING = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
#: Nodes 4 and 5 are hidden.
HIDDEN = np.array([[0, 1], [2, 3], [0, 4], [1, 4], [2, 5], [3, 5], [4, 5]])


def graphs(rng, n, edges=RING):
    return [(rng.normal(size=(4, 2)), edges) for _ in range(n)]


def labels(rng, n, count, shape=(4,)):
    """All labels occur."""
    Y = rng.integers(count, size=(n, *shape))
    Y.reshape(-1)[:count] = np.arange(count)
    return list(Y)


def pictures(rng, n, shape=(2, 2)):
    return list(rng.normal(size=(n, *shape, 2)))


def crf_cases(rng, n=4):
    """name -> (model, X, Y); initialized."""
    weights = [1.0, 0.5, 2.0]
    featured = [(*x, rng.normal(size=(len(RING), 2))) for x in graphs(rng, n)]
    hidden = [(*x, 2) for x in graphs(rng, n, HIDDEN)]
    with_rows = [(rng.normal(size=(6, 2)), HIDDEN, 2) for _ in range(n)]
    rich = [(rng.normal(size=(4, 2)), HIDDEN, rng.normal(size=(len(HIDDEN), 2)), 2) for _ in range(n)]
    chains = [rng.normal(size=(3 + i % 3, 2)) for i in range(n)]
    three = labels(rng, n, 3)
    two = labels(rng, n, 2)
    cells = labels(rng, n, 2, (2, 2))
    cases = {
        "graph": (GraphCRF(class_weight=weights), graphs(rng, n), three),
        "directed": (GraphCRF(directed=True), graphs(rng, n), three),
        "chain": (ChainCRF(), chains, [np.resize([0, 1, 2], len(x)) for x in chains]),
        "edge features": (EdgeFeatureGraphCRF(class_weight=weights), featured, three),
        "symmetric": (
            EdgeFeatureGraphCRF(symmetric_edge_features=[0], antisymmetric_edge_features=[1]), featured,
            three,
        ),
        "grid": (GridCRF(neighborhood=8), pictures(rng, n), cells),
        "directional grid": (DirectionalGridCRF(neighborhood=8), pictures(rng, n), cells),
        "labels": (
            MultiLabelClf(edges=RING[:4]), rng.normal(size=(n, 3)), rng.integers(2, size=(n, 4)),
        ),
        "latent graph": (LatentGraphCRF(n_states_per_label=[1, 2]), graphs(rng, n), two),
        "latent grid": (LatentGridCRF(), pictures(rng, n), cells),
        "latent directional grid": (LatentDirectionalGridCRF(), pictures(rng, n), cells),
        "latent nodes": (LatentNodeCRF(class_weight=[1.0, 2.0]), hidden, two),
        "latent node features": (LatentNodeCRF(latent_node_features=True), with_rows, two),
        "latent nodes, edge features": (
            EdgeFeatureLatentNodeCRF(n_features=2, n_edge_features=2, symmetric_edge_features=[1]), rich, two,
        ),
    }  # fmt: skip
    for model, X, Y in cases.values():
        model.initialize(X, Y)
    return cases


CRFS = tuple(crf_cases(np.random.default_rng(0)))


def flat_cases(rng, n=20):
    X = rng.normal(size=(n, 3))
    Y = np.resize([0, 1, 2], n)
    weights = [1.0, 0.5, 2.0]
    cases = {
        "binary": (BinaryClf(), X, np.where(Y == 0, 1, -1)),
        "classes": (MultiClassClf(class_weight=weights), X, Y),
        "rescaled": (MultiClassClf(class_weight=weights, rescale_C=True), X, Y),
    }
    for model, X, Y in cases.values():
        model.initialize(X, Y)
    return cases


FLAT = ("binary", "classes", "rescaled")


def outputs(model, x, y):
    """All outputs of a small x, in the shape that inference gives."""
    from itertools import product

    shape, first = np.shape(y), np.size(y)
    hidden = int(x[-1]) if hasattr(model, "n_hidden_states") else 0
    visible = model.n_labels if hidden else model.n_states
    ranges = [range(visible)] * first + [range(model.n_labels, model.n_states)] * hidden if hidden else (
        [range(model.n_states)] * first
    )  # fmt: skip
    for labels in product(*ranges):
        z = np.array(labels)
        yield z if hidden else z.reshape(shape)


def truth(model, x, y, w):
    """A true output: y itself, or with the states that no example tells."""
    return model.latent(x, y, w) if hasattr(model, "latent") else np.asarray(y)
