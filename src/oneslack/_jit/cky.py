"""The best tree of a sentence: CKY over weighted rules, with the loss of brackets on request.

Cell (i, j) covers the words i .. j-1.  It first holds what comes from a word or from two smaller cells,

    base[p] = max_(p -> a b) max_k  F(i, k)[a] + F(k, j)[b] + weight(p -> a b)      + extra(i, j, p)

and then at most one chain of unary rules on top:  F[p] = max(base[p], base[c] + weight(chain p <- c)).
`extra` is what the symbol's label earns at this place: span features, and the loss.

Cells are filled with the end j outside and the start i falling inside.  What a left child is worth lies
side by side in k, and so does what a right child is worth: a pair of children is one short loop over two
strips of memory, and all rules with these children share it.  A strip is entered only where both children
live, so nothing is lost.  The tree is found again by the same sums, in the same order of additions.

A grammar is one block of whole numbers, a chart one of numbers and one of whole numbers: compiling a
function costs by the arrays that it is given.  Whole numbers are int64 everywhere, or it is compiled twice.
"""

from typing import NamedTuple

import numpy as np
from numba import uint64

from .compiler import register_jitable


class Rules(NamedTuple):
    """A grammar as compiled loops see it: tables in one block `at`, each begins at the number of its name.

    A pointer table holds places in the table that it points into: chain c has the rules
    at[chain_rule + q] for at[chain_ptr + c] <= q < at[chain_ptr + c + 1].
    """

    at: np.ndarray
    n_symbols: int
    n_left: int  # symbols that are left children
    n_right: int
    n_labels: int
    n_binary: int
    n_unary: int
    n_chains: int
    n_lexical: int
    n_roots: int
    as_left: int  # (symbols): the number as a left child, or -1
    as_right: int
    left_ptr: int  # (left children): pairs
    pair_right: int  # (pairs): right children
    pair_ptr: int  # (pairs): rules
    pair_parent: int  # (rules by pair): symbols
    pair_rule: int  # (rules by pair): rules
    parent_ptr: int  # (symbols): rules
    parent_rule: int
    rule_parent: int  # (rules): symbols
    rule_left: int
    rule_right: int
    chain_parent: int  # (chains): symbols
    chain_child: int
    chain_ptr: int  # (chains): unary rules
    chain_rule: int
    chain_label: int  # the label that the rule adds
    chain_again: int  # how often the span has the label already
    above_ptr: int  # (symbols): chains that end in it
    above_chain: int
    lexical_ptr: int  # (word classes): lexical rules
    lexical_tag: int  # (lexical rules): symbols
    label: int  # (symbols)
    counted: int  # (labels): 1 where the loss counts brackets of the label
    roots: int


class Chart(NamedTuple):
    """Two blocks of memory, and where their parts begin for the sentence at hand."""

    x: np.ndarray
    base: int  # (cells, symbols)
    left: int  # strips (i, a): what a over (i, k) is worth, by k
    right: int  # strips (j, b): what b over (k, j) is worth, by k
    spans: int  # (cells, labels): what span features are worth
    extra: int  # (labels)
    full: int  # (symbols)
    k: np.ndarray
    left_lo: int  # (i, a): the part of a strip that is filled, both ends included
    left_hi: int
    right_lo: int  # (j, b)
    right_hi: int
    truth: int  # (cells, labels): how often the right tree has the bracket
    stride: int


@register_jitable
def cell_of(i, j):
    return j * (j - 1) // 2 + i


@register_jitable
def _set(array, first, last, value):
    for q in range(first, last):
        array[q] = value


@register_jitable
def chart_sizes(rules, n):
    """Numbers and whole numbers that a chart of n words needs."""
    S, labels, strips = rules.n_symbols, rules.n_labels, rules.n_left + rules.n_right
    cells = n * (n + 1) // 2
    numbers = cells * (S + labels) + strips * (n + 1) * (n + 1) + labels + S
    return numbers, 2 * strips * (n + 1) + cells * labels


@register_jitable
def lay_out(rules, x, k, n):
    """The chart of a sentence of n words in the blocks x and k; span features and truth are 0."""
    S, labels, A, B = rules.n_symbols, rules.n_labels, rules.n_left, rules.n_right
    cells, stride = n * (n + 1) // 2, n + 1
    left = cells * S
    right = left + A * stride * stride
    spans = right + B * stride * stride
    extra = spans + cells * labels
    left_hi = A * stride
    right_lo = left_hi + A * stride
    right_hi = right_lo + B * stride
    truth = right_hi + B * stride
    _set(x, spans, extra, 0.0)
    _set(k, truth, truth + cells * labels, 0)
    return Chart(
        x, 0, left, right, spans, extra, extra + labels, k, 0, left_hi, right_lo, right_hi, truth, stride
    )


