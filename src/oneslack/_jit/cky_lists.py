"""More than the best tree of a filled chart: the second best, and all ways to make a symbol over a span."""

import numpy as np

from .cky import (
    best_chain,
    best_root,
    best_split,
    cell_of,
    chain_score,
    fill,
    rule_of_word,
    strips_of,
    weigh,
    write_tree,
)
from .cky_features import chart_memory, place_nodes, prepare_chart, symbol_below
from .compiler import njit, register_jitable

# The second-best tree, as the 0/1 loss needs it.  It leaves the best tree at one node: changing one place
# costs no more than changing several.  So at each node of the best tree the best other way to make its symbol
# is looked for, with the best subtrees below, and the node where that costs least is changed.


@register_jitable
def _top(rules, tree, node):
    """The symbol of a node on top of its chain."""
    chain = tree[3 * node + 2]
    return rules.at[rules.chain_parent + chain] if chain >= 0 else symbol_below(rules, tree, node)


@register_jitable
def _change(rules, scores, chart, words, todo, i, j, p, rule, split, chain, out):
    """A node of another chain (rule < 0; p is on top), or of another rule and split, over best subtrees."""
    if rule < 0:
        p = rules.at[rules.chain_child + chain] if chain >= 0 else p
        if j - i == 1:
            rule = rule_of_word(rules, p, words[i])
        else:
            _, rule, split = best_split(rules, scores, chart, p, i, j, -1, -1)
    if j - i > 1:
        middle, left, right = 6 * (split - i), rules.rule_left + rule, rules.rule_right + rule
        write_tree(rules, scores, chart, words, 0.0, rules.at[left], i, split, todo, out[3:middle])
        write_tree(rules, scores, chart, words, 0.0, rules.at[right], split, j, todo, out[middle:])
    out[0], out[1], out[2] = rule, split, chain


@register_jitable
def second_best(rules, scores, chart, words, places, todo, tree):
    """Change the best tree of a chart without a loss into the second best; False where there is no other."""
    n = words.shape[0]
    place_nodes(tree, n, places)
    best, _ = best_chain(rules, scores, chart, cell_of(0, n), 0.0, _top(rules, tree, 0), -2)
    value, root = best_root(rules, scores, chart, n, 0.0, _top(rules, tree, 0))
    least, where, rule, split, chain = best - value, -1, -1, -1, -1
    for node in range(2 * n - 1):
        i, j, used = places[node, 0], places[node, 1], tree[3 * node + 2]
        if j - i > 1:
            p = symbol_below(rules, tree, node)
            best, _, _ = best_split(rules, scores, chart, p, i, j, -1, -1)
            value, r, k = best_split(rules, scores, chart, p, i, j, tree[3 * node], tree[3 * node + 1])
            if best - value < least:
                least, where, rule, split, chain = best - value, node, r, k, used
        p = _top(rules, tree, node)
        best, _ = best_chain(rules, scores, chart, cell_of(i, j), 0.0, p, -2)
        value, c = best_chain(rules, scores, chart, cell_of(i, j), 0.0, p, used)
        if best - value < least:
            least, where, rule, split, chain = best - value, node, -1, -1, c
    if least == np.inf:
        return False
    if where < 0:
        write_tree(rules, scores, chart, words, 0.0, root, 0, n, todo, tree)
        return True
    i, j, p = places[where, 0], places[where, 1], _top(rules, tree, where)
    out = tree[3 * where : 3 * where + 6 * (j - i) - 3]
    _change(rules, scores, chart, words, todo, i, j, p, rule, split, chain, out)
    return True


# All ways to make a symbol over a span: lists of best trees start from them (models/grammar/best_trees.py).


@njit(nogil=True, cache=True)
def filled_chart(rules, spans, w, words, coarse):
    x, k, _ = chart_memory(rules, words.shape[0])
    scores, chart = weigh(rules, w), prepare_chart(rules, spans, w, words, coarse, x, k)
    fill(rules, scores, chart, words, 0.0)
    return scores, chart


@njit(nogil=True, cache=True)
def place_value(rules, scores, chart, p, i, j):
    """What symbol p over (i, j) is worth; sets what labels earn there."""
    return best_chain(rules, scores, chart, cell_of(i, j), 0.0, p, -2)[0]


@register_jitable
def _list(rules, scores, chart, words, p, i, j, chain, more, values, ways, count):
    """Append the ways to make p below a chain, which adds `more`; returns their new number."""
    if j - i == 1:
        rule = rule_of_word(rules, p, words[i])
        values[count] = scores[2 * rules.n_binary + rules.n_chains + rule] + more
        ways[count, 0], ways[count, 1], ways[count, 2] = rule, -1, chain
        return count + 1
    for q in range(rules.at[rules.parent_ptr + p], rules.at[rules.parent_ptr + p + 1]):
        r = rules.at[rules.parent_rule + q]
        left, right, lo, hi = strips_of(rules, chart, r, i, j)
        for k in range(lo, hi + 1):
            value = chart.x[left + k] + chart.x[right + k] + scores[rules.n_binary + r]
            if value != -np.inf:
                values[count] = value + more
                ways[count, 0], ways[count, 1], ways[count, 2] = r, k, chain
                count += 1
    return count


@register_jitable
def _room(rules, p, i, j):
    """There are no more ways to make p over (i, j) without a chain."""
    return max(j - i - 1, 1) * (rules.at[rules.parent_ptr + p + 1] - rules.at[rules.parent_ptr + p]) + 1


@njit(nogil=True, cache=True)
def ways_of(rules, scores, chart, words, p, i, j):
    """(values, (rule, split, chain)) of all ways to make p over (i, j) of best subtrees."""
    at, x, cell = rules.at, chart.x, cell_of(i, j)
    base = chart.base + cell * rules.n_symbols
    place_value(rules, scores, chart, p, i, j)
    room = _room(rules, p, i, j)
    for q in range(at[rules.above_ptr + p], at[rules.above_ptr + p + 1]):
        room += _room(rules, at[rules.chain_child + at[rules.above_chain + q]], i, j)
    values, ways, count = np.empty(room), np.empty((room, 3), np.int64), 0
    if x[base + p] != -np.inf:
        more = x[chart.extra + at[rules.label + p]]
        count = _list(rules, scores, chart, words, p, i, j, -1, more, values, ways, count)
    for q in range(at[rules.above_ptr + p], at[rules.above_ptr + p + 1]):
        c = at[rules.above_chain + q]
        child = at[rules.chain_child + c]
        if x[base + child] != -np.inf:
            more = x[chart.extra + at[rules.label + child]] + chain_score(rules, scores, chart, cell, 0.0, c)
            count = _list(rules, scores, chart, words, child, i, j, c, more, values, ways, count)
    return values[:count], ways[:count]
