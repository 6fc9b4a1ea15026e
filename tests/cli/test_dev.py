"""`--dev`: the model that does best on a development set is kept, and its certificate told."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import oneslack
from oneslack.formats import read_data, write_svmlight


@pytest.fixture
def halves(folder):
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    noisy = y.copy()
    noisy[::7] = 1 - noisy[::7]
    write_svmlight("a.svm", X[:300], noisy[:300])
    write_svmlight("b.svm", X[300:], y[300:])
    return folder


@pytest.mark.parametrize("more", [[], ["--dev-metric", "f1"], ["--metric", "f1"]])
def test_the_best_model_is_kept(halves, run, more):
    solver = [] if "--metric" in more else ["--solver", "one_slack"]
    told = run("train", "classify", "a.svm", "-o", "m", "--dev", "b.svm", "-C", "9", "--json", *solver, *more)
    assert told.code == 0, told.err
    facts = json.loads(told.out)
    measures = json.loads(run("evaluate", "m", "b.svm", "--json").out)["measures"]
    assert facts["dev_score"] == pytest.approx(measures["f1" if more else "accuracy"])
    assert facts["certified"]
    assert facts["dual"] <= facts["primal"]
    model, table = oneslack.load("m"), read_data("a.svm")
    oneslack.check_certificate(model, table.X, table.y)


def test_it_is_told(halves, run):
    told = run("train", "classify", "a.svm", "-o", "m", "--dev", "b.svm", "-C", "99", "--solver", "one_slack",
               "--tol", "1e-7", "--patience", "2")  # fmt: skip
    assert told.code == 0, told.err
    assert "on the development set score 0." in told.out
    assert "certified" in told.out
    assert json.loads(run("info", "m", "--json").out)["status"] == "validated"


def test_tagging_stops_by_phrases(folder, run):
    rng = np.random.default_rng(0)
    words = ["the", "cat", "Rome", "sat", "in", "Oslo"]
    for name, n in (("a.txt", 40), ("b.txt", 20)):
        lines = []
        for _ in range(n):
            for word in rng.choice(words, 6):
                lines.append(f"{word} {'B-LOC' if word in ('Rome', 'Oslo') else 'O'}")
            lines.append("")
        Path(name).write_text("\n".join(lines))
    told = run("train", "tag", "a.txt", "-o", "m", "--dev", "b.txt", "--json")
    assert told.code == 0, told.err
    facts = json.loads(told.out)
    assert facts["dev_metric"] == "phrase_f1"
    assert (
        facts["dev_score"] == json.loads(run("evaluate", "m", "b.txt", "--json").out)["measures"]["phrase_f1"]
    )


def test_what_does_not_go_together(halves, run):
    for more, words in [
        (["--patience", "3"], "add --dev FILE"),
        (["--dev", "b.svm", "--checkpoint", "kept"], "--dev and --checkpoint do not go together"),
        (["--dev", "b.svm", "--kernel", "rbf"], "--dev and --kernel do not go together"),
        (["--dev", "b.svm", "--dev-metric", "f2"], "--dev-metric: scikit-learn has no scorer 'f2'"),
        (["--dev", "b.svm", "--dev-metric", "phrase_f1"], "is for taggers"),
    ]:
        told = run("train", "classify", "a.svm", "-o", "m", *more)
        assert told.code == 2
        assert words in told.err
    assert "absent.svm" in run("train", "classify", "a.svm", "-o", "m", "--dev", "absent.svm").err
