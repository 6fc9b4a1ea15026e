"""KernelSVC as users meet it: methods, kernels, labels, files, reduction, conformance."""

import doctest
import importlib
import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import estimator_checks_generator

import oneslack
from oneslack import FormatError, KernelSVC, OneslackError
from oneslack.datasets import make_checkers
from oneslack.estimators import kernel_svc
from oneslack.estimators._shared import kernel_inputs

X, Y = make_checkers(400, random_state=0)
X_TEST, Y_TEST = make_checkers(2000, random_state=1)
IRIS, KIND = load_iris(return_X_y=True)
METHODS = ["exact", "linear", "constant", "basis"]


def checkers_model(**options):
    return KernelSVC(**{"C": 10.0, "gamma": 5.0, "random_state": 0} | options)


# Conformance.

ESTIMATORS = [
    KernelSVC(tol=1e-13),
    KernelSVC(tol=1e-13, multi_class="ovr", fit_intercept=True),
    KernelSVC(method="linear"),
]
CHECKS = [pair for model in ESTIMATORS for pair in estimator_checks_generator(model, mark="skip")]


def asks_too_much(estimator, check):
    """Weighted and repeated examples cannot be sampled alike to seven digits."""
    return estimator.method == "linear" and "sample_weight_equivalence" in name(check)


def name(value):
    return getattr(getattr(value, "func", None), "__name__", None) or repr(value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "check"), [pair for pair in CHECKS if not asks_too_much(*pair)], ids=name
)
def test_conformance(estimator, check):
    check(estimator)


# Methods.


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_methods_agree(method, intercept):
    model = checkers_model(method=method, fit_intercept=intercept).fit(X, Y)
    assert model.method_ == method
    assert model.certified_ == (method in ("exact", "linear"))
    exact = checkers_model(tol=1e-6, fit_intercept=intercept).fit(X, Y)
    assert model.objective_ <= 1.1 * exact.objective_
    assert model.objective_ >= exact.dual_objective_ * (1 - 1e-9)
    if model.certified_:
        assert model.dual_objective_ <= exact.objective_
    assert np.mean(model.predict(X_TEST) == exact.predict(X_TEST)) > 0.96
    assert model.support_vectors_.shape == (len(model.support_), 2)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    scores = rbf_kernel(X_TEST, model.support_vectors_, gamma=5.0) @ model.dual_coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X_TEST), scores.ravel(), atol=1e-9)


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
@pytest.mark.parametrize("method", METHODS)
def test_many_classes(method, multi_class):
    names = np.array(["a", "b", "c"])[KIND]
    model = KernelSVC(method=method, multi_class=multi_class, n_basis=60).fit(IRIS, names)
    assert model.score(IRIS, names) > 0.93
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.decision_function(IRIS).shape == (150, 3)
    assert model.duality_gap_ < 0.05


def test_exact_is_scikit_learns_svc():
    theirs = SVC(C=10.0, gamma=5.0, tol=1e-7).fit(X, Y)
    ours = checkers_model(fit_intercept=True, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(ours.decision_function(X_TEST), theirs.decision_function(X_TEST), atol=3e-3)
    weights = np.arange(400) % 3 + 0.5
    theirs = SVC(C=1.0, gamma=1.0, tol=1e-7).fit(X, Y, weights)
    ours = KernelSVC(gamma=1.0, fit_intercept=True, tol=1e-9).fit(X, Y, weights)
    np.testing.assert_allclose(ours.decision_function(X_TEST), theirs.decision_function(X_TEST), atol=3e-3)


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_model(method):
    first, second = (checkers_model(method=method, n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)
    np.testing.assert_array_equal(first.support_, second.support_)
    if method != "exact":
        other = checkers_model(method=method, random_state=1, sample_size=50, n_basis=50).fit(X, Y)
        assert other.dual_coef_.shape != first.dual_coef_.shape


def test_auto_goes_by_the_memory():
    assert checkers_model()._method(1000) == "exact"
    assert checkers_model(memory=1e5)._method(1000) == "linear"
    assert checkers_model()._method(60_000) == "exact"
    assert checkers_model()._method(100_000) == "linear"
    assert checkers_model()._method(1_000_000) == "constant"


# Kernels and inputs.


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "laplacian"])
def test_sparse_is_dense(kernel):
    dense = np.where(IRIS > 1.0, IRIS, 0.0)
    expected = KernelSVC(kernel=kernel, coef0=1.0, degree=2, tol=1e-6).fit(dense, KIND)
    model = KernelSVC(kernel=kernel, coef0=1.0, degree=2, tol=1e-6).fit(sp.csr_matrix(dense), KIND)
    assert sp.issparse(model.support_vectors_)
    assert model.objective_ == pytest.approx(expected.objective_, rel=1e-5)
    np.testing.assert_array_equal(model.predict(dense), model.predict(sp.csr_matrix(dense)))


