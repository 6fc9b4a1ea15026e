"""The problems of a fitted model for the checker: features and targets as numbers, weights, penalties."""

from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
import scipy.sparse as sp

from ..errors import OneslackError, ProofError
from ..estimators._shared.given import TERMS, example_weights
from ..estimators._shared.tagged_input import column_of
from ..estimators._shared.weight_terms import rows_of_terms, tagger_terms
from ..estimators.sequence_segmenter import tags_given
from ..metrics import k_of
from ..problems.regulariser_input import regulariser_of
from ..verify.chains import Chains
from ..verify.kernels import Kernel
from ..verify.labellings import FBeta, Precision, TopK
from ..verify.linear import Linear
from ..verify.losses import ManyClasses, OneScore
from ..verify.pairs import Pairs
from ..verify.penalty import Penalty
from ..verify.sample import Sample
from ..verify.structured import Structured
from ..verify.sums import dense
from ..verify.trees import Rules, Trees
from .definitions.estimators import (
    _against_others,
    _basis_features,
    _known_classes,
    _ones,
    _refuse_unknown,
    _rows,
)
from .proof_examples import codes_among, penalty_of, weights_of_examples
from .proof_graphs import graph_problem
from .proof_matchings import matching_problem


def problems_of(model, header, X, y, sample_weight, groups):
    """Yield the problems of a model, each with `bounds(proof)`, in the order of its claims."""
    builders = {
        "GraphTagger": graph_problem,
        "GridSegmenter": graph_problem,
        "Matcher": matching_problem,
        "LinearSVC": _classes,
        "LinearSVR": _regression,
        "RankSVM": partial(_ranking, groups=groups),
        "OrdinalSVC": _ordinal,
        "MetricSVC": _measure,
        "KernelSVC": _kernel,
        "SequenceTagger": _tagger,
        "GrammarParser": _parser,
    }
    names = [kind.__name__ for kind in type(model).__mro__ if kind.__name__ in builders]
    if not names:
        raise OneslackError(f"no checker is written for {type(model).__name__}; use check_certificate")
    C, given = header.get("C"), getattr(model, "C", None)
    if not isinstance(C, float) or not 0.0 < C < np.inf:
        raise ProofError(f"C of the proof is {C!r}, expected a positive number")
    if not isinstance(given, str) and float(given) != C:
        raise ProofError(f"C of the proof is {C!r}, but that of the model is {given!r}")
    return builders[names[0]](model, C, X, y, sample_weight)


def take_named_terms(model, header, arrays) -> list[str]:
    """Give a model the terms that were said of its weights by names, which its parameters do not hold; their
    names."""
    named = [name for name in TERMS if f"proof.{name}" in arrays]
    for name in named:
        if name in header["parameters"] or f"parameter.{name}" in arrays:
            raise ProofError(f"the proof has a {name} of its own beside that of the parameters")
        setattr(model, name, arrays[f"proof.{name}"])
    return named


def _terms(model, shape) -> dict:
    """prior, scale and held of all weights."""
    terms = rows_of_terms(model, shape)
    return {("held" if name == "nonnegative" else name): values for name, values in terms.items()}


def _linear(model, X, loss, row=None) -> Linear:
    """The problem of all rows of coef_, or of one of them."""
    w, bias = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    terms = _terms(model, w.shape)
    chosen = slice(None) if row is None else slice(row, row + 1)
    terms = {name: np.asarray(values)[chosen] for name, values in terms.items()}
    w, bias, free = w[chosen], bias[chosen], bool(model.fit_intercept)
    if free and getattr(model, "penalize_intercept", False):
        X, w, terms = _with_bias(X, w, bias, terms, float(model.intercept_scaling))
        free = False
    elif not free and bias.any():
        raise ProofError("the model adds an intercept, which is no part of its problem")
    penalty = Penalty(is_l1=getattr(model, "penalty", "l2") == "l1", **terms)
    return Linear(X, loss, w, bias if free else None, penalty)


