"""MetricSVC against the definition: all labellings, all rankings or all pairs of a few examples."""

import doctest
import importlib
import math
import pickle
import weakref
from itertools import permutations, product

import numpy as np
import pytest
import scipy.sparse as sp
from reference import Reference
from sklearn import clone, metrics
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oneslack import LinearSVC, MetricSVC, OneSlack, RankSVM
from oneslack.models.measures import METRICS


def g_mean(tp, fp, fn, tn):
    """Linear in fp for fixed tp, so concave."""
    return 1 - tp * tn / np.maximum((tp + fn) * (tn + fp), 1)


def g_mean_of_numbers(tp, fp, fn, tn):
    """The same, of four numbers only."""
    return 1 - tp * tn / max((tp + fn) * (tn + fp), 1) if math.isfinite(tp) else 0.0


def uneven(tp, fp, fn, tn):
    """Neither concave nor monotone, and not zero for the truth."""
    return 0.3 + np.abs(np.sin(2 * fp)) + fn / 4


def f1_loss(tp, fp, fn, tn):
    return 1 - 2 * tp / np.maximum(2 * tp + fp + fn, 1)


SETTINGS = {
    "error": {"metric": "error"},
    "error, no intercept": {"metric": "error", "fit_intercept": False},
    "f1": {"metric": "f1"},
    "f1, no intercept": {"metric": "f1", "fit_intercept": False},
    "f2": {"metric": "fbeta", "beta": 2.0},
    "f0.5": {"metric": "fbeta", "beta": 0.5},
    "prbep": {"metric": "prbep"},
    "precision at 2": {"metric": "precision_at_k", "k": 2},
    "precision at 5": {"metric": "precision_at_k", "k": 5},
    "recall at 0.75": {"metric": "recall_at_k", "k": 0.75},
    "recall at 1": {"metric": "recall_at_k", "k": 1},
    "roc_auc": {"metric": "roc_auc"},
    "average_precision": {"metric": "average_precision"},
    "function": {"metric": uneven},
    "function of numbers": {"metric": g_mean_of_numbers},
    "concave function": {"metric": g_mean, "concave": True},
}


# The definitions.


def tables(y, outputs):
    tp = np.sum((y > 0) & (outputs > 0), axis=1)
    fp = np.sum((y < 0) & (outputs > 0), axis=1)
    return tp, fp, np.sum(y > 0) - tp, np.sum(y < 0) - fp


def labelled(y, metric, beta=1.0, **_):
    """(losses, coefficients) of all labellings: n R = max of n loss - <coefficients, f>."""
    outputs = np.array(list(product((-1, 1), repeat=len(y))))
    tp, fp, fn, tn = tables(y, outputs)
    if metric == "error":
        losses = (fp + fn) / len(y)
    elif metric in ("f1", "fbeta"):
        losses = 1 - (1 + beta**2) * tp / np.maximum(beta**2 * (tp + fn) + tp + fp, 1e-300)
    else:
        losses = np.array([metric(*map(float, table)) for table in zip(tp, fp, fn, tn, strict=True)])
        losses -= metric(float(np.sum(y > 0)), 0.0, 0.0, float(np.sum(y < 0)))
    return losses, y * (outputs != y)


def chosen(y, metric, k=None, **_):
    """The same of all choices of k examples, each against the mean of the perfect ones nearest to it."""
    n, P = len(y), int(np.sum(y > 0))
    k = P if metric == "prbep" else k if isinstance(k, int) else round(k * n)
    outputs = np.array([z for z in product((0, 1), repeat=n) if sum(z) == k])
    found = outputs @ (y > 0)
    losses = (min(k, P) - found) / (k if metric == "precision_at_k" else P)
    perfect = outputs[found == min(k, P)]
    coefficients = []
    for z in outputs:
        shared = perfect @ z
        coefficients.append(perfect[shared == shared.max()].mean(axis=0) - z)
    return losses, np.array(coefficients)


