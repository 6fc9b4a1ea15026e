"""Settled predictions on the command line."""

import json

import numpy as np
import pytest

import oneslack
from oneslack.formats import load_model, read_data, save_model


@pytest.fixture
def model(two_classes, run):
    run("train", "classify", "two.svm", "-o", "m", "-q", "--tol", "1e-3")
    return oneslack.load("m")


def test_evaluate_tells_the_share(model, run):
    settled = model.certain(read_data("two.svm").X)
    assert 0.5 < settled.mean() < 1.0
    assert json.loads(run("evaluate", "m", "two.svm", "--json").out)["settled"] == settled.mean()
    last = run("evaluate", "m", "two.svm").out.splitlines()[-1]
    share = int(1000 * settled.mean()) / 10
    assert last == f"settled: {share:.1f} % of the predictions are those of the exact optimum"


def test_predict_has_a_column(model, run):
    rows = [line.split("\t") for line in run("predict", "m", "two.svm", "--settled").out.splitlines()]
    X = read_data("two.svm").X
    assert [row[0] for row in rows] == [str(label) for label in model.predict(X)]
    assert [row[-1] == "settled" for row in rows] == model.certain(X).tolist()
    assert {row[-1] for row in rows} == {"settled", "open"}
    scores = [
        line.split("\t") for line in run("predict", "m", "two.svm", "--scores", "--settled").out.split("\n")
    ]
    assert len(scores[0]) == 3


def test_the_report_says_that_it_is_no_confidence(model, run):
    run("report", "m", "-o", "page.html", "--data", "two.svm")
    with open("page.html") as file:
        page = file.read()
    assert "of the predictions on these data are those that the exact optimum would make" in page
    assert "nothing about whether they are right" in page


def test_an_older_model_says_what_it_lacks(model, run):
    header, arrays = load_model("m")
    del header["certificate"]["radius"]
    save_model("old", header, {k: v for k, v in arrays.items() if not k.startswith("optimum")})
    facts = json.loads(run("evaluate", "old", "two.svm", "--json").out)
    assert facts["settled"] is None
    assert "older oneslack" in facts["not_settled_because"]
    assert "settled: not known, as the model file is of an older" in run("evaluate", "old", "two.svm").out
    refused = run("predict", "old", "two.svm", "--settled")
    assert refused.code != 0
    assert "older oneslack" in refused.err


def test_numbers_have_no_such_column(two_classes, run):
    run("train", "regress", "two.svm", "-o", "r", "-q")
    refused = run("predict", "r", "two.svm", "--settled")
    assert refused.code != 0
    assert "drop --settled" in refused.err
    assert "settled" not in run("evaluate", "r", "two.svm").out


def test_places_inside_a_query(queries, run):
    run("train", "rank", "queries.svm", "-o", "rank", "-q", "--tol", "1e-7")
    table = read_data("queries.svm")
    settled = oneslack.load("rank").certain(table.X, table.qid)
    assert settled.any()
    rows = [line.split("\t") for line in run("predict", "rank", "queries.svm", "--settled").out.splitlines()]
    assert [row[-1] == "settled" for row in rows] == settled.tolist()


def test_a_packed_folder(two_classes, run):
    run("pack", "two.svm", "-o", "two.packed", "-q")
    run("train", "classify", "two.packed", "-o", "p", "-q", "--tol", "1e-5")
    facts = json.loads(run("evaluate", "p", "two.packed", "--json").out)
    assert facts["settled"] is None or 0.0 <= facts["settled"] <= 1.0
    rows = run("predict", "p", "two.packed", "--settled")
    known = facts["settled"] is not None
    assert (rows.code == 0) == known
    if known:
        share = np.mean([line.endswith("settled") for line in rows.out.splitlines()])
        assert share == facts["settled"]
