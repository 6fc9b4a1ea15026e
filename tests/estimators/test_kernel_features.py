"""Kernel features: inner products, agreement with kernel solvers, chains, rankings, files, messages."""

import doctest
import importlib

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import oneslack
from oneslack import (
    Chain,
    KernelFeatures,
    KernelSVC,
    LinearSVC,
    Multiclass,
    RankSVM,
    SequenceTagger,
    StructuralSVM,
)
from oneslack.data.rows import Ragged
from oneslack.datasets import make_checkers
from oneslack.viz.named_weights import largest_weights

X, Y = make_checkers(400, random_state=0)
CHECKS = list(estimator_checks_generator(KernelFeatures(), mark="skip"))


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_conformance(estimator, check):
    check(estimator)


@pytest.mark.parametrize("choice", ["random", "pivoted"])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
def test_products_are_those_of_the_kernel_on_the_basis(kernel, choice):
    features = KernelFeatures(kernel, gamma=0.5, degree=2, coef0=1.0, n_basis=60, choice=choice).fit(X)
    basis = features.components_
    inputs = features._kernel.inputs(basis)
    Z, Z_all = features.transform(basis), features.transform(X)
    assert len(basis) <= 60
    np.testing.assert_allclose(Z @ Z.T, features._kernel.values(inputs, inputs), atol=1e-7)
    # The rest of a projection never has a negative norm.
    assert (
        np.einsum("ij,ij->i", Z_all, Z_all) <= features._kernel.diagonal(features._kernel.inputs(X)) + 1e-7
    ).all()
    np.testing.assert_allclose(features.transform(sp.csr_matrix(X)), Z_all, atol=1e-9)


def test_a_linear_model_on_them_is_the_basis_method():
    linear = make_pipeline(
        KernelFeatures(gamma=5.0, n_basis=100), LinearSVC(C=3.0, fit_intercept=False, tol=1e-6)
    ).fit(X, Y)
    basis = KernelSVC(C=3.0, gamma=5.0, method="basis", n_basis=100, tol=1e-6).fit(X, Y)
    assert linear[-1].objective_ == pytest.approx(basis.objective_, rel=1e-5)
    np.testing.assert_allclose(linear.decision_function(X), basis.decision_function(X), atol=0.02)
    everything = make_pipeline(
        KernelFeatures(gamma=5.0, n_basis=400), LinearSVC(C=3.0, fit_intercept=False, tol=1e-6)
    ).fit(X, Y)
    exact = KernelSVC(C=3.0, gamma=5.0, tol=1e-6).fit(X, Y)
    assert everything[-1].objective_ == pytest.approx(exact.objective_, rel=1e-5)


def test_a_ranking_that_no_linear_scores_have():
    rng = np.random.default_rng(0)
    data = rng.uniform(-1, 1, (300, 2))
    targets, groups = -np.abs(data[:, 0]), rng.integers(0, 10, 300)
    linear = RankSVM(C=1.0).fit(data, targets, groups=groups)
    ranked = make_pipeline(KernelFeatures(gamma=3.0, n_basis=50), RankSVM(C=1.0))
    ranked.fit(data, targets, ranksvm__groups=groups)
    assert linear.score(data, targets, groups) < 0.65
    assert ranked[-1].score(ranked[:-1].transform(data), targets, groups) > 0.95


def test_a_ranking_with_a_kernel_is_one_on_its_features(tmp_path):
    rng = np.random.default_rng(0)
    data = rng.uniform(-1, 1, (300, 2))
    targets, groups = -np.abs(data[:, 0]), rng.integers(0, 10, 300)
    model = RankSVM(C=1.0, kernel="rbf", gamma=3.0, n_basis=50, random_state=3)
    model.fit(data, targets, groups=groups)
    assert model.score(data, targets, groups) > 0.95
    features = KernelFeatures("rbf", 3.0, n_basis=50, random_state=3)
    by_hand = RankSVM(C=1.0).fit(features.fit_transform(data), targets, groups=groups)
    np.testing.assert_array_equal(model.coef_, by_hand.coef_)
    assert by_hand.basis_ is None
    model.save(tmp_path / "rank.model")
    again = oneslack.load(tmp_path / "rank.model")
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    again.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == (tmp_path / "rank.model").read_bytes()
    with pytest.raises(ValueError, match="has 3 features, but RankSVM is expecting 2 features"):
        again.predict(np.ones((2, 3)))
    with pytest.raises(oneslack.OneslackError, match="has no weights by feature"):
        largest_weights(model)


def test_a_failed_fit_leaves_the_last_ranking_whole():
    data = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    model = RankSVM(kernel="rbf", gamma=3.0, n_basis=20).fit(data, data[:, 0])
    before = model.predict(data)
    with pytest.raises(ValueError, match="groups"):
        model.set_params(n_basis=10).fit(data, data[:, 0], groups=[1, 2])
    np.testing.assert_array_equal(model.predict(data), before)


def test_a_warm_start_with_a_kernel_goes_on():
    rng = np.random.default_rng(0)
    data = rng.uniform(-1, 1, (200, 2))
    model = RankSVM(kernel="rbf", gamma=3.0, n_basis=40, warm_start=True).fit(data, -np.abs(data[:, 0]))
    first = model.n_iter_
    assert model.fit(data, -np.abs(data[:, 0])).n_iter_ < first


# Structured models.