def ranked(y, **_):
    """The same of all rankings, for average precision."""
    n, P, N = len(y), np.sum(y > 0), np.sum(y < 0)
    losses, coefficients = [], []
    for order in permutations(range(n)):
        truth = y[list(order)] > 0
        precisions = np.cumsum(truth)[truth] / (1 + np.flatnonzero(truth))
        losses.append(1 - precisions.mean())
        c = np.zeros(n)
        for place, i in enumerate(order):
            for j in order[:place]:
                if y[i] > 0 > y[j]:
                    c[i] += n / (P * N)
                    c[j] -= n / (P * N)
        coefficients.append(c)
    return np.array(losses), np.array(coefficients)


def reference(X, y, C, fit_intercept=True, **setting):
    """Every cut of the problem."""
    metric, n = setting["metric"], len(y)
    if metric == "roc_auc":
        i, j = np.argwhere((y[:, None] > 0) & (y < 0)).T
        m = len(i)
        deltas, losses = np.vstack([np.zeros((m, X.shape[1])), X[i] - X[j]]), np.repeat([0.0, 1.0], m)
        return Reference.of_cuts(deltas, losses, np.tile(np.arange(m), 2), np.full(m, C * n / m))
    by_order = metric in ("prbep", "precision_at_k", "recall_at_k", "average_precision")
    outputs = ranked if metric == "average_precision" else chosen if by_order else labelled
    losses, coefficients = outputs(y, **setting)
    if fit_intercept and not by_order:
        X = np.column_stack([X, np.ones(n)])
        free = [X.shape[1] - 1]
    else:
        free = []
    block, weight = np.zeros(len(losses), int), np.array([C * n])
    return Reference.of_cuts(coefficients @ X / n, losses, block, weight, free=free)


def few(seed, n=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0.3, 1.0, -1.0)
    y[:3] = 1, -1, 1
    return X, y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_the_certificate_is_that_of_the_definition(setting, seed):
    X, y = few(seed, 6 if setting["metric"] == "average_precision" else 8)
    problem = reference(X, y, 0.7, **setting)
    model = MetricSVC(C=0.7, tol=1e-6, **setting).fit(X, y)
    has_bias = problem.deltas.shape[1] > 2
    w = np.append(model.coef_[0], model.intercept_ if has_bias else [])
    lower, upper, _ = problem.solve()
    assert model.objective_ == pytest.approx(problem.primal(w), rel=1e-9, abs=1e-9)
    assert model.duality_gap_ <= 1e-6
    assert lower - 1e-7 <= model.objective_ <= upper * (1 + 2e-6) + 1e-7
    assert model.dual_objective_ <= upper + 1e-7


def test_every_metric_is_tested():
    assert {setting["metric"] for setting in SETTINGS.values()} >= set(METRICS)


