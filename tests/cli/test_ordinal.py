import json

import numpy as np
import pytest

import oneslack
from oneslack import metrics
from oneslack.formats import read_data


def test_the_report_says_the_order(queries, run):
    done = run("train", "ordinal", "queries.svm", "-o", "m")
    assert (done.code, done.err) == (0, "")
    assert "90 examples, 4 features, 4 classes" in done.out
    assert "in this order: 0 < 1 < 2 < 3" in done.out
    facts = json.loads(run("train", "ordinal", "queries.svm", "-o", "m", "--json").out)
    assert facts["classes"] == [0, 1, 2, 3]
    assert facts["relative_gap"] <= 1e-3


def test_names_are_ordered_by_the_alphabet_and_this_is_said(folder, run):
    done = run("train", "ordinal", "kinds.csv", "-o", "m")
    assert done.code == 0
    assert "in this order: high < low < middle" in done.out


def test_many_classes_are_shown_in_part(folder, run):
    (folder / "many.svm").write_text("".join(f"{k} 1:{k + 1}\n" for k in range(30)))
    assert "18 < 19 < ... < 29" in run("train", "ordinal", "many.svm", "-o", "m").out


def test_the_model_is_the_one_that_python_trains(queries, run):
    options = ["-C", "0.3", "--tol", "1e-6", "--class-weight", "0=2,3=5"]
    assert run("train", "ordinal", "queries.svm", "-o", "m", *options).code == 0
    X = read_data("queries.svm").X
    here = oneslack.OrdinalSVC(0.3, tol=1e-6, class_weight={0: 2.0, 3: 5.0}).fit(X, queries.y)
    model = oneslack.load("m")
    np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-9)
    np.testing.assert_allclose(model.thresholds_, here.thresholds_, atol=1e-9)
    rows = [line.split("\t") for line in run("predict", "m", "queries.svm", "--scores").out.splitlines()]
    assert [int(label) for label, _ in rows] == here.predict(X).tolist()
    np.testing.assert_allclose([float(score) for _, score in rows], model.rank_scores(X), rtol=1e-8)
    assert run("predict", "m", "queries.svm").out.split() == [label for label, _ in rows]


def test_evaluate_counts_steps_and_pairs(queries, run):
    run("train", "ordinal", "queries.svm", "-o", "m", "-q")
    facts = json.loads(run("evaluate", "m", "queries.svm", "--json").out)
    model, y = oneslack.load("m"), queries.y
    predicted = model.predict(queries.X)
    expected = {
        "accuracy": (predicted == y).mean(),
        "mean_absolute_error": np.abs(predicted - y).mean(),
        "ordered_pairs": metrics.ordered_pairs(y, model.rank_scores(queries.X)),
    }
    assert 0 < expected["accuracy"] < 1
    assert list(facts["measures"]) == list(expected)
    assert facts["measures"] == pytest.approx(expected)
    assert facts["accuracy"] == facts["measures"]["accuracy"]
    assert np.array(facts["confusion"]).sum() == 90
    text = run("evaluate", "m", "queries.svm").out
    assert text.startswith("accuracy ")
    assert f"mean absolute error {expected['mean_absolute_error']:.4g} class steps" in text
    assert "true \\ predicted" in text


def test_steps_are_of_classes_not_of_numbers(folder, run):
    """With the classes 1, 10 and 100, one step too far is one step."""
    (folder / "powers.svm").write_text("1 1:1\n10 1:2\n100 1:3\n" * 5)
    assert run("train", "ordinal", "powers.svm", "-o", "m", "-q", "-C", "10").code == 0
    (folder / "off.svm").write_text("10 1:3\n1 1:3\n7 1:3\n")
    facts = json.loads(run("evaluate", "m", "off.svm", "--json").out)
    assert facts["measures"]["mean_absolute_error"] == 1.5  # the label 7 is not known: no step
    assert (facts["unknown_labels"], facts["accuracy"]) == (1, 0)


def test_info_shows_order_and_thresholds(queries, run):
    run("train", "ordinal", "queries.svm", "-o", "m", "-q")
    facts = json.loads(run("info", "m", "--json").out)
    assert facts["holds"] == "an OrdinalSVC model"
    assert facts["thresholds"] == oneslack.load("m").thresholds_.tolist()
    assert facts["classes"] == [0, 1, 2, 3]
    assert "4, in this order: 0 < 1 < 2 < 3" in run("info", "m").out


def test_stopping_early_is_said_and_saved(queries, run):
    done = run("train", "ordinal", "queries.svm", "-o", "m", "--max-iter", "1", "--tol", "1e-9")
    assert done.code == 4
    assert "saved m" in done.err
    assert len(oneslack.load("m").thresholds_) == 3
