"""The second-best tree, as the 0/1 loss needs it.

It leaves the best tree at one node: changing one place costs no more than changing several.  So at each node
of the best tree the best other way to make its symbol is looked for, with the best subtrees below, and the
node where that costs least is changed.
"""

import numpy as np
from numba.extending import register_jitable

from .cky import best_chain, best_root, best_split, cell_of, chain_score, rule_of_word, write_tree
from .cky_features import place_nodes


@register_jitable
def _below(rules, tree, node):
    """The symbol of a node below its chain."""
    rule = tree[3 * node]
    return rules.at[(rules.lexical_tag if tree[3 * node + 1] < 0 else rules.rule_parent) + rule]


@register_jitable
def _other_chain(rules, scores, chart, cell, p, chain, best):
    """(what is lost, chain) by the best way to p but `chain`, -1 for none; inf where there is no other."""
    base = chart.base + cell * rules.n_symbols
    lost, found = np.inf, -1
    if chain >= 0:
        lost = best - chart.x[base + p]
    for q in range(rules.at[rules.above_ptr + p], rules.at[rules.above_ptr + p + 1]):
        c = rules.at[rules.above_chain + q]
        value = chart.x[base + rules.at[rules.chain_child + c]]
        if c != chain and value != -np.inf:
            value += chain_score(rules, scores, chart, cell, 0.0, c)
            if best - value < lost:
                lost, found = best - value, c
    return lost, found


@register_jitable
def _top(rules, tree, node):
    """The symbol of a node on top of its chain."""
    chain = tree[3 * node + 2]
    return rules.at[rules.chain_parent + chain] if chain >= 0 else _below(rules, tree, node)


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
    best, _ = best_chain(rules, scores, chart, cell_of(0, n), 0.0, _top(rules, tree, 0))
    value, root = best_root(rules, scores, chart, n, 0.0, _top(rules, tree, 0))
    least, where, rule, split, chain = best - value, -1, -1, -1, -1
    for node in range(2 * n - 1):
        i, j, used = places[node, 0], places[node, 1], tree[3 * node + 2]
        if j - i > 1:
            p = _below(rules, tree, node)
            best, _, _ = best_split(rules, scores, chart, p, i, j, -1, -1)
            value, r, k = best_split(rules, scores, chart, p, i, j, tree[3 * node], tree[3 * node + 1])
            if best - value < least:
                least, where, rule, split, chain = best - value, node, r, k, used
        p = _top(rules, tree, node)
        best, _ = best_chain(rules, scores, chart, cell_of(i, j), 0.0, p)
        lost, c = _other_chain(rules, scores, chart, cell_of(i, j), p, used, best)
        if lost < least:
            least, where, rule, split, chain = lost, node, -1, -1, c
    if least == np.inf:
        return False
    if where < 0:
        write_tree(rules, scores, chart, words, 0.0, root, 0, n, todo, tree)
        return True
    i, j, p = places[where, 0], places[where, 1], _top(rules, tree, where)
    out = tree[3 * where : 3 * where + 6 * (j - i) - 3]
    _change(rules, scores, chart, words, todo, i, j, p, rule, split, chain, out)
    return True
