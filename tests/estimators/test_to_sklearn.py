"""Out again: scikit-learn's estimators with the same predictions, and what is made of them."""

import io
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import oneslack
from oneslack import (
    KernelFeatures,
    KernelSVC,
    LinearSVC,
    LinearSVR,
    MetricSVC,
    OrdinalSVC,
    RankSVM,
    SequenceTagger,
)
from oneslack.datasets import make_checkers

X, Y = load_iris(return_X_y=True)
X = X - X.mean(axis=0)
TWO = Y > 0
NAMED = np.array(["a", "b", "c"])[Y]
NUMBERS = load_diabetes(return_X_y=True)[1][: len(X)]
CHECKERS = make_checkers(200, random_state=0)

CLASSIFIERS = {
    "two": (LinearSVC(), TWO, svm.LinearSVC),
    "two, no intercept": (LinearSVC(fit_intercept=False), TWO, svm.LinearSVC),
    "squared": (LinearSVC(loss="squared_hinge"), TWO, svm.LinearSVC),
    "crammer_singer": (LinearSVC(), NAMED, svm.LinearSVC),
    "ovr": (LinearSVC(multi_class="ovr"), NAMED, svm.LinearSVC),
    "costs": (LinearSVC(loss=1 - np.eye(3)), Y, svm.LinearSVC),
    "auto": (LinearSVC("auto"), TWO, svm.LinearSVC),
    "logistic": (LinearSVC(loss="logistic"), TWO, linear_model.LogisticRegression),
    "logistic of three": (LinearSVC(loss="logistic"), NAMED, OneVsRestClassifier),
    "f1": (MetricSVC("f1"), TWO, svm.LinearSVC),
    "f1 of three": (MetricSVC("f1"), NAMED, svm.LinearSVC),
    "ordinal": (OrdinalSVC(), Y, svm.LinearSVC),
    "ordinal of two": (OrdinalSVC(), TWO, svm.LinearSVC),
}
REGRESSORS = {
    "tube": (LinearSVR(epsilon=5.0), svm.LinearSVR),
    "no intercept": (LinearSVR(fit_intercept=False), svm.LinearSVR),
    "squared tube": (LinearSVR(loss="squared_epsilon_insensitive"), svm.LinearSVR),
    "pinball": (LinearSVR(loss="pinball", quantile=0.9), linear_model.QuantileRegressor),
    "huber": (LinearSVR(loss="huber", delta=20.0), linear_model.SGDRegressor),
    "rank": (RankSVM(), linear_model.LinearRegression),
}
KERNELS = {
    "rbf": KernelSVC(C=10, gamma=10),
    "intercept": KernelSVC(C=10, gamma=10, fit_intercept=True),
    "linear": KernelSVC(kernel="linear"),
    "poly": KernelSVC(kernel="poly", degree=2, gamma=0.7, coef0=1.0),
    "laplacian": KernelSVC(kernel="laplacian", gamma=2.0),
    "function": KernelSVC(kernel=rbf_kernel),
    "basis": KernelSVC(C=10, gamma=10, method="basis", n_basis=50),
    "linear cuts": KernelSVC(C=10, gamma=10, method="linear", sample_size=50),
}


def assert_same(model, other, X):
    assert other.n_features_in_ == model.n_features_in_
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_allclose(other.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-9)
    again = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert type(clone(other)) is type(other)


@pytest.mark.parametrize("case", CLASSIFIERS)
def test_classifiers(case):
    model, y, kind = CLASSIFIERS[case]
    model = clone(model).fit(X, y)
    other = model.to_sklearn()
    assert type(other) is kind
    np.testing.assert_array_equal(other.classes_, model.classes_)
    assert_same(model, other, X)
    np.testing.assert_array_equal(other.predict(sp.csr_matrix(X)), model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X), rtol=1e-9, atol=1e-12)
    clone(other).fit(X, y)  # its parameters are valid ones


def test_the_arrays_are_copies():
    model = LinearSVC().fit(X, TWO)
    model.to_sklearn().coef_[:] = 0
    assert model.coef_.any()


def test_a_clone_of_it_solves_the_same_problem():
    model = LinearSVC(C=0.3, loss="squared_hinge", fit_intercept=False, tol=1e-8).fit(X, TWO)
    again = clone(model.to_sklearn()).set_params(tol=1e-10, max_iter=100_000).fit(X, TWO)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-3, atol=1e-4)