def _with_bias(X, w, bias, terms, scaling):
    """A penalised intercept is the weight of a column of ones, with 1 / scaling as its scale."""
    ones = np.ones((X.shape[0], 1))
    X = sp.hstack([X, sp.csr_array(ones)], format="csr") if sp.issparse(X) else np.hstack([X, ones])
    default = {"prior": 0.0, "held": False, "scale": 1.0 / scaling}
    terms = {"scale": np.ones_like(w)} | terms
    more = {name: np.full((len(w), 1), default[name]) for name in terms}
    return (
        X, np.column_stack([w, bias]),
        {name: np.hstack([values, more[name]]) for name, values in terms.items()},
    )  # fmt: skip


def _classes(model, C, X, y, sample_weight):
    X = _rows(X)
    codes, K = _known_classes(model, y), len(model.classes_)
    s = _ones(len(codes), example_weights(X, model.classes_, codes, model.class_weight, sample_weight))
    is_named = isinstance(model._loss, str)
    cost = 1.0 - np.eye(K) if is_named else np.asarray(model._loss, dtype=float)
    if K == 2:
        s = s * np.array([cost[0, 1], cost[1, 0]])[codes]
    name = model._loss if is_named else "hinge"
    if K == 2 or model.multi_class == "ovr" or name != "hinge":
        for k, signs in enumerate(_against_others(codes, K)):
            yield _linear(model, X, OneScore(name, signs, C * s), k)
    else:
        yield _linear(model, X, ManyClasses(codes, C * s, cost))


def _regression(model, C, X, y, sample_weight):
    X, y = _rows(X), np.asarray(y, dtype=float)
    name = getattr(model, "loss", "epsilon_insensitive")
    size = float(getattr(model, {"pinball": "quantile", "huber": "delta"}.get(name, "epsilon")))
    yield _linear(model, X, OneScore(name, y, C * weights_of_examples(len(y), sample_weight), size))


def _ranking(model, C, X, y, sample_weight, groups=None):
    X, y = _rows(X), np.asarray(y)
    if model.basis_ is not None:
        X = _basis_features(model.basis_, X)
    loss = Sample(Pairs(y, groups, weights_of_examples(len(y), sample_weight)), C)
    yield Linear(X, loss, np.atleast_2d(model.coef_))


def _ordinal(model, C, X, y, sample_weight):
    X, codes = _rows(X), _known_classes(model, y)
    s = example_weights(X, model.classes_, codes, model.class_weight, sample_weight)
    yield Linear(X, Sample(Pairs(codes, None, _ones(len(codes), s)), C), np.atleast_2d(model.coef_))


def _measure(model, C, X, y, sample_weight):
    X, y = _rows(X), np.asarray(y.toarray() if sp.issparse(y) else y)
    if model.multilabel_:
        columns = np.where(y.T > 0, 1.0, -1.0)
    else:
        columns = _against_others(_known_classes(model, y), len(model.classes_))
    has_bias, side = model.fit_intercept and model.metric in ("error", "f1", "fbeta"), model._side
    for k, signs in enumerate(columns):
        bias = side * model.intercept_[k : k + 1] if has_bias else None
        yield Linear(X, _sample_loss(model, side * signs, C), side * model.coef_[k : k + 1], bias)


def _sample_loss(model, y, C):
    n, P, metric = len(y), int(np.sum(y > 0)), model.metric
    if metric == "error":
        return OneScore("hinge", y, C * np.ones(n))
    if metric in ("f1", "fbeta"):
        return Sample(FBeta(y, 1.0 if metric == "f1" else float(model.beta)), C)
    if metric == "roc_auc":
        return Sample(Pairs(y, None, np.ones(n)), C)
    if metric == "average_precision":
        return Sample(Precision(y), C)
    if metric not in ("prbep", "precision_at_k", "recall_at_k"):
        raise OneslackError(f"no checker is written for metric {metric!r}: a model file holds no code")
    k = P if metric == "prbep" else k_of(model.k, n)
    return Sample(TopK(y, k, k if metric == "precision_at_k" else P), C)


