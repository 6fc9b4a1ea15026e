"""Are trees, three numbers a span, trees of the grammar over their words?"""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from .cky import word_rules


@register_jitable
def _symbol_below(rules, tree, node, i, j, word):
    """The symbol below the chain of a node, -1 where the node is not possible."""
    rule, split = tree[3 * node], tree[3 * node + 1]
    if j - i == 1:
        first, last = word_rules(rules, word)
        return rules.at[rules.lexical_tag + rule] if split == -1 and first <= rule < last else -1
    if not (0 <= rule < rules.n_binary and i < split < j):
        return -1
    return rules.at[rules.rule_parent + rule]


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
        symbol = _symbol_below(rules, tree, node, i, j, words[i])
        if symbol < 0:
            return False
        chain = tree[3 * node + 2]
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
    longest = 1
    for i in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    wanted, places = np.empty(2 * longest, np.int64), np.empty((2 * longest, 2), np.int64)
    for i in range(offsets.shape[0] - 1):
        a, b = offsets[i], offsets[i + 1]
        if not _is_tree(rules, words[a:b], trees[6 * a - 3 * i : 6 * b - 3 * (i + 1)], wanted, places):
            return i
    return -1
