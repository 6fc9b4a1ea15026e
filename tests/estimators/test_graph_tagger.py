"""GraphTagger: labels of any type, graphs in any form, missing labels, files."""

import numpy as np
import pytest

import oneslack
from oneslack import GraphTagger

RING = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]])


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    Y = [np.roll(["a", "a", "b", "b", "c"], rng.integers(5)).tolist() for _ in range(30)]
    X = [(np.array([[label == c for c in "abc"] for label in y]) + rng.normal(size=(5, 3)), RING) for y in Y]
    return X, Y


def test_edges_help_and_the_result_is_certified(rings):
    X, Y = rings
    tagger = GraphTagger(C=1.0, directed=True).fit(X[:20], Y[:20])
    alone = GraphTagger(C=1.0).fit([(x, np.empty((0, 2), int)) for x, _ in X[:20]], Y[:20])
    assert tagger.result_.certified
    assert alone.result_.certified
    assert tagger.score(X[20:], Y[20:]) > alone.score([(x, []) for x, _ in X[20:]], Y[20:])
    assert tagger.classes_.tolist() == ["a", "b", "c"]
    gaps = tagger.predict_gaps(X)
    assert gaps.shape == (30,)
    assert (gaps >= 0).all()


def test_save_and_load(rings, tmp_path):
    X, Y = rings
    tagger = GraphTagger(C=1.0, directed=True, class_weight={"a": 2.0, "b": 1.0, "c": 1.0}).fit(X, Y)
    tagger.save(tmp_path / "rings.model")
    again = oneslack.load(tmp_path / "rings.model")
    assert again.predict(X) == tagger.predict(X)
    assert again.objective_ == tagger.objective_
    tagger.save(tmp_path / "proof.model", proof=True)
    assert oneslack.check_proof(tmp_path / "proof.model", X, Y).gap <= tagger.duality_gap_ * (1 + 1e-6)
    tagger.set_params(backtracks=5)
    with pytest.raises(oneslack.OneslackError, match=r"no checker is written for graphs with backtracks"):
        tagger.save(tmp_path / "proof.model", proof=True)


def test_networkx_graphs(rings):
    networkx = pytest.importorskip("networkx")
    X, Y = rings
    graphs = []
    for rows, edges in X:
        graph = networkx.DiGraph()
        graph.add_nodes_from((f"node {i}", {"x": row}) for i, row in enumerate(rows))
        graph.add_edges_from((f"node {a}", f"node {b}") for a, b in edges)
        graphs.append(graph)
    one, two = (GraphTagger(directed=True).fit(given, Y) for given in (X, graphs))
    assert np.allclose(one.coef_, two.coef_, atol=1e-2)
    del graphs[3].nodes["node 1"]["x"]
    with pytest.raises(ValueError, match="graph 3: node 'node 1' has no attribute 'x'"):
        one.predict(graphs)


def test_unknown_labels_are_filled_in(rings):
    X, Y = rings
    rng = np.random.default_rng(1)
    hidden = [[label if rng.random() < 0.7 else None for label in y] for y in Y]
    tagger = GraphTagger(C=1.0, directed=True).fit(X, hidden)
    assert not tagger.result_.certified
    assert tagger.score(X, Y) > 0.6
    assert tagger.score(X, hidden) > 0.6


def test_class_weights_move_the_labels(rings):
    X, Y = rings

    def count(weight):
        tagger = GraphTagger(C=0.01, class_weight={"a": 1.0, "b": 1.0, "c": weight}).fit(X, Y)
        return sum(label == "c" for y in tagger.predict(X) for label in y)

    assert count(20.0) > count(0.05)


def test_empty_and_wrong_inputs_are_told(rings):
    X, Y = rings
    tagger = GraphTagger().fit(X, Y)
    assert tagger.predict([]) == []
    for given, labels, sentence in [
        ([], [], "X has no graph"),
        (X, Y[:3], "X has 30 graphs but Y has 3"),
        (X[:1], [["a"]], "graph 0 has 5 nodes but 1 labels"),
        (X[:1], [[None] * 5], "no node has a label"),
        (X[:1], ["abcde"], "expected a list, one label a node"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            GraphTagger().fit(given, labels)
    with pytest.raises(TypeError, match="attractive must be True or False"):
        GraphTagger(attractive=1).fit(X, Y)


def test_checkpoints_go_on(rings, tmp_path):
    X, Y = rings
    with pytest.warns(Warning, match="iterations"):
        GraphTagger(C=1.0, max_iter=2).fit(X, Y, checkpoint=tmp_path / "run")
    resumed = GraphTagger(C=1.0).fit(X, Y, checkpoint=tmp_path / "run", resume=True)
    assert np.array_equal(resumed.coef_, GraphTagger(C=1.0).fit(X, Y).coef_)


def disks(seed, n=20):
    """Rings of five nodes whose label is whether they are far from 0: no line tells them apart."""
    rng = np.random.default_rng(seed)
    edges = np.array([[k, (k + 1) % 5] for k in range(5)])
    X = [(rng.normal(size=(5, 2)), edges) for _ in range(n)]
    return X, [np.where((x**2).sum(axis=1) > 1.4, "far", "near") for x, _ in X]


def test_a_kernel_of_node_features(tmp_path):
    X, Y = disks(0, 40)
    linear = GraphTagger(C=1.0).fit(X[:30], Y[:30])
    tagger = GraphTagger(C=1.0, kernel="rbf", gamma=1.0, n_basis=60).fit(X[:30], Y[:30])
    assert tagger.result_.certified
    assert tagger.score(X[30:], Y[30:]) > 0.85 > linear.score(X[30:], Y[30:])
    tagger.save(tmp_path / "kernel.model")
    again = oneslack.load(tmp_path / "kernel.model")
    assert again.predict(X) == tagger.predict(X)
    with pytest.raises(ValueError, match=r"features have shape \(5, 3\), expected \(nodes, 2\)"):
        tagger.predict([(np.ones((5, 3)), X[0][1])])


def test_a_warm_start_goes_on():
    X, Y = disks(1)
    tagger = GraphTagger(C=1.0, tol=1e-1, warm_start=True).fit(X, Y)
    first = tagger.result_
    cold = GraphTagger(C=1.0, tol=1e-4).fit(X, Y).result_
    again = tagger.set_params(tol=1e-4).fit(X, Y).result_
    assert again.certified
    assert again.dual >= first.dual  # it has kept its duals
    assert again.n_iter < cold.n_iter
    assert max(again.dual, cold.dual) <= min(again.primal, cold.primal)
    other = tagger.fit(X[:10], Y[:10]).result_  # duals of other graphs would prove nothing
    alone = GraphTagger(C=1.0, tol=1e-4).fit(X[:10], Y[:10]).result_
    assert max(other.dual, alone.dual) <= min(other.primal, alone.primal)
    # another objective
    weighted = tagger.set_params(class_weight={"far": 3.0, "near": 1.0}).fit(X[:10], Y[:10]).result_
    tagger.set_params(warm_start=False).fit(X[:10], Y[:10])
    assert max(weighted.dual, tagger.result_.dual) <= min(weighted.primal, tagger.result_.primal)
