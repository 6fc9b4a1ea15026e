"""Hinges that are bounded, not found, by whatever numbers: never too low, and exact where they can be."""

import numpy as np
import pytest

from oneslack.checks.proof_matchings import best_prices
from oneslack.models.graph import GraphModel
from oneslack.models.matching import Matching
from oneslack.verify.graphs import Graphs
from oneslack.verify.matchings import Matchings


def drawn_graphs(rng, is_tree, k, directed):
    """(GraphModel, its data, w, graphs, labels) of a few small graphs."""
    L, X, Y = int(rng.integers(2, 4)), [], []
    for n in (1, 3, 5):
        pairs = [(int(rng.integers(t)), t) for t in range(1, n)] if is_tree else [
            (a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.6
        ]  # fmt: skip
        edges = np.array(pairs, dtype=int).reshape(-1, 2)
        X.append((rng.normal(size=(n, 2)), edges, rng.normal(size=(len(edges), k)))[: 3 if k else 2])
        Y.append(rng.integers(0, L, n))
    costs = rng.random((L, L)) * (1 - np.eye(L))
    model = GraphModel(2, L, k, directed=directed, label_losses=costs)
    return model, model.pack(X, Y), rng.normal(size=model.n_params), X, Y


def checked_graphs(model, data, m):
    """As the checker takes them."""
    ends, edge_ends = np.asarray(data.offsets), np.asarray(data.edges.offsets)
    edges = data.edges.values + np.repeat(ends[:-1], np.diff(edge_ends))[:, None]
    F = data.F if data.F.shape[1] else np.ones((len(edges), 1))
    return Graphs(
        data.X.values, ends, data.y.astype(int), edges, edge_ends, F, model.layout.first, model.layout.pairs,
        model.label_losses, m,
    )  # fmt: skip


def compare(examples, model, i, x, y, w, k, is_exact):
    """Hinge, losses and features of example i against all its outputs, of which the k-th is looked at."""

    def psi(x, z):
        row = model.joint_feature(x, z)
        return row.toarray()[0] if hasattr(row, "toarray") else row

    true, listed = psi(x, y), list(model.outputs(x))
    deltas = [true - psi(x, z) for z in listed]
    losses = [model.loss(y, z) for z in listed]
    best = max(loss - delta @ w for loss, delta in zip(losses, deltas, strict=True))
    hinges, errors = examples.hinges(w)
    assert best <= hinges[i] + errors[i]
    if is_exact:
        assert best >= hinges[i] - errors[i] - 1e-9
    k %= len(listed)
    assert np.isclose(examples.losses(np.array([i]), listed[k])[0], losses[k])
    v, sizes, _ = examples.features(np.array([i]), listed[k], np.array([0.5]))
    assert np.allclose(v, 0.5 * deltas[k])
    assert (sizes >= np.abs(v) - 1e-12).all()


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("is_tree", [False, True])
def test_hinges_of_graphs_against_all_labellings(is_tree, seed):
    rng = np.random.default_rng(seed)
    model, data, w, X, Y = drawn_graphs(rng, is_tree, seed % 3, directed=seed % 2 == 1)
    found = model.reparametrisation(data, w)
    for m in (found, np.zeros_like(found), rng.normal(size=found.shape)):
        graphs = checked_graphs(model, data, m)
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            compare(graphs, model, i, x, y, w, int(rng.integers(99)), is_tree and m is found)


def test_several_outputs_of_graphs_add_up():
    rng = np.random.default_rng(3)
    model, data, _, X, Y = drawn_graphs(rng, False, 2, directed=True)
    graphs = checked_graphs(model, data, np.zeros((len(data.edges.values), 2, model.n_labels)))
    of, alpha = np.array([2, 0, 2]), np.array([0.5, 2.0, 1.0])
    Z = [rng.integers(0, model.n_labels, len(Y[i])) for i in of]
    deltas = [
        model.joint_feature(X[i], Y[i]) - model.joint_feature(X[i], z) for i, z in zip(of, Z, strict=True)
    ]
    v, *_ = graphs.features(of, np.concatenate(Z), alpha)
    assert np.allclose(v, sum(a * delta.toarray()[0] for a, delta in zip(alpha, deltas, strict=True)))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("may_stay", [False, True])
def test_hinges_of_matchings_against_all_assignments(may_stay, seed):
    rng = np.random.default_rng(seed)
    model, X, Y = Matching(2, may_stay), [], []
    for n, m in ((1, 1), (2, 3), (3, 3)):
        X.append(rng.normal(size=(n, m, 2)))
        y = rng.permutation(m)[:n]
        Y.append(np.where(rng.random(n) < 0.4, -1, y) if may_stay else y)
    data, w = model.pack(X, Y), rng.normal(size=model.n_params)
    best = best_prices(model, data, w)
    for prices in (best, [rng.random(len(p)) for p in best]):
        taken = Matchings(data.F, data.rows, data.columns, data.y.astype(int), may_stay, prices)
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            compare(taken, model, i, x, y, w, int(rng.integers(99)), prices is best)