def _kernel(model, C, X, y, sample_weight):
    codes, K, kernel = _known_classes(model, y), len(model.classes_), model._kernel
    if not isinstance(kernel.name, str):
        raise OneslackError(
            "no checker is written for a kernel that is a function: a model file holds no code"
        )
    s = _ones(len(codes), example_weights(X, model.classes_, codes, model.class_weight, sample_weight))
    w = _expansion(model, X, len(codes))
    kind = (kernel.name, kernel.gamma, kernel.coef0, kernel.degree)
    kind = ("poly", 1.0, 0.0, 1) if kernel.name == "linear" else kind
    bias = model.intercept_ if model.fit_intercept else None
    if K > 2 and model.multi_class != "ovr":
        yield Kernel(X, kind, ManyClasses(codes, C * s, 1.0 - np.eye(K)), w, bias)
        return
    for k, signs in enumerate(_against_others(codes, K)):
        of_k = None if bias is None else bias[k : k + 1]
        yield Kernel(X, kind, OneScore("hinge", signs, C * s), w[:, k : k + 1], of_k)


def _expansion(model, X, n):
    """(n, rows) coefficients of all examples, which the file's own vectors, that predict, must be."""
    support, kernel, bias = model.support_, model._kernel, model.intercept_
    if len(np.unique(support)) < len(support) or (not model.fit_intercept and bias.any()):
        raise ProofError("a support vector stands there twice, or an intercept is no part of the problem")
    if not kernel.is_precomputed:
        if not kernel.is_definite:
            raise ProofError("the kernel is not positive semi-definite on all rows, and proves nothing")
        rows, centre = dense(_rows(X)), kernel.centre
        dtype = model.support_vectors_.dtype
        if not np.array_equal(dense(model.support_vectors_), rows[support].astype(dtype)):
            raise ProofError("the support vectors are not the examples whose numbers they have")
        if centre is not None and not ((rows.min(axis=0) <= centre) & (centre <= rows.max(axis=0))).all():
            raise ProofError("the centre that distances are taken from is not among the examples")
    w = np.zeros((n, len(model.dual_coef_)))
    w[support] = model.dual_coef_.T
    return w


# Structured outputs.


def _tagger(model, C, X, y, sample_weight):
    if model.kernel is not None:
        raise OneslackError("no checker is written for taggers with a kernel")
    rows, chain = model._features(X), model.model_
    tokens, ends = rows.values, np.asarray(rows.offsets, dtype=np.int64)
    labels = _labels(model, X, y)
    codes = codes_among(model.classes_, labels)
    _refuse_other_chain(model, chain, rows, codes)
    may = {"pairs": chain.allowed, "start": chain.allowed_start, "end": chain.allowed_end}
    may = {name: part for name, part in may.items() if part is not None}
    examples = Chains(tokens, ends, codes, chain.blocks, may, np.asarray(chain.label_losses))
    terms = regulariser_of(chain, **tagger_terms(model, model._indexer, chain, model.classes_))
    c, is_slack = C * weights_of_examples(len(rows), sample_weight), model.rescaling == "slack"
    yield Structured(examples, c, model.coef_, penalty_of(terms), is_slack)


def _labels(model, X, y):
    """Those of all tokens; of a SequenceSegmenter the tags of its segments."""
    if hasattr(model, "coding"):
        return np.concatenate([np.array(tags) for tags in tags_given(X, y, model.coding)])
    return column_of(X, y).strings() if isinstance(y, str) else _flat_labels(y)


def _refuse_other_chain(model, chain, rows, codes):
    """Raise unless a chain is the one that the parameters make."""
    same = model._chain(rows, model.classes_, codes)
    for name in ("order", "start", "end", "allowed", "allowed_start", "allowed_end", "label_losses"):
        if not np.array_equal(getattr(chain, name), getattr(same, name)):
            raise ProofError(f"{name} of the model is not what its parameters make")


