"""Losses of LinearSVC and LinearSVR: optima of LIBLINEAR and scikit-learn, certificates recomputed, files."""

import numpy as np
import pytest
from reference import sparse_logistic
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC as LiblinearSVC
from sklearn.svm import LinearSVR as LiblinearSVR

import oneslack
from oneslack import LinearSVC, LinearSVR
from oneslack.losses import names

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)
FLOWERS, KINDS = load_iris(return_X_y=True)
PEOPLE, ILLNESS = load_diabetes(return_X_y=True)
PEOPLE = PEOPLE * 20.0
each_C = pytest.mark.parametrize("C", [0.01, 1.0, 10.0])


def squared_hinges(w, b, C):
    return 0.5 * w @ w + C * (np.maximum(0.0, 1.0 - (2 * Y - 1) * (X @ w + b)) ** 2).sum()


def logistic(w, b, C):
    return 0.5 * w @ w + C * np.logaddexp(0.0, -(2 * Y - 1) * (X @ w + b)).sum()


@each_C
def test_squared_hinge_is_liblinears(C):
    """Its solvers 1 and 2, which penalise an intercept."""
    ours = LinearSVC(C, loss="squared_hinge", fit_intercept=False, tol=1e-9).fit(X, Y)
    theirs = LiblinearSVC(C=C, dual=False, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, Y)
    assert ours.objective_ == pytest.approx(squared_hinges(theirs.coef_[0], 0.0, C), rel=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-4)


@each_C
@pytest.mark.parametrize("intercept", [False, True])
def test_logistic_is_scikit_learns(C, intercept):
    """LogisticRegression does not penalise its intercept, as here."""
    ours = LinearSVC(C, loss="logistic", fit_intercept=intercept, tol=1e-9).fit(X, Y)
    options = {"tol": 1e-12, "max_iter": 10_000, "solver": "newton-cholesky"}
    theirs = LogisticRegression(C=C, fit_intercept=intercept, **options).fit(X, Y)
    assert ours.objective_ == pytest.approx(logistic(theirs.coef_[0], theirs.intercept_, C), rel=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)


@each_C
def test_squared_tube_is_liblinears(C):
    ours = LinearSVR(C, loss="squared_epsilon_insensitive", epsilon=5.0, fit_intercept=False, tol=1e-9)
    ours.fit(PEOPLE, ILLNESS)
    theirs = LiblinearSVR(
        C=C, loss="squared_epsilon_insensitive", epsilon=5.0, dual=False, fit_intercept=False, tol=1e-10,
        max_iter=100_000,
    ).fit(PEOPLE, ILLNESS)  # fmt: skip
    w = theirs.coef_
    errors = np.maximum(0.0, np.abs(ILLNESS - PEOPLE @ w) - 5.0)
    assert ours.objective_ == pytest.approx(0.5 * w @ w + C * (errors**2).sum(), rel=1e-6)


@each_C
def test_without_a_tube_it_is_ridge_regression(C):
    """alpha |w|^2 + sum of squares: alpha = 1 / 2C; its intercept is not penalised either."""
    ours = LinearSVR(C, loss="squared_epsilon_insensitive", tol=1e-10).fit(PEOPLE, ILLNESS)
    theirs = Ridge(alpha=0.5 / C).fit(PEOPLE, ILLNESS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-3)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, rel=1e-6)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_a_quantile_is_what_so_many_lie_below(quantile):
    model = LinearSVR(10.0, loss="pinball", quantile=quantile, tol=1e-5, solver="one_slack").fit(
        PEOPLE, ILLNESS
    )
    below = np.mean(model.predict(PEOPLE) > ILLNESS)
    assert below == pytest.approx(quantile, abs=(PEOPLE.shape[1] + 1) / len(ILLNESS))


def test_the_median_is_a_tube_without_width():
    median = LinearSVR(2.0, loss="pinball", tol=1e-8).fit(PEOPLE, ILLNESS)
    tube = LinearSVR(1.0, tol=1e-8).fit(PEOPLE, ILLNESS)
    assert median.objective_ == pytest.approx(tube.objective_, rel=1e-7)


