"""Measures of predictions, by numpy alone.  `y` is positive where > 0, for labels and predictions.

Where scores tie, the mean over all orders of the tied examples counts; average precision alone takes
tied examples as found together, as scikit-learn does.  Larger is better throughout; where nothing can
be found or ordered, 1.

Measures of tagged sentences take labels as they are, a sequence for each sentence.
"""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import NamedTuple

import numpy as np


def f_beta(y, predicted, beta=1.0) -> float:
    """(1 + beta^2) tp / (beta^2 (tp + fn) + tp + fp); y, predicted (n,).

    >>> f_beta([1, 1, -1, -1], [1, -1, 1, -1])
    0.5
    """
    y, predicted = _positive(y), _positive(predicted)
    below = beta**2 * y.sum() + predicted.sum()
    return float((1 + beta**2) * (y & predicted).sum() / below) if below > 0 else 1.0


def k_of(k, n) -> int:
    """k as a number of examples: itself, or for a float that share of n, rounded, at least 1.

    >>> k_of(7, 50), k_of(0.1, 50)
    (7, 5)
    """
    size = int(k) if isinstance(k, Integral) else max(1, round(k * n))
    if not 1 <= size <= n:
        raise ValueError(f"k={k} but there are {n} examples: k must be from 1 to {n}, or a share of them")
    return size


def precision_at_k(y, scores, k) -> float:
    """The share of positives among the k largest scores; k as in `k_of`; y, scores (n,).

    >>> precision_at_k([1, -1, 1, -1], [0.9, 0.8, 0.7, 0.1], 2)
    0.5
    """
    k = k_of(k, len(y))
    return _found(y, scores, k) / k


def recall_at_k(y, scores, k) -> float:
    """The share of the positives that is among the k largest scores; k as in `k_of`; y, scores (n,).

    >>> recall_at_k([1, -1, 1, -1], [0.9, 0.8, 0.7, 0.1], 3)
    1.0
    """
    y = _positive(y)
    return _found(y, scores, k_of(k, len(y))) / int(y.sum()) if y.any() else 1.0


def precision_recall_break_even(y, scores) -> float:
    """Precision, and so recall, when as many are predicted positive as are; y, scores (n,).

    >>> precision_recall_break_even([1, -1, 1, -1], [0.9, 0.8, 0.7, 0.1])
    0.5
    """
    y = _positive(y)
    return recall_at_k(y, scores, int(y.sum())) if y.any() else 1.0


def _found(y, scores, k) -> float:
    """How many positives are among the k largest scores."""
    y, scores = _positive(y), np.asarray(scores, float)
    threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
    above, on = scores > threshold, scores == threshold
    return float(y[above].sum() + (k - above.sum()) * y[on].mean())


def average_precision(y, scores) -> float:
    """Mean over the positives of the precision among all examples scored at least as high; y, scores (n,).

    >>> average_precision([1, -1, -1, 1], [0.9, 0.8, 0.7, 0.1])  # (1/1 + 2/4) / 2
    0.75
    """
    y = _positive(y)
    if not y.any():
        return 1.0
    _, tied, count = np.unique(-np.asarray(scores, float), return_inverse=True, return_counts=True)
    hits = np.bincount(tied, weights=y, minlength=len(count))
    return float(np.sum(hits * np.cumsum(hits) / np.cumsum(count)) / y.sum())


def roc_auc(y, scores) -> float:
    """The share of pairs, one positive and one negative, that the scores put in order; y, scores (n,).

    >>> roc_auc([1, -1, 1, -1], [0.9, 0.8, 0.7, 0.1])
    0.75
    """
    return ordered_pairs(_positive(y), scores)


def mean_average_precision(y, scores, groups=None) -> float:
    """Average precision, as a mean over the groups that have a positive; y, scores, groups (n,).

    >>> mean_average_precision([1, -1, 1, -1], [0.9, 0.8, 0.1, 0.7], [1, 1, 2, 2])  # (1 + 1/2) / 2
    0.75
    """
    y, scores = _positive(y), np.asarray(scores, float)
    values = [average_precision(y[rows], scores[rows]) for rows in _groups(groups, len(y)) if y[rows].any()]
    return float(np.mean(values)) if values else 1.0