def test_a_penalised_intercept_is_said():
    model = LinearSVC(loss="squared_hinge", penalize_intercept=True, intercept_scaling=2.0, tol=1e-8)
    model.fit(X, TWO)
    again = clone(model.to_sklearn()).set_params(tol=1e-10, max_iter=100_000).fit(X, TWO)
    np.testing.assert_allclose(again.intercept_, model.intercept_, atol=1e-3)
    assert (
        LinearSVR(penalize_intercept=True, intercept_scaling=2.0).fit(X, Y).to_sklearn().intercept_scaling
        == 2
    )


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(), LinearSVC(loss="logistic"), LinearSVR(), OrdinalSVC(), MetricSVC(), RankSVM(),
        RankSVM(kernel="rbf", n_basis=10), KernelSVC(),
    ],
    ids=str,
)  # fmt: skip
def test_a_model_from_a_file(model, tmp_path):
    model.fit(X, Y).save(tmp_path / "a.model")
    other = oneslack.load(tmp_path / "a.model").to_sklearn()
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-6, atol=1e-8)


def test_portions():
    model = LinearSVC().partial_fit(X, TWO)
    np.testing.assert_array_equal(model.to_sklearn().predict(X), model.predict(X))


def test_labels():
    X, Y = make_multilabel_classification(random_state=0)
    model = MetricSVC("f1", C=0.1).fit(X, Y)
    other = model.to_sklearn()
    assert other.multilabel_
    assert_same(model, other, X)


@pytest.mark.parametrize("case", REGRESSORS)
def test_regressors(case):
    model, kind = REGRESSORS[case]
    model = clone(model).fit(X, NUMBERS)
    other = model.to_sklearn()
    assert type(other) is kind
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-12)
    assert other.predict(X[:3]).shape == (3,)
    clone(other).set_params(**({"max_iter": 10_000} if case == "huber" else {}))


@pytest.mark.parametrize("case", KERNELS)
def test_kernels(case):
    X, y = CHECKERS
    model = clone(KERNELS[case]).fit(X, y)
    other = model.to_sklearn()
    assert type(other) is svm.SVC
    assert other.n_support_.sum() == len(other.support_)
    assert_same(model, other, X)
    clone(other).fit(X, y)


def test_the_parameters_of_an_svc_are_those_of_the_problem():
    X, y = CHECKERS
    model = KernelSVC(C=3.0, gamma=2.0, fit_intercept=True, tol=1e-7).fit(X, y)
    again = clone(model.to_sklearn()).set_params(tol=1e-7).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_kernels_of_three_classes(multi_class):
    model = KernelSVC(gamma=0.5, multi_class=multi_class).fit(X, NAMED)
    other = model.to_sklearn()
    assert type(other) is OneVsRestClassifier
    assert_same(model, other, X)


def test_sparse_rows():
    model = KernelSVC(gamma=0.5).fit(sp.csr_matrix(X), TWO)
    other = model.to_sklearn()
    assert_same(model, other, sp.csr_matrix(X))
    assert_same(model, other, X)


def test_a_precomputed_kernel():
    K = rbf_kernel(X, gamma=0.5)
    model = KernelSVC(kernel="precomputed").fit(K, TWO)
    assert_same(model, model.to_sklearn(), K[:40])


@pytest.mark.filterwarnings("ignore:the kernel is not positive")
def test_a_degree_that_is_no_whole_number():
    positive = X - X.min(axis=0)
    model = KernelSVC(kernel="poly", degree=1.5, coef0=1.0).fit(positive, TWO)
    assert_same(model, model.to_sklearn(), positive)


def test_a_reduced_expansion():
    X, y = CHECKERS
    model = KernelSVC(C=10, gamma=10).fit(X, y).reduce(0.1)
    assert_same(model, model.to_sklearn(), X)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "linear"])
def test_kernel_features(kernel):
    model = KernelFeatures(kernel, n_basis=20, coef0=1.0, degree=2).fit(X)
    other = model.to_sklearn()
    assert type(other) is Nystroem
    np.testing.assert_allclose(other.transform(X), model.transform(X), rtol=1e-6, atol=1e-8)
    assert len(other.get_feature_names_out()) == len(model.get_feature_names_out())


def test_features_of_a_function_stay_here():
    model = KernelFeatures(rbf_kernel, n_basis=20).fit(X)
    with pytest.raises(ValueError, match="for each pair of rows"):
        model.to_sklearn()


