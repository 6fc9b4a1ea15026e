"""LinearSVR as users meet it: certificates, weights, units, files, warm starts."""

import doctest
import importlib
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import oneslack
from oneslack import LinearSVR

X, Y = load_diabetes(return_X_y=True)
SOLVERS = ["newton", "dual_cd", "one_slack"]


def test_documented_examples_run():
    module = importlib.import_module("oneslack.estimators.linear_svr")
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def objective(model, data, y, weights=1.0):
    """P at the stored weights, from its definition."""
    excess = np.maximum(0, np.abs(y - model.predict(data)) - model.epsilon)
    return 0.5 * np.sum(model.coef_**2) + model.C * np.sum(weights * excess)


def text_like(n=400, d=300, seed=0):
    rng = np.random.default_rng(seed)
    data = sp.random(n, d, 0.05, "csr", rng=rng)
    return data, data @ rng.normal(size=d) + 0.1 * rng.normal(size=n) + 5.0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("epsilon", [0.0, 20.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_certificate(solver, epsilon, intercept):
    model = LinearSVR(C=1.0, epsilon=epsilon, tol=1e-5, solver=solver, fit_intercept=intercept).fit(X, Y)
    assert model.objective_ == pytest.approx(objective(model, X, Y))
    assert model.dual_objective_ <= model.objective_
    assert model.duality_gap_ <= 1e-5
    best = LinearSVR(C=1.0, epsilon=epsilon, tol=1e-8, fit_intercept=intercept).fit(X, Y)
    assert model.dual_objective_ * (1 - 1e-12) <= best.objective_ <= model.objective_ * (1 + 1e-8)
    assert isinstance(model.intercept_, float)
    assert intercept or model.intercept_ == 0.0


@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_sparse_data(solver):
    data, y = text_like()
    model = LinearSVR(C=1.0, epsilon=0.05, solver=solver, tol=1e-4).fit(data, y)
    assert model.objective_ == pytest.approx(objective(model, data, y))
    assert model.duality_gap_ <= 1e-4
    dense = LinearSVR(C=1.0, epsilon=0.05, solver=solver, tol=1e-4).fit(data.toarray(), y)
    assert dense.objective_ == pytest.approx(model.objective_, rel=2e-4)
    assert model.score(data, y) > 0.8


def test_agrees_with_liblinear():
    sklearn_svm = pytest.importorskip("sklearn.svm")
    scaled = StandardScaler().fit_transform(X)
    theirs = sklearn_svm.LinearSVR(C=0.01, epsilon=1.0, tol=1e-8, fit_intercept=False, max_iter=10**6)
    theirs.fit(scaled, Y - 150)
    ours = LinearSVR(C=0.01, epsilon=1.0, tol=1e-8, fit_intercept=False).fit(scaled, Y - 150)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_count_examples(solver):
    weights = np.random.default_rng(0).integers(0, 4, len(Y)).astype(float)
    model = LinearSVR(solver=solver, tol=1e-5).fit(X, Y, sample_weight=weights)
    index = np.repeat(np.arange(len(Y)), weights.astype(int))
    repeated = LinearSVR(solver=solver, tol=1e-5).fit(X[index], Y[index])
    assert model.objective_ == pytest.approx(objective(model, X, Y, weights))
    assert model.objective_ == pytest.approx(repeated.objective_, rel=2e-5)


def test_no_tube_and_no_features_give_the_median():
    y = np.array([1.0, 2.0, 10.0, 11.0, 1000.0])
    model = LinearSVR().fit(np.zeros((5, 1)), y)
    assert model.intercept_ == pytest.approx(10.0, abs=1e-6)
    weighted = LinearSVR().fit(np.zeros((5, 1)), y, sample_weight=[5, 1, 1, 1, 1])
    assert weighted.intercept_ == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [1e4, -1e9])
def test_targets_far_from_zero(solver, offset):
    """An intercept takes any offset: the weights stay."""
    here = LinearSVR(solver=solver, tol=1e-6).fit(X, Y)
    there = LinearSVR(solver=solver, tol=1e-6).fit(X, Y + offset)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-6)
    assert there.intercept_ == pytest.approx(here.intercept_ + offset, abs=1.0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_any_unit_of_the_target(solver, unit):
    here = LinearSVR(solver=solver, tol=1e-6, epsilon=1.0).fit(X, Y)
    there = LinearSVR(C=unit, solver=solver, tol=1e-6, epsilon=unit).fit(X, unit * Y)
    assert there.objective_ == pytest.approx(unit**2 * here.objective_, rel=3e-6)
    assert there.duality_gap_ <= 1e-6


def test_stopping_early_is_said():
    with pytest.warns(ConvergenceWarning, match=r"LinearSVR stopped at .* before it reached tol=0.001"):
        model = LinearSVR(epsilon=0.5, solver="one_slack", max_iter=1).fit(X, Y)
    assert model.duality_gap_ > 1e-3


def test_warm_start_goes_on():
    model = LinearSVR(tol=1e-2, warm_start=True).fit(X, Y)
    steps = model.n_iter_
    model.set_params(tol=1e-6).fit(X, Y)
    assert model.duality_gap_ <= 1e-6
    again = model.fit(X, Y)
    assert again.n_iter_ <= max(2, steps)
    other = model.fit(X[:300], Y[:300] + 7.0)
    assert other.objective_ == pytest.approx(LinearSVR(tol=1e-6).fit(X[:300], Y[:300]).objective_, rel=2e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_another_tube_is_another_problem(solver):
    """The duals of one tube are no certificate for another."""
    model = LinearSVR(epsilon=5.0, warm_start=True, solver=solver, tol=1e-5).fit(X, Y)
    model.set_params(epsilon=30.0).fit(X, Y)
    fresh = LinearSVR(epsilon=30.0, tol=1e-7).fit(X, Y)
    assert model.dual_objective_ * (1 - 1e-12) <= fresh.objective_
    assert model.objective_ == pytest.approx(fresh.objective_, rel=2e-5)


def test_saved_and_loaded(tmp_path):
    model = LinearSVR(C=0.5, epsilon=2.0).fit(X, Y)
    model.save(tmp_path / "model")
    again = oneslack.load(tmp_path / "model")
    assert isinstance(again, LinearSVR)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.duality_gap_ == model.duality_gap_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert not hasattr(clone(model), "coef_")


def test_grid_search_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), LinearSVR(epsilon=5.0))
    search = GridSearchCV(pipeline, {"linearsvr__C": [1e-5, 1.0]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"linearsvr__C": 1.0}
    assert search.best_score_ > 0.4


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"epsilon": -0.1}, "epsilon must be a number >= 0; got -0.1"),
        ({"epsilon": float("nan")}, "epsilon must be a number >= 0"),
        (
            {"loss": "squared"},
            "use one of 'epsilon_insensitive', 'squared_epsilon_insensitive', 'pinball', 'huber'",
        ),
        ({"solver": "n_slack"}, "NSlack needs more than Regression offers"),
        ({"C": 0}, "C must be a positive number"),
    ],
)
def test_bad_parameters_are_named(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinearSVR(**parameters).fit(X, Y)


def test_no_tube_at_all_is_not_none():
    with pytest.raises(TypeError, match="epsilon must be a number >= 0; got None"):
        LinearSVR(epsilon=None).fit(X, Y)
