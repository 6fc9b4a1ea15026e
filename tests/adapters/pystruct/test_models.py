"""Models: psi, potentials, loss and inference agree with each other and with brute force."""

import numpy as np
import pytest
from small_examples import CRFS, crf_cases, flat_cases, outputs, truth

from oneslack.adapters.pystruct.inference import compute_energy
from oneslack.adapters.pystruct.models import (
    BinaryClf,
    EdgeFeatureGraphCRF,
    GraphCRF,
    GridCRF,
    LatentGraphCRF,
    MultiClassClf,
    MultiLabelClf,
    StructuredModel,
)


@pytest.fixture
def cases(rng):
    return crf_cases(rng)


@pytest.mark.parametrize("name", CRFS)
def test_psi_is_what_potentials_score(cases, rng, name):
    model, X, Y = cases[name]
    for x, y in zip(X, Y):
        w = rng.normal(size=model.size_joint_feature)
        z = truth(model, x, y, w)
        unary, pairwise = model._get_unary_potentials(x, w), model._get_pairwise_potentials(x, w)
        energy = compute_energy(unary, pairwise, model._get_edges(x), np.ravel(z))
        assert np.isclose(w @ model.joint_feature(x, z), energy, atol=1e-9)


@pytest.mark.parametrize("name", CRFS)
def test_inference_is_the_best_of_all_outputs_and_bounds_hold(cases, rng, name):
    model, X, Y = cases[name]
    x, y = X[0], Y[0]
    for scale in (0.3, 1.0):
        w = scale * rng.normal(size=model.size_joint_feature)
        h = truth(model, x, y, w)
        every = list(outputs(model, x, y))
        scores = np.array([w @ model.joint_feature(x, z) for z in every])
        worst = scores + [float(model.loss(h, z)) for z in every]
        z, energy = model.inference(x, w, return_energy=True)
        assert np.isclose(w @ model.joint_feature(x, z), scores.max())
        assert np.isclose(-energy, scores.max())
        z = model.loss_augmented_inference(x, h, w)
        assert np.isclose(w @ model.joint_feature(x, z) + model.loss(h, z), worst.max())
        z, upper = model.loss_augmented_bound(x, h, w)
        assert upper >= worst.max() >= w @ model.joint_feature(x, z) + model.loss(h, z) - 1e-9


@pytest.mark.parametrize("name", CRFS)
def test_relaxed_outputs_are_no_worse_and_score_what_they_say(cases, rng, name):
    model, X, _Y = cases[name]
    w = rng.normal(size=model.size_joint_feature)
    relaxed, energy = model.inference(X[0], w, relaxed=True, return_energy=True)
    if model.inference_method != "max-product":
        assert np.isclose(w @ model.joint_feature(X[0], relaxed), -energy)
    _, whole = model.inference(X[0], w, return_energy=True)
    assert energy <= whole + 1e-6


@pytest.mark.parametrize("name", [name for name in CRFS if "latent" in name])
def test_completions_have_the_labels_and_are_the_best(cases, rng, name):
    model, X, Y = cases[name]
    w = rng.normal(size=model.size_joint_feature)
    for x, y in zip(X, Y):
        h = model.latent(x, y, w)
        assert np.array_equal(model.label_from_latent(h), y)
    rivals = [z for z in outputs(model, x, y) if np.array_equal(model.label_from_latent(z), y)]
    best = max(w @ model.joint_feature(x, z) for z in rivals)
    assert np.isclose(w @ model.joint_feature(x, h), best)


@pytest.mark.parametrize("name", [name for name in CRFS if "latent" in name])
def test_first_states_have_the_labels(cases, name):
    model, X, Y = cases[name]
    for h, y in zip(model.init_latent(X, Y), Y):
        assert np.array_equal(model.label_from_latent(h), y)


@pytest.mark.parametrize("name", CRFS)
def test_translated_examples_have_the_same_psi_and_loss(cases, rng, name):
    model, X, Y = cases[name]
    w = rng.normal(size=model.size_joint_feature)
    truths = [truth(model, x, y, w) for x, y in zip(X, Y)]
    ours = model._translated(X, truths)
    if ours is None:
        assert name in ("symmetric", "labels", *(each for each in CRFS if "latent node" in each))
        return
    inner = np.empty_like(w)
    inner[ours.order] = w
    for x, h, ours_x, ours_h in zip(X, truths, ours.X, ours.Y):
        z = rng.permutation(np.ravel(h)).reshape(np.shape(h))
        psi = ours.model.joint_feature(ours_x, np.ravel(z))
        assert np.isclose((psi @ inner).item(), w @ model.joint_feature(x, z))
        assert np.isclose(ours.model.loss(ours_h, np.ravel(z)), model.loss(h, z))


def test_translated_rows_have_the_same_objective(rng):
    from oneslack import Problem
    from oneslack.adapters.pystruct.utils import objective_primal

    for model, X, Y in flat_cases(rng).values():
        w = rng.normal(size=model.size_joint_feature)
        ours = model._translated(X, Y)
        inner = np.empty_like(w)
        inner[ours.order] = w
        problem = Problem(ours.model, ours.X, ours.Y, 0.7, sample_weight=ours.sample_weight)
        assert np.isclose(problem.primal(inner), objective_primal(model, w, X, Y, 0.7))


def test_sizes_that_contradict_the_data_are_refused(rng):
    X, Y = rng.normal(size=(6, 2)), np.array([0, 1, 2, 0, 1, 2])
    graphs = [(x[None], np.empty((0, 2), int)) for x in X]
    with pytest.raises(ValueError, match="Expected 4 classes, got 3"):
        MultiClassClf(n_classes=4).initialize(X, Y)
    with pytest.raises(ValueError, match="Expected 3 features, got 2"):
        BinaryClf(3).initialize(X, Y)
    with pytest.raises(ValueError, match="Expected 2 states, got 3"):
        GraphCRF(n_states=2).initialize(graphs, Y[:, None])
    with pytest.raises(ValueError, match="class_weight has shape"):
        GraphCRF(class_weight=[1.0, 2.0]).initialize(graphs, Y[:, None])
    with pytest.raises(ValueError, match="n_states_per_label"):
        LatentGraphCRF(n_labels=2, n_features=1, n_states_per_label=[1, 2, 3])
    with pytest.raises(ValueError, match=r"edge features \[0\] cannot be both"):
        EdgeFeatureGraphCRF(2, 1, 1, symmetric_edge_features=[0], antisymmetric_edge_features=[0])
    with pytest.raises(ValueError, match="no edge feature 3"):
        EdgeFeatureGraphCRF(2, 1, 1, symmetric_edge_features=[3])
    with pytest.raises(ValueError, match="Expected 3 labels, got 2"):
        MultiLabelClf(n_labels=3).initialize(X, rng.integers(2, size=(6, 2)))
    with pytest.raises(ValueError, match="neighborhood can only be 4 or 8"):
        GridCRF(2, 2, neighborhood=5).inference(np.zeros((2, 2, 2)), np.zeros(7))
    with pytest.raises(ValueError, match="w has shape"):
        GraphCRF(2, 2).inference(graphs[0], np.zeros(3))


def test_a_model_without_its_methods_says_which():
    model = StructuredModel()
    with pytest.raises(NotImplementedError, match=r"needs joint_feature\(x, y\)"):
        model.joint_feature(0, 0)
    with pytest.raises(NotImplementedError, match=r"needs inference"):
        model.inference(0, 0)
    with pytest.raises(NotImplementedError, match=r"needs loss_augmented_inference"):
        model.loss_augmented_inference(0, 0, 0)
