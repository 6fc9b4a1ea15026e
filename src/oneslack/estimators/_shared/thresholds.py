"""Where to cut scores into ordered classes."""

from __future__ import annotations

import numpy as np


def best_thresholds(scores, codes, n_classes, weights=None):
    """(K - 1,) rising thresholds with the least sum of |predicted - true| class numbers on these scores.

    An example is predicted as the number of thresholds below its score, so the sum is one over the
    thresholds: t_k makes an error for each example on the wrong side of "class above k".  Each is found by
    itself, in one pass over the sorted scores.  The lowest best place rises with k: going from k to k + 1,
    examples only change from "should be above" to "should be below".  The cut is midway between
    neighbouring scores.  Sums of weights are rounded, so equally good places may swap: a threshold that
    falls is lifted to the one before, which is as good but for the rounding.
    """
    s = np.ones(len(scores)) if weights is None else np.asarray(weights, float)
    order = np.argsort(scores, kind="stable")
    order = order[s[order] > 0]
    f, y, s = scores[order], codes[order], s[order]
    # Cuts are between different scores only, or before the first, or after the last.
    places = np.flatnonzero(np.append(True, f[1:] > f[:-1]))
    places = np.append(places, len(f))
    cuts = np.empty(len(places))
    cuts[1:-1] = midway(f[places[1:-1] - 1], f[places[1:-1]])
    cuts[0], cuts[-1] = f[0] - 1.0, f[-1] + 1.0
    thresholds = np.empty(n_classes - 1)
    for k in range(n_classes - 1):
        above = y > k
        missed = np.append(0.0, np.cumsum(s * above))[places]  # above k, but left below the cut
        kept = np.append(0.0, np.cumsum(s * ~above))[places]
        thresholds[k] = cuts[np.argmin(missed + kept[-1] - kept)]
    return np.maximum.accumulate(thresholds)


def midway(below, above):
    """The middle of below < above; `below` itself where the middle is rounded up to `above`."""
    middle = 0.5 * (below + above)
    return np.where(middle < above, middle, below)


def cut_for_count(scores, count):
    """A threshold with `count` scores above it, midway to the next one; ties go above."""
    n = len(scores)
    if count >= n:
        return float(scores.min()) - 1.0
    if count <= 0:
        return float(scores.max()) + 1.0
    below, above = np.partition(scores, (n - count - 1, n - count))[n - count - 1 : n - count + 1]
    if below < above:
        return float(midway(below, above))
    lower = scores[scores < below]
    return float(midway(lower.max(), below)) if len(lower) else float(below) - 1.0