def sample(n=120, seed=0, positive=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    wish = X @ [1.0, -0.5, 0.3, 0.0] + rng.normal(size=n)
    return X, np.where(wish > np.quantile(wish, 1 - positive), 1, -1)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_error_is_the_hinge_of_linear_svc(fit_intercept):
    X, y = sample()
    settings = {"C": 0.3, "tol": 1e-7, "fit_intercept": fit_intercept}
    model, svc = MetricSVC("error", **settings).fit(X, y), LinearSVC(**settings).fit(X, y)
    assert model.objective_ == pytest.approx(svc.objective_, rel=2e-7)
    np.testing.assert_allclose(model.coef_, svc.coef_, atol=1e-4)
    assert model.score(X, y) == svc.score(X, y)


def test_roc_area_is_the_ranking_of_two_targets():
    X, y = sample()
    model, ranking = MetricSVC("roc_auc", C=0.3).fit(X, y), RankSVM(C=0.3).fit(X, (y > 0) * 1)
    np.testing.assert_array_equal(model.coef_[0], ranking.coef_)
    assert model.score(X, y) == pytest.approx(ranking.score(X, y), rel=1e-12)


def test_settings_that_are_the_same_measure():
    X, y = sample(60)

    def optimum(metric, **options):
        return MetricSVC(metric, tol=1e-7, **options).fit(X, y).objective_

    assert optimum("fbeta", beta=1.0) == optimum("f1")
    assert optimum(f1_loss) == pytest.approx(optimum("f1"), rel=2e-7)
    assert optimum(f1_loss, concave=True) == pytest.approx(optimum("f1"), rel=2e-7)
    assert optimum(lambda tp, fp, fn, tn: (fp + fn) / 60) == pytest.approx(optimum("error"), rel=2e-7)
    P = int(np.sum(y > 0))
    assert optimum("precision_at_k", k=P) == pytest.approx(optimum("prbep"), rel=2e-7)
    assert optimum("recall_at_k", k=P / 60) == pytest.approx(optimum("prbep"), rel=2e-7)
    assert optimum("fbeta", beta=3.0) != pytest.approx(optimum("f1"), rel=1e-5)


# Functions.


def test_the_promise_and_the_form_of_a_function_change_nothing():
    X, y = sample(60)
    expected = MetricSVC(g_mean, tol=1e-7).fit(X, y)
    for metric, concave in [(g_mean, True), (g_mean_of_numbers, False), (g_mean_of_numbers, True)]:
        model = MetricSVC(metric, tol=1e-7, concave=concave).fit(X, y)
        assert model.objective_ == pytest.approx(expected.objective_, rel=2e-7)
        assert model.score(X, y) == pytest.approx(1 - g_mean(*counted(y, model.predict(X))))


def counted(y, predicted):
    return [np.sum((y == a) & (predicted == b)) for a, b in [(1, 1), (-1, 1), (1, -1), (-1, -1)]]


def test_a_function_may_be_any_callable():
    class Cost:
        __hash__ = None  # as a dataclass that is not frozen

        def __call__(self, tp, fp, fn, tn):
            return (fp + 5 * fn) / 60

    X, y = sample(60)
    model = MetricSVC(Cost()).fit(X, y)
    assert model.score(X, y) == pytest.approx(1 - Cost()(*counted(y, model.predict(X))))


def test_a_loss_that_is_not_finite_is_named():
    X, y = sample(60)
    with pytest.raises(ValueError, match=r"loss\(tp=0, fp=0, fn=18, tn=42\) is nan, expected a finite"):
        MetricSVC(lambda tp, fp, fn, tn: tp / (tp + fp)).fit(X, y)


def test_the_score_of_a_function_is_counted_from_the_truth():
    X, y = sample(60)
    model = MetricSVC(uneven).fit(X, y)
    tp, fp, fn, tn = counted(y, model.predict(X))
    assert model.score(X, y) == pytest.approx(1 - uneven(tp, fp, fn, tn) + 0.3)


# Thresholds of what sees order alone.


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("metric", ["prbep", "roc_auc", "average_precision"])
def test_as_many_are_predicted_positive_as_are(metric, seed):
    X, y = sample(80, seed)
    assert np.sum(MetricSVC(metric).fit(X, y).predict(X) > 0) == np.sum(y > 0)


@pytest.mark.parametrize("metric", ["precision_at_k", "recall_at_k"])
@pytest.mark.parametrize(("k", "count"), [(1, 1), (7, 7), (60, 60), (80, 80), (0.1, 8), (1.0, 80)])
def test_k_are_predicted_positive(metric, k, count):
    X, y = sample(80)
    assert np.sum(MetricSVC(metric, k=k).fit(X, y).predict(X) > 0) == count


@pytest.mark.parametrize("metric", ["prbep", "roc_auc", "average_precision"])
def test_order_needs_no_intercept(metric):
    X, y = sample()
    model, moved = MetricSVC(metric).fit(X, y), MetricSVC(metric, fit_intercept=False).fit(X + 3.0, y)
    assert model.objective_ == pytest.approx(moved.objective_, rel=2e-3)
    np.testing.assert_array_equal(model.predict(X), moved.predict(X + 3.0))


# Scores.

VALUES = {
    "error": lambda y, f: metrics.accuracy_score(y, np.where(f > 0, 1, -1)),
    "f1": lambda y, f: metrics.f1_score(y, np.where(f > 0, 1, -1)),
    "fbeta": lambda y, f: metrics.fbeta_score(y, np.where(f > 0, 1, -1), beta=0.5),
    "prbep": lambda y, f: np.mean(y[np.argsort(-f)][: np.sum(y > 0)] > 0),
    "precision_at_k": lambda y, f: np.mean(y[np.argsort(-f)][:9] > 0),
    "recall_at_k": lambda y, f: np.sum(y[np.argsort(-f)][:9] > 0) / np.sum(y > 0),
    "roc_auc": metrics.roc_auc_score,
    "average_precision": metrics.average_precision_score,
}


@pytest.mark.parametrize("metric", METRICS)
def test_the_score_is_the_measure_itself(metric):
    X, y = sample(200)
    model = MetricSVC(metric, k=9, beta=0.5).fit(X[:120], y[:120])
    new, truth = X[120:], y[120:]
    assert model.score(new, truth) == pytest.approx(VALUES[metric](truth, model.decision_function(new)))


def test_the_score_is_the_mean_over_classes():
    X, y = load_iris(return_X_y=True)
    model = MetricSVC("roc_auc", C=0.1).fit(X, y)
    f = model.decision_function(X)
    expected = np.mean([metrics.roc_auc_score(y == k, f[:, k]) for k in range(3)])
    assert model.score(X, y) == pytest.approx(expected)


# More than two classes, and labels.


@pytest.mark.parametrize("metric", ["f1", "average_precision"])
def test_classes_are_one_against_the_rest(metric):
    X, y = load_iris(return_X_y=True)
    names = np.array(["c", "a", "b"])[y]
    model = MetricSVC(metric, C=0.1).fit(X, names)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    assert model.decision_function(X).shape == (150, 3)
    assert not model.multilabel_
    singles = [MetricSVC(metric, C=0.1).fit(X, names == name) for name in "abc"]
    for row, single in enumerate(singles):
        np.testing.assert_array_equal(model.coef_[row], single.coef_[0])
        assert model.intercept_[row] == pytest.approx(single.intercept_[0], rel=1e-12)
    total = sum(single.objective_ for single in singles)
    assert total <= model.objective_ <= total * (1 + 1e-15)  # sums of bounds are rounded up
    assert model.n_iter_ == max(single.n_iter_ for single in singles)
    np.testing.assert_array_equal(model.predict(X), model.classes_[model.decision_function(X).argmax(1)])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, lambda Y: Y.tolist(), np.bool_])
