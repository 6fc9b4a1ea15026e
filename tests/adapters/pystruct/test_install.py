"""`install`, and the helpers of pystruct.utils."""

import doctest
import importlib
import inspect

import numpy as np
import pytest

from oneslack.adapters.pystruct import inference, learners, models, utils
from oneslack.adapters.pystruct.installing import MODULES
from oneslack.adapters.pystruct.utils import (
    compress_sym,
    edge_list_to_features,
    exhaustive_inference,
    exhaustive_loss_augmented_inference,
    expand_sym,
    find_constraint,
    find_constraint_latent,
    make_grid_edges,
    plot_grid,
)


@pytest.mark.usefixtures("installed")
def test_an_old_script_runs(rng):
    from pystruct.learners import FrankWolfeSSVM, OneSlackSSVM
    from pystruct.models import ChainCRF
    from pystruct.utils import SaveLogger, make_grid_edges

    X, Y = [rng.normal(size=(4, 2)) for _ in range(5)], [np.array([0, 1, 1, 0])] * 5
    svm = FrankWolfeSSVM(model=ChainCRF(), C=0.1, max_iter=11).fit(X, Y)
    assert svm.result_.dual <= svm.result_.primal
    assert 0 <= svm.score(X, Y) <= 1
    assert OneSlackSSVM
    assert SaveLogger
    assert make_grid_edges


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", MODULES)
def test_modules_are_found_by_their_old_names(name):
    module = importlib.import_module(f"pystruct.{name}")
    assert module.__name__ == f"oneslack.adapters.pystruct.{MODULES[name]}"


PUBLIC = [getattr(module, name) for module in (inference, learners, models, utils) for name in module.__all__]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("value", PUBLIC, ids=lambda value: value.__name__)
def test_public_names_are_told_and_their_examples_run(value):
    assert inspect.getdoc(value)
    runner = doctest.DocTestRunner(verbose=False)
    names = vars(importlib.import_module(value.__module__)).copy()
    for test in doctest.DocTestFinder(recurse=False).find(value, value.__name__, globs=names):
        assert runner.run(test).failed == 0
    assert (
        not inspect.isclass(value)
        or issubclass(value, Exception | learners.BaseSSVM)
        or ">>>" in value.__doc__
    )


@pytest.mark.usefixtures("installed")
def test_what_is_not_there_says_so():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("pystruct.plot_learning")


@pytest.mark.usefixtures("installed")
def test_old_places_of_names():
    from pystruct.inference.common import compute_energy
    from pystruct.inference.linear_programming import lp_general_graph
    from pystruct.inference.maxprod import inference_max_product, is_forest
    from pystruct.models.latent_grid_crf import kmeans_init

    assert all(
        map(callable, (compute_energy, lp_general_graph, inference_max_product, is_forest, kmeans_init))
    )


def test_symmetric_matrices(rng):
    for size in (1, 4, 7):
        full = rng.normal(size=(size, size))
        full = full + full.T
        assert np.allclose(expand_sym(compress_sym(full, make_symmetric=False)), full)
        assert np.allclose(expand_sym(compress_sym(np.triu(full))), full)


@pytest.mark.parametrize("neighborhood", [4, 8])
def test_grid_edges_join_neighbours(neighborhood):
    height, width = 3, 4
    edges = make_grid_edges(np.zeros((height, width)), neighborhood)
    places = np.stack(np.divmod(np.arange(12), width), axis=1)
    distance = np.abs(places[edges[:, 0]] - places[edges[:, 1]])
    assert (distance.max(axis=1) == 1).all()
    assert len(np.unique(np.sort(edges), axis=0)) == len(edges)
    assert len(edges) == 3 * 3 + 2 * 4 + (2 * 2 * 3 if neighborhood == 8 else 0)
    features = edge_list_to_features(make_grid_edges(np.zeros((height, width)), return_lists=True))
    assert features.sum(axis=0).tolist() == [9, 8]


def test_constraints_and_brute_force(rng):
    from small_examples import crf_cases

    model, X, Y = crf_cases(rng)["latent grid"]
    w = rng.normal(size=model.size_joint_feature)
    h = model.latent(X[0], Y[0], w)
    worst = exhaustive_loss_augmented_inference(model, X[0], h, w)
    _, delta, slack, loss = find_constraint(model, X[0], h, w, relaxed=False)
    reference = model.loss(h, worst) + w @ (model.joint_feature(X[0], worst) - model.joint_feature(X[0], h))
    assert np.isclose(slack, reference)
    assert np.isclose(loss - w @ delta, reference)
    assert np.isclose(find_constraint_latent(model, X[0], Y[0], w, relaxed=False)[2], reference)
    z = exhaustive_inference(model, X[0], w)
    assert np.isclose(w @ model.joint_feature(X[0], z), -model.inference(X[0], w, return_energy=True)[1])


def test_plot_grid():
    axes = plot_grid(np.array([[0, 1], [1, 0]]))
    assert len(axes.lines) == 2
    axes.figure.clf()
