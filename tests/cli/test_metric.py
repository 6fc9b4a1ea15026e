import json
from typing import get_args

import numpy as np
import pytest
from sklearn import metrics as theirs

import oneslack
from oneslack import metrics
from oneslack.cli.options import Metric
from oneslack.models.measures import METRICS

OPTIONS = {"fbeta": ["--beta", "2"], "precision_at_k": ["--k", "10"], "recall_at_k": ["--k", "0.25"]}
PARAMETERS = {"fbeta": {"beta": 2.0}, "precision_at_k": {"k": 10}, "recall_at_k": {"k": 0.25}}


def train(run, metric, *more, file="two.svm"):
    options = ["--metric", metric, "-C", "0.1", *OPTIONS.get(metric, []), *more]
    return run("train", "classify", file, "-o", "m", *options)


def test_every_metric_of_the_library_is_offered():
    assert sorted(get_args(Metric)) == sorted(METRICS)


@pytest.mark.parametrize("metric", METRICS)
def test_the_model_is_the_one_that_python_trains(two_classes, run, metric):
    done = train(run, metric)
    assert (done.code, done.err) == (0, "")
    assert f"trained for {metric}" in done.out
    assert "the positive class is 1" in done.out
    X, y = two_classes.X, two_classes.y
    here = oneslack.MetricSVC(metric, 0.1, random_state=0, **PARAMETERS.get(metric, {})).fit(X, y)
    model = oneslack.load("m")
    assert model.get_params() == here.get_params()
    np.testing.assert_allclose(model.decision_function(X), here.decision_function(X), atol=1e-8)
    rows = [line.split("\t") for line in run("predict", "m", "two.svm", "--scores").out.splitlines()]
    assert [int(label) for label, _ in rows] == model.predict(X).tolist()
    np.testing.assert_allclose([float(f) for _, f in rows], model.decision_function(X), rtol=1e-8)
    facts = json.loads(run("evaluate", "m", "two.svm", "--json").out)
    assert facts["trained_for"] == metric
    first = next(iter(facts["measures"]))
    assert first == ("accuracy" if metric == "error" else metric)
    assert facts["measures"][first] == pytest.approx(model.score(X, y))
    assert "trained for" in run("evaluate", "m", "two.svm").out.splitlines()[0]


def test_json_says_what_was_trained_for(two_classes, run):
    facts = json.loads(train(run, "fbeta", "--json").out)
    assert (facts["metric"], facts["beta"], facts["positive_class"]) == ("fbeta", 2.0, 1)
    assert "k" not in facts
    facts = json.loads(train(run, "recall_at_k", "--json").out)
    assert (facts["metric"], facts["k"]) == ("recall_at_k", 0.25)
    assert facts["classes"] == [0, 1]
    assert facts["relative_gap"] <= 1e-3


def test_other_options_reach_the_model(two_classes, run):
    assert train(run, "f1", "--no-intercept", "--tol", "1e-5", "--solver", "one_slack").code == 0
    model = oneslack.load("m")
    assert model.intercept_ == 0
    assert model.duality_gap_ <= 1e-5
    assert train(run, "error", "--solver", "newton", "--seed", "4").code == 0
    assert oneslack.load("m").random_state == 4


@pytest.mark.parametrize("metric", ["f1", "error", "precision_at_k"])
def test_more_classes_are_each_against_the_rest(queries, run, metric):
    done = train(run, metric, file="queries.svm")
    assert done.code == 0
    assert f"trained for {metric}" in done.out
    assert "each class against the rest" in done.out
    facts = json.loads(run("evaluate", "m", "queries.svm", "--json").out)
    score = oneslack.load("m").score(queries.X, queries.y)
    assert list(facts["measures"]) == [metric, "accuracy", "macro_f1"]
    assert facts["measures"][metric] == pytest.approx(1 - score if metric == "error" else score)
    assert "positive_class" not in facts
    assert "mean over each class against the rest" in run("evaluate", "m", "queries.svm").out


def test_labels_by_name(folder, run):
    lines = (folder / "kinds.csv").read_text().splitlines()
    (folder / "two.csv").write_text("\n".join(line for line in lines if not line.endswith("high")))
    done = train(run, "f1", file="two.csv")
    assert "the positive class is middle, which --pos-label chooses" in done.out  # they are as many
    done = train(run, "f1", "--pos-label", "low", file="two.csv")
    assert "the positive class is low" in done.out
    assert json.loads(run("evaluate", "m", "two.csv", "--json").out)["positive_class"] == "low"
    assert "was trained for the class low" in run("evaluate", "m", "two.csv", "--pos-label", "middle").err
    train(run, "f1", "--pos-label", "middle", file="two.csv")
    facts = json.loads(run("evaluate", "m", "two.csv", "--json").out)
    assert facts["positive_class"] == "middle"
    assert facts["measures"]["f1"] == 1.0


