"""LinearSVC as users meet it: labels, matrices, searches, certificates, warm starts."""

import doctest
import importlib
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oneslack import LinearSVC, OneSlack, Problem, Status
from oneslack.estimators._shared import fitting, scoring
from oneslack.models import Binary

X, Y = load_iris(return_X_y=True)
SOLVERS = ["newton", "dual_cd", "one_slack"]


def text_like(n=400, d=300, seed=0, dtype=np.float64):
    """Sparse rows of unit norm, two classes with noise."""
    rng = np.random.default_rng(seed)
    data = sp.random(n, d, 0.05, "csr", rng=rng, dtype=dtype)
    data.data += 0.5
    norms = np.sqrt(np.asarray(data.multiply(data).sum(axis=1))).ravel()
    data = sp.csr_matrix(sp.diags((1 / np.maximum(norms, 1e-9)).astype(dtype)) @ data)
    data.sort_indices()
    return data, np.where(data @ rng.normal(size=d) + 0.1 * rng.normal(size=n) > 0, 1, -1)


# Labels.

NAMES = np.array(["virginica", "setosa", "versicolor"])
LABELS = {
    "text": NAMES[Y],
    "object": NAMES.astype(object)[Y],
    "list of text": NAMES[Y].tolist(),
    "bool": Y == 1,
    "int8": (100 * (Y - 1)).astype(np.int8),
    "negative": -7 * Y,
    "far apart": np.array([-(2**60), 0, 2**60])[Y],
    "uint64": np.array([0, 5, 2**64 - 1], dtype=np.uint64)[Y],
    "whole floats": Y * 2.0,
    "huge floats": np.array([-1e300, 0.0, 1e300])[Y],
    "two floats": np.where(Y == 1, 1.0, -1.0),
    "objects that are numbers": Y.astype(object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_any_label(labels):
    model = LinearSVC().fit(X, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    predicted = model.predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert np.mean(predicted == np.asarray(labels)) > 0.7
    if isinstance(labels, np.ndarray) and labels.dtype != object:
        assert predicted.dtype == labels.dtype


def test_names_of_labels_do_not_matter():
    by_code, by_name = LinearSVC().fit(X, Y), LinearSVC().fit(X, np.array(["a", "b", "c"])[Y])
    np.testing.assert_array_equal(by_code.coef_, by_name.coef_)


# Matrices.


@pytest.mark.parametrize("interface", ["matrix", "array"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_is_dense(form, interface, dtype):
    dense = np.where(X > 1.0, X, 0.0).astype(dtype)
    sparse = getattr(sp, f"{form}_{interface}")(dense)
    expected, model = LinearSVC(tol=1e-6).fit(dense, Y), LinearSVC(tol=1e-6).fit(sparse, Y)
    assert model.objective_ == pytest.approx(expected.objective_, rel=2e-6)
    np.testing.assert_allclose(model.decision_function(sparse), model.decision_function(dense), rtol=1e-6)
    np.testing.assert_array_equal(model.predict(sparse), expected.predict(dense))


@pytest.mark.parametrize("solver", SOLVERS)
def test_wide_indices(solver):
    data, labels = text_like()
    wide = data.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    narrow_model = LinearSVC(solver=solver).fit(data, labels)
    wide_model = LinearSVC(solver=solver).fit(wide, labels)
    np.testing.assert_array_equal(narrow_model.coef_, wide_model.coef_)
    assert wide.indices.dtype == np.int64


@pytest.mark.parametrize("solver", SOLVERS)
def test_repeated_entries_are_summed(solver):
    halves, columns = np.repeat(X.ravel() / 2, 2), np.repeat(np.tile(np.arange(4), 150), 2)
    doubled = sp.csr_matrix((halves, columns, np.arange(0, 1201, 8)), shape=X.shape)
    assert not doubled.has_canonical_format
    expected = LinearSVC(solver=solver, tol=1e-5).fit(sp.csr_matrix(X), Y)
    model = LinearSVC(solver=solver, tol=1e-5).fit(doubled, Y)
    assert model.objective_ == pytest.approx(expected.objective_, rel=2e-5)
    assert doubled.nnz == 1200  # the caller's matrix is left alone


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_matrices_are_used_as_they_are(monkeypatch, dtype, form):
    data, labels = text_like(dtype=dtype)
    given = data.toarray() if form == "dense" else data
    seen = []
    original = fitting.Problem

    def problem(model, X, *arguments, **options):
        seen.append(X)
        return original(model, X, *arguments, **options)

    monkeypatch.setattr(fitting, "Problem", problem)
    LinearSVC().fit(given, labels)
    packed = Problem(Binary(data.shape[1]), seen[0], labels).data.X
    arrays = (
        [(given, packed)] if form == "dense" else [(given.data, packed.data), (given.indices, packed.indices)]
    )
    assert packed.dtype == dtype
    assert all(np.shares_memory(mine, theirs) for mine, theirs in arrays)


def test_float32_needs_no_float64_copy(monkeypatch):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60_000, 50)).astype(np.float32)
    labels = data[:, 0] > 0
    monkeypatch.setattr(scoring, "BLOCK", 1024)
    model = LinearSVC(tol=0.5).fit(data[:3000], labels[:3000])
    for task in (lambda: model.fit(data, labels), lambda: model.decision_function(data)):
        tracemalloc.start()
        try:
            task()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 2 * data.nbytes  # a float64 copy alone is that much


def test_scores_of_float32_are_computed_in_float64(monkeypatch):
    monkeypatch.setattr(scoring, "BLOCK", 7)
    model = LinearSVC().fit(X, Y)
    narrow = X.astype(np.float32)
    expected = narrow.astype(np.float64) @ model.coef_.T + model.intercept_
    for data in (narrow, sp.csr_matrix(narrow), sp.csr_array(narrow)):
        np.testing.assert_allclose(model.decision_function(data), expected, rtol=1e-12, atol=1e-12)


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    labels = pandas.Series(NAMES[Y], dtype="category")
    model = LinearSVC().fit(frame, labels)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    assert model.score(frame, labels) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c", "d"]])


def test_sparse_interface_of_scikit_learn():
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn before 1.9")
    data, labels = text_like()
    expected = LinearSVC().fit(data, labels).coef_
    for interface in ("spmatrix", "sparray"):
        with sklearn.config_context(sparse_interface=interface):
            np.testing.assert_array_equal(LinearSVC().fit(data, labels).coef_, expected)


def test_read_only_arrays():
    data, labels = X.copy(), Y.copy()
    data.setflags(write=False)
    labels.setflags(write=False)
    np.testing.assert_array_equal(LinearSVC().fit(data, labels).coef_, LinearSVC().fit(X, Y).coef_)


# With the rest of scikit-learn.


def test_pickle_and_clone():
    model = LinearSVC(C=0.5, warm_start=True).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.result_.trace == model.result_.trace
    assert again.fit(X, Y).n_iter_ < model.n_iter_
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "coef_")


def test_clone_keeps_a_cost_matrix_and_a_solver():
    model = clone(LinearSVC(loss=1 - np.eye(3), solver=OneSlack(line_search=False)))
    np.testing.assert_array_equal(model.loss, 1 - np.eye(3))
    assert model.fit(X, Y).result_.solver == "one_slack"


def test_grid_search_in_a_pipeline():
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.001, 1.0]}, cv=3)
    search.fit(X, Y)
    assert search.best_params_ == {"linearsvc__C": 1.0}
    assert search.best_score_ > 0.9


