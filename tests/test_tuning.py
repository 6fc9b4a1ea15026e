"""Choosing C: as a cold grid search does, with less work."""

import threading

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import oneslack
from oneslack.tuning import may_win

GRID = [1e-4, 1e-2, 1.0, 100.0]


@pytest.mark.parametrize("data", [load_breast_cancer, load_iris])
def test_the_best_C_is_that_of_a_cold_grid_search(data):
    X, y = data(return_X_y=True)
    X = X / X.max(axis=0)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    found = oneslack.tune(oneslack.LinearSVC(tol=1e-6), X, y, GRID, cv=folds)
    cold = GridSearchCV(oneslack.LinearSVC(tol=1e-6), {"C": GRID}, cv=folds).fit(X, y)
    assert found.best_C == cold.best_params_["C"]
    finished = found.gaps <= 1e-6
    np.testing.assert_allclose(
        found.mean[finished], cold.cv_results_["mean_test_score"][finished], atol=1e-12
    )
    np.testing.assert_array_equal(found.model.coef_, cold.best_estimator_.coef_)


def test_hopeless_candidates_are_left_behind():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    steps = []
    found = oneslack.tune(
        oneslack.LinearSVC(tol=1e-5), X, y, GRID, cv=3, on_candidate=lambda *what: steps.append(what)
    )
    assert found.gaps[0] > 1e-5 >= found.gaps[found.best]
    assert len(steps) < 2 * 3 * len(GRID)
    assert [row["C"] for row in found.rows()] == GRID


def test_the_number_of_threads_does_not_matter():
    X, y = load_breast_cancer(return_X_y=True)
    one = oneslack.tune(oneslack.LinearSVC(), X, y, GRID, cv=3, n_jobs=1)
    two = oneslack.tune(oneslack.LinearSVC(), X, y, GRID, cv=3, n_jobs=2)
    np.testing.assert_array_equal(one.scores, two.scores)


def test_other_parameters_and_estimators_without_warm_start():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 2))
    y = (np.hypot(*X.T) < 0.7).astype(int)
    found = oneslack.tune(
        oneslack.KernelSVC(method="exact"), X, y, [0.1, 10.0], grid={"gamma": [1e-6, 1.0]}, cv=3
    )
    assert found.best_params == {"gamma": 1.0, "C": 10.0}
    assert len(found.candidates) == 4


def test_a_scorer_and_numbers():
    X, y = load_diabetes(return_X_y=True)
    found = oneslack.tune(
        oneslack.LinearSVR(), X, y, [1e-4, 10.0], cv=3, scoring="neg_mean_absolute_error", refit=False
    )
    assert found.best_C == 10.0
    assert found.model is None
    assert (found.mean < 0).all()


def test_equals_are_won_by_the_smallest_C():
    X = np.repeat([[-1.0], [1.0]], 20, axis=0)
    found = oneslack.tune(oneslack.LinearSVC(), X, np.repeat([0, 1], 20), [10.0, 1.0, 0.1], cv=2)
    assert found.best_C == 0.1


def test_who_may_still_win():
    scores = np.array([[0.90, 0.92, 0.91], [0.90, 0.91, 0.92], [0.80, 0.82, 0.81], [0.90, 0.92, 0.91]])
    assert may_win(scores).tolist() == [True, True, False, True]


@pytest.mark.parametrize(("kind", "data"), [("LinearSVC", load_breast_cancer), ("LinearSVR", load_diabetes)])
def test_auto_is_what_tune_finds(kind, data, tmp_path):
    X, y = data(return_X_y=True)
    X = X / np.abs(X).max(axis=0)
    estimator = getattr(oneslack, kind)
    model = estimator(C="auto").fit(X, y)
    found = oneslack.tune(estimator(), X, y)
    assert found.best_C == model.C_
    assert model.C == "auto"
    np.testing.assert_array_equal(model.coef_, found.model.coef_)
    assert model.duality_gap_ == found.model.duality_gap_
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(oneslack.load(tmp_path / "model").predict(X), model.predict(X))


def test_auto_takes_no_weights_and_no_other_word():
    with pytest.raises(ValueError, match=r"oneslack\.tune"):
        oneslack.LinearSVC(C="auto").fit(np.eye(4), [0, 1, 0, 1], sample_weight=np.ones(4))
    with pytest.raises(TypeError, match="C must be a positive number"):
        oneslack.LinearSVC(C="best").fit(np.eye(4), [0, 1, 0, 1])


@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
def test_a_score_that_is_no_number():
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match="a score is not a number; use fewer folds, or another scorer"):
        oneslack.tune(oneslack.LinearSVR(), X, X[:, 0], [0.1, 1.0], cv=6)


CALLERS = set()


class Watched(oneslack.ThreadCrews):
    """An engine that remembers which threads have asked for workers."""

    def start(self, *arguments):
        CALLERS.add(threading.get_ident())
        return super().start(*arguments)


def test_a_cluster_serves_one_fold_after_the_other():
    X, y = load_iris(return_X_y=True)
    estimator = oneslack.LinearSVC(engine=Watched(2))
    found = oneslack.tune(estimator, X, y, [0.1, 1.0], cv=3, n_jobs=3, refit=False)
    assert len(CALLERS) == 1
    assert found.scores.shape == (2, 3)


def test_parameters_may_be_arrays():
    X, y = load_iris(return_X_y=True)
    costs = [np.ones((3, 3)) - np.eye(3), 2.0 * (np.ones((3, 3)) - np.eye(3))]
    found = oneslack.tune(oneslack.LinearSVC(), X, y, [0.1, 1.0], grid={"loss": costs}, cv=3, refit=False)
    cold = [oneslack.tune(oneslack.LinearSVC(loss=cost), X, y, [0.1, 1.0], cv=3) for cost in costs]
    assert len(found.candidates) == 4
    finished = found.gaps <= 1e-3
    mean = np.concatenate([one.mean for one in cold])
    np.testing.assert_allclose(found.mean[finished], mean[finished], atol=0.02)
