"""The problem of a fitted Matcher for the checker.

Prices that bound hinges are found from the decoder's assignments: the checker takes them from anybody.
"""

from __future__ import annotations

import numpy as np

from ..data.rows import Shard
from ..estimators._shared.given import given_terms
from ..estimators.matcher import pair_features
from ..models.matching import Matching
from ..problems.regulariser_input import regulariser_of
from ..verify.matchings import Matchings
from ..verify.structured import Structured
from .proof_examples import penalty_of, weights_of_examples


def matching_problem(model, C, X, Y, sample_weight):
    """Yield the one problem of a model."""
    may_stay = bool(model.unmatched)
    matching = Matching(model.n_features_in_, may_stay)
    w = np.append(model.coef_, -model.price_) if may_stay else model.coef_
    data = matching.pack(pair_features(X), Y)
    examples = Matchings(
        data.F, data.rows, data.columns, data.y.astype(np.int64), may_stay, best_prices(matching, data, w)
    )
    terms = regulariser_of(matching, **given_terms(model))
    yield Structured(examples, C * weights_of_examples(data.n, sample_weight), w, penalty_of(terms))


def best_prices(matching, data, w):
    """Prices of the columns of each example, by which no row would rather have another one than the best
    assignment gives it: the longest ways to raise them."""
    Z = matching.worst_batch(data, Shard(0, data.n), w, "margin")[0]
    scores, none = data.F @ w[: data.F.shape[1]], w[-1] if matching.unmatched else -np.inf
    found = []
    for i in range(data.n):
        rows = slice(data.offsets[i], data.offsets[i + 1])
        S = scores[data.starts[i] : data.starts[i + 1]].reshape(data.rows[i], data.columns[i])
        at, z, y = np.arange(len(S)), Z[rows], data.y[rows]
        told = np.column_stack([S, np.full(len(S), none)]) + 1.0
        told[at, y] -= 1.0
        worth, p = told - told[at, z][:, None], np.zeros(data.columns[i] + 1)
        for _ in range(len(p)):
            higher = np.maximum(p, (worth + p[z][:, None]).max(axis=0, initial=0.0))
            higher[-1] = 0.0  # to stay alone is free
            if (higher == p).all():
                break
            p = higher
        found.append(p[:-1])
    return found
