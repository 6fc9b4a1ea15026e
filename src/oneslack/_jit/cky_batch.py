"""Blocks of sentences: best trees, worst offenders, and their features.

Sentence i has the words offsets[i] .. offsets[i + 1] - 1; its tree of 3 numbers a node, 2m - 1 nodes for m
words, begins at 6 offsets[i] - 3 i in the trees of all.
"""

import numpy as np

from .cky import best_root, fill, weigh, write_tree
from .cky_features import (
    bracket_loss,
    chart_memory,
    count_brackets,
    delta_features,
    delta_room,
    most_features,
    place_nodes,
    prepare_chart,
    tree_features,
)
from .cky_lists import second_best
from .compiler import njit, register_jitable
from .vectors import longest

#: Losses.
BRACKETS, ZERO_ONE = 0, 1


@register_jitable
def tree_of(trees, offsets, lo, i):
    """The part of a block's trees, beginning with those of sentence lo, that is sentence i's."""
    first = 6 * (offsets[i] - offsets[lo]) - 3 * (i - lo)
    return trees[first : first + 6 * (offsets[i + 1] - offsets[i]) - 3]


@register_jitable
def _best(rules, scores, chart, words, loss, todo, out):
    """Fill the chart and write the best tree; False where there is none."""
    fill(rules, scores, chart, words, loss)
    _, root = best_root(rules, scores, chart, words.shape[0], loss, -1)
    if root < 0:
        out[:] = -1
        return False
    write_tree(rules, scores, chart, words, loss, root, 0, words.shape[0], todo, out)
    return True


@register_jitable
def _same(y, z):
    different = 0
    for k in range(y.shape[0]):
        different += y[k] != z[k]
    return different == 0


@register_jitable
def _lead(w, index, p, m):
    """<w, delta> of the features that `delta_features` found."""
    total = 0.0
    for q in range(p):
        total += w[index[q]]
    for q in range(p, p + m):
        total -= w[index[q]]
    return total


@njit(nogil=True, cache=True)
def worst(rules, spans, w, words, coarse, offsets, Y, lo, hi, kind, Z, losses, leads):
    """The worst offenders of sentences lo <= i < hi, with their losses and <w, delta>.

    Y are the right trees of all sentences.
    Without a loss (kind < 0) the best trees, -1 everywhere where a sentence has none, and nothing else.
    Returns the first sentence without a tree, or -1.
    """
    n, failed = longest(offsets, lo, hi), -1
    scores = weigh(rules, w)
    x, k, todo = chart_memory(rules, n)
    room, index = delta_room(rules, n), np.empty(most_features(rules, spans, n), np.int64)
    places, labels = room[0], room[5]
    for i in range(lo, hi):
        a, b = offsets[i], offsets[i + 1]
        s, c, z = words[a:b], coarse[a:b], tree_of(Z, offsets, lo, i)
        y = tree_of(Y, offsets, 0, i) if kind >= 0 else z
        chart = prepare_chart(rules, spans, w, s, c, x, k)
        right = count_brackets(rules, y, b - a, places, labels, k[chart.truth :]) if kind == BRACKETS else 0
        found = _best(rules, scores, chart, s, 1.0 if kind == BRACKETS else 0.0, todo, z)
        if not found and failed < 0:
            failed = i
        if not found or kind < 0:
            continue
        if kind == BRACKETS:
            losses[i - lo] = bracket_loss(rules, z, b - a, places, labels, right, k[chart.truth :])
        else:
            only = _same(y, z) and not second_best(rules, scores, chart, s, places, todo, z)
            losses[i - lo] = 0.0 if only else 1.0
        p, m = delta_features(rules, spans, s, c, y, z, room, index)
        leads[i - lo] = _lead(w, index, p, m)
        if kind == ZERO_ONE and leads[i - lo] > losses[i - lo]:  # no wrong tree comes near the right one
            losses[i - lo] = leads[i - lo] = 0.0
            for q in range(y.shape[0]):
                z[q] = y[q]
    return failed


@njit(nogil=True, cache=True)
def losses_of(rules, offsets, Y, lo, hi, kind, Z, out):
    """out[i - lo] = the loss of tree z against y."""
    n = longest(offsets, lo, hi)
    room = delta_room(rules, n)
    places, labels = room[0], room[5]
    table = np.empty(n * (n + 1) // 2 * rules.n_labels, np.int64)
    for i in range(lo, hi):
        m = offsets[i + 1] - offsets[i]
        y, z = tree_of(Y, offsets, 0, i), tree_of(Z, offsets, lo, i)
        if kind == BRACKETS:
            for q in range(table.shape[0]):
                table[q] = 0
            right = count_brackets(rules, y, m, places, labels, table)
            out[i - lo] = bracket_loss(rules, z, m, places, labels, right, table)
        else:
            out[i - lo] = 0.0 if _same(y, z) else 1.0


@njit(nogil=True, cache=True)
def delta_sum(rules, spans, words, coarse, offsets, Y, lo, hi, Z, coefficients, out):
    """out += sum_i coefficients[i - lo] delta_i(z_i)."""
    n = longest(offsets, lo, hi)
    room, index = delta_room(rules, n), np.empty(most_features(rules, spans, n), np.int64)
    for i in range(lo, hi):
        factor = coefficients[i - lo]
        if factor == 0.0:
            continue
        s, c = words[offsets[i] : offsets[i + 1]], coarse[offsets[i] : offsets[i + 1]]
        y, z = tree_of(Y, offsets, 0, i), tree_of(Z, offsets, lo, i)
        p, m = delta_features(rules, spans, s, c, y, z, room, index)
        for q in range(p):
            out[index[q]] += factor
        for q in range(p, p + m):
            out[index[q]] -= factor


@njit(nogil=True, cache=True)
def delta_rows(rules, spans, words, coarse, offsets, Y, lo, hi, Z, factors):
    """factors[i - lo] delta_i(z_i) as rows of a CSR matrix: values, indices and where rows end.

    Indices are not sorted and may come twice.
    """
    n = longest(offsets, lo, hi)
    room, index = delta_room(rules, n), np.empty(most_features(rules, spans, n), np.int64)
    indices, values, total = np.empty(64, np.int64), np.empty(64), 0
    ends = np.zeros(hi - lo + 1, np.int64)
    for i in range(lo, hi):
        factor = factors[i - lo]
        if factor != 0.0:
            s, c = words[offsets[i] : offsets[i + 1]], coarse[offsets[i] : offsets[i + 1]]
            y, z = tree_of(Y, offsets, 0, i), tree_of(Z, offsets, lo, i)
            p, m = delta_features(rules, spans, s, c, y, z, room, index)
            if total + p + m > indices.shape[0]:
                old, old_values, more = indices, values, 2 * (total + p + m)
                indices, values = np.empty(more, np.int64), np.empty(more)
                for q in range(total):
                    indices[q], values[q] = old[q], old_values[q]
            for q in range(p + m):
                indices[total + q], values[total + q] = index[q], factor if q < p else -factor
            total += p + m
        ends[i - lo + 1] = total
    return values[:total], indices[:total], ends


@njit(nogil=True, cache=True)
def features_of(rules, spans, words, coarse, tree):
    """The features of a tree, as often as they occur."""
    n = words.shape[0]
    room, index = delta_room(rules, n), np.empty(most_features(rules, spans, n), np.int64)
    place_nodes(tree, n, room[0])
    return index[: tree_features(rules, spans, words, coarse, tree, room[0], room[2], room[5], index, 0)]
