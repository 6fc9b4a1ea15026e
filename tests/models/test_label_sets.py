"""Sets of labels: decoders against brute force, bounds by several solvers, one pass for all labels."""

import numpy as np
import pytest
import scipy.sparse as sp

import oneslack
from oneslack import IndependentLabels, LabelSets, Problem, check_model, solve
from oneslack.data.rows import Shard
from oneslack.models.labels import BoundedLabelSets, chow_liu_tree
from oneslack.models.labels.dependencies import all_pairs, mutual_information, walk
from oneslack.models.labels.model import LOSSES


def edges_of(name, L, rng):
    if name == "none":
        return None
    if name == "full":
        return all_pairs(L)
    edges = np.array([(rng.integers(b), b) for b in range(1, L)]).reshape(-1, 2)
    return edges if name == "tree" else edges[rng.random(len(edges)) < 0.6]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("graph", ["none", "tree", "forest", "full"])
def test_decoders_are_as_good_as_brute_force(graph, loss):
    rng = np.random.default_rng(7)
    for _ in range(40):
        L = int(rng.integers(1, 6))
        model = LabelSets(2, L, loss, edges_of(graph, L, rng))
        w, x = rng.normal(size=model.n_params) * rng.choice([0.1, 1.0]), rng.normal(size=2)
        for y in (None, rng.integers(0, 2, L)):
            z = model.decode(w, x, y)
            score = float(model.joint_feature(x, z) @ w) + (0.0 if y is None else model.loss(y, z))
            assert score == pytest.approx(oneslack.brute_force(model, w, x, y)[1], abs=1e-12)


@pytest.mark.parametrize("graph", ["tree", "full"])
def test_margins_are_those_of_max_marginals(graph):
    rng = np.random.default_rng(3)
    model = LabelSets(2, 5, edges=edges_of(graph, 5, rng))
    w, x = rng.normal(size=model.n_params), rng.normal(size=2)
    scores = {tuple(z): float(model.joint_feature(x, z) @ w) for z in model.outputs(x)}
    for a, margin in enumerate(model.margins(x[None], w)[0]):
        best = [max(score for z, score in scores.items() if z[a] == v) for v in (0, 1)]
        assert margin == pytest.approx(best[1] - best[0])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("graph", ["none", "tree", "full"])
def test_a_model_passes_its_check(graph, sparse):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(9, 3)), rng.integers(0, 2, (9, 3))
    X = sp.csr_array(X * (rng.random(X.shape) < 0.7)) if sparse else X
    oneslack.check_model(LabelSets(3, 3, "f1", edges_of(graph, 3, rng)), X, Y, n_weights=4)


def test_independent_labels_have_duals_of_their_own():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(9, 3)), rng.integers(0, 2, (9, 4))
    assert "dual passes" in str(oneslack.check_model(IndependentLabels(3, 4), X, Y, n_weights=4))
    with pytest.raises(ValueError, match="Hamming loss and without edges"):
        IndependentLabels(3, 4, "f1")


@pytest.mark.parametrize(("graph", "loss"), [("none", "hamming"), ("tree", "f1"), ("full", "subset")])
def test_solvers_bracket_the_same_optimum(graph, loss):
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(20, 4)), rng.integers(0, 2, (20, 3))
    edges, s = edges_of(graph, 3, rng), rng.uniform(0.0, 2.0, 20)
    kind = IndependentLabels if graph == "none" else LabelSets
    problem = oneslack.Problem(kind(4, 3, loss, edges), X, Y, C=0.8, sample_weight=s)
    solvers = ["one_slack", "n_slack"] + (["dual_cd"] if graph == "none" else [])
    results = [oneslack.solve(problem, solver, tol=1e-5) for solver in solvers]
    assert all(result.certified and result.gap <= 1e-5 for result in results)
    assert max(r.dual for r in results) <= min(r.primal for r in results)
    assert all(problem.primal(r.w) == pytest.approx(r.primal, rel=1e-9) for r in results)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("C", [0.05, 30.0])
def test_one_pass_for_all_labels_finds_the_optimum_of_each(sparse, C):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(60, 5)), (rng.random((60, 12)) < 0.3).astype(int)
    X = sp.csr_array(X * (rng.random(X.shape) < 0.5)) if sparse else X
    together = oneslack.solve(oneslack.Problem(IndependentLabels(5, 12), X, Y, C=C), "dual_cd", tol=1e-6)
    alone = [oneslack.solve(oneslack.Problem(oneslack.Binary(5), X, 2 * y - 1, C=C), tol=1e-8) for y in Y.T]
    assert sum(r.dual for r in alone) <= together.primal
    assert together.dual <= sum(r.primal for r in alone)
    assert together.primal <= sum(r.primal for r in alone) * (1 + 2e-6)