@register_jitable
def weigh(rules, w):
    """What rules are worth at w: [binary by pair | binary | chains | lexical]."""
    at, B, K = rules.at, rules.n_binary, rules.n_chains
    out = np.zeros(2 * B + K + rules.n_lexical)
    for q in range(B):
        out[q] = w[at[rules.pair_rule + q]]
        out[B + q] = w[q]
    for c in range(K):
        for q in range(at[rules.chain_ptr + c], at[rules.chain_ptr + c + 1]):
            out[2 * B + c] += w[B + at[rules.chain_rule + q]]
    for q in range(rules.n_lexical):
        out[2 * B + K + q] = w[B + rules.n_unary + q]
    return out


@register_jitable
def set_extra(rules, chart, cell, loss):
    """What the first bracket of each label earns in this cell."""
    labels = rules.n_labels
    for label in range(labels):
        value = chart.x[chart.spans + cell * labels + label]
        if loss != 0.0 and rules.at[rules.counted + label]:
            value += -loss if chart.k[chart.truth + cell * labels + label] > 0 else loss
        chart.x[chart.extra + label] = value


@register_jitable
def chain_score(rules, scores, chart, cell, loss, c):
    """What chain c adds in this cell; `extra` is set for it."""
    at = rules.at
    total = scores[2 * rules.n_binary + c]
    for q in range(at[rules.chain_ptr + c], at[rules.chain_ptr + c + 1]):
        label, again = at[rules.chain_label + q], at[rules.chain_again + q]
        if again == 0:
            total += chart.x[chart.extra + label]
            continue
        place = cell * rules.n_labels + label
        total += chart.x[chart.spans + place]
        if at[rules.counted + label]:
            total += -loss if again < chart.k[chart.truth + place] else loss
    return total


@register_jitable
def word_rules(rules, word):
    """The first lexical rule of a word, and the one after the last.

    word: its class, and the one rule that is allowed; -1 allows all of the class, -2 none.
    """
    if word[1] >= 0:
        return word[1], word[1] + 1
    first = rules.at[rules.lexical_ptr + word[0]]
    return first, first if word[1] < -1 else rules.at[rules.lexical_ptr + word[0] + 1]


@register_jitable
def _join(rules, scores, chart, i, j, base):
    """x[base + p] = the best p -> a b over all splits of (i, j)."""
    at, x, k = rules.at, chart.x, chart.k
    A, B, stride = rules.n_left, rules.n_right, chart.stride
    right_lo, right_hi = chart.right_lo + j * B, chart.right_hi + j * B
    for a in range(A):
        first, last = k[chart.left_lo + i * A + a], k[chart.left_hi + i * A + a]
        if first > last:
            continue
        left_strip = chart.left + (i * A + a) * stride
        for pair in range(at[rules.left_ptr + a], at[rules.left_ptr + a + 1]):
            b = at[uint64(rules.pair_right + pair)]
            lo = max(first, k[uint64(right_lo + b)])
            hi = min(last, k[uint64(right_hi + b)])
            if lo > hi:
                continue
            right_strip = chart.right + (j * B + b) * stride
            best = -np.inf
            for split in range(lo, hi + 1):
                value = x[uint64(left_strip + split)] + x[uint64(right_strip + split)]
                best = value if value > best else best
            if best == -np.inf:
                continue
            for q in range(at[uint64(rules.pair_ptr + pair)], at[uint64(rules.pair_ptr + pair + 1)]):
                value = best + scores[uint64(q)]
                p = uint64(base + at[uint64(rules.pair_parent + q)])
                if value > x[p]:
                    x[p] = value


@register_jitable
def _keep(rules, chart, i, j):
    """Write the finished cell into the strips of left and right children."""
    at, x, k, stride = rules.at, chart.x, chart.k, chart.stride
    for p in range(rules.n_symbols):
        value = x[chart.full + p]
        if value == -np.inf:
            continue
        a, b = at[rules.as_left + p], at[rules.as_right + p]
        if a >= 0:
            row = i * rules.n_left + a
            strip, lo, hi = chart.left + row * stride, chart.left_lo + row, chart.left_hi + row
            if k[lo] > k[hi]:
                k[lo] = j
            else:
                _set(x, strip + k[hi] + 1, strip + j, -np.inf)
            k[hi] = j
            x[strip + j] = value
        if b >= 0:
            row = j * rules.n_right + b
            strip, lo, hi = chart.right + row * stride, chart.right_lo + row, chart.right_hi + row
            if k[lo] > k[hi]:
                k[hi] = i
            else:
                _set(x, strip + i + 1, strip + k[lo], -np.inf)
            k[lo] = i
            x[strip + i] = value


@register_jitable
def _climb(rules, scores, chart, cell, loss):
    """Add what labels earn to the base of a cell, and fill `full` with the best chains on top."""
    at, x, base, full = rules.at, chart.x, chart.base + cell * rules.n_symbols, chart.full
    set_extra(rules, chart, cell, loss)
    for p in range(rules.n_symbols):
        if x[base + p] != -np.inf:
            x[base + p] += x[chart.extra + at[rules.label + p]]
        x[full + p] = x[base + p]
    for c in range(rules.n_chains):
        below = x[base + at[rules.chain_child + c]]
        if below != -np.inf:
            p = full + at[rules.chain_parent + c]
            value = below + chain_score(rules, scores, chart, cell, loss, c)
            if value > x[p]:
                x[p] = value


