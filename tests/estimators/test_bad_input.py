"""Bad arrays and parameters: each is refused in fit by one sentence that says what is wrong."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from oneslack import LinearSVC, MetricSVC, OrdinalSVC, RankSVM

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 2.0]])
Y = np.array([0, 1, 0, 1])

PARAMETERS = [
    ({"C": 0}, ValueError, "C must be a positive number, or 'auto'"),
    ({"C": -1.0}, ValueError, "C must be a positive number"),
    ({"C": np.nan}, ValueError, "C must be a positive number, or 'auto'"),
    ({"C": np.inf}, ValueError, "C must be a positive number, or 'auto'"),
    ({"C": "1"}, TypeError, "C must be a positive number, or 'auto'"),
    ({"C": None}, TypeError, "C must be a positive number, or 'auto'"),
    ({"C": True}, TypeError, "C must be a positive number, or 'auto'"),
    ({"tol": -1e-3}, ValueError, "tol must be a number >= 0"),
    ({"tol": "small"}, TypeError, "tol must be a number >= 0"),
    ({"tol": np.nan}, ValueError, "tol must be a number >= 0; got nan"),
    (
        {"intercept_scaling": 1e-200},
        ValueError,
        "must be a positive number between 1e-150 and 1e150; got 1e-200",
    ),
    ({"epsilon": 0.0}, ValueError, "epsilon must be None or a positive number"),
    ({"epsilon": "0.1"}, TypeError, "epsilon must be None or a positive number"),
    ({"solver": "sgd"}, ValueError, "solver='sgd' is not known; use one of 'auto'"),
    ({"solver": None}, TypeError, "solver=None is not known"),
    ({"multi_class": "multinomial"}, ValueError, "use one of 'auto', 'crammer_singer', 'ovr'"),
    ({"multi_class": 3}, TypeError, "multi_class=3 is not known"),
    (
        {"loss": "squared"},
        ValueError,
        "use one of 'auto', 'hinge', 'squared_hinge', 'logistic' or a cost matrix",
    ),
    ({"loss": None}, TypeError, "loss must be the name of a loss, or a cost matrix"),
    (
        {"loss": [["a", "b"], ["c", "d"]]},
        TypeError,
        "loss must be the name of a loss, or a cost matrix of numbers",
    ),
    ({"loss": np.ones((3, 3)) - np.eye(3)}, ValueError, "so shape (2, 2); got shape (3, 3)"),
    ({"loss": [[0.0, -1.0], [1.0, 0.0]]}, ValueError, "finite costs >= 0"),
    ({"loss": [[0.0, np.nan], [1.0, 0.0]]}, ValueError, "finite costs >= 0"),
    ({"loss": [[1.0, 1.0], [1.0, 0.0]]}, ValueError, "zeros on the diagonal"),
    ({"loss": np.zeros((2, 2))}, ValueError, "all costs of loss are zero"),
    ({"fit_intercept": "False"}, TypeError, "fit_intercept must be True or False; got 'False'"),
    ({"warm_start": 1}, TypeError, "warm_start must be True or False; got 1"),
    ({"class_weight": "heavy"}, ValueError, "class_weight='heavy' is not known"),
    ({"class_weight": [1, 2]}, TypeError, "class_weight=[1, 2] is not known"),
    ({"class_weight": {0: -1.0}}, ValueError, "class_weight must be >= 0 and finite; class 0 has -1.0"),
    ({"class_weight": {7: 2.0}}, ValueError, "not in class_weight"),
    ({"class_weight": {0: 0.0, 1: 0.0}}, ValueError, "all sample weights are zero"),
    ({"n_jobs": 0}, ValueError, "n_jobs must be None for all cores, or an integer other than 0"),
    ({"n_jobs": 1.5}, TypeError, "n_jobs must be None for all cores"),
    ({"max_iter": 0}, ValueError, "max_iter must be an integer >= 1; got 0"),
    ({"max_iter": 10.0}, TypeError, "max_iter must be an integer >= 1; got 10.0"),
    ({"time_limit": -1}, ValueError, "time_limit must be None or a positive number of seconds; got -1"),
    ({"time_limit": "1 s"}, TypeError, "time_limit must be None or a positive number of seconds"),
    ({"random_state": -1}, ValueError, "random_state must be >= 0; got -1"),
    ({"random_state": "seed"}, TypeError, "random_state must be None, an integer >= 0"),
    ({"verbose": -1}, ValueError, "verbose must be an integer >= 0; got -1"),
    ({"verbose": "yes"}, TypeError, "verbose must be an integer >= 0"),
]


@pytest.mark.parametrize(("parameters", "kind", "words"), PARAMETERS, ids=lambda value: str(value)[:40])
def test_bad_parameters(parameters, kind, words):
    model = LinearSVC(**parameters)
    assert_refused(lambda: model.fit(X, Y), kind, words)
    assert not hasattr(model, "coef_")


def changed(value, array=X, at=(1, 1)):
    array = np.array(array, dtype=float)
    array[at] = value
    return array


ARRAYS = [
    (changed(np.nan), Y, None, "Input X contains NaN"),
    (changed(np.inf), Y, None, "Input X contains infinity"),
    (sp.csr_matrix(changed(np.nan)), Y, None, "Input X contains NaN"),
    (X[0], Y, None, "Expected 2D array, got 1D array instead"),
    (X[None], Y, None, "Found array with dim 3"),
    (np.empty((0, 2)), Y[:0], None, "0 sample(s)"),
    (np.empty((4, 0)), Y, None, "0 feature(s)"),
    (X.astype(complex) * 1j, Y, None, "Complex data not supported"),
    ([["a", "b"], ["c", "d"]], Y[:2], None, "X must hold numbers, but column"),
    (X, Y[:3], None, "inconsistent numbers of samples"),
    (X, None, None, "y"),
    (X, [0.5, 1.5, 0.5, 1.5], None, "Unknown label type: continuous; y[0] is 0.5"),
    (X, np.array([0.5, 1, 2, 1], dtype=object), None, "Unknown label type: continuous; y[0] is 0.5"),
    (X, [0, np.nan, 0, 1], None, "Input y contains NaN"),
    (X, [0, np.inf, 0, 1], None, "Input y contains infinity"),
    (X, np.zeros(4), None, "y has only one class (0.0); classification needs at least two"),
    (X, ["cat"] * 4, None, "y has only one class ('cat')"),
    (
        X,
        np.array([1, "a", 1, "a"], dtype=object),
        None,
        "y holds int and str; use text or whole numbers, all of one type",
    ),
    (X, np.array([None, "a", None, "a"], dtype=object), None, "y holds NoneType and str"),
    (X, np.array([(1,), (2,), (1,), None], dtype=object), None, "y holds NoneType and tuple"),
    (X, Y * 1j, None, "Complex data not supported"),
    (X, Y.astype("datetime64[D]"), None, "Unknown label type: datetime64[D]; use text or whole numbers"),
    (X, np.array([b"a", b"b", b"a", b"b"]), None, "Unknown label type: |S1; use text or whole numbers"),
    (X, np.array([b"a", b"b", b"a", b"b"], dtype=object), None, "y holds bytes; use text or whole numbers"),
    (X, np.eye(4), None, "y should be a 1d array"),
    (X, Y, np.zeros(4), "zero"),
    (X, Y, [1, -1, 1, 1], "sample_weight must be >= 0; example 1 has -1.0"),
    (X, Y, [1, np.nan, 1, 1], "Input sample_weight contains NaN"),
    (X, Y, [1, 1, 1], "sample_weight.shape == (3,), expected (4,)"),
    (X, Y, np.ones((4, 2)), "1D array"),
]


@pytest.mark.parametrize(("data", "labels", "weights", "words"), ARRAYS)
def test_bad_arrays(data, labels, weights, words):
    assert_refused(lambda: LinearSVC().fit(data, labels, weights), ValueError, words)


def test_continuous_targets_name_the_way_out():
    with pytest.raises(ValueError, match="for a regression, use a regressor"):
        LinearSVC().fit(X, [0.1, 0.2, 0.3, 0.4])


def test_cost_matrix_needs_crammer_and_singer():
    model = LinearSVC(multi_class="ovr", loss=1 - np.eye(3))
    assert_refused(lambda: model.fit(X[:3], [0, 1, 2]), ValueError, "needs multi_class='crammer_singer'")


def test_a_failed_fit_leaves_the_last_model_whole():
    model = LinearSVC().fit(X, Y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="sample_weight must be"):
        model.fit(X, ["a", "b", "c", "a"], sample_weight=[-1, 1, 1, 1])
    np.testing.assert_array_equal(model.classes_, [0, 1])
    np.testing.assert_array_equal(model.decision_function(X), before)


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_prediction_checks_its_input(method):
    with pytest.raises(NotFittedError):
        getattr(LinearSVC(), method)(X)
    predict = getattr(LinearSVC().fit(X, Y), method)
    assert_refused(lambda: predict(X[:, :1]), ValueError, "X has 1 features, but LinearSVC is expecting 2")
    assert_refused(lambda: predict(changed(np.nan)), ValueError, "Input X contains NaN")
    assert_refused(lambda: predict(X[0]), ValueError, "Expected 2D array")


# The other estimators: what is their own.

OTHERS = [RankSVM, OrdinalSVC, MetricSVC]
SHARED = [case for case in PARAMETERS if all(set(case[0]) <= set(other().get_params()) for other in OTHERS)]
METRIC_PARAMETERS = [
    ({"metric": "accuracy"}, ValueError, "metric='accuracy' is not known; use one of 'error', 'f1'"),
    ({"metric": "F1"}, ValueError, "or a function loss(tp, fp, fn, tn)"),
    ({"metric": None}, TypeError, "metric=None is not known"),
    ({"metric": ["f1"]}, TypeError, "metric=['f1'] is not known"),
    ({"metric": "precision_at_k"}, ValueError, "metric='precision_at_k' needs k"),
    ({"metric": "recall_at_k", "k": 0}, ValueError, "k must be a whole number of examples >= 1"),
    ({"metric": "recall_at_k", "k": 5}, ValueError, "k=5 but there are 4 examples"),
    ({"metric": "recall_at_k", "k": 1.5}, ValueError, "a share 0 < k <= 1; got 1.5"),
    ({"metric": "recall_at_k", "k": np.nan}, ValueError, "a share 0 < k <= 1; got nan"),
    ({"metric": "recall_at_k", "k": True}, TypeError, "k must be a whole number"),
    ({"metric": "recall_at_k", "k": "3"}, TypeError, "k must be a whole number"),
    ({"k": -1}, ValueError, "k must be a whole number"),  # whatever the metric
    ({"beta": 0}, ValueError, "beta must be a positive number; got 0"),
    ({"beta": "2"}, TypeError, "beta must be a positive number"),
    ({"concave": "yes"}, TypeError, "concave must be True or False; got 'yes'"),
    ({"solver": "newton"}, ValueError, "Newton needs more than FBeta offers"),
]


@pytest.mark.parametrize("estimator", OTHERS)
@pytest.mark.parametrize(("parameters", "kind", "words"), SHARED, ids=lambda value: str(value)[:40])
def test_bad_parameters_of_all(estimator, parameters, kind, words):
    model = estimator(**parameters)
    assert_refused(lambda: model.fit(X, Y), kind, words)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("parameters", "kind", "words"), METRIC_PARAMETERS, ids=lambda value: str(value)[:40]
)
def test_bad_metrics(parameters, kind, words):
    model = MetricSVC(**parameters)
    assert_refused(lambda: model.fit(X, Y), kind, words)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([[0, 1], [1, 0], [1, 2], [0, 0]], "a matrix y must hold 0 and 1, one column a label; it holds 2"),
        ([[0.5, 1], [1, 0], [1, 1], [0, 0]], "it holds 0.5"),
        ([["a", "b"]] * 4, "it holds 'a'"),
        ([["0", "1"]] * 4, "it holds '0'"),
        ([[-1, 1], [1, -1], [1, 1], [1, 1]], "it holds -1"),
        ([0.5, 1.5, 0.5, 1.5], "Unknown label type: continuous"),
        (np.zeros(4), "y has only one class (0.0)"),
        (np.zeros((3, 2)), "inconsistent numbers of samples"),
    ],
    ids=str,
)
def test_bad_labels_of_a_measure(y, words):
    assert_refused(lambda: MetricSVC().fit(X, y), ValueError, words)


def test_measures_take_no_weights():
    with pytest.raises(TypeError, match="sample_weight"):
        MetricSVC().fit(X, Y, sample_weight=np.ones(4))


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1, 2, 3], "groups have shape (3,), expected (4,): one for each row of X"),
        ([1, 3], "become groups by np.repeat(np.arange(len(sizes)), sizes)"),
        (np.zeros((4, 1)), "groups have shape (4, 1), expected (4,)"),
        ("aaaa", "groups have shape (), expected (4,)"),
        ([1.0, np.nan, 1.0, 1.0], "row 1: the group is nan"),
        (np.array([1.0, 2.0, 1.0, np.nan], dtype=object), "row 3: the group is nan"),
        (
            np.array(["2020-01-01", "NaT", "2020-01-01", "2020-01-01"], "datetime64[D]"),
            "row 1: the group is NaT",
        ),
        (np.array(["a", None, "a", "a"], dtype=object), "groups hold NoneType and str; use text or numbers"),
        ([[1, 2], [1, 2], [1, 2], [1, 2]], "groups have shape (4, 2)"),
    ],
    ids=str,
)
def test_bad_groups(groups, words):
    fitted = RankSVM().fit(X, Y)
    for call in (
        lambda: RankSVM().fit(X, Y, groups=groups),
        lambda: fitted.rank(X, groups=groups),
        lambda: fitted.score(X, Y, groups=groups),
    ):
        assert_refused(call, ValueError, words)


@pytest.mark.parametrize(
    ("y", "options", "words"),
    [
        (np.ones(4), {}, "there is no pair to rank: all targets are equal inside each group"),
        ([1, 1, 2, 2], {"groups": [0, 0, 1, 1]}, "there is no pair to rank: all targets are equal"),
        (
            [1, 1, 2, 3],
            {"sample_weight": [1, 1, 0, 0]},
            "there is no pair to rank: no pair has a positive weight",
        ),
        ([1, 2, 2, 3], {"sample_weight": [1, -1, 1, 1]}, "sample_weight must be >= 0; example 1 has -1.0"),
        ([1, 2, 2, 3], {"sample_weight": [0, 0, 0, 0]}, "zero"),
        ([1, np.nan, 2, 3], {}, "Input y contains NaN"),
        ([1, np.inf, 2, 3], {}, "Input y contains infinity"),
        (["a", "b", "c", "d"], {}, "could not convert string to float"),
        (np.eye(4), {}, "y should be a 1d array"),
    ],
    ids=str,
)
def test_bad_targets(y, options, words):
    assert_refused(lambda: RankSVM().fit(X, y, **options), ValueError, words)


def test_scores_need_a_label_for_each_row():
    rank, metric, labels = (
        RankSVM().fit(X, Y),
        MetricSVC().fit(X, Y),
        MetricSVC().fit(X, np.eye(4, dtype=int)),
    )
    assert_refused(lambda: rank.score(X, Y[:3]), ValueError, "X has 4 rows but y has 3 targets")
    assert_refused(lambda: metric.score(X, Y[:3]), ValueError, "X has 4 rows but y has 3 labels")
    three = MetricSVC().fit(X, [0, 1, 2, 1])
    assert_refused(lambda: three.score(X, Y[:3]), ValueError, "X has 4 rows but y has 3 labels")
    assert_refused(
        lambda: labels.score(X, np.eye(4)[:, :2]), ValueError, "y has shape (4, 2), expected (4, 4)"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: RankSVM().predict(X), lambda: RankSVM().rank(X), lambda: OrdinalSVC().rank_scores(X),
        lambda: OrdinalSVC().predict(X), lambda: MetricSVC().predict(X),
        lambda: MetricSVC().decision_function(X),
    ],
)  # fmt: skip
def test_prediction_needs_a_fit(call):
    with pytest.raises(NotFittedError):
        call()


def assert_refused(call, kind, words):
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    assert words in message
    if type(caught.value).__module__.startswith("oneslack") or "must be" in message:
        assert "\n" not in message


@pytest.mark.parametrize("named", [False, True])
def test_a_column_of_words_is_named(named):
    table = np.array([[1.0, "red"], [2.0, "blue"]], dtype=object)
    if named:
        table = pytest.importorskip("pandas").DataFrame(table, columns=["size", "colour"])
    which = "column 'colour'" if named else "column 1"
    with pytest.raises(ValueError, match=f"X must hold numbers, but {which} has red in row 0; make numbers"):
        LinearSVC().fit(table, [0, 1])
