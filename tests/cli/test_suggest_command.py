"""`oneslack train FILE`: the commands that it suggests are right, and run."""

import shlex

import pytest
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_diabetes, load_iris

import oneslack
from oneslack.cli import main
from oneslack.formats import pack


def suggested(capsys, file):
    """The words about a file, and the commands."""
    assert main(["train", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    return lines[0], [line.strip() for line in lines if line.startswith("  ")]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, X, y, **options):
    dump_svmlight_file(X, y, name, zero_based=False, **options)
    return name


def test_classes(capsys):
    X, y = load_breast_cancer(return_X_y=True)
    words, commands = suggested(capsys, write("two classes.svm", X / X.max(axis=0), y))
    assert "569 examples, 30 features, 2 classes" in words
    assert commands[0] == "oneslack train classify 'two classes.svm' -o 'two classes.model'"
    assert main([*shlex.split(commands[0])[1:], "-q"]) == 0
    assert oneslack.load("two classes.model").score(X / X.max(axis=0), y) > 0.95


def test_rare_classes_and_grades(capsys):
    X, y = load_iris(return_X_y=True)
    _, commands = suggested(capsys, write("iris.svm", X, y))
    assert "oneslack train ordinal iris.svm -o iris.model" in commands
    _, commands = suggested(capsys, write("rare.svm", X[40:103], y[40:103] == 2))
    assert commands[-1] == "oneslack train classify rare.svm --metric f1 -o rare.model"
    assert main([*shlex.split(commands[-1])[1:], "-q"]) == 0


def test_numbers_and_queries(capsys):
    X, y = load_diabetes(return_X_y=True)
    words, commands = suggested(capsys, write("amounts.svm", X, y))
    assert "targets from 25 to 346" in words
    assert commands == ["oneslack train regress amounts.svm -o amounts.model"]
    words, commands = suggested(capsys, write("q.svm", X[:30], y[:30], query_id=[k // 10 for k in range(30)]))
    assert "3 queries" in words
    assert commands == ["oneslack train rank q.svm -o q.model"]


def test_text_and_trees(capsys, tmp_path):
    (tmp_path / "words.conll").write_text("the D\ndog N\n\na D\ncat N\n")
    assert suggested(capsys, "words.conll")[1] == ["oneslack train tag words.conll -o words.model"]
    (tmp_path / "bank.mrg").write_text("(S (NP (D the) (N dog)) (VP (V barks)))\n")
    assert suggested(capsys, "bank.mrg")[1] == ["oneslack train parse bank.mrg -o bank.model"]


def test_a_packed_folder(capsys):
    X, y = load_iris(return_X_y=True)
    pack([write("iris.svm", X, y)], "packed")
    words, commands = suggested(capsys, "packed/")
    assert "150 examples, 4 features" in words
    assert commands == ["oneslack train classify packed/ -o packed.model"]


def test_packed_numbers_and_queries(capsys):
    X, y = load_diabetes(return_X_y=True)
    pack([write("amounts.svm", X, y + 0.5)], "amounts")
    pack([write("many.svm", X, y)], "many")
    pack([write("q.svm", X[:30], y[:30], query_id=[k // 10 for k in range(30)])], "q")
    for folder, task in (("amounts", "regress"), ("many", "regress"), ("q", "rank")):
        _, commands = suggested(capsys, folder)
        assert commands == [f"oneslack train {task} {folder} -o {folder}.model"]
        assert main([*shlex.split(commands[0])[1:], "-q", "--tol", "0.5"]) == 0


def test_what_is_refused(capsys, tmp_path):
    X, y = load_iris(return_X_y=True)
    oneslack.LinearSVC().fit(X, y).save(tmp_path / "model")
    assert main(["train", "model"]) == 2
    assert "is a model, trained already" in capsys.readouterr().err
    assert main(["train", "no.svm"]) == 2
    assert "neither a way to train nor a file" in capsys.readouterr().err
    assert main(["train", write("one.svm", X, y * 0)]) == 3
    assert "nothing to learn" in capsys.readouterr().err


def test_shells_complete_names(capsys, monkeypatch):
    from oneslack.cli.app import app

    words = ("_ONESLACK_COMPLETE", "complete_bash"), ("COMP_WORDS", "oneslack tr"), ("COMP_CWORD", "1")
    for name, value in words:
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        app(prog_name="oneslack")
    assert capsys.readouterr().out.split() == ["train"]
