"""`oneslack train ... --proof` and `oneslack verify`."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_diabetes, load_iris

from oneslack.cli.app import run

TAGGED = "\n\n".join(
    "\n".join(f"w{(3 * i + t) % 5} {'AB'[(i + t) % 2]}" for t in range(1 + i % 4)) for i in range(30)
)
TREES = """(S (NP (D the) (N dog)) (VP (V saw) (NP (D a) (N cat))))
(S (NP (N dogs)) (VP (V sleep)))
(S (NP (D the) (N cat)) (VP (V saw) (NP (NP (D a) (N dog)) (PP (P in) (NP (D the) (N park))))))
(S (NP (N cats)) (VP (VP (V sleep)) (PP (P in) (NP (N parks)))))"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_breast_cancer(return_X_y=True)
    dump_svmlight_file(X / X.max(axis=0), y, "cancer.svm", zero_based=False)
    dump_svmlight_file(*load_iris(return_X_y=True), "iris.svm", zero_based=False)
    dump_svmlight_file(*load_diabetes(return_X_y=True), "diabetes.svm", zero_based=False)
    rng = np.random.default_rng(0)
    np.savez(
        "queries.npz", X=rng.standard_normal((60, 3)), y=rng.integers(0, 3, 60), qid=np.repeat(range(6), 10)
    )
    (tmp_path / "tagged.txt").write_text(TAGGED + "\n")
    (tmp_path / "bank.trees").write_text(TREES + "\n")
    return tmp_path


WAYS = {
    "classify": ["classify", "cancer.svm"],
    "logistic": ["classify", "cancer.svm", "--loss", "logistic"],
    "l1": ["classify", "cancer.svm", "--penalty", "l1"],
    "three classes": ["classify", "iris.svm"],
    "one against the rest": ["classify", "iris.svm", "--multi-class", "ovr"],
    "held": ["classify", "cancer.svm", "--nonnegative"],
    "metric": ["classify", "cancer.svm", "--metric", "f1"],
    "kernel": ["classify", "iris.svm", "--kernel", "rbf", "--method", "exact"],
    "regress": ["regress", "diabetes.svm", "--tube", "10"],
    "quantile": ["regress", "diabetes.svm", "--quantile", "0.9"],
    "ordinal": ["ordinal", "iris.svm"],
    "rank": ["rank", "queries.npz"],
    "tag": ["tag", "tagged.txt"],
    "parse": ["parse", "bank.trees", "--min-count", "1", "--tol", "0.1"],
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_trained_is_verified(folder, capsys, way):
    assert run(["train", *WAYS[way], "-o", "it.model", "--proof"]) == 0
    said = capsys.readouterr().out
    assert "lines of NumPy you can read: `oneslack verify it.model" in said
    assert run(["verify", "it.model", WAYS[way][1]]) == 0
    assert "it.model: proven: at most" in capsys.readouterr().out


def test_other_data_are_rejected(folder, capsys):
    assert run(["train", "classify", "cancer.svm", "-o", "it.model", "--proof", "-q"]) == 0
    lines = (folder / "cancer.svm").read_text().splitlines()
    lines[0] = ("1" if lines[0][0] == "0" else "0") + lines[0][1:]
    (folder / "other.svm").write_text("\n".join(lines))
    assert run(["verify", "it.model", "other.svm"]) == 5
    said = capsys.readouterr()
    assert said.out == ""
    assert "it.model: not proven: " in said.err
    assert run(["verify", "it.model", "other.svm", "--json"]) == 5
    assert json.loads(capsys.readouterr().out)["proven"] is False


def test_json_has_the_bounds(folder, capsys):
    assert run(["train", "classify", "cancer.svm", "-o", "it.model", "--proof", "-q"]) == 0
    assert run(["verify", "it.model", "cancer.svm", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["proven"]
    assert facts["relative_gap"] <= 1e-3
    assert facts["dual"] <= facts["primal"]


def test_without_a_proof(folder, capsys):
    assert run(["train", "classify", "cancer.svm", "-o", "it.model", "-q"]) == 0
    assert run(["verify", "it.model", "cancer.svm"]) == 3
    assert "carries no proof; save it with proof=True, or train it with --proof" in capsys.readouterr().err


def test_packed_folders(folder, capsys):
    assert run(["pack", "cancer.svm", "-o", "packed"]) == 0
    assert run(["train", "classify", "packed", "-o", "it.model", "--proof", "-q", "--memory", "40MB"]) == 0
    assert run(["verify", "it.model", "packed"]) == 0


def test_a_fit_that_stopped_early_proves_its_gap(folder, capsys):
    assert run(["train", "classify", "cancer.svm", "-o", "it.model", "--proof", "-q", "--max-iter", "3"]) == 4
    capsys.readouterr()
    assert run(["verify", "it.model", "cancer.svm"]) == 0


def test_sampled_cuts_say_what_is_not_proven(folder, capsys):
    way = ["classify", "cancer.svm", "--kernel", "rbf", "--method", "linear", "--tol", "0.1"]
    assert run(["train", *way, "-o", "it.model", "--proof", "-q"]) in (0, 4)
    capsys.readouterr()
    assert run(["verify", "it.model", "cancer.svm"]) == 0
    assert "was estimated from sampled cuts, and is not proven" in capsys.readouterr().out


def test_a_report_tells_how_to_verify(folder):
    assert run(["train", "classify", "cancer.svm", "-o", "it.model", "--proof", "-q"]) == 0
    assert run(["report", "it.model", "-o", "it.html"]) == 0
    assert "oneslack verify it.model cancer.svm recomputes both bounds" in (folder / "it.html").read_text()
