"""Decoders that are told a precision, and the search by toulbar2 where messages leave something open."""

import sys
from itertools import product

import numpy as np
import pytest

import oneslack
from oneslack import IntegerCosts, Problem, solve
from oneslack.errors import OneslackError
from oneslack.models.graph import GraphModel


def knotted(seed, n=6, nodes=5, L=3, passes=2):
    """(model, X, Y): complete graphs with pairs of any sign, where few messages are far from the best."""
    rng = np.random.default_rng(seed)
    edges = np.array([(a, b) for a in range(nodes) for b in range(a)])
    model = GraphModel(2, L, 2, directed=True, passes=passes)
    X = [(rng.normal(size=(nodes, 2)), edges, rng.normal(size=(len(edges), 2))) for _ in range(n)]
    return model, X, [rng.integers(0, L, nodes) for _ in range(n)]


def best_value(model, w, x, y):
    """The best score + loss, by listing."""
    values = [model.joint_feature(x, z) @ w + model.loss(y, z) for z in model.outputs(x)]
    return float(np.max(values))


@pytest.mark.parametrize("seed", range(3))
def test_search_finds_the_best_labels_and_its_bound_is_their_score(seed):
    pytest.importorskip("pytoulbar2")
    model, X, Y = knotted(seed)
    searching = GraphModel(2, 3, 2, directed=True, passes=2, backtracks=10_000)
    w, was_open = 2.0 * np.random.default_rng(seed).normal(size=model.n_params), 0
    for x, y in zip(X, Y, strict=True):
        best = best_value(model, w, x, y)
        z, upper = searching.decode_bound(w, x, y)
        assert (model.joint_feature(x, z) @ w).item() + model.loss(y, z) == pytest.approx(best, abs=1e-8)
        assert best - 1e-12 <= upper <= best + 1e-6
        was_open += model.decode_bound(w, x, y)[1] > best + 1e-3
    assert was_open  # the search had something to do


@pytest.mark.parametrize("shape", [(5, 10), (10, 10), pytest.param((10, 20), marks=pytest.mark.slow)])
def test_bounds_of_messages_against_the_search(shape):
    """Graphs of 50 to 200 nodes: never below the optimum that toulbar2 finds."""
    pytest.importorskip("pytoulbar2")
    rng, n, L = np.random.default_rng(shape[1]), shape[0] * shape[1], 4
    cells = np.arange(n).reshape(shape)
    edges = np.r_[
        np.c_[cells[:, :-1].ravel(), cells[:, 1:].ravel()], np.c_[cells[:-1].ravel(), cells[1:].ravel()]
    ]
    w = np.r_[np.eye(L).ravel(), np.eye(L * L).ravel()]  # features are the scores
    for _ in range(3):
        x = rng.normal(size=(n, L)), edges, rng.normal(size=(len(edges), L * L))
        y = rng.integers(0, L, n)
        z, upper = GraphModel(L, L, L * L, directed=True).decode_bound(w, x, y)
        model = GraphModel(L, L, L * L, directed=True, backtracks=100_000)
        best, exact = model.decode_bound(w, x, y)

        def value(labels, x=x, y=y, model=model):
            return (model.joint_feature(x, labels) @ w).item() + model.loss(y, labels)

        assert exact == pytest.approx(value(best), rel=1e-7)
        assert value(z) <= value(best) + 1e-9
        assert upper >= value(best) - 1e-9


def test_certificates_of_messages_bracket_the_optimum_by_search():
    pytest.importorskip("pytoulbar2")
    model, X, Y = knotted(0)
    exact = GraphModel(2, 3, 2, directed=True, passes=2, backtracks=10_000)
    found = solve(Problem(exact, X, Y, C=0.5), tol=1e-4)
    assert found.status.name == "CONVERGED"
    rough = solve(Problem(model, X, Y, C=0.5), tol=1e-4)
    assert rough.certified
    assert rough.inference > found.inference
    assert rough.dual <= found.primal
    assert found.dual <= rough.primal