def test_a_structured_model_with_a_kernel_is_one_on_its_features(tmp_path):
    codes = (Y > 0).astype(int)
    svm = StructuralSVM(Multiclass(2, 2), C=3.0, kernel="rbf", gamma=5.0, n_basis=80).fit(X, codes)
    assert svm.score(X, codes) > 0.9
    Z = KernelFeatures(gamma=5.0, n_basis=80).fit_transform(X)
    by_hand = StructuralSVM(Multiclass(Z.shape[1], 2), C=3.0).fit(Z, codes)
    np.testing.assert_array_equal(svm.coef_, by_hand.coef_)
    assert svm.predict(sp.csr_array(X)) == svm.predict(X.tolist()) == svm.predict(X)
    svm.save(tmp_path / "svm.model")
    again = oneslack.load(tmp_path / "svm.model")
    assert again.predict(X) == svm.predict(X)
    assert again.predict([]) == []


def test_a_structured_chain_with_a_kernel_is_the_tagger():
    svm = StructuralSVM(Chain(2, 2), C=1.0, kernel="rbf", gamma=3.0, n_basis=60).fit(WORDS, LABELS)
    tagger = SequenceTagger(C=1.0, kernel="rbf", gamma=3.0, n_basis=60, tol=1e-3).fit(WORDS, LABELS)
    assert svm.objective_ == pytest.approx(tagger.objective_, rel=2e-3)
    assert np.mean(np.concatenate(svm.predict(NEW_WORDS)) == NEW_LABELS.values) > 0.95
    first = svm.predict_topk(NEW_WORDS, 2)[0]
    np.testing.assert_array_equal(first[0][0], svm.predict(NEW_WORDS)[0])


def test_models_that_take_no_kernel_say_so():
    class Plain:
        n_params = 2

        def joint_feature(self, x, y):
            return np.zeros(2)

        def loss(self, y, y_hat):
            return float(y != y_hat)

        def decode(self, w, x, y=None):
            return 0

    with pytest.raises(ValueError, match=r"Plain lacks n_features\. Use kernel=None"):
        StructuralSVM(Plain(), kernel="rbf").fit([[1.0]], [0])
    Plain.n_features = 1
    with pytest.raises(ValueError, match="Plain is no dataclass"):
        StructuralSVM(Plain(), kernel="rbf").fit([[1.0]], [0])
    with pytest.raises(ValueError, match="X has 2 columns, but the model has 3 features"):
        StructuralSVM(Multiclass(3, 2), kernel="rbf").fit(X, (Y > 0).astype(int))


# Chains.


def xor_words(n, seed):
    """Tokens in two dimensions whose label is that of a board's field, or of the token before."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 7, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = rng.uniform(-1, 1, (offsets[-1], 2))
    return Ragged(values, offsets), Ragged((values.prod(axis=1) > 0).astype(int), offsets)


WORDS, LABELS = xor_words(150, 0)
NEW_WORDS, NEW_LABELS = xor_words(150, 1)


def test_a_chain_that_no_linear_scores_have():
    linear = SequenceTagger(C=1.0).fit(WORDS, LABELS)
    tagger = SequenceTagger(C=1.0, kernel="rbf", gamma=3.0, n_basis=60, tol=1e-3).fit(WORDS, LABELS)
    assert linear.score(NEW_WORDS, NEW_LABELS) < 0.7
    assert tagger.score(NEW_WORDS, NEW_LABELS) > 0.95
    assert tagger.duality_gap_ <= 1e-3
    Z = KernelFeatures(gamma=3.0, n_basis=60).fit_transform(WORDS.values)
    by_hand = SequenceTagger(C=1.0, tol=1e-3).fit(Ragged(Z, WORDS.offsets), LABELS)
    np.testing.assert_array_equal(by_hand.coef_, tagger.coef_)


def test_a_file_is_the_tagger(tmp_path):
    tagger = SequenceTagger(C=1.0, kernel="rbf", gamma=3.0, n_basis=60).fit(WORDS, LABELS)
    tagger.save(tmp_path / "tagger.model")
    again = oneslack.load(tmp_path / "tagger.model")
    assert again.predict(NEW_WORDS) == tagger.predict(NEW_WORDS)
    again.save(tmp_path / "again.model")
    assert (tmp_path / "again.model").read_bytes() == (tmp_path / "tagger.model").read_bytes()
    assert again.predict([]) == []


def test_sentences_for_what_does_not_fit(tmp_path):
    tokens, labels = [[{"w": "a"}]], [["A"]]
    with pytest.raises(
        ValueError, match="kernel='rbf' needs a matrix a sentence, but X holds lists of tokens"
    ):
        SequenceTagger(kernel="rbf").fit(tokens, labels)
    with pytest.raises(ValueError, match="kernel='precomputed' is not known; use one of 'linear', 'poly'"):
        SequenceTagger(kernel="precomputed").fit(WORDS, LABELS)
    with pytest.raises(ValueError, match="KernelFeatures needs rows, but kernel='precomputed'"):
        KernelFeatures("precomputed").fit(X)
    with pytest.raises(ValueError, match="choice='best' is not known"):
        KernelFeatures(choice="best").fit(X)
    tagger = SequenceTagger(kernel=lambda a, b: a @ b.T, n_basis=5).fit(WORDS, LABELS)
    with pytest.raises(oneslack.OneslackError, match="cannot save a model whose kernel is a function"):
        tagger.save(tmp_path / "x.model")


def test_examples_of_the_docstrings():
    outcome = doctest.testmod(importlib.import_module("oneslack.estimators.kernel_features"))
    assert outcome.attempted > 0
    assert outcome.failed == 0