def test_processes_of_a_search_agree():
    scores = [cross_val_score(LinearSVC(n_jobs=1), X, Y, cv=3, n_jobs=n_jobs) for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*scores)


def test_sample_weights_are_routed():
    weights = np.where(Y == 2, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LinearSVC().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        outcome = cross_validate(model, X, Y, cv=3, params={"sample_weight": weights}, return_estimator=True)
    # The third class weighs nothing: no margin is asked for it, and the others' margin is wide.
    assert outcome["test_score"].min() == 1.0
    plain = cross_validate(LinearSVC(), X, Y, cv=3, return_estimator=True)
    assert outcome["estimator"][0].objective_ < plain["estimator"][0].objective_


# Certificates.


def objective(model, data, labels, C):
    """P at the stored weights, from its definition."""
    scores, codes = model.decision_function(data), np.searchsorted(model.classes_, labels)
    norms = 0.5 * np.sum(model.coef_**2)
    if scores.ndim == 1:
        return norms + C * np.maximum(0, 1 - np.where(codes == 1, 1, -1) * scores).sum()
    if model.multi_class == "ovr":
        signs = np.where(codes[:, None] == np.arange(len(model.classes_)), 1, -1)
        return norms + C * np.maximum(0, 1 - signs * scores).sum()
    n = np.arange(len(codes))
    margins = scores + 1.0 - scores[n, codes][:, None]
    margins[n, codes] -= 1.0
    return norms + C * margins.max(axis=1).sum()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["binary", "crammer_singer", "ovr"])