@pytest.mark.parametrize("method", METHODS)
def test_a_function_and_a_matrix_are_the_named_kernel(method):
    def function(a, b):
        return rbf_kernel(a, b, gamma=5.0)

    named = checkers_model(method=method).fit(X, Y)
    called = checkers_model(method=method, kernel=function).fit(X, Y)
    ready = checkers_model(method=method, kernel="precomputed").fit(function(X, X), Y)
    scores = named.decision_function(X_TEST)
    close = {"atol": 1e-3} if method == "exact" else {"atol": 0.2}
    np.testing.assert_allclose(called.decision_function(X_TEST), scores, **close)
    np.testing.assert_allclose(ready.decision_function(function(X_TEST, X)), scores, **close)


def test_gamma_is_that_of_scikit_learn():
    for gamma in ("scale", "auto", 0.7):
        for data in (IRIS, sp.csr_matrix(IRIS)):
            model = KernelSVC(gamma=gamma).fit(data, KIND)
            assert model._kernel.gamma == pytest.approx(SVC(gamma=gamma).fit(data, KIND)._gamma)


def test_float32_values_are_good_enough(monkeypatch):
    wide = checkers_model(tol=1e-5).fit(X, Y)
    monkeypatch.setattr(kernel_inputs, "WIDE", 100)
    narrow = checkers_model(tol=1e-5).fit(X, Y)
    assert narrow._kernel.dtype == np.float32
    assert narrow.objective_ == pytest.approx(wide.objective_, rel=1e-4)
    np.testing.assert_allclose(narrow.decision_function(X_TEST), wide.decision_function(X_TEST), atol=0.05)