def _flat_labels(Y):
    if len(Y) and np.ndim(Y[0]) == 0:  # of a file: those of all tokens
        return np.asarray(Y)
    _refuse_unknown([None in list(labels) for labels in Y])
    return np.concatenate([np.asarray(list(labels)) for labels in Y])


def _parser(model, C, X, y, sample_weight):
    from ..estimators._shared.parsed_input import other_tags
    from ..estimators.grammar_parser import _both
    from ..models.grammar import GrammarModel

    if model.loss != "brackets" or model.rescaling != "margin":
        what = f"loss={model.loss!r}, rescaling={model.rescaling!r}"
        raise OneslackError(f"no checker is written for parsers with {what}")
    sentences, trees = _both(X, y)
    outside = {i for i, _ in other_tags(sentences, trees)}
    if outside != set(model.outside_.tolist()):
        raise ProofError("the sentences that were left out are not those whose tags are not their tree's")
    kept = [i for i in range(len(trees)) if i not in outside]
    grammar, parser = model.grammar_, model.model_
    same = GrammarModel(grammar, model.loss, parser.span_features, model.frequencies, model.missing)
    if (same.frequencies, same.missing) != (parser.frequencies, parser.missing):
        raise ProofError("the model counts brackets or frequencies otherwise than its parameters say")
    words = [np.asarray(grammar.word_ids(sentences[i]), dtype=int) for i in kept]
    outputs = [np.asarray(grammar.encode(trees[i]), dtype=int) for i in kept]
    s = weights_of_examples(len(trees), sample_weight)[kept]
    prior = parser.frequency_prior() if model.frequencies == "prior" else 0.0
    spans = [_span_weights(parser, sentence) for sentence in words]
    n = len(model.coef_) - int(parser.frequencies)
    examples = Trees(_rules(grammar, parser, n), words, outputs, spans, n)
    yield Structured(examples, C * s, model.coef_, Penalty(prior=prior))


def _span_weights(parser, words) -> dict:
    """{(first, last): (labels, numbers of weights)}: span features as spans.py defines them."""
    from .._jit.cky_features import TEMPLATES, span_keys
    from ..models.grammar.spans import tag_of_class

    known, found = parser.span_features, {}
    if known is None:
        return found
    coarse = tag_of_class(parser.grammar)[words[:, 0]]
    for first, last in combinations(range(len(words) + 1), 2):
        keys = np.empty(TEMPLATES, np.int64)
        span_keys(known.n_words, words, coarse, first, last, keys)
        at = np.searchsorted(known.keys, keys)
        at = at[known.keys[np.minimum(at, len(known.keys) - 1)] == keys] if len(known.keys) else at[:0]
        numbers = np.concatenate([np.zeros(0, int), *(np.arange(*known.ptr[e : e + 2]) for e in at)])
        if len(numbers):
            labels = known.labels[numbers.astype(int)]
            found[first, last] = labels.tolist(), (parser.grammar.n_rules + numbers).astype(int).tolist()
    return found


def _rules(grammar, parser, n) -> Rules:
    """A Grammar as the checker reads it."""
    from ..models.grammar.binarise import PHRASE
    from ..models.grammar.tables import score_labels

    label, labels = score_labels(grammar)
    counted = np.array([kind == PHRASE for kind, _ in labels])
    logs, ptr = None, grammar.chain_ptr
    if parser.frequencies:
        logs = np.zeros(n)
        logs[: grammar.n_rules] = grammar.frequency_weights()
    chains = [grammar.chain_rules[ptr[q] : ptr[q + 1]].tolist() for q in range(grammar.n_chains)]
    return Rules(
        grammar.binary_parent, grammar.binary_left, grammar.binary_right, grammar.unary_parent, chains,
        grammar.chain_parent, grammar.chain_child,
        np.repeat(np.arange(grammar.n_classes), np.diff(grammar.lexical_ptr)), grammar.lexical_tag,
        label, counted, float(parser.missing), logs,
    )  # fmt: skip
