"""Which class is positive, and what C is where nothing is said: MetricSVC as people with fraud/ok meet it."""

import numpy as np
import pytest
from sklearn.metrics import f1_score

from oneslack import LinearSVC, MetricSVC, check_certificate, load
from oneslack.metrics import positive_class
from oneslack.models.measures.scale import unit_of_C

METRICS = [(name, {}) for name in ("f1", "prbep", "roc_auc", "average_precision", "error")]
METRICS += [("fbeta", {"beta": 2.0}), ("precision_at_k", {"k": 12})]


def fraud(seed=0, n=60, share=0.2, shift=2.5):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, "fraud", "ok")
    X = rng.normal(size=(n, 3))
    X[y == "fraud", 0] += shift
    return X, y


def test_the_rule():
    assert positive_class(["fraud", "ok"], [5, 50]) == 0
    assert positive_class(["bad", "good"], [50, 5]) == 1
    assert positive_class(["a", "b"], [5, 5]) == 1
    assert positive_class([-1, 1], [5, 50]) == positive_class([False, True], [5, 50]) == 1
    assert positive_class([1, 2], [5, 50]) == 0
    assert positive_class(["a", "b"], [5, 50], "b") == 1


@pytest.mark.parametrize(("metric", "more"), METRICS)
def test_a_named_class_is_what_the_other_coding_trains(metric, more):
    """Positive first class: the model of the swapped labels, with scores of the other sign."""
    X, y = fraud()
    ours = MetricSVC(metric, C=0.5, pos_label="fraud", tol=1e-8, **more).fit(X, y)
    coded = MetricSVC(metric, C=0.5, tol=1e-8, **more).fit(X, np.where(y == "fraud", 1, -1))
    assert ours.classes_.tolist() == ["fraud", "ok"]
    assert ours.pos_label_ == "fraud"
    assert np.allclose(ours.decision_function(X), -coded.decision_function(X), atol=1e-6)
    assert ours.score(X, y) == coded.score(X, np.where(y == "fraud", 1, -1))
    check_certificate(ours, X, y)


def test_the_rarer_class_is_found_and_kept_in_files(tmp_path):
    X, y = fraud()
    model = MetricSVC().fit(X, y)
    assert model.pos_label_ == "fraud"
    assert f1_score(y, model.predict(X), pos_label="fraud") > 0.8
    again = load(model.save(tmp_path / "m.os") or tmp_path / "m.os")
    assert (again.pos_label_, again.C_, again.score(X, y)) == (model.pos_label_, model.C_, model.score(X, y))
    assert again.certain(X).tolist() == model.certain(X).tolist()


def test_bounds_of_scores_hold_for_the_optimum():
    X, y = fraud(1)
    rough = MetricSVC(C=0.3, tol=0.05).fit(X, y)
    exact = MetricSVC(C=0.3, tol=1e-9).fit(X, y)
    low, high = rough.decision_bounds(X)
    scores = exact.decision_function(X)
    assert (low <= scores + 1e-6).all()
    assert (scores <= high + 1e-6).all()


def test_a_label_that_is_none_is_refused():
    X, y = fraud()
    with pytest.raises(ValueError, match="pos_label='froud' is not a class; y has 'fraud' and 'ok'"):
        MetricSVC(pos_label="froud").fit(X, y)
    with pytest.raises(ValueError, match="for two classes, and y has 3"):
        MetricSVC(pos_label=1).fit(X, np.arange(len(y)) % 3)


def test_scale_is_the_loss_of_a_missed_positive():
    """By the definition of the measure, counted."""
    for P, n in [(5, 100), (40, 80)]:
        missed = [1] * (P - 1) + [0] * (n - P + 1)
        truth = [1] * P + [0] * (n - P)
        assert unit_of_C("f1", P, n) == pytest.approx(n * (1 - f1_score(truth, missed)))
        of_counts = unit_of_C(lambda tp, fp, fn, tn: 1 - 2 * tp / (2 * tp + fp + fn), P, n)
        assert of_counts == pytest.approx(unit_of_C("f1", P, n))
    X, y = fraud()
    assert MetricSVC("error").fit(X, y).C_ == 1.0
    assert pytest.approx(60 / 23) == MetricSVC("f1").fit(X, y).C_


def test_training_for_f1_is_better_at_f1_out_of_the_box():
    """Text-like rows, 4 % positive, other examples than those that were trained on."""
    rng = np.random.default_rng(3)
    X = (rng.random((6000, 300)) < 0.04).astype(float)
    w = rng.normal(size=300) * (rng.random(300) < 0.2)
    score = X @ w + 0.7 * rng.normal(size=6000)
    y = np.where(score > np.quantile(score, 0.96), "yes", "no")
    of = lambda model: f1_score(y[3000:], model.fit(X[:3000], y[:3000]).predict(X[3000:]), pos_label="yes")  # noqa: E731
    assert of(MetricSVC("f1")) > of(LinearSVC())
