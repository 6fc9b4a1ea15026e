"""Kernel features: inner products, agreement with kernel solvers, chains, rankings, files, messages."""

import doctest
import importlib

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import oneslack
from oneslack import KernelFeatures, KernelSVC, LinearSVC, RankSVM, SequenceTagger
from oneslack.datasets import make_checkers
from oneslack.ragged import Ragged

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
