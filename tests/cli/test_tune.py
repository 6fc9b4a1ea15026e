"""`oneslack tune`."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_diabetes

import oneslack
from oneslack.cli import main, tune_report


@pytest.fixture
def cancer(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    path = tmp_path / "cancer.svm"
    dump_svmlight_file(X / X.max(axis=0), y, str(path), zero_based=False)
    return str(path)


def test_a_table_a_model_and_a_picture(cancer, tmp_path, capsys):
    model, picture = tmp_path / "model", tmp_path / "scores.svg"
    grid = ["-C", "0.001:10:3", "--folds", "3"]
    assert main(["tune", cancer, *grid, "-o", str(model), "--plot", str(picture), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [row["C"] for row in facts["candidates"]] == [0.001, 0.1, 10.0]
    assert facts["best"]["C"] == 10.0
    assert facts["score"] == max(row["score"] for row in facts["candidates"])
    assert oneslack.load(model).C == 10.0
    assert picture.read_text().startswith("<?xml")
    assert main(["tune", cancer, *grid, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["tune", cancer, *grid]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["C", "score", "±", "loss", "gap"]
    assert lines[3].endswith("best")


def test_larger_C_are_left_out_or_not(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 100))
    y = np.where(rng.random(300) < 0.25, -1, 1) * np.where(X[:, 0] > 0, 1, -1)
    dump_svmlight_file(X, y, str(tmp_path / "noise.svm"), zero_based=False)
    command = ["tune", str(tmp_path / "noise.svm"), "-C", "0.0001:100:7", "--folds", "3"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.count("best") == 1
    assert "-: not tried, as the loss of held-out examples had risen; --all tries every C" in out
    assert out.splitlines()[7].split() == ["100", "-", "-", "-", "-"]
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["candidates"][-1]["score"] is None
    assert main([*command, "--all"]) == 0
    assert "not tried" not in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:the models for C")
@pytest.mark.parametrize(("max_iter", "marks"), [(1, [True, True]), (1000, [False, False])])
def test_models_that_stopped_early_are_marked(max_iter, marks):
    X, y = load_breast_cancer(return_X_y=True)
    model = oneslack.LinearSVC(max_iter=max_iter)
    found = oneslack.tune(model, X / X.max(axis=0), y, [0.1, 1.0], cv=3, refit=False)
    lines = tune_report.table(found).splitlines()
    legend = "unfinished: stopped far from the optimum, so the score says little; scale the features"
    assert [line.endswith("  unfinished") for line in lines[1:3]] == marks
    assert (legend in lines) == any(marks)
    assert sum("  best" in line for line in lines) == 1
    facts = json.loads(json.dumps(tune_report.facts(found, SimpleNamespace(path="cancer.svm"), None)))
    assert [row["unfinished"] for row in facts["candidates"]] == marks


def test_the_scores_are_those_of_the_library(cancer, capsys):
    assert main(["tune", cancer, "-C", "0.1,1", "--folds", "3", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    X, y = load_breast_cancer(return_X_y=True)
    found = oneslack.tune(oneslack.LinearSVC(random_state=0), X / X.max(axis=0), y, [0.1, 1.0], cv=3)
    np.testing.assert_allclose([row["score"] for row in facts["candidates"]], found.mean, atol=2e-2)


def test_numbers_and_kernels(cancer, tmp_path, capsys):
    X, y = load_diabetes(return_X_y=True)
    numbers = tmp_path / "numbers.svm"
    dump_svmlight_file(X, y, str(numbers), zero_based=False)
    assert main(["tune", str(numbers), "--task", "regress", "-C", "1,100", "--folds", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best"]["C"] == 100.0
    options = ["--gamma", "0.001,1", "-C", "1", "--folds", "2", "--json"]
    assert main(["tune", cancer, *options]) == 0
    assert json.loads(capsys.readouterr().out)["best"] == {"gamma": 1.0, "C": 1.0}


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["-C", "0,1"], 2, "is not positive numbers such as"),
        (["-C", "one"], 2, "is not positive numbers such as"),
        (["-C", "1:2"], 2, "is not positive numbers such as"),
        (["--scoring", "nonsense"], 2, "scikit-learn has no scorer 'nonsense'"),
        (["--scoring", "neg_log_loss"], 2, "--scoring neg_log_loss needs probabilities"),
        (["-o", "a.png", "--plot", "./a.png"], 2, "cannot hold both the model and the picture"),
        (["--plot", "scores.gif"], 2, "--plot writes .png, .svg or .pdf"),
        (["--task", "regress", "--gamma", "1"], 2, "--gamma is for classes"),
        (["--folds", "1"], 2, "--folds"),
        (["--folds", "400"], 3, "fewer than the 400 folds"),
        (["-o", "no/such/folder/model"], 3, "no/such/folder"),
    ],
)
def test_what_is_refused(cancer, options, code, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["tune", cancer, *options]) == code
    err = capsys.readouterr().err
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "scores.gif").exists()


def test_folds_of_one_number(tmp_path, capsys):
    (tmp_path / "few.svm").write_text("1.5 1:1\n2 1:2\n3 1:3\n4 1:4\n")
    assert main(["tune", str(tmp_path / "few.svm"), "--task", "regress", "--folds", "4", "-q"]) == 3
    err = capsys.readouterr().err
    assert "a score is not a number; use fewer folds" in err
    assert err.count("\n") == 1
