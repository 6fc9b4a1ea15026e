"""`train regress`, and what the other commands say of its models."""

import json

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_pinball_loss, r2_score

import oneslack
from oneslack.formats import write_svmlight


@pytest.fixture
def numbers(folder):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3)).round(3)
    y = (X @ [2.0, -1.0, 0.0] + 7 + rng.normal(size=80)).round(3)
    write_svmlight("numbers.svm", X, y)
    return X, y


def test_the_model_is_the_one_that_python_trains(numbers, run):
    X, y = numbers
    done = run("train", "regress", "numbers.svm", "-o", "m", "-C", "0.5", "--tube", "0.3", "--tol", "1e-6")
    assert (done.code, done.err) == (0, "")
    assert "errors up to 0.3 cost nothing" in done.out
    here = oneslack.LinearSVR(C=0.5, epsilon=0.3, tol=1e-6, random_state=0).fit(X, y)
    np.testing.assert_allclose(oneslack.load("m").predict(X), here.predict(X), atol=1e-9)
    predicted = np.array([float(line) for line in run("predict", "m", "numbers.svm").out.splitlines()])
    np.testing.assert_allclose(predicted, here.predict(X), rtol=1e-9)
    facts = json.loads(run("evaluate", "m", "numbers.svm", "--json").out)["measures"]
    assert facts["mean_absolute_error"] == pytest.approx(mean_absolute_error(y, predicted))
    assert facts["r2"] == pytest.approx(r2_score(y, predicted))
    outside = np.maximum(np.abs(y - predicted) - 0.3, 0).mean()
    assert facts["mean_outside_tube"] == pytest.approx(outside)
    text = run("evaluate", "m", "numbers.svm").out
    assert f"mean absolute error {mean_absolute_error(y, predicted):.6g}\n" in text
    assert text.startswith(f"mean distance outside the tube {outside:.6g}  (tube 0.3)\n")
    facts = json.loads(run("info", "m", "--json").out)
    assert (facts["predicts"], facts["tube"]) == ("numbers", 0.3)


def test_a_quantile_is_judged_as_one(numbers, run):
    X, y = numbers
    done = run("train", "regress", "numbers.svm", "-o", "m", "--quantile", "0.8")
    assert "80 % of the targets should lie below the prediction" in done.out
    facts = json.loads(run("info", "m", "--json").out)
    assert (facts["loss"], facts["quantile"]) == ("pinball", 0.8)
    assert "tube" not in facts
    predicted = oneslack.load("m").predict(X)
    mean, share = mean_pinball_loss(y, predicted, alpha=0.8), (y <= predicted).mean()
    assert 0.7 < share < 0.9
    measures = json.loads(run("evaluate", "m", "numbers.svm", "--json").out)["measures"]
    assert list(measures)[:2] == ["mean_pinball_loss", "below_prediction"]
    assert measures["mean_pinball_loss"] == pytest.approx(mean)
    assert measures["below_prediction"] == pytest.approx(share)
    assert "mean_outside_tube" not in measures
    lines = run("evaluate", "m", "numbers.svm").out.splitlines()
    assert lines[0] == f"mean pinball loss {mean:.6g}  (quantile 0.8)"
    assert lines[1] == f"targets up to the prediction {100 * share:.2f} %"


def test_hubers_loss_is_judged_by_itself(numbers, run):
    X, y = numbers
    done = run("train", "regress", "numbers.svm", "-o", "m", "--loss", "huber", "--delta", "0.5")
    assert "errors beyond 0.5 cost linearly" in done.out
    r = np.abs(y - oneslack.load("m").predict(X))
    assert 0 < (r > 0.5).mean() < 1
    mean = np.where(r <= 0.5, r**2 / 2, 0.5 * r - 0.125).mean()
    assert run("evaluate", "m", "numbers.svm").out.startswith(f"mean Huber loss {mean:.6g}  (delta 0.5)\n")
    assert json.loads(run("info", "m", "--json").out)["delta"] == 0.5
    assert run("report", "m", "--data", "numbers.svm", "-o", "m.html").code == 0


def test_json_and_checkpoints(numbers, run):
    train = ["train", "regress", "numbers.svm", "-o", "m", "--solver", "dual_cd", "--json"]
    kept = [*train, "--tol", "1e-9", "--checkpoint", "kept", "--resume"]
    assert run(*kept, "--max-iter", "2").code == 4
    facts = json.loads(run(*kept).out)
    assert facts["relative_gap"] <= 1e-9
    assert facts["epsilon"] is None


def test_targets_must_be_numbers(folder, run):
    done = run("train", "regress", "kinds.csv", "-o", "m")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert "are not finite numbers" in done.err
