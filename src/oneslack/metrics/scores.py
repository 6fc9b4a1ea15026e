"""Measures of predictions, by numpy alone.  `y` is positive where > 0, for labels and predictions.

Where scores tie, the mean over all orders of the tied examples counts; average precision alone takes
tied examples as found together, as scikit-learn does.  Larger is better throughout; where nothing can
be found or ordered, 1.
"""

from __future__ import annotations

from numbers import Integral

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
