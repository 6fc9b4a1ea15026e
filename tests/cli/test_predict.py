import numpy as np
import pytest
from scipy.sparse import csr_matrix

import oneslack
from oneslack.formats import read_data, write_svmlight


def test_one_prediction_a_line(trained, run):
    done = run("predict", "model", "train.svm")
    assert done.code == 0
    table = read_data("train.svm")
    assert done.out.split("\n")[:-1] == [str(label) for label in oneslack.load("model").predict(table.X)]


def test_into_a_file(trained, run):
    shown = run("predict", "model", "train.svm").out
    done = run("predict", "model", "train.svm", "-o", "out.txt")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (trained / "out.txt").read_text() == shown


def test_scores_follow_the_label(trained_on_csv, run):
    rows = [
        line.split("\t") for line in run("predict", "kinds.model", "kinds.csv", "--scores").out.splitlines()
    ]
    scores = np.array([row[1:] for row in rows], float)
    model = oneslack.load("kinds.model")
    np.testing.assert_allclose(scores, model.decision_function(read_data("kinds.csv").X), rtol=1e-8)
    assert [row[0] for row in rows] == model.classes_[scores.argmax(axis=1)].tolist()


def test_labels_are_not_needed_in_a_csv_file(trained_on_csv, run):
    text = (trained_on_csv / "kinds.csv").read_text()
    bare = "".join(",".join(line.split(",")[:2]) + "\n" for line in text.split())
    for name, content in (("bare.csv", bare), ("headless.csv", bare.split("\n", 1)[1])):
        (trained_on_csv / name).write_text(content)
        done = run("predict", "kinds.model", name)
        assert done.out == run("predict", "kinds.model", "kinds.csv").out


def test_labels_are_not_needed_in_an_npz_file(trained_on_csv, run):
    np.savez("bare.npz", X=read_data("kinds.csv").X)
    assert run("predict", "kinds.model", "bare.npz").out == run("predict", "kinds.model", "kinds.csv").out


def test_absent_svmlight_features_are_zeros(trained, run):
    (trained / "short.svm").write_text("0 1:5\n")
    done = run("predict", "model", "short.svm", "--scores")
    model = oneslack.load("model")
    expected = 5 * model.coef_[0, 0] + model.intercept_[0]
    assert float(done.out.split("\t")[1]) == pytest.approx(expected, rel=1e-6)


def test_the_model_remembers_where_indices_start(folder, run):
    """A file without the index 0 says nothing by itself: it must be read as the training data were."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.tile([0, 1], 30)
    X[:, 0] = 0.0
    X[0, 0], X[:, 1] = 1.0, 4.0 * y - 2.0
    lines = [f"{label} " + " ".join(f"{j}:{v}" for j, v in enumerate(row) if v) for row, label in zip(X, y)]
    (folder / "zero.svm").write_text("\n".join(lines))
    (folder / "test.svm").write_text("\n".join(lines[1:]))
    assert run("train", "classify", "zero.svm", "-o", "m").code == 0
    assert run("predict", "m", "test.svm").out.split() == [str(label) for label in y[1:]]


def test_a_python_model_and_indices_from_zero(folder, run):
    X, y = np.array([[0.0, 2.0], [0.0, -2.0]] * 5), np.array([1, 0] * 5)
    oneslack.LinearSVC().fit(X, y).save("m")
    (folder / "zero.svm").write_text("1 1:2\n0 1:-2\n")
    assert run("predict", "m", "zero.svm", "--zero-based").out.split() == ["1", "0"]
    write_svmlight("one.svm", csr_matrix(X), y)
    assert run("predict", "m", "one.svm", "--one-based").out.split() == ["1", "0"] * 5