def test_many_rows_are_scored_in_little_memory():
    model = checkers_model().fit(X, Y)
    rows = np.tile(X_TEST, (60, 1))
    tracemalloc.start()
    try:
        scores = model.decision_function(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_allclose(scores[:2000], model.decision_function(X_TEST), atol=1e-12)
    assert peak < len(rows) * len(model.support_) * 8 / 5


def test_weights_and_class_weights():
    weight = np.where(Y > 0, 3.0, 1.0)
    by_weight = checkers_model(tol=1e-6).fit(X, Y, weight)
    by_class = checkers_model(tol=1e-6, class_weight={1: 3.0}).fit(X, Y)
    assert by_weight.objective_ == pytest.approx(by_class.objective_, rel=1e-5)


def test_grid_search():
    search = GridSearchCV(KernelSVC(gamma=5.0), {"C": [0.01, 10.0]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"C": 10.0}
    K = rbf_kernel(X, gamma=5.0)
    by_matrix = GridSearchCV(KernelSVC(kernel="precomputed"), {"C": [0.01, 10.0]}, cv=3).fit(K, Y)
    assert by_matrix.best_score_ == pytest.approx(search.best_score_, abs=0.01)


# Reduction.


def test_reduction_keeps_its_promise():
    model = checkers_model(gamma=1.0, C=1.0).fit(X, Y)
    before, count = model.decision_function(X_TEST), len(model.support_)
    model.reduce(0.05)
    assert len(model.support_) < count
    assert model.reduction_error_ <= 0.0501
    assert np.abs(model.decision_function(X_TEST) - before).max() <= model.reduction_error_ + 1e-9
    model.reduce(0.0, max_vectors=5)
    assert len(model.support_) == 5
    assert np.abs(model.decision_function(X_TEST) - before).max() <= model.reduction_error_ + 1e-9
    assert not hasattr(model.fit(X, Y), "reduction_error_")


# Files.


@pytest.mark.parametrize("form", ["dense", "sparse", "precomputed", "three"])
def test_a_file_is_the_model(tmp_path, form):
    data, y = (IRIS, KIND) if form == "three" else (X, np.where(Y > 0, "yes", "no"))
    options = {"kernel": "precomputed"} if form == "precomputed" else {}
    if form == "precomputed":
        data = rbf_kernel(X, gamma=5.0)
    if form == "sparse":
        data = sp.csr_matrix(X)
    model = checkers_model(class_weight="balanced", **options).fit(data, y)
    path = tmp_path / "kernel.model"
    model.save(path)
    again = oneslack.load(path)
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.decision_function(data), model.decision_function(data))
    np.testing.assert_array_equal(again.classes_, model.classes_)
    for attribute in (
        "objective_",
        "objective_error_",
        "duality_gap_",
        "certified_",
        "method_",
        "n_features_in_",
    ):
        assert getattr(again, attribute) == getattr(model, attribute)
    again.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == path.read_bytes()
    pickled = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(pickled.decision_function(data), model.decision_function(data))


def test_a_damaged_file_is_refused(tmp_path):
    from oneslack.formats import load_model, save_model

    path = tmp_path / "kernel.model"
    checkers_model().fit(X, Y).save(path)
    header, arrays = load_model(path)
    save_model(path, header, arrays | {"dual_coef": np.zeros((2, 3))})
    with pytest.raises(FormatError, match="the dual coefficients have shape"):
        oneslack.load(path)
    with pytest.raises(OneslackError, match="cannot save a model whose kernel is a function"):
        checkers_model(kernel=rbf_kernel).fit(X, Y).save(path)


# Sentences.

BAD = {
    "kernel='cosine' is not known": {"kernel": "cosine"},
    "gamma='large' is not known": {"gamma": "large"},
    "gamma must be 'scale', 'auto' or a positive number": {"gamma": -1.0},
    "method='fast' is not known; use one of 'auto', 'exact'": {"method": "fast"},
    "sample_size must be None or an integer >= 1": {"sample_size": 0},
    "n_basis must be an integer >= 1": {"n_basis": 0},
    "memory must be a positive number of bytes": {"memory": 0},
    "C must be a positive number": {"C": 0.0},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_parameters(sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelSVC(**BAD[sentence]).fit(X, Y)


def test_what_does_not_go_together():
    with pytest.raises(ValueError, match="use fit_intercept=False or multi_class='ovr'"):
        KernelSVC(fit_intercept=True).fit(IRIS, KIND)
    with pytest.raises(ValueError, match="must be a square matrix"):
        KernelSVC(kernel="precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="reduce needs the support vectors"):
        KernelSVC(kernel="precomputed").fit(rbf_kernel(X), Y).reduce()
    with pytest.raises(ValueError, match=r"basis functions .* raise memory"):
        KernelSVC(method="basis", memory=1e4).fit(X, Y)


def test_a_failed_fit_leaves_the_last_model_whole():
    model = checkers_model().fit(X, Y)
    before, kept = model.decision_function(X_TEST), dict(vars(model))

    def broken(A, B):
        raise RuntimeError("no value")

    with pytest.raises(RuntimeError, match="no value"):
        model.set_params(kernel=broken, gamma=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="raise memory"):
        model.set_params(kernel="rbf", method="basis", memory=1e4).fit(X, np.where(Y > 0, "a", "b"))
    np.testing.assert_array_equal(model.decision_function(X_TEST), before)
    for name in ("method_", "classes_", "result_", "objective_error_", "certified_"):
        assert getattr(model, name) is kept[name]


@pytest.mark.parametrize("method", ["linear", "constant", "basis"])
def test_a_resumed_fit_is_the_whole_one(method, tmp_path, monkeypatch):
    """One class against the rest: the first are done when it is cut short."""
    monkeypatch.setattr(kernel_svc, "CERTIFICATE", 0.0)  # it may cost a part of the training, all of that
    options = {"C": 10.0, "gamma": 1.0, "multi_class": "ovr", "sample_size": 40, "n_basis": 40}

    def fitted(resume=None, **others):
        model = KernelSVC(method=method, n_jobs=1, **options, **others)
        watch = {} if resume is None else {"checkpoint": tmp_path / "kept", "resume": resume}
        return model.fit(IRIS, KIND, **watch)

    whole = fitted()
    with pytest.warns(ConvergenceWarning):
        part = fitted(False, max_iter=whole.n_iter_ - 1)
    assert any(result.status.ok for result in part.result_.parts)
    again = fitted(True)
    assert not (tmp_path / "kept").exists()
    assert again.certified_ == whole.certified_ == (method == "linear")
    assert [r.certified for r in again.result_.parts] == [r.certified for r in whole.result_.parts]
    np.testing.assert_allclose(again.dual_coef_, whole.dual_coef_, rtol=1e-6, atol=1e-9)
    assert again.dual_objective_ == pytest.approx(whole.dual_objective_, rel=1e-9)


def test_stopping_early_is_said():
    with pytest.warns(ConvergenceWarning, match=r"epsilon=0\.001: the number of iterations ran out"):
        checkers_model(method="linear", max_iter=2).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match=r"tol=0\.001: the number of iterations ran out"):
        checkers_model(max_iter=2).fit(X, Y)


@pytest.mark.parametrize("module", ["estimators.kernel_svc", "kernels.mercer", "datasets.checkers"])
def test_examples_of_the_docstrings(module):
    outcome = doctest.testmod(importlib.import_module(f"oneslack.{module}"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
