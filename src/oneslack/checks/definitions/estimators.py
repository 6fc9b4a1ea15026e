"""From a fitted estimator and its data to objectives at its weights, one a problem, and its predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp

from ...data.rows import as_rows
from ...errors import OneslackError
from ...estimators._shared.given import encode, example_weights, given_terms
from ...estimators._shared.kernel_inputs import on_basis
from ...estimators._shared.weight_terms import rows_of_terms, tagger_terms
from ...metrics import k_of
from ...models.chain import Chain
from ...problems.regulariser_input import regulariser_of
from .losses import Hinge, ManyClasses, OneScore, Pairs, Tube
from .measures import AveragePrecisionLoss, Labellings, TopK, counts_loss, f_beta_loss
from .objective import Objective
from .structured import ChainExamples, ModelExamples, StructuredObjective

#: Examples at most that are compared two by two: pairs to rank, values of a kernel.
TWO_BY_TWO = 4000


@dataclass(frozen=True)
class Recomputed:
    """What is known of a fitted estimator without it.

    objectives  one a problem, in the order of `result_`
    lacking     () -> (n,): by how much the score of each prediction is below the best one
    size        () -> (n,): how large the numbers are that these scores are sums of
    """

    objectives: list
    lacking: Callable
    size: Callable


def recomputed(estimator, X, y, sample_weight=None, groups=None) -> Recomputed:
    """By the name of the estimator's class."""
    builders = {
        "LinearSVC": _classes,
        "LinearSVR": _regression,
        "RankSVM": partial(_ranking, groups=groups),
        "OrdinalSVC": _ordinal,
        "MetricSVC": _measure,
        "KernelSVC": _kernel,
        "StructuralSVM": _any_model,
        "SequenceTagger": _tagger,
        "GrammarParser": _parser,
    }
    names = [kind.__name__ for kind in type(estimator).__mro__ if kind.__name__ in builders]
    if not names:
        raise OneslackError(
            f"check_certificate knows no definition for {type(estimator).__name__}; it knows those of "
            f"{', '.join(builders)}"
        )
    return builders[names[0]](estimator, X, y, sample_weight)


def C_of(estimator) -> float:
    """C, or what was found for "auto"."""
    return float(getattr(estimator, "C_", estimator.C))


def _rows(X):
    X = as_rows(X)
    return X if X.dtype == float else X.astype(float)


def _known_classes(estimator, y):
    """Codes of y; the classes must be those that it has."""
    classes, codes = encode(np.asarray(y))
    if not np.array_equal(classes, estimator.classes_):
        raise OneslackError(f"classes_ is {list(estimator.classes_)}, but y has the classes {list(classes)}")
    return codes


def _against_others(codes, K):
    """(n,) of -1 and +1 for each class; for the second alone where there are two."""
    return [np.where(codes == k, 1.0, -1.0) for k in ([1] if K == 2 else range(K))]


def _ones(n, sample_weight):
    return np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)


def _objective(estimator, X, loss, row=None):
    """An Objective of all rows of coef_, or of one of them."""
    w, bias = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
    terms = rows_of_terms(estimator, w.shape)
    chosen = slice(None) if row is None else slice(row, row + 1)
    terms = {
        ("held" if name == "nonnegative" else name): np.asarray(value)[chosen]
        for name, value in terms.items()
    }
    if estimator.fit_intercept and getattr(estimator, "penalize_intercept", False):
        terms["scaling"] = float(estimator.intercept_scaling)
    terms["is_l1"] = getattr(estimator, "penalty", "l2") == "l1"
    terms["is_rounded"] = getattr(loss, "name", "") == "logistic"
    return Objective(X, loss, w[chosen], bias[chosen] if estimator.fit_intercept else None, **terms)


# Predictions: what they lack against the best ones, by scores.


def _of_classes(estimator, X, scores, size):
    """Recomputed's two functions of class scores (n, K), or (n, 1) for two classes."""

    def both():
        F = scores()
        return np.column_stack([np.zeros(len(F)), F[:, 0]]) if F.shape[1] == 1 else F

    def lacking():
        F = both()
        chosen = np.searchsorted(estimator.classes_, estimator.predict(X))
        return F.max(axis=1) - F[np.arange(len(F)), chosen]

    return lacking, size


def _of_numbers(estimator, X, scores, size):
    """The same where predictions are the scores."""
    return lambda: np.abs(estimator.predict(X) - scores()[:, 0]), size


def _sizes(X, w, bias=0.0):
    """(n,): the largest sum of |x| |w| of a row, over the rows of w."""
    return (np.asarray(abs(X) @ np.abs(np.atleast_2d(w)).T) + np.abs(bias)).max(axis=1)


# Kernels.


