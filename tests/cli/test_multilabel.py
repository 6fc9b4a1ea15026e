"""`oneslack train multilabel` and what follows."""

import json

import numpy as np
import pytest

from oneslack.formats import FormatError, read_multilabel


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(80):
        kind = rng.integers(0, 3)
        labels = ",".join([["sea", "sky"], ["city"], []][kind])
        x = np.eye(3)[kind] + 0.2 * rng.normal(size=3)
        lines.append(f"{labels} " + " ".join(f"{k + 1}:{v:.3f}" for k, v in enumerate(x)))
    path = tmp_path / "several.svm"
    path.write_text("# two or none\n" + "\n".join(lines) + "\n")
    return path


def test_train_predict_evaluate_and_report(run, file, tmp_path):
    model = tmp_path / "m"
    result = run("train", "multilabel", file, "-o", model, "-C", "10", "--dependencies", "tree")
    assert result.code == 0, result.err
    assert "3 labels" in result.out
    predicted = run("predict", model, file).out.splitlines()
    assert {"sea,sky", "city", ""} == set(predicted)
    assert len(run("predict", model, file, "--scores").out.splitlines()[0].split("\t")) == 4
    facts = json.loads(run("evaluate", model, file, "--json").out)
    assert facts["measures"]["hamming_loss"] < 0.02
    assert next(iter(facts["measures"])) == "hamming_loss"
    assert "F1 of an example" in run("evaluate", model, file).out
    assert "sets of labels" in run("info", model).out
    result = run("report", model, "--data", file, "-o", tmp_path / "r.html")
    assert result.code == 0, result.err
    assert "By label" in (tmp_path / "r.html").read_text()


def test_bad_files_and_options_are_told(run, file, tmp_path):
    bad = tmp_path / "bad.svm"
    bad.write_text("1,2 1:0.5\n3 2:x\n")
    result = run("train", "multilabel", bad, "-o", tmp_path / "m")
    assert result.code != 0
    assert "bad.svm, line 2" in result.err
    bad.write_text("1:0.5\n2:1\n")
    assert "no example has a label" in run("train", "multilabel", bad, "-o", tmp_path / "m").err
    result = run("train", "multilabel", file, "-o", tmp_path / "m", "--loss", "f2")
    assert "loss='f2' is not known" in result.err


def test_labels_are_read(tmp_path):
    path = tmp_path / "f.svm"
    path.write_text("7,-1,7 0:1\n\n# nothing\n3:2 # no label\n \t2:1\n")
    X, labels = read_multilabel(path)
    assert labels == [(7, -1), (), ()]
    assert X.toarray().tolist() == [[1, 0, 0, 0], [0, 0, 0, 2], [0, 0, 1, 0]]
    path.write_text("a,1 2:1\n")
    assert read_multilabel(path, n_features=4)[1] == [("a", "1")]
    path.write_text("")
    with pytest.raises(FormatError, match="holds no example"):
        read_multilabel(path)