def test_a_stopped_pass_goes_on(tmp_path):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(50, 5)), rng.integers(0, 2, (50, 4))
    problem = oneslack.Problem(IndependentLabels(5, 4), X, Y, C=10.0)
    half = oneslack.solve(problem, "dual_cd", tol=1e-9, max_iter=5)
    rest = oneslack.solve(problem, "dual_cd", tol=1e-9, start=half, max_iter=5)
    whole = oneslack.solve(problem, "dual_cd", tol=1e-9, max_iter=10)
    assert np.array_equal(rest.w, whole.w)


def test_the_tree_has_the_most_information():
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (30, 4))
    Y[:, 3] = Y[:, 0] ^ (rng.random(30) < 0.1)
    information = mutual_information(Y.astype(float))
    total = sum(information[a, b] for a, b in chow_liu_tree(Y))
    pairs = all_pairs(4).tolist()
    from itertools import combinations

    trees = [t for t in combinations(pairs, 3) if walk(4, np.array(t)) is not None]
    assert len(trees) == 16  # Cayley
    assert total == pytest.approx(max(sum(information[a, b] for a, b in t) for t in trees))
    assert [0, 3] in chow_liu_tree(Y).tolist()


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="decoded exactly up to 16"):
        LabelSets(2, 17, edges=all_pairs(17))
    with pytest.raises(ValueError, match="distinct pairs"):
        LabelSets(2, 3, edges=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="loss must be one of hamming, f1, subset"):
        LabelSets(2, 3, "f2")
    with pytest.raises(ValueError, match="0 and 1 with 3 columns"):
        LabelSets(2, 3).pack(np.eye(2), [[0, 2, 0], [1, 0, 0]])


def test_bounded_sets_keep_their_promises():
    rng = np.random.default_rng(0)
    model = BoundedLabelSets(2, 5, edges=all_pairs(5))
    X, Y = rng.normal(size=(4, 2)), rng.integers(0, 2, (4, 5))
    assert "bounds: never below an output" in str(check_model(model, X, Y, n_weights=8))


@pytest.mark.parametrize("seed", range(3))
def test_bounds_of_sets_against_all_of_them(seed):
    """Also where they all attract, and the cut is exact; and in blocks as one by one."""
    rng = np.random.default_rng(seed)
    bounded = BoundedLabelSets(3, 7, edges=all_pairs(7))
    exact = LabelSets(3, 7, edges=all_pairs(7))
    X, Y = rng.normal(size=(12, 3)), rng.integers(0, 2, (12, 7))
    for attracts in (False, True):
        w = 1.5 * rng.normal(size=bounded.n_params)
        if attracts:
            w[21:] = 0.3 * np.abs(w[21:])
        data, shard = bounded.pack(X, Y), Shard(3, 12)
        Z, losses, leads, uppers = bounded.bound_batch(data, shard, w)
        rows = bounded.delta_rows(data, shard, Z)
        assert np.allclose(rows @ w, leads)
        assert np.allclose(bounded.delta_sum(data, shard, Z, np.ones(9)), rows.sum(axis=0))
        for k in range(9):
            x, y = X[3 + k], Y[3 + k]
            best = exact.decode(w, x, y)
            truth = exact.joint_feature(x, y) @ w
            hinge = exact.joint_feature(x, best) @ w + exact.loss(y, best) - truth
            assert losses[k] - leads[k] <= hinge + 1e-9
            assert uppers[k] >= hinge - 1e-12
            assert bounded.decode_bound(w, x, y)[1] >= hinge + truth - 1e-12
            if attracts:
                assert uppers[k] == pytest.approx(hinge, abs=1e-8)


def test_certificates_of_bounded_sets_bracket_the_optimum():
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(40, 3)), rng.integers(0, 2, (40, 6))
    exact = solve(Problem(LabelSets(3, 6, edges=all_pairs(6)), X, Y, C=0.3), tol=1e-5)
    for solver in ("dual_cd", "n_slack", "one_slack"):
        result = solve(Problem(BoundedLabelSets(3, 6, edges=all_pairs(6)), X, Y, C=0.3), solver, tol=1e-3)
        assert result.certified
        assert result.dual <= exact.primal
        assert exact.dual <= result.primal