def ndcg(y, scores, groups=None, k=None, exponential=False) -> float:
    """Normalised discounted cumulative gain of the k first, as a mean over groups.

    The gain of an example is y >= 0 or, if exponential, 2^y - 1; at place r it counts 1 / log2(r + 1).
    Groups without any gain are left out.  y, scores, groups (n,).

    >>> ndcg([2, 1, 0], [0.9, 0.8, 0.1]), round(ndcg([0, 1], [0.9, 0.1]), 3)  # 1 / log2(3)
    (1.0, 0.631)
    """
    gains, scores = np.asarray(y, float), np.asarray(scores, float)
    if np.any(gains < 0):
        bad = int(np.argmax(gains < 0))
        raise ValueError(f"example {bad}: y is {gains[bad]}, but a gain must not be negative")
    if exponential:
        gains = 2.0**gains - 1.0
    values = []
    for rows in _groups(groups, len(gains)):
        g = gains[rows]
        if g.any():
            discounts = 1.0 / np.log2(np.arange(len(g)) + 2.0)
            discounts[len(g) if k is None else k :] = 0.0
            values.append(_gain(g, scores[rows], discounts) / (np.sort(g)[::-1] @ discounts))
    return float(np.mean(values)) if values else 1.0


def _gain(gains, scores, discounts) -> float:
    """sum over places of gain times discount; tied examples share their places."""
    _, tied, count = np.unique(-scores, return_inverse=True, return_counts=True)
    first = np.cumsum(count) - count
    return float(np.bincount(tied, weights=gains) / count @ np.add.reduceat(discounts, first))


def ordered_pairs(y, scores, groups=None) -> float:
    """The share of the pairs inside a group, of different y, that the scores put in order.

    A pair of equal scores counts half.  O(n log n).  y, scores, groups (n,).

    >>> ordered_pairs([3, 2, 1], [0.9, 0.1, 0.5])  # two of three
    0.6666666666666666
    """
    n = len(y)
    group = _codes(np.zeros(n) if groups is None else groups)
    y, x = _codes(y), _codes(scores)
    tie_group, tie_y, tie_x = group, group * n + y, group * n + x
    tie_both = _codes(tie_y) * n + x
    pairs = _pairs(tie_group) - _pairs(tie_y)
    if pairs == 0:
        return 1.0
    tied = _pairs(tie_x) - _pairs(tie_both)
    # Of equal y the largest score comes first, so no pair of them rises.
    order = np.lexsort((-x, y, group))
    return (_rising(x[order], group[order]) + 0.5 * tied) / pairs


def _rising(x, node) -> int:
    """Number of pairs, i before j in the same node, with x_i < x_j; nodes lie together, x >= 0.

    Such a pair differs first in some bit, from the top, where x_i has 0 and x_j has 1.  So for each bit
    count the zeros before each one, then split every node into its zeros and its ones, in order.
    """
    n, total = len(x), 0
    place = np.arange(n)
    for bit in range(int(x.max()).bit_length() - 1, -1, -1):
        one = (x >> bit) & 1
        starts = np.flatnonzero(np.append(True, node[1:] != node[:-1]))
        lengths = np.diff(np.append(starts, n))
        zeros = np.cumsum(1 - one) - (1 - one)
        start = np.repeat(starts, lengths)
        before = zeros - zeros[start]  # zeros before, in the node
        total += int(before @ one)
        of_node = np.repeat(np.add.reduceat(1 - one, starts), lengths)
        target = np.where(one == 1, of_node + place - before, start + before)
        moved_x, moved_node = np.empty_like(x), np.empty_like(node)
        moved_x[target], moved_node[target] = x, 2 * node + one
        x, node = moved_x, _renumbered(moved_node)
    return total


def _renumbered(node):
    """Neighbours that are equal keep one number, counted from 0, so that doubling never overflows."""
    return np.cumsum(np.append(False, node[1:] != node[:-1]))


