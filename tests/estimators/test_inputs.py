"""What X and y may be: frames of pandas and polars, tensors, float32; weights that find their way."""

import tracemalloc

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oneslack import KernelFeatures, KernelSVC, LinearSVC, LinearSVR, MetricSVC, OrdinalSVC, RankSVM
from oneslack.data.rows import as_numpy
from oneslack.estimators._shared import fitting

X, Y = load_iris(return_X_y=True)
NAMES = ["one", "two", "three", "four"]
WEIGHTS = np.random.default_rng(0).random(len(X))
LINEAR = [LinearSVC(), LinearSVR(), RankSVM(), OrdinalSVC(), MetricSVC()]
MODELS = [*LINEAR, KernelSVC(), KernelFeatures(n_basis=5)]


def name(model):
    return type(model).__name__


def answers(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


# Frames.


def pandas_frame(X, y=None):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X, columns=NAMES), pd.Series(y)


def polars_frame(X, y=None):
    pl = pytest.importorskip("polars")
    return pl.DataFrame(X, schema=NAMES), pl.Series(y)


@pytest.fixture(params=[pandas_frame, polars_frame], ids=["pandas", "polars"])
def framed(request):
    return request.param


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_frames(model, framed):
    frame, column = framed(X, Y)
    fitted = clone(model).fit(frame, column)
    assert fitted.feature_names_in_.tolist() == NAMES
    # Columns lie one after the other in a frame: products of rows are rounded otherwise.
    plain = answers(clone(model).fit(X, Y), X)
    np.testing.assert_allclose(answers(fitted, frame), plain, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        answers(fitted, frame[NAMES[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        answers(fitted, X)
    assert not hasattr(fitted.fit(X, Y), "feature_names_in_")


@pytest.mark.parametrize("model", [LinearSVC(), LinearSVR()], ids=name)
def test_portions_of_frames(model, framed):
    frame, column = framed(X, Y)
    fitted = clone(model).partial_fit(frame, column).partial_fit(frame, column)
    assert fitted.n_seen_ == 2 * len(X)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.partial_fit(frame[NAMES[::-1]], column)


@pytest.mark.parametrize("model", [LinearSVC(loss="logistic"), LinearSVR(loss="huber")], ids=name)
def test_portions_of_other_arrays(model):
    given = [OtherArray(np.asarray(part, dtype=float)) for part in (X, Y, WEIGHTS)]
    fitted = clone(model).partial_fit(*given[:2], sample_weight=given[2])
    plain = clone(model).partial_fit(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(fitted.coef_, plain.coef_)


def test_labels_and_weights_are_columns(framed):
    frame, labels = framed(X, np.array(["a", "b", "c"])[Y])
    _, weights = framed(X, WEIGHTS)
    model = LinearSVC().fit(frame, labels, sample_weight=weights)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(model.coef_, LinearSVC().fit(X, Y, sample_weight=WEIGHTS).coef_)


def test_groups_are_a_column(framed):
    frame, grades = framed(X, Y)
    _, groups = framed(X, np.arange(len(X)) % 5)
    model = RankSVM().fit(frame, grades, groups=groups)
    np.testing.assert_array_equal(model.coef_, RankSVM().fit(X, Y, groups=np.arange(len(X)) % 5).coef_)


def test_a_prior_by_names_of_columns(framed):
    frame, column = framed(X, Y > 0)
    by_name = LinearSVC(prior={"two": 1.0}).fit(frame, column)
    np.testing.assert_array_equal(by_name.coef_, LinearSVC(prior=[0.0, 1.0, 0.0, 0.0]).fit(X, Y > 0).coef_)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_features_come_out_as_a_frame(kind):
    pytest.importorskip(kind)
    features = KernelFeatures(n_basis=5).set_output(transform=kind)
    Z = features.fit_transform(X)
    assert type(Z).__module__.startswith(kind)
    assert list(Z.columns) == features.get_feature_names_out().tolist()
    np.testing.assert_array_equal(np.asarray(Z), KernelFeatures(n_basis=5).fit_transform(X))
    chain = make_pipeline(features, LinearSVC()).fit(X, Y)
    assert chain[-1].feature_names_in_.tolist() == features.get_feature_names_out().tolist()


# Weights that find their way.


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("model", [LinearSVC(), LinearSVR(), RankSVM(), OrdinalSVC(), KernelSVC()], ids=name)
def test_weights_in_a_pipeline(model, routing):
    chain = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False),
        clone(model).set_fit_request(sample_weight=True),
    ).fit(X, Y, sample_weight=WEIGHTS)
    alone = clone(model).fit(StandardScaler().fit_transform(X), Y, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(chain.predict(X), alone.predict(StandardScaler().fit_transform(X)))
    assert chain[-1].objective_ == alone.objective_


@pytest.mark.parametrize("model", [LinearSVC(), LinearSVR(), KernelSVC()], ids=name)
def test_weights_in_a_search(model, routing):
    weighed = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(weighed, {"C": [0.1, 1.0]}, cv=2).fit(X, Y, sample_weight=WEIGHTS)
    alone = clone(model).set_params(C=search.best_params_["C"]).fit(X, Y, sample_weight=WEIGHTS)
    assert search.best_estimator_.objective_ == alone.objective_


def test_groups_in_a_search(routing):
    groups = np.arange(len(X)) % 5
    order = np.random.default_rng(1).permutation(len(X))
    model = RankSVM().set_fit_request(groups=True).set_score_request(groups=True)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2).fit(X[order], Y[order], groups=groups[order])
    assert search.best_score_ > 0.9


# Tensors, and other arrays with DLPack.


class OtherArray:
    """What the array API asks for, and no more."""

    def __init__(self, values, device=(1, 0)):
        self.values, self.where = values, device

    def __dlpack__(self, **options):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return self.where


@pytest.fixture
def seen(monkeypatch):
    """The X of every problem."""
    found, real = [], fitting.Problem

    def noted(model, X, *others, **options):
        found.append(X)
        return real(model, X, *others, **options)

    monkeypatch.setattr(fitting, "Problem", noted)
    return found


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", LINEAR, ids=name)
def test_x_is_learned_from_where_it_lies(model, dtype, seen):
    given = X.astype(dtype)
    clone(model).fit(given, Y)
    assert seen
    assert all(np.shares_memory(each, given) and each.dtype == dtype for each in seen)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_other_arrays_are_learned_from_where_they_lie(dtype, seen):
    given = X.astype(dtype)
    model = LinearSVC().fit(OtherArray(given), Y)
    assert np.shares_memory(seen[0], given)
    np.testing.assert_array_equal(model.predict(OtherArray(given)), model.predict(given))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("model", MODELS, ids=name)
def test_tensors(model, dtype, seen):
    torch = pytest.importorskip("torch")
    given = torch.tensor(X, dtype=getattr(torch, dtype))
    fitted = clone(model).fit(given, torch.tensor(Y))
    assert all(np.shares_memory(each, given.numpy()) for each in seen)
    found = answers(fitted, given)
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, answers(clone(model).fit(given.numpy(), Y), given.numpy()))


def test_tensors_with_gradients_labels_and_weights():
    torch = pytest.importorskip("torch")
    given = torch.tensor(X, requires_grad=True)
    weights = torch.tensor(WEIGHTS)
    for model in [LinearSVC(), LinearSVR(), KernelSVC()]:
        fitted = clone(model).fit(given, torch.tensor(Y), sample_weight=weights)
        plain = clone(model).fit(X, Y, sample_weight=WEIGHTS)
        np.testing.assert_array_equal(fitted.predict(given), plain.predict(X))


@pytest.mark.parametrize("model", MODELS, ids=name)
def test_dispatch_changes_nothing(model, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with sklearn.config_context(array_api_dispatch=True):
        given = torch.tensor(X)
        fitted = clone(model).fit(given, torch.tensor(Y))
        np.testing.assert_array_equal(answers(fitted, given), answers(clone(model).fit(X, Y), X))


def test_an_array_elsewhere_is_refused():
    with pytest.raises(ValueError, match="training is on the CPU"):
        LinearSVC().fit(OtherArray(X, device=(2, 0)), Y)


def test_what_is_no_array_of_another_library_stays():
    rows = X.tolist()
    assert as_numpy(rows) is rows
    assert as_numpy(X) is X
    assert as_numpy(None) is None


# float32.


@pytest.mark.grid(1)
@pytest.mark.parametrize("solver", ["dual_cd", "newton", "one_slack"])
@pytest.mark.parametrize(
    "model",
    [LinearSVC(), LinearSVC(loss="squared_hinge"), LinearSVC(loss="logistic"), LinearSVR(epsilon=0.1)],
    ids=str,
)
def test_float32_is_never_copied(model, solver):
    """Beside X there are a few vectors of n numbers and a block of rows, also while scores are computed."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(20_000, 200)).astype(np.float32)
    y = (wide[:, :3].sum(axis=1) + rng.normal(size=len(wide)) > 0).astype(int)
    fitted = clone(model).set_params(solver=solver, C=0.01, tol=0.1)
    try:
        fitted.fit(wide[:200], y[:200])  # compiles
    except ValueError as error:
        pytest.skip(str(error))
    tracemalloc.start()
    try:
        fitted.fit(wide, y)
        _, trained = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        fitted.predict(wide[:8192])
        _, scored = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert trained < 0.7 * wide.nbytes  # a copy would be 1, one in float64 2
    assert scored < 1.5 * 8 * 8192 * 200 + 0.3 * wide.nbytes
