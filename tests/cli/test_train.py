import json

import numpy as np
import pytest

import oneslack


def test_the_summary_goes_to_stdout_and_says_the_gap(folder, run):
    done = run("train", "classify", "train.svm", "-o", "model")
    assert done.code == 0
    assert done.err == ""
    assert done.out.startswith("model: at most ")
    assert "above the optimum (certified)" in done.out
    assert "20 examples, 3 features, 2 classes" in done.out


def test_quiet_says_nothing(folder, run):
    done = run("train", "classify", "train.svm", "-o", "model", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (folder / "model").exists()


def test_json_is_one_object_with_the_certificate(folder, run):
    done = run("train", "classify", "train.svm", "-o", "model", "--json", "-C", "2", "--tol", "1e-5")
    facts = json.loads(done.out)
    assert facts["status"] == "converged"
    assert facts["exit_code"] == done.code == 0
    assert facts["model"] == "model"
    assert facts["dual"] <= facts["primal"]
    assert facts["relative_gap"] <= 1e-5
    assert facts["classes"] == [-1, 1]


def test_the_model_is_the_one_that_python_trains(folder, run):
    options = ["-C", "0.5", "--tol", "1e-6", "--no-intercept", "--solver", "dual_cd", "--seed", "3"]
    assert run("train", "classify", "train.svm", "-o", "model", *options).code == 0
    X = np.array([[1 + 0.1 * k, 0, sign * (2 + 0.2 * k)] for k in range(10) for sign in (1, -1)])
    y = np.tile([1, -1], 10)
    here = oneslack.LinearSVC(0.5, tol=1e-6, fit_intercept=False, solver="dual_cd", random_state=3).fit(X, y)
    loaded = oneslack.load("model")
    assert loaded.get_params()["C"] == 0.5
    assert loaded.intercept_ == 0
    np.testing.assert_allclose(loaded.coef_, here.coef_, atol=1e-6)


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_more_than_two_classes_by_name(folder, run, multi_class):
    done = run(
        "train", "classify", "kinds.csv", "-o", "m", "--solver", "one_slack", "--multi-class", multi_class
    )
    assert done.code == 0
    assert oneslack.load("m").classes_.tolist() == ["high", "low", "middle"]


def test_the_label_may_stand_in_any_column(folder, run):
    rows = [line.split(",") for line in (folder / "kinds.csv").read_text().split()]
    (folder / "first.csv").write_text("".join(f"{c},{a},{b}\n" for a, b, c in rows))
    for label in ("kind", "0"):
        assert (
            run("train", "classify", "first.csv", "-o", "m", "--label", label, "--solver", "one_slack").code
            == 0
        )
        assert run("evaluate", "m", "first.csv").out.startswith("accuracy 100.00 %")


def test_class_weights_move_the_model(folder, run):
    (folder / "mixed.svm").write_text("1 1:1\n1 1:-1\n-1 1:-1\n-1 1:1\n" * 5)
    for weights, expected in (("1=10", "1"), ("-1=10", "-1"), ("1=1,-1=10", "-1")):
        run("train", "classify", "mixed.svm", "-o", "m", "--class-weight", weights, "-q")
        assert set(run("predict", "m", "mixed.svm").out.split()) == {expected}
    assert run("train", "classify", "train.svm", "-o", "m", "--class-weight", "balanced").code == 0


def test_stopping_early_is_said_saved_and_has_its_exit_code(folder, run):
    done = run("train", "classify", "kinds.csv", "-o", "m", "--solver", "one_slack", "--max-iter", "2")
    assert done.code == 4
    assert done.err.count("\n") == 1
    assert "raise --max-iter" in done.err
    assert "saved m" in done.err
    assert oneslack.load("m").n_iter_ == 2
    status = run("info", "m", "--json").out
    assert json.loads(status)["status"] == "max_iter"


def test_epsilon_is_the_papers_rule(folder, run):
    done = run(
        "train", "classify", "train.svm", "-o", "m", "--epsilon", "0.1", "--json", "--solver", "one_slack"
    )
    assert json.loads(done.out)["status"] == "epsilon"
    assert done.code == 0


def test_an_old_model_is_replaced(trained, run):
    before = (trained / "model").read_bytes()
    assert run("train", "classify", "train.svm", "-o", "model", "-C", "0.01").code == 0
    assert (trained / "model").read_bytes() != before