def test_huber_is_between_squares_and_absolute_errors():
    squares = LinearSVR(1.0, loss="squared_epsilon_insensitive", tol=1e-9).fit(PEOPLE, ILLNESS)
    wide = LinearSVR(2.0, loss="huber", delta=1e3, tol=1e-8).fit(PEOPLE, ILLNESS)
    np.testing.assert_allclose(wide.coef_, squares.coef_, rtol=1e-4, atol=1e-4)
    absolute = LinearSVR(1.0, tol=1e-9).fit(PEOPLE, ILLNESS)
    narrow = LinearSVR(1e3, loss="huber", delta=1e-3, tol=1e-6).fit(PEOPLE, ILLNESS)
    assert narrow.objective_ == pytest.approx(absolute.objective_, rel=1e-4)


@pytest.mark.parametrize("loss", names(True))
@pytest.mark.parametrize("intercept", [False, True])
def test_certificates_of_classes_are_recomputed(loss, intercept, tmp_path):
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(KINDS))
    for K in (2, 3):
        chosen = KINDS < K
        model = LinearSVC(0.5, loss=loss, fit_intercept=intercept, tol=1e-4, class_weight="balanced")
        model.fit(FLOWERS[chosen], KINDS[chosen], sample_weight=weights[chosen])
        oneslack.check_certificate(model, FLOWERS[chosen], KINDS[chosen], sample_weight=weights[chosen])
        model.save(tmp_path / "model")
        again = oneslack.load(tmp_path / "model")
        assert again.loss == loss
        np.testing.assert_array_equal(again.decision_function(FLOWERS), model.decision_function(FLOWERS))


@pytest.mark.parametrize("loss", names(False))
@pytest.mark.parametrize("intercept", [False, True])
def test_certificates_of_numbers_are_recomputed(loss, intercept, tmp_path):
    model = LinearSVR(0.5, loss=loss, epsilon=3.0, quantile=0.7, delta=9.0, fit_intercept=intercept)
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(ILLNESS))
    model.fit(PEOPLE, ILLNESS, sample_weight=weights)
    oneslack.check_certificate(model, PEOPLE, ILLNESS, sample_weight=weights)
    model.save(tmp_path / "model")
    assert oneslack.load(tmp_path / "model").get_params() == model.get_params()


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_warm_starts_and_paths(loss):
    model = LinearSVC(0.1, loss=loss, warm_start=True, solver="dual_cd", tol=1e-3).fit(X, Y)
    model.set_params(C=1.0, tol=1e-6).fit(X, Y)
    cold = LinearSVC(1.0, loss=loss, tol=1e-6).fit(X, Y)
    assert model.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    for fitted in oneslack.path(LinearSVC(loss=loss), X, Y, C=[0.01, 0.1, 1.0]).models:
        assert fitted.duality_gap_ <= 1e-3


def test_what_a_loss_cannot_do_is_said():
    with pytest.raises(ValueError, match="use multi_class='ovr'"):
        LinearSVC(loss="logistic", multi_class="crammer_singer").fit(FLOWERS, KINDS)
    with pytest.raises(ValueError, match="partial_fit knows no penalty='l1', whose w is no sum of examples"):
        LinearSVC(loss="squared_hinge", penalty="l1").partial_fit(X, Y)
    with pytest.raises(ValueError, match="quantile must be a number between 0 and 1"):
        LinearSVR(loss="pinball", quantile=1.0).fit(PEOPLE, ILLNESS)
    assert not hasattr(LinearSVC(), "predict_proba")