@pytest.mark.parametrize("metric", [None, "f1"])
def test_measures_of_two_classes_agree_with_scikit_learn(two_classes, run, metric):
    y = two_classes.y
    if metric:
        train(run, metric)
    else:
        run("train", "classify", "two.svm", "-o", "m", "-q")
    facts = json.loads(run("evaluate", "m", "two.svm", "--json").out)
    model = oneslack.load("m")
    predicted, f = model.predict(two_classes.X), model.decision_function(two_classes.X)
    expected = {
        "accuracy": theirs.accuracy_score(y, predicted),
        "precision": theirs.precision_score(y, predicted),
        "recall": theirs.recall_score(y, predicted),
        "f1": theirs.f1_score(y, predicted),
        "roc_auc": theirs.roc_auc_score(y, f),
        "average_precision": theirs.average_precision_score(y, f),
        "prbep": y[np.argsort(-f)[: y.sum()]].mean(),
    }
    assert facts["measures"] == pytest.approx(expected)
    assert facts["positive_class"] == 1
    text = run("evaluate", "m", "two.svm").out
    assert "[bold]" not in text
    for words in ("ROC area", "average precision", "break-even point", "the positive class is 1"):
        assert words in text
    assert text.startswith("F1" if metric else "accuracy")


@pytest.mark.parametrize(
    ("metric", "label", "missing"),
    [
        ("f1", 0, {"recall", "roc_auc", "average_precision", "prbep"}),
        ("f1", 1, {"roc_auc"}),
        ("recall_at_k", 0, {"recall_at_k", "recall", "roc_auc", "average_precision", "prbep"}),
        ("precision_at_k", 0, {"precision", "recall", "f1", "roc_auc", "average_precision", "prbep"}),
        ("fbeta", 0, {"recall", "roc_auc", "average_precision", "prbep"}),
    ],
)
def test_a_measure_without_meaning_is_null(two_classes, run, metric, label, missing):
    train(run, metric)
    X = two_classes.X[two_classes.y == label]
    np.savez("only.npz", X=X, y=np.full(len(X), label))
    assert oneslack.load("m").predict(X).any() == ("precision" not in missing)
    measures = json.loads(run("evaluate", "m", "only.npz", "--json").out)["measures"]
    assert {name for name, value in measures.items() if value is None} == missing
    assert "–" in run("evaluate", "m", "only.npz").out


def test_nothing_found_where_nothing_is(two_classes, run):
    train(run, "fbeta")
    X = two_classes.X[oneslack.load("m").predict(two_classes.X) == 0][:5]
    np.savez("only.npz", X=X, y=np.zeros(5, int))
    measures = json.loads(run("evaluate", "m", "only.npz", "--json").out)["measures"]
    assert measures["accuracy"] == 1.0
    assert [measures[name] for name in ("fbeta", "f1", "precision", "recall")] == [None] * 4


def test_labels_that_the_model_does_not_know_are_not_positive(two_classes, run):
    train(run, "roc_auc")
    y = np.where(np.arange(120) % 7 == 0, 5, two_classes.y)
    np.savez("more.npz", X=two_classes.X, y=y)
    facts = json.loads(run("evaluate", "m", "more.npz", "--json").out)
    f = oneslack.load("m").decision_function(two_classes.X)
    assert facts["measures"]["roc_auc"] == pytest.approx(metrics.roc_auc(y == 1, f))
    assert facts["unknown_labels"] == (y == 5).sum()


def test_info_shows_metric_and_positive_class(two_classes, run):
    train(run, "recall_at_k")
    facts = json.loads(run("info", "m", "--json").out)
    assert facts["holds"] == "a MetricSVC model"
    assert (facts["metric"], facts["k"], facts["positive_class"]) == ("recall_at_k", 0.25, 1)
    assert facts["beta"] is None
    assert facts["weights"] == 4
    assert "positive class   1" in run("info", "m").out


def test_models_from_python_of_functions_and_several_labels(two_classes, run):
    def errors(tp, fp, fn, tn):
        return (fp + fn) / (tp + fp + fn + tn)

    X, y = two_classes.X, two_classes.y
    oneslack.MetricSVC(errors, 0.1).fit(X, y).save("function")
    assert "errors" in json.loads(run("info", "function", "--json").out)["metric"]
    assert (
        next(iter(json.loads(run("evaluate", "function", "two.svm", "--json").out)["measures"])) == "accuracy"
    )
    both = np.column_stack([y, 1 - y, X[:, 0] > 0]).astype(int)
    oneslack.MetricSVC("f1", 0.1).fit(X, both).save("several")
    assert json.loads(run("info", "several", "--json").out)["labels_an_example"] == "several"
    rows = [line.split("\t") for line in run("predict", "several", "two.svm").out.splitlines()]
    np.testing.assert_array_equal(np.array(rows, int), oneslack.load("several").predict(X))


def test_the_rarer_class_is_looked_for(folder, run):
    """Fraud among ok: nobody asks for the F1 of ok."""
    rows = [f"{1.5 * (k % 5 == 0) + k % 7 / 7},{k % 3},{'fraud' if k % 5 == 0 else 'ok'}" for k in range(60)]
    (folder / "cards.csv").write_text("\n".join(["amount,hour,label", *rows]))
    assert "the positive class is fraud" in train(run, "f1", file="cards.csv").out
    shown = run("evaluate", "m", "cards.csv").out
    assert shown.startswith("F1 ")
    assert "the positive class is fraud" in shown
    assert run("train", "classify", "cards.csv", "-o", "plain", "-q").code == 0
    assert json.loads(run("evaluate", "plain", "cards.csv", "--json").out)["positive_class"] == "fraud"
    of_ok = json.loads(run("evaluate", "plain", "cards.csv", "--pos-label", "ok", "--json").out)
    assert of_ok["positive_class"] == "ok"
    assert "has no class 'okay'" in run("evaluate", "plain", "cards.csv", "--pos-label", "okay").err
    refused = run("train", "classify", "cards.csv", "-o", "m", "--pos-label", "ok")
    assert "add --metric f1" in refused.err
