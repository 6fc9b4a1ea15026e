"""OrdinalSVC: thresholds against all cuts, weights against RankSVM, labels with an order."""

import doctest
import importlib
import pickle
from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oneslack import OneSlack, OrdinalSVC, RankSVM
from oneslack.estimators._shared.thresholds import best_thresholds, cut_for_count


def grades(n=120, d=4, K=4, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    wish = X @ rng.normal(size=d) + noise * rng.normal(size=n)
    return X, np.digitize(wish, np.quantile(wish, np.arange(1, K) / K))


# Thresholds.


def absolute_error(thresholds, scores, codes, weights):
    predicted = np.sum(scores[:, None] > np.asarray(thresholds), axis=1)
    return np.sum(weights * np.abs(predicted - codes))


def least_error(scores, codes, K, weights):
    """Over all rising cuts."""
    f = np.unique(scores)
    places = np.concatenate([[f[0] - 1], (f[1:] + f[:-1]) / 2, [f[-1] + 1]])
    cuts = combinations_with_replacement(places, K - 1)
    return min(absolute_error(cut, scores, codes, weights) for cut in cuts)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("K", [2, 3, 4])
def test_thresholds_are_the_best_of_all_cuts(K, weighted):
    rng = np.random.default_rng(K)
    for _ in range(60):
        n = int(rng.integers(1, 9))
        scores = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(-2, 3, n) / 2
        codes = rng.integers(0, K, n)
        weights = rng.choice([0.1, 0.3, 0.7, 2.0], n) if weighted else None
        thresholds = best_thresholds(scores, codes, K, weights)
        s = np.ones(n) if weights is None else weights
        assert np.all(np.diff(thresholds) >= 0)
        found = absolute_error(thresholds, scores, codes, s)
        assert found == pytest.approx(least_error(scores, codes, K, s), abs=1e-9)


def test_thresholds_rise_whatever_the_weights_round_to():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        n, K = int(rng.integers(5, 60)), int(rng.integers(3, 8))
        weights = rng.choice([0.1, 0.2, 0.3, 0.6, 0.7], n)
        thresholds = best_thresholds(rng.normal(size=n), rng.integers(0, K, n), K, weights)
        assert np.all(np.diff(thresholds) >= 0)


def test_examples_without_weight_place_no_threshold():
    scores, codes = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 0, 1])
    assert best_thresholds(scores, codes, 2, np.array([1.0, 0.0, 1.0, 1.0])) == [2.5]
    assert best_thresholds(scores, codes, 2, np.array([1.0, 1.0, 0.0, 1.0])) == [0.5]


def test_neighbouring_numbers_are_kept_apart():
    """The middle of two neighbours is rounded to one of them."""
    for low in (1.0, np.nextafter(1.0, 2.0), -1.0, np.nextafter(-1.0, 0.0)):
        scores = np.array([low, np.nextafter(low, np.inf)])
        (cut,) = best_thresholds(scores, np.array([0, 1]), 2)
        assert (scores > cut).tolist() == [False, True]
        assert (scores > cut_for_count(scores, 1)).tolist() == [False, True]


def test_a_cut_for_a_count_is_the_lowest_that_has_as_many_above():
    rng = np.random.default_rng(1)
    for _ in range(300):
        n = int(rng.integers(1, 9))
        scores = rng.normal(size=n) if rng.random() < 0.5 else rng.integers(0, 3, n) * 1.0
        count = int(rng.integers(0, n + 1))
        above = scores > cut_for_count(scores, count)
        # Ties go above together: as few as can be, but no fewer than asked for.
        expected = scores >= np.sort(scores)[n - count] if count else np.zeros(n, bool)
        np.testing.assert_array_equal(above, expected)


# The estimator.


