"""Trainings whose certificate was once wrong: what is said is compared with P in rational numbers."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import oneslack
from oneslack import LinearSVC, Status


def objective(model, X, y, scale=None, sample_weight=None):
    """P(coef_, intercept_) of two classes, exactly."""
    w, b = [Fraction(v) for v in model.coef_[0]], Fraction(float(model.intercept_[0]))
    r = [Fraction(1)] * len(w) if scale is None else [Fraction(v) for v in scale]
    s = [Fraction(1)] * len(y) if sample_weight is None else [Fraction(v) for v in sample_weight]
    total = sum((ri * wi) ** 2 for ri, wi in zip(r, w, strict=True)) / 2
    for x, label, weight in zip(np.asarray(X, float), y, s, strict=True):
        score = sum(Fraction(xi) * wi for xi, wi in zip(x.tolist(), w, strict=True)) + b
        total += Fraction(model.C) * weight * max(0, 1 - (1 if label == model.classes_[1] else -1) * score)
    return total


def fit(X, y, sample_weight=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVC(**parameters).fit(X, y, sample_weight=sample_weight)


def separable(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    return X, (X @ rng.normal(size=4) > 0).astype(int)


@pytest.mark.parametrize("solver", ["auto", "dual_cd", "one_slack", "newton"])
@pytest.mark.parametrize("C", [1e9, 1e12])
def test_a_large_C_is_no_excuse(C, solver):
    X, y = separable(0)
    model = fit(X, y, C=C, solver=solver)
    result = model.result_
    assert result.certified
    assert objective(model, X, y) <= Fraction(model.objective_)
    assert result.status is not Status.CONVERGED or model.duality_gap_ <= 1e-3
    best = fit(X, y, C=1e9, solver="newton", tol=1e-9)
    assert Fraction(model.dual_objective_) <= objective(best, X, y) or C != 1e9


@pytest.mark.parametrize("seed", [11, 16])
def test_a_bound_by_planes_at_a_large_C(seed):
    X, y = separable(seed)
    best = fit(X, y, C=1e9, solver="newton", tol=1e-10)
    model = fit(X, y, C=1e9, solver="one_slack")
    assert Fraction(model.dual_objective_) <= objective(best, X, y)


@pytest.mark.parametrize("solver", ["auto", "newton", "dual_cd", "one_slack"])
def test_scores_that_drift_from_their_weights(solver):
    X = [[-1110, -0.29, -0.26, -240, 0.0112, 0.0013]] * 3
    scale, weights = [0.01, 0.01, 10, 0.1, 0.01, 1.0], [2, 0.1, 0.1]
    how = {"C": 1e5, "tol": 1e-6, "fit_intercept": False, "solver": solver, "max_iter": 2000}
    model = fit(X, [-1, 1, -1], weights, scale=scale, **how)
    assert objective(model, X, [-1, 1, -1], scale, weights) <= Fraction(model.objective_)
    assert model.objective_ <= 1.001 * float(objective(model, X, [-1, 1, -1], scale, weights))
    assert Fraction(model.dual_objective_) <= 20_001
    divided = np.array(X) / scale
    model = fit(divided, [-1, 1, -1], weights, **how)
    assert objective(model, divided, [-1, 1, -1], None, weights) <= Fraction(model.objective_)


@pytest.mark.parametrize("seed", range(3))
def test_raw_columns_reach_the_tolerance(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[6, 0, 0]] * 200 + [[-6, 0, 0]] * 200)
    X, y = (rng.normal(size=(400, 3)) + centres) * 1e5, np.repeat([1, 0], 200)
    model = LinearSVC().fit(X, y)
    assert model.result_.status is Status.CONVERGED
    assert model.duality_gap_ <= 1e-3
    assert objective(model, X, y) <= Fraction(model.objective_)


def test_very_short_rows_of_three_classes():
    X = np.random.default_rng(0).normal(size=(12, 3)) * 1e-6
    model = LinearSVC(C=1e-4, solver="dual_cd").fit(X, np.arange(12) % 3)
    assert 0.0 <= model.dual_objective_ <= model.objective_


class Forgetful:
    """Three classes; decode does not add the loss, but where nothing is learned yet."""

    n_params = 6

    def joint_feature(self, x, y):
        psi = np.zeros((3, 2))
        psi[y] = x
        return psi.ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        scores = w.reshape(3, 2) @ x
        if y is not None and not w.any():
            scores = scores + (np.arange(3) != y)
        return int(np.argmax(scores))


class Mindful(Forgetful):
    def decode(self, w, x, y=None):
        scores = w.reshape(3, 2) @ x
        return int(np.argmax(scores if y is None else scores + (np.arange(3) != y)))


@pytest.mark.parametrize("solver", ["one_slack", "n_slack", "dual_cd"])
def test_a_decoder_that_forgets_the_loss_certifies_nothing(solver):
    rng = np.random.default_rng(0)
    X, Y = list(rng.normal(size=(400, 2))), rng.integers(3, size=400).tolist()
    problem = oneslack.Problem(Forgetful(), X, Y)
    with pytest.warns(oneslack.InconsistentWarning, match="disagree"):
        result = oneslack.solve(problem, solver, max_iter=200)
    assert result.status is Status.INCONSISTENT
    assert "check_model" in result.status.advice
    assert not result.certified
    assert np.isfinite(result.w).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", oneslack.InconsistentWarning)
        model = oneslack.StructuralSVM(Forgetful(), solver=solver, max_iter=200).fit(X, Y)
    assert model.predict(X[:1]) in ([0], [1], [2])
    truth = oneslack.Problem(Mindful(), X, Y).primal(model.coef_)
    assert not model.result_.certified or truth <= model.objective_


class TooLow:
    """Two classes; decode claims an output that lacks its margin least, so that P is below D."""

    n_params, exact = 2, True

    def joint_feature(self, x, y):
        return 0.5 * y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        if y is None or w @ w < 0.04:
            score = w @ x - (0 if y is None else y)
            return 1 if score > 0 else -1
        return y


def test_bounds_that_contradict_each_other_are_never_clipped(monkeypatch):
    rng = np.random.default_rng(1)
    X, Y = list(rng.normal(size=(40, 2))), np.where(rng.random(40) < 0.5, 1, -1).tolist()
    monkeypatch.setattr("oneslack.driver.find_disagreement", lambda problem, w: None)
    with pytest.warns(oneslack.InconsistentWarning):
        result = oneslack.solve(oneslack.Problem(TooLow(), X, Y, C=1.0), max_iter=50)
    assert result.status is Status.INCONSISTENT
    assert not result.certified
    assert result.gap < 0