def test_labels_are_a_problem_each(form):
    X, y = load_iris(return_X_y=True)
    Y = np.column_stack([y == 1, y > 0])
    model = MetricSVC("f1", C=0.1).fit(X, form(Y.astype(int)))
    assert model.multilabel_
    np.testing.assert_array_equal(model.classes_, [0, 1])
    predicted = model.predict(X)
    assert predicted.shape == (150, 2)
    assert set(np.unique(predicted)) <= {0, 1}
    singles = [MetricSVC("f1", C=0.1).fit(X, column) for column in Y.T]
    for row, single in enumerate(singles):
        np.testing.assert_array_equal(model.coef_[row], single.coef_[0])
        np.testing.assert_array_equal(predicted[:, row], single.predict(X))
    expected = metrics.f1_score(Y, predicted, average="macro")
    assert model.score(X, form(Y.astype(int))) == pytest.approx(expected)


def test_labels_that_no_example_has():
    X, _ = sample(30)
    Y = np.zeros((30, 3), int)
    Y[:10, 0] = 1
    Y[:, 2] = 1
    for metric in METRICS:
        if metric == "roc_auc":
            with pytest.raises(ValueError, match=r"label 1 is the same for all examples.*leave out its"):
                MetricSVC(metric).fit(X, Y)
            continue
        predicted = MetricSVC(metric, k=3).fit(X, Y).predict(X)
        count = 3 if metric.endswith("_k") else 0
        assert predicted[:, 1].sum() in (count, 30 if count else 0)  # without an order all scores tie


# Matrices.