def test_the_certificate_is_what_it_says(solver, kind):
    labels = Y if kind != "binary" else np.where(Y == 1, "yes", "no")
    multi_class = "ovr" if kind == "ovr" else "crammer_singer"
    model = LinearSVC(C=2.0, solver=solver, multi_class=multi_class).fit(X, labels)
    results = list(model.result_.parts)
    assert len(results) == (3 if kind == "ovr" else 1)
    assert model.objective_ == pytest.approx(objective(model, X, labels, 2.0), rel=1e-9)
    primal, dual = (sum(getattr(r, name) for r in results) for name in ("primal", "dual"))
    assert primal <= model.objective_ <= primal * (1 + 1e-15)  # sums of bounds are rounded outwards
    assert dual * (1 - 1e-15) <= model.dual_objective_ <= dual
    assert model.duality_gap_ == (model.objective_ - model.dual_objective_) / model.objective_ <= model.tol
    assert model.n_iter_ == max(len(result.trace) for result in results)
    assert {result.solver for result in results} == {solver}
    tight = LinearSVC(C=2.0, solver="one_slack", multi_class=multi_class, tol=1e-8).fit(X, labels)
    assert model.dual_objective_ <= tight.objective_ * (1 + 1e-9)
    assert tight.dual_objective_ <= model.objective_ * (1 + 1e-9)


@pytest.mark.parametrize("data", [load_breast_cancer, load_digits, load_wine, load_iris])
def test_raw_data_reach_tol(data):
    points, labels = data(return_X_y=True)
    model = LinearSVC().fit(points, labels)
    assert model.duality_gap_ <= 1e-3
    assert model.score(points, labels) > 0.9