@pytest.mark.parametrize("weights", [None, np.random.default_rng(0).uniform(0.2, 2, 120)])
def test_the_weights_are_those_of_a_ranking(weights):
    X, y = grades()
    model = OrdinalSVC(C=0.5, tol=1e-6).fit(X, 10 * y, sample_weight=weights)
    ranking = RankSVM(C=0.5, tol=1e-6).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.coef_, ranking.coef_)
    assert (model.objective_, model.dual_objective_) == (ranking.objective_, ranking.dual_objective_)
    np.testing.assert_array_equal(model.rank_scores(X), ranking.predict(X))
    expected = best_thresholds(ranking.predict(X), y, 4, weights)
    np.testing.assert_array_equal(model.thresholds_, expected)


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_no_cuts_of_the_scores_have_a_smaller_error(K, seed):
    X, y = grades(25, 2, K, seed, noise=2.0)
    model = OrdinalSVC().fit(X, y)
    found = np.abs(np.searchsorted(model.classes_, model.predict(X)) - y).sum()
    assert found == pytest.approx(least_error(model.rank_scores(X), y, K, np.ones(25)))
    assert model.thresholds_.shape == (K - 1,)
    assert np.all(np.diff(model.thresholds_) >= 0)


@pytest.mark.parametrize("K", [3, 4, 9])
@pytest.mark.parametrize("noise", [0.1, 3.0])
def test_the_largest_decision_is_the_prediction(K, noise):
    X, y = grades(300, K=K, noise=noise)
    model = OrdinalSVC().fit(X[:200], y[:200])
    scores = model.decision_function(X)
    assert scores.shape == (300, K)
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))


def test_a_score_on_a_threshold_is_not_above_it():
    X = np.arange(6.0)[:, None]
    model = OrdinalSVC().fit(X, [0, 0, 1, 1, 2, 2])
    model.coef_, model.thresholds_ = np.array([1.0]), np.array([1.0, 4.0])
    np.testing.assert_array_equal(model.predict(X), [0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))


def test_two_classes():
    X, y = grades(K=2)
    model = OrdinalSVC().fit(X, np.array(["a", "b"])[y])
    scores = model.decision_function(X)
    assert scores.shape == (120,)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "b", "a"))
    assert model.score(X, np.array(["a", "b"])[y]) > 0.8


def test_a_class_may_never_be_predicted():
    X, y = np.arange(8.0)[:, None], np.array([1, 0, 0, 0, 2, 2, 2, 1])
    model = OrdinalSVC().fit(X, y)
    assert model.thresholds_[0] == model.thresholds_[1]
    np.testing.assert_array_equal(model.predict(X), [0, 0, 0, 0, 2, 2, 2, 2])
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))


@pytest.mark.parametrize(
    "labels",
    [np.array([10, 20, 30, 40]), np.array([-3.0, 0.0, 2.0, 7.0]), np.array(list("abcd")), list("abcd")],
    ids=["int", "float", "text", "list"],
)
def test_the_order_of_labels_is_their_sorted_one(labels):
    X, y = grades()
    expected = OrdinalSVC().fit(X, y)
    given = np.asarray(labels)[y]
    model = OrdinalSVC().fit(X, given.tolist() if isinstance(labels, list) else given)
    np.testing.assert_array_equal(model.classes_, labels)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(X), np.asarray(labels)[expected.predict(X)])


def test_turning_the_order_round_turns_the_model_round():
    X, y = grades()
    up, down = OrdinalSVC(tol=1e-8).fit(X, y), OrdinalSVC(tol=1e-8).fit(X, 3 - y)
    assert up.objective_ == pytest.approx(down.objective_, rel=2e-8)
    np.testing.assert_allclose(up.coef_, -down.coef_, atol=1e-3)


# Weights.


def test_weights_are_repetition():
    X, y = grades(80)
    count = np.arange(80) % 3
    rows = np.repeat(np.arange(80), count)
    weighted = OrdinalSVC(tol=1e-9).fit(X, y, sample_weight=count)
    repeated = OrdinalSVC(tol=1e-9).fit(X[rows], y[rows])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-9)
    np.testing.assert_allclose(weighted.thresholds_, repeated.thresholds_, atol=1e-3)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