def _kernel_matrix(kernel, A, B) -> np.ndarray:
    """K(A, B), (len(A), len(B)), of a fitted `Kernel`; not for precomputed ones."""
    if callable(kernel.name):
        return np.asarray(kernel.name(A, B), dtype=float)
    A, B = (np.asarray(part.toarray() if sp.issparse(part) else part, dtype=float) for part in (A, B))
    if kernel.name == "linear":
        return A @ B.T
    if kernel.name == "poly":
        return (kernel.gamma * (A @ B.T) + kernel.coef0) ** kernel.degree
    power = 2 if kernel.name == "rbf" else 1
    distances = np.array([(np.abs(a - B) ** power).sum(axis=1) for a in A]).reshape(len(A), len(B))
    return np.exp(-kernel.gamma * distances)


def _basis_features(basis, X) -> np.ndarray:
    """The features (n, k) of fitted `KernelFeatures`: k(x, B) mapping."""
    return _kernel_matrix(basis._kernel, X, basis.components_) @ basis.mapping_


# Estimators.


def _classes(estimator, X, y, sample_weight):
    given, X = X, _rows(X)
    codes, K = _known_classes(estimator, y), len(estimator.classes_)
    s = example_weights(X, estimator.classes_, codes, estimator.class_weight, sample_weight)
    s, C = _ones(len(codes), s), C_of(estimator)
    cost = 1.0 - np.eye(K) if isinstance(estimator._loss, str) else np.asarray(estimator._loss, dtype=float)
    if K == 2:
        s = s * np.array([cost[0, 1], cost[1, 0]])[codes]
    name = estimator._loss if isinstance(estimator._loss, str) else "hinge"
    if K == 2 or estimator.multi_class == "ovr" or name != "hinge":
        labels = enumerate(_against_others(codes, K))
        losses = [(k, Hinge(y, s, C) if name == "hinge" else OneScore(y, s, C, name)) for k, y in labels]
        objectives = [_objective(estimator, X, loss, k) for k, loss in losses]
    else:
        objectives = [_objective(estimator, X, ManyClasses(codes, s, C, cost))]
    return Recomputed(objectives, *_of_classes(estimator, given, *_linear(estimator, X)))


def _linear(estimator, X):
    """Functions for X coef_' + intercept_ and the size of its terms."""
    w, bias = np.atleast_2d(estimator.coef_), estimator.intercept_
    return lambda: np.asarray(X @ w.T) + bias, lambda: _sizes(X, w, bias)


def _regression(estimator, X, y, sample_weight):
    given, X = X, _rows(X)
    y, s, C = np.asarray(y, dtype=float), _ones(len(y), sample_weight), C_of(estimator)
    name = getattr(estimator, "loss", "epsilon_insensitive")
    size = {"pinball": "quantile", "huber": "delta"}.get(name, "epsilon")
    size = float(getattr(estimator, size))
    loss = Tube(y, s, C, size) if name == "epsilon_insensitive" else OneScore(y, s, C, name, size)
    objective = _objective(estimator, X, loss)
    return Recomputed([objective], *_of_numbers(estimator, given, *_linear(estimator, X)))


def _few(n):
    if n > TWO_BY_TWO:
        raise OneslackError(
            f"there are {n} examples, which would be compared two by two; check the certificate on at most "
            f"{TWO_BY_TWO} (a model trained on fewer)"
        )


def _ranking(estimator, X, y, sample_weight, groups=None):
    _few(len(y))
    given, X = X, _rows(X)
    X = X if estimator.basis_ is None else _basis_features(estimator.basis_, X)
    loss = Pairs(np.asarray(y), groups, _ones(len(y), sample_weight), C_of(estimator))
    is_rounded = estimator.basis_ is not None
    objective = Objective(X, loss, np.atleast_2d(estimator.coef_), is_rounded=is_rounded)
    return Recomputed([objective], *_of_numbers(estimator, given, *_linear(estimator, X)))


def _ordinal(estimator, X, y, sample_weight):
    _few(len(y))
    given, X = X, _rows(X)
    codes, cuts, K = _known_classes(estimator, y), estimator.thresholds_, len(estimator.classes_)
    s = example_weights(X, estimator.classes_, codes, estimator.class_weight, sample_weight)
    loss = Pairs(codes, None, _ones(len(codes), s), C_of(estimator))

    def scores():
        """A class beats the one below by how far the score lies above the threshold between them."""
        steps = (X @ estimator.coef_)[:, None] - cuts
        return np.column_stack([np.zeros(len(codes)), np.cumsum(steps, axis=1)])

    def size():
        return K * _sizes(X, estimator.coef_, np.abs(cuts).max())

    return Recomputed(
        [Objective(X, loss, estimator.coef_[None])], *_of_classes(estimator, given, scores, size)
    )


def _measure(estimator, X, y, sample_weight):
    given, X = X, _rows(X)
    y = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if estimator.multilabel_:
        columns = np.where(y.T > 0, 1.0, -1.0)
    else:
        columns = _against_others(_known_classes(estimator, y), len(estimator.classes_))
    side = estimator._side
    sees_bias = callable(estimator.metric) or estimator.metric in ("error", "f1", "fbeta")
    objectives = [
        Objective(
            X, _sample_loss(estimator, side * column), side * estimator.coef_[k : k + 1],
            side * estimator.intercept_[k : k + 1] if sees_bias and estimator.fit_intercept else None,
        )
        for k, column in enumerate(columns)
    ]  # fmt: skip

    scores, size = _linear(estimator, X)
    if estimator.multilabel_:
        return Recomputed(objectives, lambda: _label_lacking(estimator, given, scores()), size)
    return Recomputed(objectives, *_of_classes(estimator, given, scores, size))


