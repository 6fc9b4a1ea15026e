"""All ways to make a symbol over a span, from a filled chart: lists of best trees start from them."""

import numpy as np
from numba import njit
from numba.extending import register_jitable

from .cky import best_chain, cell_of, chain_score, fill, rule_of_word, strips_of, weigh
from .cky_batch import chart_memory, prepare_chart


@njit(nogil=True, cache=True)
def filled_chart(rules, spans, w, words, coarse):
    x, k, _ = chart_memory(rules, words.shape[0])
    scores, chart = weigh(rules, w), prepare_chart(rules, spans, w, words, coarse, x, k)
    fill(rules, scores, chart, words, 0.0)
    return scores, chart


@njit(nogil=True, cache=True)
def place_value(rules, scores, chart, p, i, j):
    """What symbol p over (i, j) is worth; sets what labels earn there."""
    return best_chain(rules, scores, chart, cell_of(i, j), 0.0, p)[0]


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