@register_jitable
def fill(rules, scores, chart, words, loss):
    """Fill the chart for a sentence, words (n, 2) as in word_rules; `loss` is what a wrong bracket earns."""
    n, at, x = words.shape[0], rules.at, chart.x
    lexical = 2 * rules.n_binary + rules.n_chains
    _set(chart.k, chart.left_lo, chart.left_hi, 1)
    _set(chart.k, chart.left_hi, chart.right_lo, 0)
    _set(chart.k, chart.right_lo, chart.right_hi, 1)
    _set(chart.k, chart.right_hi, chart.truth, 0)
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            base = chart.base + cell_of(i, j) * rules.n_symbols
            _set(x, base, base + rules.n_symbols, -np.inf)
            if j - i == 1:
                first, last = word_rules(rules, words[i])
                for r in range(first, last):
                    x[base + at[rules.lexical_tag + r]] = scores[lexical + r]
            else:
                _join(rules, scores, chart, i, j, base)
            _climb(rules, scores, chart, cell_of(i, j), loss)
            _keep(rules, chart, i, j)


@register_jitable
def best_chain(rules, scores, chart, cell, loss, p, but):
    """(value, chain or -1) of the best way to symbol p in a cell but one, -2 for none."""
    set_extra(rules, chart, cell, loss)
    base = chart.base + cell * rules.n_symbols
    best, chain = chart.x[base + p] if but != -1 else -np.inf, -1
    for q in range(rules.at[rules.above_ptr + p], rules.at[rules.above_ptr + p + 1]):
        c = rules.at[rules.above_chain + q]
        below = chart.x[base + rules.at[rules.chain_child + c]]
        if below != -np.inf and c != but:
            value = below + chain_score(rules, scores, chart, cell, loss, c)
            if value > best:
                best, chain = value, c
    return best, chain


@register_jitable
def strips_of(rules, chart, r, i, j):
    """Where the strips of rule r's children over (i, j) begin; the first and last split where both live."""
    at, k, stride = rules.at, chart.k, chart.stride
    a = i * rules.n_left + at[rules.as_left + at[rules.rule_left + r]]
    b = j * rules.n_right + at[rules.as_right + at[rules.rule_right + r]]
    lo = max(max(k[chart.left_lo + a], k[chart.right_lo + b]), i + 1)
    hi = min(min(k[chart.left_hi + a], k[chart.right_hi + b]), j - 1)
    return chart.left + a * stride, chart.right + b * stride, lo, hi


@register_jitable
def best_split(rules, scores, chart, p, i, j, but_rule, but_split):
    """(value, rule, split) of the best p -> a b over (i, j) but one; -1 and -1 where there is none."""
    best, rule, split = -np.inf, -1, -1
    for q in range(rules.at[rules.parent_ptr + p], rules.at[rules.parent_ptr + p + 1]):
        r = rules.at[rules.parent_rule + q]
        left, right, lo, hi = strips_of(rules, chart, r, i, j)
        for k in range(lo, hi + 1):
            value = chart.x[left + k] + chart.x[right + k] + scores[rules.n_binary + r]
            if value > best and not (r == but_rule and k == but_split):
                best, rule, split = value, r, k
    return best, rule, split


@register_jitable
def rule_of_word(rules, p, word):
    """The lexical rule p -> word."""
    first, last = word_rules(rules, word)
    for r in range(first, last):
        if rules.at[rules.lexical_tag + r] == p:
            return r
    return -1


@register_jitable
def best_root(rules, scores, chart, n, loss, but):
    """(value, symbol) of the best tree with a root but one; -inf and -1 where there is none."""
    best, root = -np.inf, -1
    for q in range(rules.n_roots):
        p = rules.at[rules.roots + q]
        if p != but:
            value, _ = best_chain(rules, scores, chart, cell_of(0, n), loss, p, -2)
            if value > best:
                best, root = value, p
    return best, root


@register_jitable
def write_tree(rules, scores, chart, words, loss, p, i, j, todo, out):
    """The best tree of p over (i, j) into out, three numbers a node, parents first; todo (nodes, 3)."""
    at, top, node = rules.at, 1, 0
    todo[0, 0], todo[0, 1], todo[0, 2] = p, i, j
    while top > 0:
        top -= 1
        p, i, j = todo[top, 0], todo[top, 1], todo[top, 2]
        _, chain = best_chain(rules, scores, chart, cell_of(i, j), loss, p, -2)
        if chain >= 0:
            p = at[rules.chain_child + chain]
        if j - i == 1:
            rule, split = rule_of_word(rules, p, words[i]), -1
        else:
            _, rule, split = best_split(rules, scores, chart, p, i, j, -1, -1)
            todo[top, 0], todo[top, 1], todo[top, 2] = at[rules.rule_right + rule], split, j
            todo[top + 1, 0], todo[top + 1, 1], todo[top + 1, 2] = at[rules.rule_left + rule], i, split
            top += 2
        out[node], out[node + 1], out[node + 2] = rule, split, chain
        node += 3
