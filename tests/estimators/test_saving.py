"""save and load: an exact round trip, and a sentence where there is none."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import oneslack
from oneslack import FormatError, LinearSVC, MetricSVC, OneslackError, OrdinalSVC, RankSVM
from oneslack.formats import load_model, save_model

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "größer", "小"])

LABELS = {
    "int64": Y,
    "int8": (Y - 1).astype(np.int8),
    "uint16": Y.astype(np.uint16),
    "float32": Y.astype(np.float32),
    "bool": Y == 1,
    "text": NAMES[Y],
    "long text": NAMES.astype("<U40")[Y],
    "object": NAMES.astype(object)[Y],
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "iris.model"


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_round_trip_is_exact(path, labels, multi_class):
    model = LinearSVC(C=0.1, tol=1e-4, multi_class=multi_class, random_state=np.int64(3)).fit(X, labels)
    model.save(path)
    again = oneslack.load(path)
    assert type(again) is LinearSVC
    for name in ("coef_", "intercept_", "classes_"):
        kept, loaded = getattr(model, name), getattr(again, name)
        assert loaded.dtype == kept.dtype
        np.testing.assert_array_equal(loaded, kept)
    for name in ("objective_", "dual_objective_", "duality_gap_", "n_iter_", "n_features_in_"):
        assert getattr(again, name) == getattr(model, name)
        assert type(getattr(again, name)) is type(getattr(model, name))
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    again.save(path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()


def test_feature_names_are_kept(path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "größe"])
    model = LinearSVC().fit(frame, Y)
    model.save(path)
    again = oneslack.load(path)
    np.testing.assert_array_equal(again.feature_names_in_, model.feature_names_in_)
    assert again.feature_names_in_.dtype == model.feature_names_in_.dtype
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    "class_weight", [{0: 1.0, 1: 2.0, 2: 0.5}, {np.int64(2): 3}, "balanced"], ids=["all", "one", "text"]
)
def test_class_weights_are_kept(path, class_weight):
    LinearSVC(class_weight=class_weight).fit(X, Y).save(path)
    assert oneslack.load(path).class_weight == class_weight


def test_class_weights_of_text_labels_are_kept(path):
    LinearSVC(class_weight={"小": 2.0}).fit(X, NAMES[Y]).save(path)
    assert oneslack.load(path).class_weight == {"小": 2.0}


def test_a_cost_matrix_is_kept(path):
    cost = [[0, 1, 2], [1, 0, 1], [4, 1, 0]]
    model = LinearSVC(loss=cost).fit(X, Y)
    model.save(path)
    again = oneslack.load(path)
    np.testing.assert_array_equal(again.loss, cost)
    assert again.fit(X, Y).objective_ == model.objective_
    assert load_model(path)[1]["loss"].shape == (3, 3)


def test_objects_without_a_place_in_the_file_fall_back_to_the_default(path):
    LinearSVC(random_state=np.random.RandomState(0), solver=oneslack.OneSlack()).fit(X, Y).save(path)
    again = oneslack.load(path)
    assert again.random_state is None
    assert again.solver == "auto"


def test_a_loaded_model_can_go_on(path):
    LinearSVC(warm_start=True, solver="one_slack").fit(X, Y).save(path)
    again = oneslack.load(path)
    cold = LinearSVC(solver="one_slack").fit(X, Y).n_iter_
    assert again.fit(X, Y).n_iter_ < cold


def test_saving_needs_a_fit(path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        LinearSVC().save(path)
    assert not path.exists()


def test_labels_that_cannot_be_saved_are_named(path):
    model = LinearSVC().fit(X, NAMES[Y].astype("U"))
    model.classes_ = np.array([b"a", b"b", b"c"])
    with pytest.raises(OneslackError, match="class labels of type bytes"):
        model.save(path)
    assert not path.exists()


def without(key):
    return lambda header, arrays: header.pop(key)


def with_value(key, value):
    return lambda header, arrays: header.update({key: value})


def with_array(key, value):
    return lambda header, arrays: arrays.update({key: value})


DAMAGE = {
    "other kind": (with_value("kind", "Perceptron"), "kind 'Perceptron'"),
    "kind is no text": (with_value("kind", ["LinearSVC"]), "expected one of LinearSVC"),
    "no parameters": (without("parameters"), "lacks 'parameters'"),
    "parameters are text": (with_value("parameters", "C=1"), "damaged"),
    "unknown parameter": (with_value("parameters", {"Z": 1}), "damaged"),
    "bad class weights": (with_value("parameters", {"class_weight": {"pairs": 3}}), "damaged"),
    "no classes": (without("classes"), "lacks 'classes'"),
    "classes of a new type": (with_value("classes", {"type": "date"}), "type 'date' are not known"),
    "classes are text": (with_value("classes", "a b c"), "damaged"),
    "one class": (with_array("classes", np.array([1])), "1 class labels"),
    "too many classes": (with_array("classes", np.arange(4)), "expected (4, 4)"),
    "no certificate": (without("certificate"), "lacks 'certificate'"),
    "certificate lacks a number": (with_value("certificate", {"primal": 1.0}), "lacks 'dual'"),
    "certificate is text": (with_value("certificate", {"primal": "x"}), "damaged"),
    "no feature count": (without("n_features"), "lacks 'n_features'"),
    "other feature count": (with_value("n_features", 5), "expected (3, 5)"),
    "too few names": (with_value("feature_names", ["a"]), "feature names have shape (1,)"),
    "no weights": (lambda header, arrays: arrays.pop("coef"), "lacks 'coef'"),
    "flat weights": (with_array("coef", np.zeros(12)), "weights have shape (12,)"),
    "short intercepts": (with_array("intercept", np.zeros(2)), "intercepts have shape (2,)"),
}


@pytest.mark.parametrize(("damage", "words"), DAMAGE.values(), ids=DAMAGE)
def test_damaged_headers_are_refused(path, damage, words):
    LinearSVC().fit(X, Y).save(path)
    header, arrays = load_model(path)
    damage(header, arrays)
    save_model(path, header, arrays)
    with pytest.raises(FormatError) as caught:
        oneslack.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


# The other estimators.


def cost(tp, fp, fn, tn):
    return (fp + 3 * fn) / 150


MATRIX = np.column_stack([Y == 0, Y > 0, Y == 1]).astype(int)
OTHERS = {
    "RankSVM": (RankSVM(C=0.3), Y),
    "RankSVM, real": (RankSVM(C=0.3), X @ [1.0, 2.0, 0.0, 1.0]),
    "OrdinalSVC": (OrdinalSVC(C=0.3, class_weight={0: 2.0}), Y),
    "OrdinalSVC, text": (OrdinalSVC(C=0.3, class_weight={"小": 2.0}), NAMES[Y]),
    "OrdinalSVC, two": (OrdinalSVC(), Y > 0),
    "MetricSVC": (MetricSVC("fbeta", C=0.1, beta=2.0), Y == 1),
    "MetricSVC, text": (MetricSVC("prbep", C=0.1), NAMES[Y]),
    "MetricSVC, share": (MetricSVC("recall_at_k", k=1.0, C=0.1), Y == 1),
    "MetricSVC, count": (MetricSVC("precision_at_k", k=np.int64(9), C=0.1), Y == 1),
    "MetricSVC, labels": (MetricSVC("average_precision", C=0.1), MATRIX),
    "MetricSVC, two labels": (MetricSVC(C=0.1), MATRIX[:, :2]),
}


@pytest.mark.parametrize(("model", "labels"), OTHERS.values(), ids=OTHERS)
def test_round_trip_of_the_others(path, model, labels):
    model.fit(X, labels).save(path)
    again = oneslack.load(path)
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert type(getattr(again, "k", None)) is type(np.asarray(getattr(model, "k", None)).item())
    learned = {name for name in vars(model) if name.endswith("_")} - {"result_"}
    assert learned == {name for name in vars(again) if name.endswith("_")}
    for name in learned:
        kept, loaded = getattr(model, name), getattr(again, name)
        assert type(loaded) is type(kept)
        np.testing.assert_array_equal(loaded, kept)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.score(X, labels) == model.score(X, labels)
    again.save(path.with_suffix(".again"))
    assert path.with_suffix(".again").read_bytes() == path.read_bytes()
    assert again.fit(X, labels).objective_ == model.objective_


@pytest.mark.parametrize("metric", [cost, lambda tp, fp, fn, tn: (fp + fn) / 150], ids=["named", "lambda"])
def test_a_function_is_not_saved(path, metric):
    model = MetricSVC(metric, C=0.1).fit(X, Y == 1)
    model.save(path)
    again = oneslack.load(path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert metric.__name__ in again.metric
    for refused in (lambda: again.fit(X, Y == 1), lambda: again.score(X, Y == 1)):
        with pytest.raises(
            ValueError, match=r"is not known; use one of .* or a function loss\(tp, fp, fn, tn\)"
        ):
            refused()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.set_params(metric=metric).fit(X, Y == 1).objective_ == model.objective_


OTHER_DAMAGE = {
    "no thresholds": (OrdinalSVC(), lambda header, arrays: arrays.pop("thresholds"), "lacks 'thresholds'"),
    "short thresholds": (OrdinalSVC(), with_array("thresholds", np.zeros(1)), "thresholds have shape (1,)"),
    "no classes": (OrdinalSVC(), without("classes"), "lacks 'classes'"),
    "weights of another": (RankSVM(), with_array("coef", np.zeros((1, 4))), "expected (4,)"),
    "kind of another": (RankSVM(), with_value("kind", "OrdinalSVC"), "damaged"),
    "no word on labels": (MetricSVC(), without("multilabel"), "damaged"),
    "labels, not classes": (MetricSVC(), with_value("classes", {"type": "text", "dtype": "<U1"}), "'values'"),
}


@pytest.mark.parametrize(("model", "damage", "words"), OTHER_DAMAGE.values(), ids=OTHER_DAMAGE)
def test_damaged_headers_of_the_others_are_refused(path, model, damage, words):
    model.fit(X, Y).save(path)
    header, arrays = load_model(path)
    damage(header, arrays)
    save_model(path, header, arrays)
    with pytest.raises(FormatError) as caught:
        oneslack.load(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_model_is_refused(path):
    with pytest.raises(FormatError, match="no such file"):
        oneslack.load(path)
    path.write_bytes(b"text")
    with pytest.raises(FormatError, match="not a model file"):
        oneslack.load(path)