@pytest.mark.parametrize("solver", SOLVERS)
def test_epsilon_stops_by_the_papers_rule(solver):
    model = LinearSVC(epsilon=0.01, solver=solver, fit_intercept=False).fit(X, Y)
    assert model.result_.status is Status.EPSILON
    exact = LinearSVC(tol=1e-7, fit_intercept=False).fit(X, Y).objective_
    assert model.objective_ - exact <= 0.01 * len(Y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_threads_and_runs_give_the_same_bits(solver):
    rng = np.random.default_rng(0)
    data = rng.normal(size=(40_000, 20)).astype(np.float32)  # enough for several shards
    labels = data[:, 0] + 0.5 * rng.normal(size=len(data)) > 0.3
    models = [
        LinearSVC(solver=solver, n_jobs=n_jobs, C=1e-3, tol=1e-2).fit(data, labels) for n_jobs in (1, 2, 2)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert model.duality_gap_ == models[0].duality_gap_


@pytest.mark.parametrize("random_state", [3, np.random.RandomState(3), np.int64(3)])
def test_random_state(random_state):
    data, labels = text_like()
    model = LinearSVC(solver="dual_cd", random_state=random_state).fit(data, labels)
    other = LinearSVC(solver="dual_cd", random_state=4).fit(data, labels)
    assert not np.array_equal(model.coef_, other.coef_)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-3)


def test_balanced_class_weights_count_sample_weights():
    kept = np.r_[0:100]  # fifty of each of two classes
    weights = np.where(Y[kept] == 0, 3.0, 1.0)
    balanced = LinearSVC(class_weight="balanced").fit(X[kept], Y[kept], weights)
    # Sums 150 and 50: each class shall weigh 100.
    by_hand = LinearSVC(class_weight={0: 2 / 3, 1: 2.0}).fit(X[kept], Y[kept], weights)
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_class_without_weight_is_learned_nothing_about(solver):
    model = LinearSVC(solver=solver).fit(X[:100], Y[:100], sample_weight=Y[:100])
    assert model.objective_ == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_array_equal(model.predict(X[:100]), 1)


# Warm start.


@pytest.mark.parametrize("solver", ["newton", "one_slack"])
@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_the_same_problem_goes_on(solver, multi_class):
    settings = {"solver": solver, "multi_class": multi_class}
    model = LinearSVC(warm_start=True, tol=1e-2, **settings).fit(X, Y)
    model.set_params(tol=1e-3).fit(X, Y)
    cold = LinearSVC(tol=1e-3, **settings).fit(X, Y)
    assert model.n_iter_ < cold.n_iter_
    assert model.duality_gap_ <= 1e-3
    assert model.objective_ == pytest.approx(cold.objective_, rel=1e-3)


def test_dual_passes_go_on_too():
    data, labels = text_like()
    settings = {"solver": "dual_cd", "C": 10.0, "fit_intercept": False}
    model = LinearSVC(warm_start=True, tol=1e-2, **settings).fit(data, labels)
    first = model.n_iter_
    model.set_params(tol=3e-4).fit(data, labels)
    cold = LinearSVC(tol=3e-4, **settings).fit(data, labels)
    assert first + model.n_iter_ < 1.5 * cold.n_iter_
    assert model.n_iter_ < cold.n_iter_
    assert model.duality_gap_ <= 3e-4


@pytest.mark.parametrize("solver", ["newton", "one_slack"])
@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_another_C_starts_from_the_last_weights(solver, multi_class):
    settings = {"solver": solver, "multi_class": multi_class}
    model = LinearSVC(warm_start=True, **settings).fit(X, Y)
    model.set_params(C=1.1).fit(X, Y)
    assert model.n_iter_ < LinearSVC(C=1.1, **settings).fit(X, Y).n_iter_


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "changed",
    [
        {"X": X + np.random.default_rng(0).normal(size=X.shape)},
        {"y": np.roll(Y, 20)},
        {"sample_weight": np.linspace(0, 2, 150)},
        {"C": 0.2},
        {"fit_intercept": False},
        {"multi_class": "ovr"},
        {"loss": 3.0 * (1 - np.eye(3))},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_warm_start_on_another_problem_keeps_the_certificate_true(solver, changed):
    data = {"X": X, "y": Y}
    model = LinearSVC(warm_start=True, solver=solver, tol=1e-4).fit(**data)
    parameters = {name: value for name, value in changed.items() if name in model.get_params()}
    data |= {name: value for name, value in changed.items() if name not in parameters}
    model.set_params(**parameters, tol=1e-2).fit(**data)
    cold = clone(model).set_params(warm_start=False, solver="one_slack", tol=1e-6).fit(**data)
    assert model.dual_objective_ <= cold.objective_ * (1 + 1e-9)
    assert cold.dual_objective_ <= model.objective_ * (1 + 1e-9)


def test_other_classes_or_features_start_anew():
    model = LinearSVC(warm_start=True).fit(X, Y)
    fresh = LinearSVC().fit(X[:, :2], Y)
    np.testing.assert_array_equal(model.fit(X[:, :2], Y).coef_, fresh.coef_)
    renamed = model.fit(X[:, :2], NAMES[Y])
    np.testing.assert_array_equal(renamed.coef_, LinearSVC().fit(X[:, :2], NAMES[Y]).coef_)


def test_state_is_kept_for_warm_starts_only():
    assert LinearSVC().fit(X, Y).result_.state == {}
    assert LinearSVC(warm_start=True).fit(X, Y).result_.state != {}


@pytest.mark.parametrize("name", ["estimators.linear_svc", "kinds.load"])
def test_examples_in_the_docs(name):
    module = importlib.import_module(f"oneslack.{name}")
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_quick_checks_refuse_what_scikit_learn_refuses(bad):
    data = sp.csr_matrix(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0]]))
    data.data[1] = bad
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
        LinearSVC().fit(data, np.array([0, 1, 0]))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LinearSVC().fit(sp.csr_matrix(np.eye(3)), np.array([0, 1]))
    model = LinearSVC().fit(sp.csr_array(np.eye(3)), np.array([0, 1, 0]))
    assert model.n_features_in_ == 3


def test_quick_checks_forget_names_of_an_earlier_fit():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 1.0]})
    model = LinearSVC().fit(frame, [0, 1, 0])
    model.fit(sp.csr_matrix(frame.to_numpy()), np.array([0, 1, 0]))
    assert not hasattr(model, "feature_names_in_")
