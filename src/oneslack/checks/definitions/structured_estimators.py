"""The same for estimators of structured outputs."""

from __future__ import annotations

import numpy as np

from ...errors import OneslackError
from ...estimators._shared.given import given_terms
from ...estimators._shared.kernel_inputs import on_basis
from ...estimators._shared.weight_terms import tagger_terms
from ...models.chain import Chain
from ...problems.regulariser_input import regulariser_of
from .kernels import basis_features
from .structured import ChainExamples, ModelExamples, StructuredObjective


def _recomputed(estimator, examples, sample_weight, terms, outputs, is_rounded=False):
    """outputs() are the predictions, as the model writes them."""
    from .estimators import C_of, Recomputed

    w = estimator.coef_
    model = examples.model
    penalty = regulariser_of(model, **terms)
    s = np.ones(len(examples)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    objective = StructuredObjective(
        examples, C_of(estimator), s, w, penalty.prior, penalty.scale, penalty.nonnegative, is_rounded
    )

    def best():
        return np.array([examples.best_score(w, i) for i in range(len(examples))])

    def lacking():
        said = [examples.score(w, i, z) for i, z in enumerate(outputs())]
        return best() - np.array(said)

    return Recomputed([objective], lacking, lambda: np.abs(best()) + examples.sizes(w))


def _examples(model, X, Y, rescaling):
    if isinstance(model, Chain) and rescaling == "margin":
        return ChainExamples(model, X, Y)
    return ModelExamples(model, X, Y, rescaling == "slack")


def any_model(estimator, X, Y, sample_weight):
    """Of a StructuralSVM."""
    if isinstance(estimator.model, Chain):
        _refuse_unknown([(np.asarray(y) < 0).any() for y in Y])
    basis, outputs = getattr(estimator, "basis_", None), lambda: estimator.predict(X)
    inputs = X if basis is None else [_through(basis, x) for x in X]
    examples = _examples(on_basis(estimator.model, basis), inputs, Y, estimator.rescaling)
    terms = given_terms(estimator)
    return _recomputed(estimator, examples, sample_weight, terms, outputs, basis is not None)


def _through(basis, x):
    """A row, or a matrix of rows, on the features of a basis."""
    return basis_features(basis, x) if np.ndim(x) == 2 else basis_features(basis, np.atleast_2d(x))[0]


def _refuse_unknown(unknown):
    if any(unknown):
        i = unknown.index(True)
        raise OneslackError(f"sentence {i} has a label that is not known: no one objective was minimised")


def tagger(estimator, X, Y, sample_weight):
    """Of a SequenceTagger."""
    if isinstance(Y, str):
        raise OneslackError("check_certificate takes the labels themselves: a list for each sentence")
    rows, classes = estimator._features(X), estimator.classes_
    basis = getattr(estimator._indexer, "features", None) if estimator.kernel is not None else None
    sentences = [rows[i] if basis is None else basis_features(basis, X[i]) for i in range(len(rows))]
    _refuse_unknown([None in list(labels) for labels in Y])
    codes = [np.searchsorted(classes, list(labels)) for labels in Y]
    examples = _examples(estimator.model_, sentences, codes, estimator.rescaling)
    terms = tagger_terms(estimator, estimator._indexer, estimator.model_, classes)

    def outputs():
        return [np.searchsorted(classes, labels) for labels in estimator.predict(X)]

    return _recomputed(estimator, examples, sample_weight, terms, outputs, basis is not None)


def parser(estimator, X, Y, sample_weight):
    """Of a GrammarParser; X are trees where Y is None."""
    from ...estimators.grammar_parser import _both

    sentences, trees = _both(X, Y)
    grammar, model = estimator.grammar_, estimator.model_
    kept = [i for i in range(len(trees)) if i not in set(estimator.outside_)]
    words = [grammar.word_ids(sentences[i]) for i in kept]
    examples = ModelExamples(
        model, words, [grammar.encode(trees[i]) for i in kept], estimator.rescaling == "slack"
    )
    s = None if sample_weight is None else np.asarray(sample_weight, dtype=float)[kept]
    prior = {"prior": model.frequency_prior()} if estimator.frequencies == "prior" else {}

    def outputs():
        return [grammar.encode(tree) for tree in estimator.predict([sentences[i] for i in kept])]

    return _recomputed(estimator, examples, s, prior, outputs)
