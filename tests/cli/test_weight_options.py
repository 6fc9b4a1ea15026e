import numpy as np
import pytest

import oneslack


def test_a_prior_is_an_earlier_model(folder, run):
    assert run("train", "classify", "train.svm", "-o", "early", "-C", "5").code == 0
    assert run("train", "classify", "train.svm", "-o", "late", "-C", "1e-9", "--prior", "early").code == 0
    early, late = oneslack.load("early"), oneslack.load("late")
    np.testing.assert_allclose(late.coef_, early.coef_, atol=1e-6)
    np.testing.assert_allclose(late.prior, early.coef_)


@pytest.mark.parametrize("kind", ["classify", "regress"])
def test_weights_are_held(folder, run, kind):
    done = run("train", kind, "train.svm", "-o", "held", "--nonnegative")
    assert done.code == 0
    assert "(certified)" in done.out
    assert (oneslack.load("held").coef_ >= 0).all()


def test_regression_takes_a_prior(folder, run):
    assert run("train", "regress", "train.svm", "-o", "early").code == 0
    assert run("train", "regress", "train.svm", "-o", "late", "-C", "1e-9", "--prior", "early").code == 0
    np.testing.assert_allclose(oneslack.load("late").coef_, oneslack.load("early").coef_, atol=1e-6)


def test_what_does_not_fit_is_refused(folder, run):
    assert run("train", "classify", "train.svm", "-o", "two").code == 0
    assert run("train", "regress", "train.svm", "-o", "number").code == 0
    assert run("train", "classify", "kinds.csv", "-o", "kinds").code == 0
    for prior, sentence in (
        ("number", "--prior number: holds a LinearSVR; expected a LinearSVC."),
        ("kinds", "--prior kinds: has 2 features, but train.svm has 3."),
        ("nowhere", "nowhere"),
    ):
        done = run("train", "classify", "train.svm", "-o", "m", "--prior", prior)
        assert done.code != 0
        assert sentence in done.err
    (folder / "other.svm").write_text((folder / "train.svm").read_text().replace("-1 ", "7 "))
    done = run("train", "classify", "other.svm", "-o", "m", "--prior", "two")
    assert "--prior two: was trained on other labels than those of other.svm." in done.err


@pytest.mark.parametrize("option", [["--prior", "x"], ["--nonnegative"], ["--memory", "1GB"]])
def test_a_measure_knows_none_of_them(folder, run, option):
    done = run("train", "classify", "train.svm", "-o", "m", "--metric", "f1", *option)
    assert done.code == 2
    assert f"{option[0]} and --metric do not go together" in done.err


def test_newton_holds_no_weights(folder, run):
    done = run("train", "classify", "train.svm", "-o", "m", "--nonnegative", "--solver", "newton")
    assert done.code != 0
    assert "Newton cannot hold weights >= 0" in done.err