def _codes(values):
    return np.unique(np.asarray(values), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _pairs(labels) -> int:
    """Number of pairs of equal labels."""
    count = np.unique(labels, return_counts=True)[1]
    return int(np.sum(count * (count - 1) // 2))


def _groups(groups, n):
    """The rows of each group."""
    if groups is None:
        return [np.arange(n)]
    codes = _codes(groups)
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])


def _positive(y):
    return np.asarray(y) > 0


# Tagged sentences: Y and Y_hat hold a sequence of labels for each sentence.


class PhraseScore(NamedTuple):
    """Phrases found: counts, and the shares that follow from them.

    >>> score = PhraseScore(n_true=4, n_predicted=2, n_correct=2)
    >>> score.precision, score.recall
    (1.0, 0.5)
    """

    n_true: int
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """The share of the predicted phrases that is right; of none, 0, or 1 where there are none."""
        return self._share(self.n_predicted)

    @property
    def recall(self) -> float:
        """The share of the true phrases that is found; of none, 1, or 0 where some are predicted."""
        return self._share(self.n_true)

    @property
    def f1(self) -> float:
        """2 n_correct / (n_true + n_predicted)."""
        both = self.n_true + self.n_predicted
        return 2 * self.n_correct / both if both else 1.0

    def _share(self, whole):
        return self.n_correct / whole if whole else float(self.n_true + self.n_predicted == 0)


def phrases(labels) -> list[tuple[str, int, int]]:
    """(type, first, after the last) of each phrase in the IOB labels of one sentence.

    A phrase starts at B, and at I where no phrase of its type is open, as CoNLL's evaluation counts: so
    IOB1 and IOB2 are both understood.  Labels are O, B-type and I-type; plain B and I are of type "".

    >>> phrases(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-NP"])
    [('NP', 0, 2), ('NP', 2, 3), ('VP', 4, 5), ('NP', 5, 6)]
    """
    found, first, kind = [], 0, None
    for t, label in enumerate(labels):
        tag, _, of = str(label).partition("-")
        if tag not in ("O", "B", "I"):
            raise ValueError(f"position {t}: {label!r} is no IOB label; phrases need O, B-type and I-type")
        if kind is not None and (tag != "I" or of != kind):
            found.append((kind, first, t))
            kind = None
        if tag != "O" and kind is None:
            first, kind = t, of
    return found if kind is None else [*found, (kind, first, len(labels))]


def phrase_scores(Y, Y_hat) -> dict[str | None, PhraseScore]:
    """The PhraseScore of each type of phrase, sorted, and under None that of all.

    A phrase is right where its type, its first and its last token are.  Y, Y_hat: a list of labels for each
    of the same sentences.

    >>> scores = phrase_scores([["B-NP", "I-NP", "B-VP"]], [["B-NP", "O", "B-VP"]])
    >>> scores["VP"].f1, scores[None].precision
    (1.0, 0.5)
    """
    true, predicted, correct = Counter(), Counter(), Counter()
    for i, (y, y_hat) in enumerate(_sentences(Y, Y_hat)):
        try:
            ours, theirs = set(phrases(y)), set(phrases(y_hat))
        except ValueError as error:
            raise ValueError(f"sentence {i}, {error}") from None
        true.update(kind for kind, _, _ in ours)
        predicted.update(kind for kind, _, _ in theirs)
        correct.update(kind for kind, _, _ in ours & theirs)
    scores = {
        kind: PhraseScore(true[kind], predicted[kind], correct[kind]) for kind in sorted(true | predicted)
    }
    return scores | {None: PhraseScore(true.total(), predicted.total(), correct.total())}


def phrase_f1(Y, Y_hat) -> float:
    """F1 of all phrases of sentences; `phrase_scores` gives precision, recall and types.

    >>> phrase_f1([["B-NP", "I-NP", "B-VP"]], [["B-NP", "O", "B-VP"]])
    0.5
    """
    return phrase_scores(Y, Y_hat)[None].f1


def token_accuracy(Y, Y_hat) -> float:
    """The share of tokens with the right label; Y, Y_hat: a list of labels for each of the same sentences.

    >>> token_accuracy([["D", "N"], ["V"]], [["D", "V"], ["V"]])
    0.6666666666666666
    """
    pairs = [(a, b) for y, y_hat in _sentences(Y, Y_hat) for a, b in zip(y, y_hat, strict=True)]
    return sum(bool(a == b) for a, b in pairs) / len(pairs) if pairs else 1.0


def _sentences(Y, Y_hat):
    """Pairs of sentences, which must be as many and as long."""
    Y, Y_hat = list(Y), list(Y_hat)
    if len(Y) != len(Y_hat):
        raise ValueError(f"Y has {len(Y)} sentences but Y_hat has {len(Y_hat)}")
    for i, (y, y_hat) in enumerate(zip(Y, Y_hat, strict=True)):
        if len(y) != len(y_hat):
            raise ValueError(f"sentence {i} has {len(y)} labels in Y but {len(y_hat)} in Y_hat")
        yield y, y_hat