@pytest.mark.grid(1)
@each_C
@pytest.mark.parametrize("scaling", [1.0, 10.0])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_penalised_intercept_is_liblinears(C, scaling, loss):
    ours = LinearSVC(C, loss=loss, penalize_intercept=True, intercept_scaling=scaling, tol=1e-8).fit(X, Y)
    theirs = LiblinearSVC(C=C, loss=loss, dual=loss == "hinge", intercept_scaling=scaling, tol=1e-8)
    theirs.set_params(max_iter=1_000_000, random_state=0).fit(X, Y)
    w, b = theirs.coef_[0], theirs.intercept_[0]
    margins = np.maximum(0.0, 1.0 - (2 * Y - 1) * (X @ w + b))
    value = 0.5 * (w @ w + (b / scaling) ** 2) + C * (margins ** (1 if loss == "hinge" else 2)).sum()
    assert ours.objective_ == pytest.approx(value, rel=1e-5)
    oneslack.check_certificate(ours, X, Y)


def test_a_penalised_intercept_of_numbers():
    ours = LinearSVR(1.0, epsilon=5.0, penalize_intercept=True, tol=1e-6).fit(PEOPLE, ILLNESS)
    theirs = LiblinearSVR(C=1.0, epsilon=5.0, dual=True, tol=1e-6, max_iter=1_000_000, random_state=0)
    theirs.fit(PEOPLE, ILLNESS)
    w, b = theirs.coef_, theirs.intercept_[0]
    value = 0.5 * (w @ w + b**2) + np.maximum(0.0, np.abs(ILLNESS - PEOPLE @ w - b) - 5.0).sum()
    assert ours.objective_ == pytest.approx(value, rel=1e-4)
    oneslack.check_certificate(ours, PEOPLE, ILLNESS)


def test_dual_is_taken_and_refused_as_scikit_learn_does():
    LinearSVC(loss="squared_hinge", dual=False).fit(X, Y)
    LinearSVC(dual=True).fit(X, Y)
    for options in (
        {"dual": False},
        {"penalty": "l1", "loss": "hinge"},
        {"penalty": "l1", "dual": True},
    ):
        with pytest.raises(ValueError, match="Unsupported set of arguments"):
            LinearSVC(**options).fit(X, Y)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@each_C
def test_l1_is_liblinears(loss, C):
    """Without an intercept, which LIBLINEAR penalises."""
    ours = LinearSVC(C, penalty="l1", loss=loss, fit_intercept=False, tol=1e-7).fit(X, Y)
    if loss == "logistic":
        theirs = sparse_logistic(C=C, fit_intercept=False, tol=1e-8)
    else:
        theirs = LiblinearSVC(C=C, penalty="l1", dual=False, fit_intercept=False, tol=1e-8)
    w = theirs.set_params(max_iter=100_000).fit(X, Y).coef_[0]
    risk = (logistic if loss == "logistic" else squared_hinges)(w, 0.0, C) - 0.5 * w @ w
    assert ours.objective_ == pytest.approx(np.abs(w).sum() + risk, rel=1e-5)
    assert 0 < (ours.coef_ != 0).sum() < X.shape[1]


def test_l1_alone_selects_by_the_squared_hinge():
    by_default = LinearSVC(0.01, penalty="l1").fit(X, Y)
    named = LinearSVC(0.01, penalty="l1", loss="squared_hinge").fit(X, Y)
    assert by_default.loss == "auto"
    assert np.array_equal(by_default.coef_, named.coef_)
    assert by_default.result_.certified
    assert by_default.to_sklearn().loss == "squared_hinge"
    with pytest.raises(ValueError, match="penalty='l1' needs a loss without kinks: 'squared_hinge'"):
        LinearSVC(penalty="l1", loss="hinge").fit(X, Y)


def test_l1_selects_along_a_path_and_by_tuning(tmp_path):
    model = LinearSVC(penalty="l1", loss="logistic")
    counts = [(each.coef_ != 0).sum() for each in oneslack.path(model, X, Y, C=[0.01, 0.1, 1.0])]
    assert counts == sorted(counts)
    best = oneslack.tune(model, X, Y, C=[0.001, 1.0])
    assert best.best_C == 1.0
    three = LinearSVC(penalty="l1", loss="squared_hinge").fit(FLOWERS, KINDS)
    assert three.coef_.shape == (3, 4)
    three.save(tmp_path / "model")
    assert oneslack.load(tmp_path / "model").penalty == "l1"