def test_rankings_with_a_kernel():
    model = RankSVM(kernel="rbf", n_basis=20).fit(X, NUMBERS)
    other = model.to_sklearn()
    assert [name for name, _ in other.steps] == ["nystroem", "linearregression"]
    np.testing.assert_allclose(other.predict(X), model.predict(X), rtol=1e-6, atol=1e-8)


def test_names_of_columns_come_along():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    for model in [LinearSVC(), KernelSVC(), LinearSVC(loss="logistic"), LinearSVR()]:
        other = model.fit(frame, Y).to_sklearn()
        assert list(other.feature_names_in_) == list("abcd")
        with pytest.raises(ValueError, match="feature names"):
            other.predict(frame.rename(columns={"a": "z"}))


def test_only_what_is_fitted_and_alike():
    with pytest.raises(NotFittedError):
        LinearSVC().to_sklearn()
    assert not hasattr(SequenceTagger(), "to_sklearn")


def test_a_subclass_is_exported_as_its_base():
    class Mine(LinearSVC):
        pass

    assert type(Mine().fit(X, TWO).to_sklearn()) is svm.LinearSVC


# Other libraries.


def onnx_of(estimator, **options):
    """run(X) -> what an ONNX runtime gives for the estimator."""
    skl2onnx = pytest.importorskip("skl2onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    model = skl2onnx.to_onnx(
        estimator, X[:1].astype(np.float32), options={id(estimator): options} if options else None
    )
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda X: session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)})


@pytest.mark.parametrize("case", [case for case in CLASSIFIERS if case != "auto"])
def test_classifiers_in_onnx(case):
    model, y, _ = CLASSIFIERS[case]
    y = y.astype(int) if y.dtype == bool else y
    model = clone(model).fit(X, y)
    labels, scores = onnx_of(model.to_sklearn())(X)
    scores_here = model.decision_function(X)
    margins = np.abs(scores_here) if scores_here.ndim == 1 else np.ptp(np.sort(scores_here)[:, -2:], axis=1)
    clear = margins > 1e-4  # float32 there
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(labels[clear], model.predict(X)[clear])
    if hasattr(model, "predict_proba"):
        shares = [[row[label] for label in model.classes_] for row in scores]  # a dict a row
        np.testing.assert_allclose(shares, model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("case", list(REGRESSORS))
def test_regressors_in_onnx(case):
    model = clone(REGRESSORS[case][0]).fit(X, NUMBERS)
    run = onnx_of(model.to_sklearn())
    np.testing.assert_allclose(run(X)[0].ravel(), model.predict(X), rtol=1e-4, atol=1e-3)


@pytest.mark.filterwarnings("ignore:Attribute `prob:FutureWarning")  # skl2onnx's
@pytest.mark.parametrize("y", [TWO.astype(int), NAMED], ids=["two", "three"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_kernels_in_onnx(kernel, y):
    model = KernelSVC(kernel=kernel, gamma=0.5, multi_class="ovr").fit(X, y)
    # Of a OneVsRestClassifier of SVCs, scikit-learn's own, too, skl2onnx 1.20 needs to be told so.
    options = {"raw_scores": True, "zipmap": False} if len(model.classes_) > 2 else {}
    labels = onnx_of(model.to_sklearn(), **options)(X)[0]
    assert np.mean(labels == model.predict(X)) > 0.99


def test_a_pipeline_in_onnx():
    from sklearn.preprocessing import StandardScaler

    # skl2onnx 1.20 fails for a pipeline that ends in a LinearSVC, scikit-learn's own, too.
    chain = make_pipeline(StandardScaler(), LinearSVC(loss="logistic")).fit(X, Y)
    out = make_pipeline(chain[0], chain[-1].to_sklearn())
    labels = onnx_of(out)(X)[0]
    assert np.mean(labels == chain.predict(X)) > 0.99


@pytest.mark.parametrize(
    "model", [LinearSVC(), LinearSVC(loss="logistic"), KernelSVC(), LinearSVR()], ids=str
)
def test_skops(model):
    skops = pytest.importorskip("skops.io")
    model.fit(X, TWO if hasattr(model, "decision_function") else NUMBERS)
    data = skops.dumps(model.to_sklearn())
    again = skops.load(io.BytesIO(data), trusted=skops.get_untrusted_types(data=data))
    np.testing.assert_array_equal(again.predict(X), model.to_sklearn().predict(X))
