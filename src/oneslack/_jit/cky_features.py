"""Features and brackets of trees, given as three numbers a node: rule, split and chain, parents first.

A span is described by a few keys (its words at the edges, its length ...).  A table knows the keys that
training has seen and for each the labels it was seen with; each such (key, label) has a weight.
"""

from typing import NamedTuple

import numpy as np

from .cky import cell_of, chart_sizes, lay_out, word_rules
from .compiler import njit, register_jitable
from .vectors import longest

#: How many keys a span has.
TEMPLATES = 11


class Spans(NamedTuple):
    """Known keys of spans; all arrays are empty where spans have no features."""

    table: np.ndarray  # (slots, 2): an open hash table of keys, -1 is free, and their numbers
    ptr: np.ndarray  # weights of a key
    label: np.ndarray  # (weights,)
    n_words: int  # word classes; this number stands for what is outside of the sentence


@register_jitable
def length_class(m):
    """1 .. 5, then 6 - 10, 11 - 20 and more."""
    if m <= 5:
        return m
    return 6 if m <= 10 else 7 if m <= 20 else 8


@register_jitable
def span_keys(n_words, words, coarse, i, j, out):
    """The keys of span (i, j): edges of words inside and outside, the same by coarse class, the length."""
    n, outside = words.shape[0], n_words
    first, last = words[i, 0], words[j - 1, 0]
    before = words[i - 1, 0] if i > 0 else outside
    after = words[j, 0] if j < n else outside
    c_first, c_last = coarse[i], coarse[j - 1]
    c_before = coarse[i - 1] if i > 0 else outside
    c_after = coarse[j] if j < n else outside
    length, one, m = length_class(j - i), 1 if j - i == 1 else 0, outside + 1
    out[0] = _key(0, first, one, m)
    out[1] = _key(1, last, one, m)
    out[2] = _key(2, before, one, m)
    out[3] = _key(3, after, one, m)
    out[4] = _key(4, before, first, m)
    out[5] = _key(5, last, after, m)
    out[6] = _key(6, c_first, c_last, m)
    out[7] = _key(7, c_before, c_after, m)
    out[8] = _key(8, length, 0, m)
    out[9] = _key(9, c_before * m + c_first, c_last, m)
    out[10] = _key(10, c_first * m + c_last, c_after, m)


@register_jitable
def _key(template, u, v, m):
    return (u * m + v) * TEMPLATES + template


@njit(nogil=True, cache=True)
def build_table(keys, table):
    """Fill the hash table, whose size is a prime number larger than that of keys."""
    table[:] = -1
    size = table.shape[0]
    for e in range(keys.shape[0]):
        slot = keys[e] % size
        while table[slot, 0] >= 0:
            slot = slot + 1 if slot + 1 < size else 0
        table[slot, 0], table[slot, 1] = keys[e], e


@register_jitable
def find(table, key):
    """The number of a key, or -1."""
    size = table.shape[0]
    slot = key % size
    while table[slot, 0] >= 0:
        if table[slot, 0] == key:
            return table[slot, 1]
        slot = slot + 1 if slot + 1 < size else 0
    return -1


@register_jitable
def score_spans(spans, w, words, coarse, n_labels, out):
    """out[cell * n_labels + label] += what span features, of weights w, are worth for the label there."""
    keys = np.empty(TEMPLATES, np.int64)
    n = words.shape[0]
    for j in range(1, n + 1):
        for i in range(j):
            row = cell_of(i, j) * n_labels
            span_keys(spans.n_words, words, coarse, i, j, keys)
            for key in keys:
                e = find(spans.table, key)
                if e >= 0:
                    for q in range(spans.ptr[e], spans.ptr[e + 1]):
                        out[row + spans.label[q]] += w[q]


@register_jitable
def chart_memory(rules, n):
    """The two blocks of a chart, and room for what is to be written of a tree."""
    numbers, whole = chart_sizes(rules, n)
    return np.empty(numbers), np.empty(whole, np.int64), np.empty((2 * n + 2, 3), np.int64)


@register_jitable
def prepare_chart(rules, spans, w, words, coarse, x, k):
    """The chart of a sentence with its span features."""
    chart = lay_out(rules, x, k, words.shape[0])
    if spans.table.shape[0]:
        first = rules.n_binary + rules.n_unary + rules.n_lexical
        score_spans(spans, w[first:], words, coarse, rules.n_labels, x[chart.spans : chart.extra])
    return chart


