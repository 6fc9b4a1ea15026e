"""A report from Python, for every kind of estimator, and for models of users."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import oneslack

X, Y = load_iris(return_X_y=True)


@dataclass(frozen=True)
class Signs:
    """A user's model: two labels."""

    n_params: int

    def joint_feature(self, x, y):
        return y * x

    def loss(self, y, z):
        return float(y != z)

    def decode(self, w, x, y=None):
        scores = {z: z * (w @ x) + (0.0 if y is None else float(y != z)) for z in (1, -1)}
        return max(scores, key=scores.get)


WORDS = [[{"w=a": 1.0}, {"w=b": 1.0}], [{"w=b": 1.0}]] * 4
TAGS = [["B-X", "O"], ["O"]] * 4


@pytest.mark.parametrize(
    ("model", "X", "y", "words"),
    [
        (oneslack.LinearSVC(), X, Y, "Confused most often"),
        (oneslack.LinearSVR(), X, Y.astype(float), "Largest errors"),
        (oneslack.OrdinalSVC(), X, Y, "Where the score passes"),
        (oneslack.RankSVM(), X, Y, "Queries, the worst first"),
        (oneslack.KernelSVC(), X, Y, "support vectors"),
        (oneslack.MetricSVC("f1"), X, Y > 1, "ROC curve"),
        (oneslack.StructuralSVM(Signs(4)), X[:100], 2 * (Y[:100] > 0) - 1, "mean loss"),
        (oneslack.SequenceTagger(), WORDS, TAGS, "phrase F1"),
    ],
)
def test_every_kind_has_one(tmp_path, model, X, y, words):
    path = tmp_path / "page.html"
    model.fit(X, y)
    assert oneslack.report(model, X, y, path) == str(path)
    page = path.read_text()
    assert words in page
    assert "How close it is to the optimum" in page
    assert f"{model.objective_:.6g}" in page


def test_errors_of_a_users_model_are_those_of_its_loss(tmp_path):
    y = 2 * (Y[:100] > 0) - 1
    model = oneslack.StructuralSVM(Signs(4), C=1.0).fit(X[:100], y)
    wrong = -y[:10]
    oneslack.report(model, X[:10], wrong, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    losses = np.mean([a != b for a, b in zip(wrong, model.predict(X[:10]), strict=True)])
    assert f"<b>{losses:.6g}</b><span>mean loss" in page
    assert "Largest losses" in page


def test_names_the_training_data_and_nothing_at_all(tmp_path):
    model = oneslack.LinearSVC().fit(X, Y)
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    oneslack.report(model, X, Y, tmp_path / "a.html", trained_on=True, feature_names=names)
    page = (tmp_path / "a.html").read_text()
    assert "the examples that the model was trained on" in page
    assert "petal width" in page
    oneslack.report(model, path=tmp_path / "b.html")
    assert "How good it is" not in Path(tmp_path / "b.html").read_text()


def test_what_is_no_model_is_refused(tmp_path):
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(oneslack.OneslackError, match="X and y together"):
        oneslack.report(oneslack.LinearSVC().fit(X, Y), X, None, tmp_path / "a.html")

    with pytest.raises(oneslack.OneslackError, match="not of LogisticRegression"):
        oneslack.report(LogisticRegression(), X, Y, tmp_path / "a.html")
