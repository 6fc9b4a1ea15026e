"""What a tagger has learned, by the names that users of conditional random fields know."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def state_features(tagger) -> dict:
    """{(feature, label): weight}."""
    from ...viz.named_weights import token_feature_names

    chain, labels = tagger.model_, tagger.classes_.tolist()
    d, n = chain.n_features, chain.n_labels
    weights = tagger.coef_[: d * n].reshape(d, n)
    names = token_feature_names(tagger)
    found = zip(*np.nonzero(weights), strict=True)
    return {(int(k) if names is None else names[k], labels[c]): float(weights[k, c]) for k, c in found}


def transition_features(tagger) -> dict:
    """{(label, next label): weight}."""
    from ...viz.named_weights import transitions_of

    labels, weights = tagger.classes_.tolist(), transitions_of(tagger).tolist()
    return {(a, b): weights[i][j] for i, a in enumerate(labels) for j, b in enumerate(labels)}


def shares(tagger, marginals) -> list:
    """Of Ragged best scores (tokens, labels), for each sentence and token {label: share}."""
    labels, scores = tagger.classes_.tolist(), marginals.values
    exp = np.exp(scores - scores.max(axis=1, keepdims=True)) if len(scores) else scores
    rows = (exp / exp.sum(axis=1, keepdims=True)).tolist() if len(scores) else []
    offsets = marginals.offsets.tolist()
    return [[dict(zip(labels, row, strict=True)) for row in rows[lo:hi]] for lo, hi in pairwise(offsets)]