@pytest.mark.parametrize("metric", ["f1", "prbep", "average_precision", "roc_auc"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_any_matrix(metric, form, dtype):
    X, y = sample()
    X = np.where(X > 0, X, 0.0).astype(dtype)
    expected = MetricSVC(metric, tol=1e-7).fit(X.astype(float), y)
    model = MetricSVC(metric, tol=1e-7).fit(form(X), y)
    assert model.objective_ == pytest.approx(expected.objective_, rel=3e-7)
    scores = X.astype(float) @ model.coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(form(X)), scores, rtol=1e-10, atol=1e-12)


# Solvers and warm starts.


def test_a_solver_may_be_an_object():
    X, y = sample()
    plain = MetricSVC(solver=OneSlack(line_search=False), C=0.1, tol=1e-5).fit(X, y)
    assert plain.objective_ == pytest.approx(MetricSVC(C=0.1, tol=1e-5).fit(X, y).objective_, rel=2e-5)
    with pytest.raises(ValueError, match="Newton needs more than FBeta offers"):
        MetricSVC(solver="newton").fit(X, y)
    assert MetricSVC("error", solver="dual_cd", random_state=3).fit(X, y).result_.solver == "dual_cd"


@pytest.mark.parametrize("metric", ["f1", "average_precision", g_mean])
def test_a_warm_start_goes_on(metric):
    X, y = sample(300)
    model = MetricSVC(metric, warm_start=True, tol=1e-2).fit(X, y)
    model.set_params(tol=1e-5).fit(X, y)
    cold = MetricSVC(metric, tol=1e-5).fit(X, y)
    assert model.n_iter_ < cold.n_iter_
    assert model.objective_ == pytest.approx(cold.objective_, rel=1e-5)


@pytest.mark.parametrize(
    "changed",
    [
        {"metric": "error"}, {"metric": "prbep"}, {"metric": uneven}, {"beta": 3.0}, {"C": 0.2},
        {"fit_intercept": False},
    ],
    ids=lambda change: "-".join(change),
)  # fmt: skip
def test_a_warm_start_on_another_problem_keeps_the_certificate_true(changed):
    X, y = sample(60)
    model = MetricSVC("fbeta", warm_start=True, tol=1e-6).fit(X, y)
    model.set_params(**changed, tol=1e-2).fit(X, y)
    cold = clone(model).set_params(warm_start=False, tol=1e-7, solver="one_slack").fit(X, y)
    assert model.dual_objective_ <= cold.objective_ * (1 + 1e-9)
    assert cold.dual_objective_ <= model.objective_ * (1 + 1e-9)


def test_the_function_of_the_last_fit_is_not_taken_for_another():
    def cost_of(price):
        return lambda tp, fp, fn, tn: price * (fp + fn) / 60

    X, y = sample(60)
    model = MetricSVC(cost_of(9.0), warm_start=True).fit(X, y)
    last = weakref.ref(model.metric)
    model.set_params(metric=cost_of(0.1))
    assert last() is not None  # as long as it is compared with, no other may get its address
    cold = MetricSVC(cost_of(0.1), tol=1e-7).fit(X, y)
    assert model.fit(X, y).dual_objective_ <= cold.objective_ * (1 + 1e-9)
    assert last() is None


def test_a_short_fit_warns():
    X, y = sample()
    with pytest.warns(ConvergenceWarning, match="MetricSVC stopped"):
        model = MetricSVC("f1", C=100.0, max_iter=2).fit(X, y)
    assert model.predict(X).shape == y.shape


def test_a_failed_fit_leaves_the_last_model_whole():
    X, y = sample(30)
    model = MetricSVC("precision_at_k", k=3).fit(X, np.column_stack([y > 0, y < 0]) * 1)
    before = model.predict(X)
    with pytest.raises(ValueError, match="k=31 but there are 30 examples"):
        model.set_params(k=31).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), before)


# With the rest.


@pytest.mark.parametrize("metric", ["f1", g_mean])
def test_pickle_and_clone(metric):
    X, y = sample()
    model = MetricSVC(metric, C=0.3, warm_start=True).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.fit(X, y).n_iter_ < model.n_iter_
    assert clone(model).get_params() == model.get_params()


def test_a_search_may_choose_the_metric():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), MetricSVC(k=0.3))
    grid = {"metricsvc__metric": ["f1", "prbep", "precision_at_k", f1_loss], "metricsvc__C": [0.01]}
    search = GridSearchCV(pipeline, grid, cv=3, scoring="f1").fit(X, y)
    assert search.best_score_ > 0.95
    assert search.best_params_["metricsvc__metric"] != "precision_at_k"


def test_examples_in_the_docs():
    outcome = doctest.testmod(importlib.import_module("oneslack.estimators.metric_svc"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