def _label_lacking(estimator, X, F):
    """Of a matrix of labels: how far a score is on the wrong side of 0."""
    return np.where(estimator.predict(X) > 0, np.maximum(-F, 0), np.maximum(F, 0)).max(axis=1)


def _sample_loss(estimator, y):
    n, P, C, metric = len(y), int(np.sum(y > 0)), C_of(estimator), estimator.metric
    if callable(metric):
        return Labellings(y, C, counts_loss(metric))
    if metric == "error":
        return Hinge(y, np.ones(n), C)
    if metric in ("f1", "fbeta"):
        return Labellings(y, C, f_beta_loss(1.0 if metric == "f1" else estimator.beta))
    _few(n)
    if metric == "roc_auc":
        return Pairs(y, None, np.ones(n), C)
    if metric == "average_precision":
        return AveragePrecisionLoss(y, C)
    k = P if metric == "prbep" else k_of(estimator.k, n)
    return TopK(y, C, k, k if metric == "precision_at_k" else P)


def _kernel(estimator, X, y, sample_weight):
    codes, K = _known_classes(estimator, y), len(estimator.classes_)
    n = len(codes)
    _few(n)
    s = _ones(n, example_weights(X, estimator.classes_, codes, estimator.class_weight, sample_weight))
    kernel, C = estimator._kernel, C_of(estimator)
    gram = np.asarray(X, dtype=float) if kernel.is_precomputed else _kernel_matrix(kernel, X, X)
    w = np.zeros((len(estimator.dual_coef_), n))
    w[:, estimator.support_] = estimator.dual_coef_
    bias = estimator.intercept_ if estimator.fit_intercept else None

    def scores():
        return gram @ w.T + estimator.intercept_

    kind = {"is_kernel": True, "is_rounded": not kernel.is_precomputed}
    if K == 2 or estimator.multi_class == "ovr":
        objectives = [
            Objective(gram, Hinge(y_k, s, C), w[k : k + 1], None if bias is None else bias[k : k + 1], **kind)
            for k, y_k in enumerate(_against_others(codes, K))
        ]
    else:
        objectives = [Objective(gram, ManyClasses(codes, s, C, 1.0 - np.eye(K)), w, bias, **kind)]
    return Recomputed(
        objectives, *_of_classes(estimator, X, scores, lambda: _sizes(gram, w, estimator.intercept_))
    )


# Estimators of structured outputs.


def _structured(estimator, examples, sample_weight, terms, outputs, is_rounded=False):
    """outputs() are the predictions, as the model writes them."""
    w = estimator.coef_
    model = examples.model
    penalty = regulariser_of(model, **terms)
    s = _ones(len(examples), sample_weight)
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


def _any_model(estimator, X, Y, sample_weight):
    """Of a StructuralSVM."""
    if isinstance(estimator.model, Chain):
        _refuse_unknown([(np.asarray(y) < 0).any() for y in Y])
    basis, outputs = getattr(estimator, "basis_", None), lambda: estimator.predict(X)
    inputs = X if basis is None else [_through(basis, x) for x in X]
    examples = _examples(on_basis(estimator.model, basis), inputs, Y, estimator.rescaling)
    terms = given_terms(estimator)
    return _structured(estimator, examples, sample_weight, terms, outputs, basis is not None)


def _through(basis, x):
    """A row, or a matrix of rows, on the features of a basis."""
    return _basis_features(basis, x) if np.ndim(x) == 2 else _basis_features(basis, np.atleast_2d(x))[0]


def _refuse_unknown(unknown):
    if any(unknown):
        i = unknown.index(True)
        raise OneslackError(f"sentence {i} has a label that is not known: no one objective was minimised")


def _tagger(estimator, X, Y, sample_weight):
    """Of a SequenceTagger."""
    if isinstance(Y, str):
        raise OneslackError("check_certificate takes the labels themselves: a list for each sentence")
    rows, classes = estimator._features(X), estimator.classes_
    basis = getattr(estimator._indexer, "features", None) if estimator.kernel is not None else None
    sentences = [rows[i] if basis is None else _basis_features(basis, X[i]) for i in range(len(rows))]
    _refuse_unknown([None in list(labels) for labels in Y])
    codes = [np.searchsorted(classes, list(labels)) for labels in Y]
    examples = _examples(estimator.model_, sentences, codes, estimator.rescaling)
    terms = tagger_terms(estimator, estimator._indexer, estimator.model_, classes)

    def outputs():
        return [np.searchsorted(classes, labels) for labels in estimator.predict(X)]

    return _structured(estimator, examples, sample_weight, terms, outputs, basis is not None)


def _parser(estimator, X, Y, sample_weight):
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

    return _structured(estimator, examples, s, prior, outputs)