@register_jitable
def place_nodes(tree, n, places):
    """places (nodes, 2): the span (i, j) of each node of a tree over n words."""
    places[0, 0], places[0, 1] = 0, n
    nodes = 2 * n - 1
    for node in range(nodes):
        split = tree[3 * node + 1]
        if split >= 0:
            i, j = places[node, 0], places[node, 1]
            right = node + 2 * (split - i)  # the left child has 2 (split - i) - 1 nodes
            places[node + 1, 0], places[node + 1, 1] = i, split
            places[right, 0], places[right, 1] = split, j


@register_jitable
def symbol_below(rules, tree, node):
    """The symbol of a node below its chain."""
    return rules.at[(rules.lexical_tag if tree[3 * node + 1] < 0 else rules.rule_parent) + tree[3 * node]]


@register_jitable
def node_labels(rules, tree, node, out):
    """Labels of a node, the lowest first; returns how many."""
    at, chain = rules.at, tree[3 * node + 2]
    out[0] = at[rules.label + symbol_below(rules, tree, node)]
    count = 1
    if chain >= 0:
        for q in range(at[rules.chain_ptr + chain + 1] - 1, at[rules.chain_ptr + chain] - 1, -1):
            out[count] = at[rules.chain_label + q]
            count += 1
    return count


@register_jitable
def most_labels(rules):
    """A node has no more labels than this."""
    longest = 0
    for c in range(rules.n_chains):
        longest = max(longest, rules.at[rules.chain_ptr + c + 1] - rules.at[rules.chain_ptr + c])
    return longest + 1


@register_jitable
def most_features(rules, spans, n):
    """No two trees over n words together have more features."""
    return 2 * (2 * n - 1) * most_labels(rules) * (1 + (TEMPLATES if spans.table.shape[0] else 0))


@register_jitable
def _span_features(rules, spans, words, coarse, tree, node, i, j, keys, labels, out, count):
    """Append the span features of a node; returns their new number."""
    first = rules.n_binary + rules.n_unary + rules.n_lexical
    m = node_labels(rules, tree, node, labels)
    span_keys(spans.n_words, words, coarse, i, j, keys)
    for key in keys:
        e = find(spans.table, key)
        if e >= 0:
            for q in range(spans.ptr[e], spans.ptr[e + 1]):
                for k in range(m):
                    if spans.label[q] == labels[k]:
                        out[count] = first + q
                        count += 1
    return count


@register_jitable
def tree_features(rules, spans, words, coarse, tree, places, skip, labels, out, count):
    """Append the features of a tree, as often as they occur, without nodes in skip; returns their number."""
    at, keys = rules.at, np.empty(TEMPLATES, np.int64)
    for node in range(2 * words.shape[0] - 1):
        if skip[node]:
            continue
        rule, split, chain = tree[3 * node], tree[3 * node + 1], tree[3 * node + 2]
        out[count] = rule if split >= 0 else rules.n_binary + rules.n_unary + rule
        count += 1
        if chain >= 0:
            for q in range(at[rules.chain_ptr + chain], at[rules.chain_ptr + chain + 1]):
                out[count] = rules.n_binary + at[rules.chain_rule + q]
                count += 1
        if spans.table.shape[0]:
            i, j = places[node, 0], places[node, 1]
            count = _span_features(rules, spans, words, coarse, tree, node, i, j, keys, labels, out, count)
    return count


@register_jitable
def delta_features(rules, spans, words, coarse, y, z, room, out):
    """Features of y into out[:p], of z into out[p:p + m]; returns p and m.

    Nodes that both trees have are left out: no span has two nodes, so they are found by their span.
    """
    places_y, places_z, skip_y, skip_z, node_at, labels = room
    n = words.shape[0]
    place_nodes(y, n, places_y)
    place_nodes(z, n, places_z)
    for node in range(2 * n - 1):
        node_at[places_y[node, 0], places_y[node, 1]] = -1
        node_at[places_z[node, 0], places_z[node, 1]] = -1
        skip_y[node] = skip_z[node] = 0
    for node in range(2 * n - 1):
        node_at[places_y[node, 0], places_y[node, 1]] = node
    for node in range(2 * n - 1):
        same = node_at[places_z[node, 0], places_z[node, 1]]
        if same >= 0:
            a, b = 3 * same, 3 * node
            if y[a] == z[b] and y[a + 1] == z[b + 1] and y[a + 2] == z[b + 2]:
                skip_y[same] = skip_z[node] = 1
    p = tree_features(rules, spans, words, coarse, y, places_y, skip_y, labels, out, 0)
    return p, tree_features(rules, spans, words, coarse, z, places_z, skip_z, labels, out, p) - p


