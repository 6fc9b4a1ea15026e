"""The keys of spans that trees have, with their labels: span features are read off them."""

import numpy as np
from numba import njit

from .cky_features import TEMPLATES, most_labels, node_labels, place_nodes, span_keys


@njit(nogil=True, cache=True)
def spans_of_trees(rules, n_words, words, coarse, offsets, trees):
    """(keys, labels) of all spans of all trees, as often as they occur."""
    longest, total = 1, 0
    deepest = most_labels(rules)
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    for node in range(trees.shape[0] // 3):
        chain = trees[3 * node + 2]
        total += 1
        if chain >= 0:
            total += rules.at[rules.chain_ptr + chain + 1] - rules.at[rules.chain_ptr + chain]
    keys, labels = np.empty(total * TEMPLATES, np.int64), np.empty(total * TEMPLATES, np.int64)
    places, own = np.empty((2 * longest, 2), np.int64), np.empty(deepest, np.int64)
    count = 0
    for i in range(offsets.shape[0] - 1):
        a, b = offsets[i], offsets[i + 1]
        tree = trees[6 * a - 3 * i : 6 * b - 3 * (i + 1)]
        place_nodes(tree, b - a, places)
        for node in range(2 * (b - a) - 1):
            for k in range(node_labels(rules, tree, node, own)):
                here = keys[count : count + TEMPLATES]
                span_keys(n_words, words[a:b], coarse[a:b], places[node, 0], places[node, 1], here)
                labels[count : count + TEMPLATES] = own[k]
                count += TEMPLATES
    return keys, labels
