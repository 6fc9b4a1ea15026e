"""Overgenerating training: fractional outputs, their bounds, and certificates of the relaxation."""

import numpy as np
import pytest
from scipy.optimize import linprog

import oneslack
from oneslack import Problem, check_model, solve
from oneslack.models.graph import GraphModel
from oneslack.models.graph.relaxed import Marginals, RelaxedGraphs, _agreement, agreeing, best_marginals


def frustrated(seed, n=6, nodes=4, L=2):
    """Complete graphs whose joined labels dislike being equal: the relaxation is far from labels."""
    rng = np.random.default_rng(seed)
    edges = np.array([(a, b) for a in range(nodes) for b in range(a)])
    X = [(rng.normal(size=(nodes, 2)), edges, rng.normal(size=(len(edges), 2))) for _ in range(n)]
    return GraphModel(2, L, 2), X, [rng.integers(0, L, nodes) for _ in range(n)]


def potentials(rng, n, L):
    edges = np.array([(a, b) for a in range(n) for b in range(a)])
    return rng.normal(size=(n, L)), edges, 2.0 * rng.normal(size=(len(edges), L, L))


@pytest.mark.parametrize("seed", range(4))
def test_marginals_agree_and_are_the_optimum_of_the_relaxation(seed):
    theta, edges, T = potentials(np.random.default_rng(seed), 5, 3)
    (nodes, tables), bound = best_marginals(theta, edges, T)
    for side, axis in ((0, 2), (1, 1)):
        assert np.abs(tables.sum(axis=axis) - nodes[edges[:, side]]).max() <= 1e-15
    assert min(nodes.min(), tables.min()) >= 0
    value = (theta * nodes).sum() + (T * tables).sum()
    A = _agreement(5, 3, edges)
    costs = -np.concatenate([theta.ravel(), T.ravel()])
    best = -linprog(costs, A_eq=A, b_eq=np.r_[np.ones(5), np.zeros(A.shape[0] - 5)], method="highs-ipm").fun
    assert value == pytest.approx(best, abs=1e-6)
    assert value - 1e-12 <= bound <= best + 1e-6


def test_marginals_that_do_not_agree_are_made_to():
    rng, edges = np.random.default_rng(0), np.array([[0, 1], [2, 1]])
    rough = Marginals(rng.dirichlet(np.ones(3), 3) + 1e-3, rng.random((2, 3, 3)) - 0.1)
    nodes, tables = agreeing(*rough, edges)
    assert np.allclose(nodes.sum(axis=1), 1.0)
    for side, axis in ((0, 2), (1, 1)):
        assert np.abs(tables.sum(axis=axis) - nodes[edges[:, side]]).max() <= 1e-15


@pytest.mark.parametrize("kind", ["plain", "directed", "attractive"])
def test_model_keeps_its_promises(kind):
    _, X, Y = frustrated(0, n=3)
    X = [(x, edges, np.abs(F)) for x, edges, F in X]
    model = GraphModel(2, 2, 2, directed=kind == "directed", attractive=kind == "attractive")
    assert "bounds: never below an output" in str(check_model(RelaxedGraphs(model), X, Y, n_weights=5))


@pytest.mark.parametrize("seed", range(3))
def test_training_has_no_gap_of_inference_and_its_objective_is_larger(seed):
    model, X, Y = frustrated(seed)
    by_labels = solve(Problem(model, X, Y, C=1.0), tol=1e-4)
    relaxed = solve(Problem(RelaxedGraphs(model), X, Y, C=1.0), tol=1e-4)
    assert relaxed.certified
    assert relaxed.status.name == "CONVERGED"
    assert relaxed.dual <= relaxed.primal
    exact = Problem(model, X, Y, C=1.0).primal_parts(relaxed.w)[1]  # of labels, as far as they are found
    assert exact <= relaxed.primal * (1 + 1e-9)
    assert by_labels.dual <= relaxed.primal  # the least of the smaller objective
    assert relaxed.dual <= by_labels.primal * (1 + 1e-9)  # whose bounds are those of the relaxation


def test_solvers_bracket_the_same_relaxed_optimum():
    model, X, Y = frustrated(5)
    results = [
        solve(Problem(RelaxedGraphs(model), X, Y, C=1.0), solver, tol=1e-4)
        for solver in ("dual_cd", "n_slack", "one_slack")
    ]
    assert max(r.dual for r in results) <= min(r.primal for r in results) + 1e-9


def test_tagger_with_fractional_labels(tmp_path):
    _, X, Y = frustrated(1)
    tagger = oneslack.GraphTagger(C=1.0, relaxed=True, n_jobs=1).fit(X, Y)
    assert tagger.result_.status.name == "CONVERGED"
    tagger.save(tmp_path / "relaxed.model")
    again = oneslack.load(tmp_path / "relaxed.model")
    assert again.relaxed
    assert again.predict(X) == tagger.predict(X)
    with pytest.raises(oneslack.errors.OneslackError, match="no checker is written for graphs with"):
        tagger.save(tmp_path / "relaxed.model", proof=True)
    with pytest.raises(ValueError, match="relaxed=True needs the labels of all nodes"):
        oneslack.GraphTagger(relaxed=True).fit(X, [[None, *y[1:].tolist()] for y in Y])
