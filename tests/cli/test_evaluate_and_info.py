import json

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

import oneslack
from oneslack.formats import read_data


def test_evaluate_agrees_with_scikit_learn(folder, run):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 2)), np.repeat([2, 5, 7], 30)
    X += 0.6 * y[:, None]
    np.savez("noisy.npz", X=X, y=y)
    run("train", "classify", "noisy.npz", "-o", "m", "--solver", "one_slack")
    facts = json.loads(run("evaluate", "m", "noisy.npz", "--json").out)
    predicted = oneslack.load("m").predict(X)
    assert 0.3 < facts["accuracy"] < 1
    assert facts["accuracy"] == pytest.approx((predicted == y).mean())
    assert facts["confusion"] == confusion_matrix(y, predicted).tolist()
    theirs = precision_recall_fscore_support(y, predicted, zero_division=np.nan)
    ours = [[row[name] for row in facts["classes"]] for name in ("precision", "recall", "f1", "examples")]
    np.testing.assert_allclose(np.array(ours, float), theirs)


def test_evaluate_as_text(trained, run):
    done = run("evaluate", "model", "train.svm")
    assert done.code == 0
    assert done.out.startswith("accuracy 100.00 %  (20 of 20 right)")
    assert "true \\ predicted" in done.out


def test_labels_that_the_model_does_not_know_are_errors(trained, run):
    (trained / "more.svm").write_text("1 1:1 3:4\n7 1:1 3:4\n")
    facts = json.loads(run("evaluate", "model", "more.svm", "--json").out)
    assert (facts["accuracy"], facts["unknown_labels"]) == (0.5, 1)
    assert "1 examples have a label that the model does not know" in run("evaluate", "model", "more.svm").out


def test_info_of_a_model(trained, run):
    facts = json.loads(run("info", "model", "--json").out)
    model = oneslack.load("model")
    assert facts["holds"] == "a LinearSVC model"
    assert facts["classes"] == [-1, 1]
    assert facts["certificate"]["relative_gap"] == model.duality_gap_ <= 1e-3
    assert facts["trained_on"] == "train.svm"
    assert facts["bytes"] == (trained / "model").stat().st_size
    assert "above the optimum" in run("info", "model").out


def test_info_of_data(folder, run):
    facts = json.loads(run("info", "train.svm", "--json").out)
    table = read_data("train.svm")
    assert (facts["examples"], facts["features"]) == table.X.shape
    assert facts["density"] == pytest.approx(2 / 3)
    assert facts["labels"] == {"classes": 2, "counts": {"-1": 10, "1": 10}}
    text = run("info", "kinds.csv").out
    assert "3 classes: high (8), low (8), middle (8)" in text
    assert "width, height" in text


def test_info_of_data_to_regress_on(folder, run):
    np.save("numbers.npy", np.random.default_rng(0).normal(size=(50, 3)))
    labels = json.loads(run("info", "numbers.npy", "--json").out)["labels"]
    assert labels["values"] == 50
