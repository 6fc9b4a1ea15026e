"""The latent examples run, keep their contract, never raise the objective, and beat their baseline."""

from itertools import pairwise

import numpy as np
import pytest
from examples.test_examples import EXAMPLES, load

import oneslack

locate_digits, motifs, letter_subclasses = map(load, ("locate_digits", "motifs", "letter_subclasses"))


def run(example, capsys, **sizes):
    """What main returns, its rounds checked, its output looked at."""
    svm, learned, baseline = example.main(**sizes)
    assert len(capsys.readouterr().out.splitlines()) == 3
    for start in {entry.start for entry in svm.rounds_}:
        mine = [entry for entry in svm.rounds_ if entry.start == start]
        assert all(entry.convex <= entry.objective for entry in mine)
        assert all(after.objective <= before.convex * (1 + 1e-12) for before, after in pairwise(mine))
    assert (svm.inner_gaps_ <= 1e-2).all()
    assert learned > baseline
    return svm, learned, baseline


@pytest.mark.slow
def test_digits_are_found(capsys):
    _, learned, middle = run(locate_digits, capsys, n_train=300, n_test=100, n_starts=3)
    assert learned > middle + 0.2


@pytest.mark.slow
def test_the_word_is_found(capsys):
    svm, told_apart, _ = run(motifs, capsys, n_train=200, n_test=100, n_starts=6)
    assert "GACGTC" in svm.model.consensus(svm.coef_)  # it may be a letter aside
    assert told_apart > 0.8


def test_subclasses_help(capsys):
    _, learned, plain = run(letter_subclasses, capsys, n_train=400, n_kinds=3, n_starts=1)
    assert learned > plain + 0.01


def test_the_models_keep_their_contract():
    images, labels = locate_digits.digits()
    X, y, _ = locate_digits.pictures(6, images, labels)
    assert "passes" in oneslack.check_latent_model(locate_digits.Window(8), X, y)
    X, y, _ = motifs.sequences(6, "ACGT", length=12)
    assert "passes" in oneslack.check_latent_model(motifs.Motif(4), X, y)
    X, y, _ = letter_subclasses.examples()
    assert "passes" in oneslack.check_latent_model(letter_subclasses.Subclasses(65, 2, 3), X[:6], y[:6])


@pytest.mark.parametrize("kind", ["digits", "motifs"])
def test_the_best_place_is_the_best_of_all(kind):
    rng = np.random.default_rng(0)
    if kind == "digits":
        model, x = locate_digits.Window(3), rng.normal(size=(6, 7))
        places = [(row, column) for row in range(4) for column in range(5)]
    else:
        model, x, places = motifs.Motif(4), rng.integers(0, 4, 12), range(9)
    for _ in range(10):
        w = rng.normal(size=model.n_params)
        scores = [model.feature(x, h) @ w for h in places]
        assert model.feature(x, model.best(w, x)) @ w == pytest.approx(max(scores))


@pytest.mark.parametrize("name", ["locate_digits", "motifs", "letter_subclasses"])
def test_an_example_is_short(name):
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 130
