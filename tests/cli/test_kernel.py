"""Kernels from the command line: train, predict, info, and what does not go together."""

import numpy as np
import pytest

import oneslack
from oneslack.datasets import make_checkers


@pytest.fixture
def board(folder):
    for name, seed in (("board", 0), ("test", 1)):
        X, y = make_checkers(300, random_state=seed)
        np.savez(folder / f"{name}.npz", X=X, y=y)
    return folder


@pytest.mark.parametrize("method", ["exact", "linear", "constant", "basis"])
def test_a_board_is_learned_and_predicted(board, run, method):
    options = ["--kernel", "rbf", "--gamma", 5, "-C", 10, "--method", method, "--sample-size", 100]
    done = run("train", "classify", "board.npz", "-o", "m", *options)
    assert done.code == 0, done.err
    assert ("(certified)" in done.out) == (method in ("exact", "linear"))
    model = oneslack.load("m")
    assert model.get_params()["gamma"] == 5.0
    assert model.method_ == method
    assert run("predict", "m", "test.npz", "-o", "out.txt").code == 0
    X, y = make_checkers(300, random_state=1)
    predicted = np.array([float(line) for line in (board / "out.txt").read_text().split()])
    np.testing.assert_array_equal(predicted, model.predict(X))
    assert np.mean(predicted == y) > 0.85
    told = run("info", "m").out
    assert "KernelSVC" in told
    assert "support vectors" in told


def test_classes_by_name(folder, run):
    done = run("train", "classify", "kinds.csv", "-o", "m", "--kernel", "poly", "--degree", 2, "--coef0", 1)
    assert done.code == 0, done.err
    assert oneslack.load("m").classes_.tolist() == ["high", "low", "middle"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--gamma", "1"], "--gamma is for a kernel; add --kernel rbf, or drop it."),
        (["--sample-size", "10"], "--sample-size is for a kernel"),
        (["--kernel", "rbf", "--metric", "f1"], "--metric and --kernel do not go together"),
        (["--kernel", "rbf", "--solver", "newton"], "--solver and --kernel do not go together"),
        (["--kernel", "rbf", "--nonnegative"], "--nonnegative and --kernel do not go together"),
    ],
)
def test_what_does_not_go_together(folder, run, options, sentence):
    done = run("train", "classify", "train.svm", "-o", "m", *options)
    assert done.code == 2
    assert sentence in done.err
    assert not (folder / "m").exists()


def test_a_run_that_is_cut_short_goes_on(board, run):
    options = ["--kernel", "rbf", "--gamma", 5, "-C", 10, "--method", "linear", "--sample-size", 50]
    assert run("train", "classify", "board.npz", "-o", "whole", *options).code == 0
    options += ["--checkpoint", "kept"]
    assert run("train", "classify", "board.npz", "-o", "m", *options, "--max-iter", 10).code != 0
    assert (board / "kept").exists()
    done = run("train", "classify", "board.npz", "-o", "m", *options, "--resume")
    assert done.code == 0, done.err
    assert not (board / "kept").exists()
    whole, part = oneslack.load("whole"), oneslack.load("m")
    np.testing.assert_allclose(part.dual_coef_, whole.dual_coef_, rtol=1e-6)
