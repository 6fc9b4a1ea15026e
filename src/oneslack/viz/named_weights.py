"""What a model looks at: its weights, the largest first, by the names of features and outputs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import OneslackError


class Weight(NamedTuple):
    """A weight: of which feature, for which output ("" where there is one alone), and how much."""

    feature: str
    output: str
    value: float


def largest_weights(model, n=20, feature_names=None, output=None) -> list[Weight]:
    """The n weights of largest size, those largest in value first.

    model          a fitted linear estimator, tagger or parser, or a StructuralSVM
    feature_names  names of the features, where the model does not know them
    output         only those for this class or label
    """
    if not hasattr(model, "coef_") or getattr(model, "basis_", None) is not None:
        raise OneslackError(
            f"{type(model).__name__} has no weights by feature; it is not linear, or not fitted"
        )
    if hasattr(model, "grammar_"):
        weights, name = _of_rules(model)
    elif hasattr(model, "model_"):
        weights, name = _of_tokens(model)
    else:
        weights, name = _of_features(model, feature_names)
    flat = weights.ravel()
    allowed = np.flatnonzero(flat)
    if output is not None:
        allowed = _only(allowed, weights, model, output)
    chosen = allowed[np.argsort(-np.abs(flat[allowed]), kind="stable")[:n]]
    chosen = chosen[np.argsort(-flat[chosen], kind="stable")]
    return [Weight(*name(int(i)), float(flat[i])) for i in chosen]


def _only(allowed, weights, model, output):
    outputs = [str(label) for label in getattr(model, "classes_", ())]
    if weights.ndim < 2 or weights.shape[0 if not hasattr(model, "model_") else 1] != len(outputs):
        raise OneslackError("this model has no weights of its own for each output; drop output=")
    if str(output) not in outputs:
        raise OneslackError(f"there is no output {output!r}; choose from {', '.join(outputs[:10])}")
    k = outputs.index(str(output))
    by_output = allowed % weights.shape[1] if hasattr(model, "model_") else allowed // weights.shape[1]
    return allowed[by_output == k]


# Linear models: a row an output.


def _of_features(model, names):
    weights = np.atleast_2d(np.asarray(model.coef_))
    d = weights.shape[1]
    names = getattr(model, "feature_names_in_", None) if names is None else names
    if names is not None and len(names) != d:
        raise OneslackError(f"there are {d} features but {len(names)} names")
    several = len(weights) > 1 and hasattr(model, "classes_")

    def name(i):
        row, column = divmod(i, d)
        return (
            str(names[column]) if names is not None else f"feature {column}",
            str(model.classes_[row]) if several else "",
        )

    return weights, name


# Taggers: features of tokens, with a column a label.


def _of_tokens(tagger):
    chain = tagger.model_
    d, n_labels = chain.n_features, chain.n_labels
    weights = tagger.coef_[: d * n_labels].reshape(d, n_labels)
    names = token_feature_names(tagger)

    def name(i):
        feature, label = divmod(i, n_labels)
        return names[feature] if names is not None else f"feature {feature}", str(tagger.classes_[label])

    return weights, name


def token_feature_names(tagger):
    """Names of the features of a token, or None where they are hashed, numbers, or of a kernel."""
    indexer = getattr(tagger, "_indexer", None)
    if indexer is None or getattr(indexer, "hash_bits", None) is not None:
        return None
    return indexer.feature_names() or None


def transitions_of(tagger):
    """(L, L): the weight of a label (column) after a label (row)."""
    chain = tagger.model_
    first, n_labels = chain.n_features * chain.n_labels, chain.n_labels
    return tagger.coef_[first : first + n_labels**2].reshape(n_labels, n_labels)


# Parsers: rules.


def _of_rules(parser):
    grammar = parser.grammar_
    weights = parser.model_.plain_weights(parser.coef_)[: grammar.n_rules]
    classes = np.repeat(np.arange(grammar.n_classes), np.diff(grammar.lexical_ptr))
    words = {number: word for word, number in grammar.words.words.items()}
    words |= {number: f"a word like {shape}" for shape, number in grammar.words.shapes.items()}

    def name(i):
        if i < grammar.n_binary:
            parts = (grammar.binary_parent[i], grammar.binary_left[i], grammar.binary_right[i])
            top, *below = (str(grammar.symbols[k]) for k in parts)
        elif i < grammar.n_binary + grammar.n_unary:
            k = i - grammar.n_binary
            top, *below = (str(grammar.symbols[s]) for s in (grammar.unary_parent[k], grammar.unary_child[k]))
        else:
            k = i - grammar.n_binary - grammar.n_unary
            top = str(grammar.symbols[grammar.lexical_tag[k]])
            below = [words.get(int(classes[k]), "any other word")]
        return f"{top} → {' '.join(below)}", ""

    return weights, name