@register_jitable
def delta_room(rules, n):
    """Room for `delta_features` of sentences of at most n words."""
    return (
        np.empty((2 * n, 2), np.int64),
        np.empty((2 * n, 2), np.int64),
        np.zeros(2 * n, np.int64),
        np.zeros(2 * n, np.int64),
        np.empty((n + 1, n + 1), np.int64),
        np.empty(most_labels(rules), np.int64),
    )


@register_jitable
def count_brackets(rules, tree, n, places, labels, table):
    """table[cell * n_labels + label] += 1 for each bracket that the loss counts; returns their number."""
    place_nodes(tree, n, places)
    total = 0
    for node in range(2 * n - 1):
        row = cell_of(places[node, 0], places[node, 1]) * rules.n_labels
        for k in range(node_labels(rules, tree, node, labels)):
            if rules.at[rules.counted + labels[k]]:
                table[row + labels[k]] += 1
                total += 1
    return total


@register_jitable
def bracket_loss(rules, tree, n, places, labels, n_truth, table):
    """Brackets of the tree that the truth lacks, and of the truth that the tree lacks.

    table holds the truth's brackets; those that the tree has are taken out of it.
    """
    place_nodes(tree, n, places)
    hits, total = 0, 0
    for node in range(2 * n - 1):
        row = cell_of(places[node, 0], places[node, 1]) * rules.n_labels
        for k in range(node_labels(rules, tree, node, labels)):
            if rules.at[rules.counted + labels[k]]:
                total += 1
                if table[row + labels[k]] > 0:
                    table[row + labels[k]] -= 1
                    hits += 1
    return n_truth + total - 2 * hits


@njit(nogil=True, cache=True)
def spans_of_trees(rules, n_words, words, coarse, offsets, trees):
    """(keys, labels) of all spans of all trees, as often as they occur."""
    total = 0
    for node in range(trees.shape[0] // 3):
        chain = trees[3 * node + 2]
        total += 1
        if chain >= 0:
            total += rules.at[rules.chain_ptr + chain + 1] - rules.at[rules.chain_ptr + chain]
    keys, labels = np.empty(total * TEMPLATES, np.int64), np.empty(total * TEMPLATES, np.int64)
    n = offsets.shape[0] - 1
    places, own = np.empty((2 * longest(offsets, 0, n), 2), np.int64), np.empty(most_labels(rules), np.int64)
    count = 0
    for i in range(n):
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


# Are trees, three numbers a node, trees of the grammar over their words?


@register_jitable
def _is_possible(rules, tree, node, i, j, word):
    """Whether a node's rule and split are those of some tree."""
    rule, split = tree[3 * node], tree[3 * node + 1]
    if j - i == 1:
        first, last = word_rules(rules, word)
        return split == -1 and first <= rule < last
    return 0 <= rule < rules.n_binary and i < split < j


@register_jitable
def _is_root(rules, symbol):
    found = 0
    for q in range(rules.n_roots):
        found += rules.at[rules.roots + q] == symbol
    return found > 0


@register_jitable
def _is_tree(rules, words, tree, wanted, places):
    """wanted (nodes,): the symbol a parent asks for, -1 at the root; places (nodes, 2)."""
    n, at = words.shape[0], rules.at
    places[0, 0], places[0, 1], wanted[0] = 0, n, -1
    for node in range(2 * n - 1):
        i, j = places[node, 0], places[node, 1]
        if not _is_possible(rules, tree, node, i, j, words[i]):
            return False
        symbol, chain = symbol_below(rules, tree, node), tree[3 * node + 2]
        if chain != -1:
            if not 0 <= chain < rules.n_chains or at[rules.chain_child + chain] != symbol:
                return False
            symbol = at[rules.chain_parent + chain]
        if node > 0 and symbol != wanted[node]:
            return False
        if node == 0 and not _is_root(rules, symbol):
            return False
        if j - i > 1:
            rule, split = tree[3 * node], tree[3 * node + 1]
            right = node + 2 * (split - i)
            places[node + 1, 0], places[node + 1, 1], wanted[node + 1] = i, split, at[rules.rule_left + rule]
            places[right, 0], places[right, 1], wanted[right] = split, j, at[rules.rule_right + rule]
    return True


@njit(nogil=True, cache=True)
def first_broken(rules, words, offsets, trees):
    """The first sentence whose tree is none of the grammar, or -1."""
    n = offsets.shape[0] - 1
    m = 2 * longest(offsets, 0, n)
    wanted, places = np.empty(m, np.int64), np.empty((m, 2), np.int64)
    for i in range(n):
        a, b = offsets[i], offsets[i + 1]
        if not _is_tree(rules, words[a:b], trees[6 * a - 3 * i : 6 * b - 3 * (i + 1)], wanted, places):
            return i
    return -1
