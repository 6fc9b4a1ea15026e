"""Graph inference against brute force, its bounds, and the model's promises."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from grids import few
from hypothesis import given, settings
from hypothesis import strategies as st

from oneslack import NSlack, Problem, check_model, solve
from oneslack._jit.graph_decode import AUTO, MESSAGES, decode_graphs
from oneslack.data.rows import Shard
from oneslack.models.graph import GraphModel


def random_edges(rng, n, shape):
    if shape == "tree":
        pairs = [(int(rng.integers(0, s)), s) for s in range(1, n)]
    elif shape == "ring":
        pairs = [(s, (s + 1) % n) for s in range(n)] if n > 2 else []
    else:
        pairs = (
            [tuple(rng.choice(n, 2, replace=False)) for _ in range(rng.integers(0, 2 * n))] if n > 1 else []
        )
    turned = [(b, a) if rng.random() < 0.5 else (a, b) for a, b in pairs]
    return np.array(turned, dtype=int).reshape(-1, 2)


def random_case(seed):
    """(model, w, x, y) of a small graph of some shape, with ties now and then."""
    rng = np.random.default_rng(seed)
    n, L = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    k, attractive = int(rng.integers(0, 3)), rng.random() < 0.4
    model = GraphModel(2, L, k, directed=not attractive and rng.random() < 0.5, attractive=attractive)
    edges = random_edges(rng, n, rng.choice(["tree", "ring", "any"]))
    F = rng.normal(size=(len(edges), k))
    w = rng.choice([0.3, 1.0, 3.0]) * rng.normal(size=model.n_params)
    if attractive:
        F, w = np.abs(F), np.r_[w[: model.layout.first], np.abs(w[model.layout.first :])]
    X = rng.normal(size=(n, 2))
    if rng.random() < 0.2:
        X, F, w = np.round(X), np.round(F), np.round(w)
    x = (X, edges, F) if k else (X, edges)
    return model, w, x, rng.integers(0, L, n)


def score(model, w, x, z):
    """By the definition."""
    L = model.n_labels
    W, V = w[: 2 * L].reshape(2, L), model._tables(w)
    F = x[2] if len(x) == 3 else np.ones((len(x[1]), 1))
    nodes = sum(float(row @ W[:, label]) for row, label in zip(x[0], z, strict=True))
    return nodes + sum(float(f @ V[:, z[a], z[b]]) for (a, b), f in zip(x[1], F, strict=True))


def is_exact(model, w, x):
    data = model.pack([x], None)
    T = [np.tensordot(f, model._tables(w), 1) for f in (x[2] if len(x) == 3 else np.ones((len(x[1]), 1)))]
    cut = model.n_labels == 2 and all(t[0, 0] + t[1, 1] >= t[0, 1] + t[1, 0] for t in T)
    return bool(data.view.forests[0]) or cut


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_labels_and_bounds_against_brute_force(seed):
    model, w, x, y = random_case(seed)
    all_of_them = list(product(range(model.n_labels), repeat=len(y)))
    best = max(score(model, w, x, z) + np.sum(np.array(z) != y) for z in all_of_them)
    slack = 1e-9 * (1.0 + abs(best))
    for how in (AUTO, MESSAGES):
        data, Z = model.pack([x], [y]), np.empty(len(y), np.int32)
        losses, leads, uppers = np.empty((3, 1))
        W = w[: model.layout.first].reshape(2, model.n_labels)
        decode_graphs(
            data.view,
            W,
            model._tables(w),
            model._losses,
            data.y,
            data.y,
            how,
            60,
            0.0,
            0,
            1,
            Z,
            losses,
            leads,
            uppers,
            np.empty((0, 2, model.n_labels)),
        )
        value, truth = score(model, w, x, Z) + np.sum(y != Z), score(model, w, x, y)
        assert losses[0] == np.sum(y != Z)
        assert abs(losses[0] - leads[0] - (value - truth)) <= slack
        assert uppers[0] >= best - truth - 1e-12 * (1.0 + abs(best))
        if how == AUTO and is_exact(model, w, x):
            assert abs(value - best) <= slack
            assert uppers[0] <= best - truth + slack
    z, upper = model.decode_bound(w, x, y)
    assert upper >= best - 1e-12 * (1.0 + abs(best))
    assert upper >= score(model, w, x, z) + np.sum(z != y) - slack


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3000))
def test_thousands_of_graphs(seed):
    test_labels_and_bounds_against_brute_force.hypothesis.inner_test(seed)


@pytest.mark.parametrize("kind", ["plain", "directed", "attractive", "sparse"])
def test_model_keeps_its_promises(kind):
    rng = np.random.default_rng(5)
    k = 2 if kind != "sparse" else 0
    model = GraphModel(2, 3, k, directed=kind == "directed", attractive=kind == "attractive")
    X, Y = [], []
    for shape in ("tree", "ring", "any", "any"):
        n = int(rng.integers(2, 5))
        edges, rows = random_edges(rng, n, shape), rng.normal(size=(n, 2))
        rows = sp.csr_array(rows) if kind == "sparse" else rows
        X.append((rows, edges, np.abs(rng.normal(size=(len(edges), k)))) if k else (rows, edges))
        Y.append(rng.integers(0, 3, n))
    assert "bounds: never below an output" in str(check_model(model, X, Y, n_weights=6))


def small_problem(seed, n=8, cls=GraphModel):
    rng = np.random.default_rng(seed)
    model = cls(2, 3, directed=True, passes=3)
    X = [(rng.normal(size=(4, 2)), np.array([(a, b) for a in range(4) for b in range(a)])) for _ in range(n)]
    Y = [(x[0] @ [[1, 0, -1], [0, 1, -1]] + rng.normal(size=3)).argmax(axis=1) for x in X]
    return model, X, Y


class ByListing:
    """The same model, with an exact decoder in Python."""

    def __init__(self, model):
        self.model, self.n_params = model, model.n_params
        self.joint_feature, self.loss = model.joint_feature, model.loss
        self.known = {}

    def decode(self, w, x, y=None):
        if id(x) not in self.known:
            outputs = list(self.model.outputs(x))
            rows = sp.vstack([self.model.joint_feature(x, z) for z in outputs], format="csr")
            self.known[id(x)] = outputs, rows, {}
        outputs, rows, losses = self.known[id(x)]
        values = rows @ w
        if y is not None:
            if id(y) not in losses:
                losses[id(y)] = np.array([self.model.loss(y, z) for z in outputs])
            values = values + losses[id(y)]
        return outputs[int(np.argmax(values))]


@pytest.mark.parametrize("seed", few(range(6), 2))
def test_certificates_bracket_the_optimum_of_exact_inference(seed):
    model, X, Y = small_problem(seed)
    exact = solve(Problem(ByListing(model), X, Y, C=0.5), NSlack(), tol=1e-5)
    for solver in ("dual_cd", "one_slack", "n_slack"):
        result = solve(Problem(model, X, Y, C=0.5), solver, tol=1e-3)
        assert result.certified
        assert result.dual <= exact.primal
        assert exact.dual <= result.primal


def test_attractive_edges_are_solved_to_the_tolerance():
    rng = np.random.default_rng(2)
    model = GraphModel(1, 2, attractive=True)
    grid = np.arange(12).reshape(3, 4)
    edges = np.r_[
        np.c_[grid[:, :-1].ravel(), grid[:, 1:].ravel()], np.c_[grid[:-1].ravel(), grid[1:].ravel()]
    ]
    Y = [np.repeat(rng.integers(0, 2, 2), 6) for _ in range(10)]
    X = [(y[:, None] - 0.5 + rng.normal(size=(12, 1)), edges) for y in Y]
    result = solve(Problem(model, X, Y, C=0.2, nonnegative=["edges"]), tol=1e-4)
    assert result.status.name == "CONVERGED"
    assert result.certified
    assert (result.w[model.blocks["edges"]] >= 0).all()


def test_any_number_of_threads_gives_the_same_bits():
    model, X, Y = small_problem(3, n=40)
    w = [solve(Problem(model, X, Y, C=0.5, n_jobs=jobs), tol=1e-2).w for jobs in (1, 3)]
    assert np.array_equal(*w)


def test_rows_add_up_to_their_sum_and_subsets_agree():
    model, X, Y = small_problem(4, n=9)
    data, rng = model.pack(X, Y), np.random.default_rng(0)
    w = rng.normal(size=model.n_params)
    Z, losses, leads = model.worst_batch(data, Shard(0, 9), w)
    rows = model.delta_rows(data, Shard(0, 9), Z)
    assert np.allclose(rows @ w, leads)
    assert np.allclose(rows.sum(axis=0), model.delta_sum(data, Shard(0, 9), Z, np.ones(9)))
    some = data.take([6, 1])
    assert np.allclose(model.worst_batch(some, Shard(0, 2), w)[1], losses[[6, 1]])


def test_completion_keeps_what_is_known():
    model, X, Y = small_problem(6, n=3)
    w = np.random.default_rng(1).normal(size=model.n_params)
    y = np.where([True, False, True, False], Y[0], -1)
    z = model.complete(w, X[0], y)
    assert (z[y >= 0] == y[y >= 0]).all()
    free = [v for v in model.outputs(X[0]) if (v[y >= 0] == y[y >= 0]).all()]
    best = max(score(model, w, X[0], v) for v in free)
    assert score(model, w, X[0], z) == pytest.approx(best, rel=0.05)


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (np.eye(2), "graph 0: x is ndarray, expected"),
        ((np.eye(3), [[0, 1]]), r"graph 0: features have shape \(3, 3\), expected \(nodes, 2\)"),
        (
            (np.eye(2), [[0, 2]]),
            r"graph 0: edge 0 joins nodes \[0, 2\], expected two different ones of 0 .. 1",
        ),
        ((np.eye(2), [[1, 1]]), r"graph 0: edge 0 joins nodes \[1, 1\]"),
        ((np.eye(2), [[0.5, 1]]), "expected .edges, 2. of whole numbers"),
        ((np.eye(2), [[0, 1]], [[1.0]]), "edge features have shape"),
    ],
)
def test_bad_graphs_are_named(x, sentence):
    with pytest.raises(ValueError, match=sentence):
        GraphModel(2, 2).pack([x], [[0, 1]])


def test_bad_labels_and_settings_are_named():
    x = np.eye(2), [[0, 1]]
    with pytest.raises(ValueError, match=r"graph 0, node 1: y is 2, expected 0 .. 1"):
        GraphModel(2, 2).pack([x], [[0, 2]])
    with pytest.raises(ValueError, match="graph 0 has 2 nodes but 1 labels"):
        GraphModel(2, 2).pack([x], [[0]])
    with pytest.raises(ValueError, match="drop directed or attractive"):
        GraphModel(2, 2, directed=True, attractive=True)
    with pytest.raises(ValueError, match="graph 0: edge 0 has a feature below 0"):
        GraphModel(2, 2, 1, attractive=True).pack([(*x, [[-1.0]])], [[0, 1]])
    with pytest.raises(ValueError, match="graph 0: a node has the feature nan"):
        Problem(GraphModel(2, 2), [(np.full((2, 2), np.nan), [[0, 1]])], [[0, 1]])