def test_a_search_that_was_cut_short_still_bounds():
    pytest.importorskip("pytoulbar2")
    model, X, Y = knotted(1)
    hasty = GraphModel(2, 3, 2, directed=True, passes=2, backtracks=1)
    w = 2.0 * np.random.default_rng(1).normal(size=model.n_params)
    for x, y in zip(X, Y, strict=True):
        assert hasty.decode_bound(w, x, y)[1] >= best_value(model, w, x, y) - 1e-12


def test_a_search_without_toulbar2_is_refused_with_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytoulbar2", None)
    _, X, Y = knotted(0, n=2)
    tagger = oneslack.GraphTagger(directed=True, backtracks=5)
    with pytest.raises(
        OneslackError, match=r"backtracks asks for a search by toulbar2.*pip install pytoulbar2"
    ):
        tagger.fit(X, Y)


@pytest.mark.parametrize("precision", [0.5, 0.05])
def test_a_decoder_leaves_open_no_more_than_it_was_told(precision):
    model, X, Y = knotted(2, n=12, passes=500)
    problem = Problem(model, X, Y, C=1.0)
    w = np.random.default_rng(2).normal(size=model.n_params)
    fine, rough = problem.cuts(w), problem.cuts(w, precision=precision)
    best = np.array([best_value(model, w, x, y) for x, y in zip(X, Y, strict=True)])
    truth = np.array([(model.joint_feature(x, y) @ w).item() for x, y in zip(X, Y, strict=True)])
    most = rough.found_values(w) + rough.excess
    assert len(rough) == len(fine) == len(X)
    assert (most >= best - truth - 1e-9).all()
    # Where messages themselves leave more open, they stop as they would have.
    assert (rough.excess <= np.maximum(precision * most, fine.excess + 1e-9 * most)).mean() > 0.8
    if precision == 0.5:
        assert rough.excess.sum() > fine.excess.sum()


class Told(GraphModel):
    """Notes what it was told."""

    told = ()

    def at_precision(self, precision):
        self.told.append(precision)
        return super().at_precision(precision)


@pytest.mark.parametrize("solver", ["dual_cd", "n_slack"])
def test_solvers_ask_roughly_at_first_and_end_where_they_would(solver):
    _, X, Y = knotted(3, n=30)
    model = Told(2, 3, 2, directed=True)
    object.__setattr__(model, "told", [])
    result = solve(Problem(model, X, Y, C=0.1), solver, tol=1e-3)
    plain = GraphModel(2, 3, 2, directed=True)
    assert model.told[0] == 0.1
    assert model.told[-1] < 0.01
    # P is never that of a rough answer.
    assert result.primal == pytest.approx(Problem(plain, X, Y, C=0.1).primal(result.w), rel=1e-9)


def test_integer_programmes_take_a_precision():
    assert IntegerCosts(2).at_precision(0.1).mip_gap == 0.1
    assert IntegerCosts(2, mip_gap=0.2).at_precision(0.1).mip_gap == 0.2


def test_thousands_of_graphs_by_search():
    """All shapes of small graphs: bounds and labels as by listing."""
    pytest.importorskip("pytoulbar2")
    rng = np.random.default_rng(0)
    for _ in range(60):
        n, L = int(rng.integers(2, 6)), int(rng.integers(2, 4))
        pairs = [tuple(rng.choice(n, 2, replace=False)) for _ in range(rng.integers(1, 2 * n))]
        model = GraphModel(1, L, backtracks=1000, passes=1)
        x, w = (rng.normal(size=(n, 1)), np.array(pairs)), 2.0 * rng.normal(size=model.n_params)
        y = rng.integers(0, L, n)
        best = max(
            (model.joint_feature(x, np.array(z)) @ w).item() + model.loss(y, np.array(z))
            for z in product(range(L), repeat=n)
        )
        z, upper = model.decode_bound(w, x, y)
        assert (model.joint_feature(x, z) @ w).item() + model.loss(y, z) == pytest.approx(best, abs=1e-9)
        assert upper >= best - 1e-12 * (1.0 + abs(best))
