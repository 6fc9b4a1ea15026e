"""RankSVM against the pairs themselves: a QP over all of them, and counts one by one."""

import doctest
import importlib
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference
from sklearn import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oneslack import MetricSVC, OneSlack, RankSVM


def pairs_of(y, groups=None):
    """(m, 2): rows (i, j) of a group, i with the higher target."""
    y, groups = np.asarray(y), np.zeros(len(y)) if groups is None else np.asarray(groups)
    return np.argwhere((y[:, None] > y) & (groups[:, None] == groups))


def all_pairs(X, y, groups=None, s=None, C=1.0):
    """Every pair as a block of two cuts: no margin asked for, and a margin of one."""
    s = np.ones(len(y)) if s is None else np.asarray(s, float)
    i, j = pairs_of(y, groups).T
    weights = s[i] * s[j]
    i, j, weights = i[weights > 0], j[weights > 0], weights[weights > 0]
    m = len(i)
    deltas = np.vstack([np.zeros((m, X.shape[1])), X[i] - X[j]])
    losses = np.append(np.zeros(m), np.ones(m))
    index = np.tile(np.arange(m), 2)
    return Reference.of_cuts(deltas, losses, index, C * s.sum() * weights / weights.sum())


def items(n=30, d=3, kind="grades", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    wish = X @ rng.normal(size=d) + rng.normal(size=n)
    y = {"grades": np.digitize(wish, [-1.0, 0.5, 1.5]), "real": wish, "two": (wish > 0).astype(int)}[kind]
    return X, y, rng.integers(0, 4, n)


WEIGHTS = {
    "none": None,
    "uneven": np.random.default_rng(5).uniform(0.1, 3, 30),
    "zeros": np.arange(30) % 3 * 1.0,
}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("kind", ["grades", "real", "two"])
def test_the_optimum_is_that_of_all_pairs(kind, grouped, weights):
    X, y, groups = items(kind=kind)
    groups = groups if grouped else None
    reference = all_pairs(X, y, groups, weights, C=0.3)
    model = RankSVM(C=0.3, tol=1e-7).fit(X, y, groups=groups, sample_weight=weights)
    lower, upper, w = reference.solve()
    assert model.objective_ == pytest.approx(reference.primal(model.coef_), rel=1e-10)
    assert lower * (1 - 1e-9) <= model.objective_ <= upper * (1 + 2e-7)
    assert model.dual_objective_ <= upper * (1 + 1e-9)
    np.testing.assert_allclose(model.coef_, w, atol=2e-3)
    assert model.intercept_ == 0.0


# Groups.

NAMES = {
    "other numbers": np.array([7, -3, 10**12, 0]),
    "floats": np.array([0.25, -1.5, 1e300, 2.0]),
    "text": np.array(["q9", "b", "größe", ""]),
    "objects": np.array(["q9", "b", "c", "a"], dtype=object),
    "dates": np.array(["2020-01-01", "1999-01-01", "2021-06-01", "1970-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_groups_may_be_of_any_type_and_in_any_order(names):
    X, y, groups = items(60, seed=1)
    order = np.argsort(groups, kind="stable")
    expected = RankSVM(tol=1e-8).fit(X[order], y[order], groups=groups[order])
    model = RankSVM(tol=1e-8).fit(X, y, groups=names[groups])
    assert model.objective_ == pytest.approx(expected.objective_, rel=2e-8)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
    np.testing.assert_array_equal(model.rank(X, groups=names[groups]), model.rank(X, groups=groups))
    assert model.score(X, y, groups=names[groups].tolist()) == model.score(X, y, groups=groups)
    ungrouped = RankSVM(tol=1e-8).fit(X, y)
    assert abs(ungrouped.objective_ - model.objective_) > 1e-3  # so the groups were seen


def test_groups_that_have_no_pair_change_nothing_but_the_count():
    X, y, _ = items(20)
    alone = np.vstack([X, np.ones((5, 3)), np.zeros((5, 3))])
    targets, groups = np.append(y, [3] * 5 + [1] * 5), np.append(np.zeros(20), np.r_[1:6, [6] * 5])
    model = RankSVM(C=2 / 3, tol=1e-8).fit(alone, targets, groups=groups)  # 30 rows, 20 of them in pairs
    assert model.objective_ == pytest.approx(RankSVM(C=1.0, tol=1e-8).fit(X, y).objective_, rel=2e-8)


# Weights.


def test_weights_are_repetition():
    X, y, groups = items(40, seed=2)
    count = np.arange(40) % 4
    rows = np.repeat(np.arange(40), count)
    weighted = RankSVM(tol=1e-8).fit(X, y, groups, sample_weight=count)
    repeated = RankSVM(tol=1e-8).fit(X[rows], y[rows], groups[rows])
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-8)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_weights_can_make_all_groups_count_the_same():
    X, y, groups = items(40, seed=3)
    pairs = np.bincount(groups[pairs_of(y, groups)[:, 0]], minlength=4)
    s = 1 / np.sqrt(pairs[groups])
    model = RankSVM(C=0.2, tol=1e-6).fit(X, y, groups, sample_weight=s)
    means = []
    for g in range(4):
        f = model.predict(X[groups == g])
        i, j = pairs_of(y[groups == g]).T
        means.append(np.maximum(0, 1 - (f[i] - f[j])).mean())
    by_hand = 0.5 * model.coef_ @ model.coef_ + 0.2 * s.sum() * np.mean(means)
    assert model.objective_ == pytest.approx(by_hand, rel=1e-10)


# Places and scores.


def coarse(n=50, seed=0):
    """Scores with many ties, on a model whose score is the first column."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 4, n), rng.normal(size=n)]).astype(float)
    model = RankSVM().fit(X, rng.normal(size=n))
    model.coef_ = np.array([1.0, 0.0])
    return model, X, rng.integers(0, 3, n), rng.integers(0, 5, n)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("grouped", [False, True])
def test_places_are_counted(seed, grouped):
    model, X, _, groups = coarse(seed=seed)
    same = groups[:, None] == groups if grouped else np.ones((50, 50), bool)
    f, row = model.predict(X), np.arange(50)
    before = (f > f[:, None]) | ((f == f[:, None]) & (row < row[:, None]))
    expected = 1 + np.sum(same & before, axis=1)
    places = model.rank(X, groups=groups if grouped else None)
    np.testing.assert_array_equal(places, expected)
    assert places.dtype.kind == "i"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("grouped", [False, True])
def test_the_score_is_the_share_of_pairs_in_order(seed, grouped):
    model, X, y, groups = coarse(seed=seed)
    groups = groups if grouped else None
    i, j = pairs_of(y, groups).T
    f = model.predict(X)
    expected = np.mean((f[i] > f[j]) + 0.5 * (f[i] == f[j]))
    assert model.score(X, y, groups=groups) == pytest.approx(expected, rel=1e-12)


def test_without_a_pair_the_score_is_perfect():
    model, X, _, _ = coarse()
    assert model.score(X, np.ones(50)) == 1.0
    assert model.score(X, np.arange(50), groups=np.arange(50)) == 1.0


# Matrices.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, sp.coo_array, np.asfortranarray])
def test_any_matrix(form, dtype):
    X, y, groups = items(80, 6, seed=4)
    X = np.where(X > 0, X, 0.0).astype(dtype)
    expected = RankSVM(tol=1e-7).fit(X.astype(float), y, groups)
    model = RankSVM(tol=1e-7).fit(form(X), y, groups)
    assert model.coef_.dtype == np.float64
    assert model.objective_ == pytest.approx(expected.objective_, rel=3e-7)
    np.testing.assert_allclose(model.predict(form(X)), X.astype(float) @ model.coef_, rtol=1e-10, atol=1e-12)


def test_threads_give_the_same_bits():
    X, y, groups = items(30_000, 8, "real", seed=6)
    groups = np.arange(30_000) % 900
    models = [RankSVM(C=1e-3, tol=1e-2, n_jobs=n_jobs).fit(X, y, groups) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


# Solvers and warm starts.


def test_a_solver_may_be_an_object():
    X, y, groups = items(50)
    plain = RankSVM(solver=OneSlack(line_search=False), tol=1e-6).fit(X, y, groups)
    auto = RankSVM(tol=1e-6).fit(X, y, groups)
    assert plain.result_.solver == auto.result_.solver == "one_slack"
    assert plain.n_iter_ != auto.n_iter_
    assert plain.objective_ == pytest.approx(auto.objective_, rel=2e-6)


@pytest.mark.parametrize("solver", ["newton", "dual_cd"])
def test_solvers_that_need_examples_are_refused(solver):
    X, y, _ = items()
    with pytest.raises(ValueError, match=r"needs more than Ranking offers.*Use OneSlack"):
        RankSVM(solver=solver).fit(X, y)


def test_a_warm_start_goes_on():
    X, y, groups = items(400, 10, "real", seed=7)
    model = RankSVM(C=10.0, warm_start=True, tol=1e-2).fit(X, y, groups)
    model.set_params(tol=1e-5).fit(X, y, groups)
    cold = RankSVM(C=10.0, tol=1e-5).fit(X, y, groups)
    assert model.n_iter_ < cold.n_iter_
    assert model.objective_ == pytest.approx(cold.objective_, rel=1e-5)
    assert model.fit(X, y, groups).n_iter_ <= 2


@pytest.mark.parametrize("changed", ["X", "y", "groups", "sample_weight", "C"])
def test_a_warm_start_on_another_problem_keeps_the_certificate_true(changed):
    X, y, groups = items(60, seed=8)
    data = {"X": X, "y": y, "groups": groups, "sample_weight": np.ones(60)}
    model = RankSVM(warm_start=True, tol=1e-5).fit(**data)
    if changed == "C":
        model.C = 0.1
    elif changed == "sample_weight":
        data[changed] = np.linspace(0, 0.2, 60)
    else:
        data[changed] = np.roll(data[changed], 7, axis=0)
    model.set_params(tol=1e-2).fit(**data)
    cold = RankSVM(C=model.C, tol=1e-7).fit(**data)
    assert model.dual_objective_ <= cold.objective_ * (1 + 1e-9)
    assert cold.dual_objective_ <= model.objective_ * (1 + 1e-9)


def test_epsilon_stops_by_the_papers_rule():
    X, y, groups = items(100)
    model = RankSVM(epsilon=0.01).fit(X, y, groups)
    assert model.objective_ - RankSVM(tol=1e-7).fit(X, y, groups).dual_objective_ <= 0.01 * 100


def test_a_short_fit_warns_and_ranks():
    X, y, _ = items(200, 10)
    with pytest.warns(ConvergenceWarning, match="RankSVM stopped at a relative duality gap"):
        model = RankSVM(C=100.0, max_iter=2).fit(X, y)
    assert model.rank(X).max() == 200


# With the rest.


def test_two_targets_are_the_area_under_the_curve():
    X, y, _ = items(50, kind="two")
    by_pairs = RankSVM(tol=1e-7).fit(X, y)
    by_area = MetricSVC("roc_auc", tol=1e-7).fit(X, np.array(["no", "yes"])[y])
    assert by_pairs.objective_ == by_area.objective_
    np.testing.assert_array_equal(by_pairs.coef_, by_area.coef_[0])


def test_pickle_and_clone():
    X, y, groups = items(50)
    model = RankSVM(C=2.0, warm_start=True).fit(X, y, groups)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.fit(X, y, groups).n_iter_ < model.n_iter_
    assert clone(model).get_params() == model.get_params()


def test_grid_search_in_a_pipeline():
    X, y, _ = items(90, kind="real")
    search = GridSearchCV(make_pipeline(StandardScaler(), RankSVM()), {"ranksvm__C": [1e-3, 1.0]}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y)
    assert search.best_score_ > 0.7
    assert search.best_estimator_[-1].C in (1e-3, 1.0)


def test_a_constant_column_changes_nothing():
    X, y, groups = items(50)
    shifted = np.column_stack([X + 100.0, np.ones(50)])
    expected = RankSVM(tol=1e-8).fit(X, y, groups)
    model = RankSVM(tol=1e-8).fit(shifted, y, groups)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-6)
    assert model.coef_[-1] == pytest.approx(0.0, abs=1e-9)


def test_examples_in_the_docs():
    outcome = doctest.testmod(importlib.import_module("oneslack.estimators.rank_svm"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
