"""brute_force is the definition: here it meets definitions written out by hand."""

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp

import oneslack
from oneslack.checks.brute import all_cuts


class Tagger:
    """Words x (ints) to tags y (ints) of the same length: emissions and transitions."""

    n_words, n_tags = 3, 2
    n_params = 3 * 2 + 2 * 2

    def joint_feature(self, x, y):
        emit, move = np.zeros((3, 2)), np.zeros((2, 2))
        for word, tag in zip(x, y, strict=True):
            emit[word, tag] += 1
        for before, after in pairwise(y):
            move[before, after] += 1
        return np.concatenate([emit.ravel(), move.ravel()])

    def loss(self, y, y_hat):
        return sum(a != b for a, b in zip(y, y_hat, strict=True))


def every_tagging(x):
    return product(range(2), repeat=len(x))


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("with_loss", [False, True])
def test_no_output_scores_more(length, with_loss):
    rng = np.random.default_rng(length)
    model = Tagger()
    for _ in range(20):
        w = rng.normal(size=model.n_params)
        x = rng.integers(0, 3, length)
        y = tuple(rng.integers(0, 2, length)) if with_loss else None
        z, score = oneslack.brute_force(model, w, x, y, outputs=every_tagging)
        emit, move = w[:6].reshape(3, 2), w[6:].reshape(2, 2)
        by_hand = {
            tags: sum(emit[word, tag] for word, tag in zip(x, tags, strict=True))
            + sum(move[a, b] for a, b in pairwise(tags))
            + (sum(a != b for a, b in zip(tags, y, strict=True)) if with_loss else 0)
            for tags in every_tagging(x)
        }
        assert score == pytest.approx(max(by_hand.values()), abs=1e-12)
        assert by_hand[z] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_decoders_of_the_linear_models(intercept, as_rows):
    """Scores are compared, never labels: ties."""
    rng = np.random.default_rng(0)
    X = as_rows(np.round(rng.normal(size=(15, 3)), 1))
    losses = rng.uniform(0, 2, (4, 4))
    np.fill_diagonal(losses, 0)
    for model, labels in (
        (oneslack.Binary(3, intercept=intercept), (-1, 1)),
        (oneslack.Multiclass(3, 4, intercept=intercept), range(4)),
        (oneslack.Multiclass(3, 4, intercept=intercept, losses=losses), range(4)),
    ):
        for i in range(15):
            w = rng.normal(size=model.n_params) * 10.0 ** rng.integers(-1, 2)
            for y in (None, *labels):
                z = model.decode(w, X[i], y)
                score = float(model.joint_feature(X[i], z) @ w) + (0 if y is None else model.loss(y, z))
                assert score == pytest.approx(oneslack.brute_force(model, w, X[i], y)[1], abs=1e-10)


def test_outputs_as_a_list_a_function_or_the_models_own():
    model, w, x = oneslack.Multiclass(1, 3), [1.0, 5.0, 3.0], [1.0]
    assert oneslack.brute_force(model, w, x) == (1, 5.0)
    assert oneslack.brute_force(model, w, x, outputs=[0, 2]) == (2, 3.0)
    assert oneslack.brute_force(model, w, x, outputs=lambda x: iter([0])) == (0, 1.0)
    assert oneslack.brute_force(model, w, x, 1) == (1, 5.0)
    assert oneslack.brute_force(model, w, x, 1, outputs=[0, 2]) == (2, 4.0)


def test_a_sentence_without_outputs():
    with pytest.raises(oneslack.OneslackError, match=r"Tagger does not list its outputs: give `outputs`"):
        oneslack.brute_force(Tagger(), np.zeros(10), [0], (0,))
    with pytest.raises(oneslack.OneslackError, match="at least one"):
        oneslack.brute_force(Tagger(), np.zeros(10), [0], (0,), outputs=[])


def test_all_cuts_are_the_hinges():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(6, 2)), rng.integers(0, 3, 6)
    model = oneslack.Multiclass(2, 3)
    cuts = all_cuts(model, X, Y)
    assert len(cuts.losses) == 18
    for _ in range(5):
        w = rng.normal(size=6)
        for i in range(6):
            scores = X[i] @ w.reshape(2, 3)
            hinge = max(scores + (np.arange(3) != Y[i])) - scores[Y[i]]
            assert cuts.values(w)[cuts.index == i].max() == pytest.approx(hinge, abs=1e-12)