def test_class_weights_multiply():
    X, y = grades()
    by_class = OrdinalSVC(class_weight={0: 5.0, 2: 0.5}).fit(X, y)
    by_example = OrdinalSVC().fit(X, y, sample_weight=np.array([5.0, 1.0, 0.5, 1.0])[y])
    np.testing.assert_array_equal(by_class.coef_, by_example.coef_)
    np.testing.assert_array_equal(by_class.thresholds_, by_example.thresholds_)
    plain = OrdinalSVC().fit(X, y)
    assert np.sum(by_class.predict(X) == 0) > np.sum(plain.predict(X) == 0)


def test_classes_without_weight():
    X, y = grades()
    model = OrdinalSVC().fit(X, y, sample_weight=(y != 2) * 1.0)
    assert 2 not in model.predict(X)
    with pytest.raises(ValueError, match="only one class has examples of positive weight"):
        OrdinalSVC().fit(X, y, sample_weight=(y == 2) * 1.0)


# Matrices, solvers, warm starts.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_any_matrix(form, dtype):
    X, y = grades()
    X = np.where(X > 0, X, 0.0).astype(dtype)
    expected = OrdinalSVC(tol=1e-9).fit(X.astype(float), y)
    model = OrdinalSVC(tol=1e-9).fit(form(X), y)
    assert model.objective_ == pytest.approx(expected.objective_, rel=3e-9)
    np.testing.assert_array_equal(model.predict(form(X)), expected.predict(X.astype(float)))


def test_a_solver_may_be_an_object():
    X, y = grades()
    plain = OrdinalSVC(solver=OneSlack(line_search=False), tol=1e-6).fit(X, y)
    assert plain.objective_ == pytest.approx(OrdinalSVC(tol=1e-6).fit(X, y).objective_, rel=2e-6)


def test_a_warm_start_goes_on():
    X, y = grades(400, 10)
    model = OrdinalSVC(C=10.0, warm_start=True, tol=1e-2).fit(X, y)
    model.set_params(tol=1e-5).fit(X, y)
    cold = OrdinalSVC(C=10.0, tol=1e-5).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    assert model.objective_ == pytest.approx(cold.objective_, rel=1e-5)
    assert np.mean(model.predict(X) != cold.predict(X)) < 0.01


def test_a_warm_start_with_other_classes_begins_anew():
    X, y = grades()
    model = OrdinalSVC(warm_start=True).fit(X, y)
    np.testing.assert_array_equal(model.fit(X, y > 1).coef_, OrdinalSVC().fit(X, y > 1).coef_)
    assert model.thresholds_.shape == (1,)


def test_a_short_fit_has_thresholds_too():
    X, y = grades(300, 20, noise=3.0)
    with pytest.warns(ConvergenceWarning, match="OrdinalSVC stopped"):
        model = OrdinalSVC(C=100.0, max_iter=2).fit(X, y)
    assert mean_absolute_error(y, model.predict(X)) < 1.3


# With the rest.


def test_pickle_and_clone():
    X, y = grades()
    model = OrdinalSVC(C=0.3, warm_start=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.fit(X, y).n_iter_ < model.n_iter_
    assert clone(model).get_params() == model.get_params()


def test_grid_search_in_a_pipeline():
    X, y = grades(150)
    pipeline = make_pipeline(StandardScaler(), OrdinalSVC())
    options = {"cv": 3, "scoring": "neg_mean_absolute_error"}
    search = GridSearchCV(pipeline, {"ordinalsvc__C": [1e-3, 1.0]}, **options).fit(X, y)
    assert search.best_score_ > -0.6


def test_examples_in_the_docs():
    outcome = doctest.testmod(importlib.import_module("oneslack.estimators.ordinal_svc"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
