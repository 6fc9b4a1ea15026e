"""A grammar read off trees."""

from __future__ import annotations

from collections import defaultdict
from itertools import count, pairwise

import numpy as np

from ...data.rows import Ragged
from .binarise import TAG, binarise
from .coding import ROOT_SYMBOL, spans_of
from .rules import Grammar
from .unknown import ANY, word_classes


def read_grammar(trees, **options):
    """The Grammar of all rules that the trees use; options as below."""
    return read_grammar_and_trees(trees, **options)[0]


def read_grammar_and_trees(
    trees, *, direction="right", horizontal=None, vertical=1, min_count=2, chain_length=1, weights=None
):
    """(Grammar, Ragged of the trees as Grammar.encode gives them).

    direction, horizontal, vertical   how trees are binarised, see binarise.py
    min_count      words that occur less often are known by their class alone, see unknown.py
    chain_length   chains of unary rules are those seen, and all others of the rules seen that are no longer
                   than this and visit no symbol twice
    weights        (trees,): how often each tree counts, 1 by default
    """
    sentences = [tree.words() for tree in trees]
    classes = word_classes(sentences, min_count)
    found = _Found()
    for tree, words in zip(trees, sentences, strict=True):
        found.add(binarise(tree, direction, horizontal, vertical), classes.of_sentence(words))
    n_spans = np.array([2 * len(words) - 1 for words in sentences])
    times = np.repeat(np.ones(len(trees)) if weights is None else weights, n_spans)
    grammar, spans = found.finish(classes, chain_length, times, (direction, horizontal, vertical))
    return grammar, Ragged(spans.ravel(), np.cumsum([0, *(3 * n_spans)]))


def _numbering():
    """A dict that numbers its keys as they come."""
    return defaultdict(count().__next__)


class _Found:
    """Rules in the order of their first use, and the trees in terms of them."""

    def __init__(self):
        self.symbols, self.binary, self.unary, self.chains, self.lexical = (_numbering() for _ in range(5))
        self.flat = []
        self.symbols[ROOT_SYMBOL]

    def add(self, tree, classes):
        symbols, flat, classes = self.symbols, self.flat, iter(classes)
        for chain, node, split in spans_of(tree):
            symbol = symbols[node.label]
            if split < 0:
                rule = self.lexical[next(classes), symbol]
            else:
                left, right = node.children
                rule = self.binary[symbol, symbols[left.label], symbols[right.label]]
            above = -1
            if chain:
                path = [*(symbols[name] for name in chain), symbol]
                above = self.chains[tuple(self.unary[pair] for pair in pairwise(path))]
            flat += (rule, split, above)

    def finish(self, words, chain_length, times, orders):
        """(Grammar, (spans of all trees, 3)); times: how often each span counts."""
        self._add_chains(chain_length)
        for symbol, number in list(self.symbols.items()):
            if symbol.kind == TAG:
                self.lexical[ANY, number]
        lexical = np.array(list(self.lexical), dtype=np.int32).reshape(-1, 2)
        order = np.lexsort((lexical[:, 1], lexical[:, 0]))  # lexical rules are sorted by word class
        spans = np.array(self.flat, dtype=np.int32).reshape(-1, 3)
        one_word = spans[:, 1] < 0
        spans[one_word, 0] = np.argsort(order)[spans[one_word, 0]]
        binary = np.array(list(self.binary), dtype=np.int32).reshape(-1, 3)
        unary = np.array(list(self.unary), dtype=np.int32).reshape(-1, 2)
        grammar = Grammar(
            list(self.symbols),
            *binary.T.copy(),
            *unary.T.copy(),
            _ends([len(chain) for chain in self.chains]),
            np.array([rule for chain in self.chains for rule in chain], dtype=np.int32),
            _ends(np.bincount(lexical[:, 0], minlength=words.n)),
            lexical[order, 1],
            self._counts(spans, times),
            words,
            *orders,
        )
        return grammar, spans

    def _add_chains(self, longest):
        """All chains of rules seen with at most `longest` rules that visit no symbol twice."""
        below = defaultdict(list)
        for (parent, child), rule in list(self.unary.items()):
            below[parent].append((child, rule))
        paths = [((rule,), {parent, child}, child) for (parent, child), rule in list(self.unary.items())]
        for _ in range(longest):
            for rules, _, _ in paths:
                self.chains[rules]
            paths = [
                ((*rules, rule), seen | {child}, child)
                for rules, seen, last in paths
                for child, rule in below[last]
                if child not in seen
            ]

    def _counts(self, spans, times):
        """(n_rules,): how often the trees use each rule."""

        def count(which, column, n):
            return np.bincount(spans[which, column], weights=times[which], minlength=n)

        one_word = spans[:, 1] < 0
        unary, used = np.zeros(len(self.unary)), count(spans[:, 2] >= 0, 2, len(self.chains))
        for chain, n in zip(self.chains, used.tolist(), strict=True):
            for rule in chain:
                unary[rule] += n
        binary, lexical = count(~one_word, 0, len(self.binary)), count(one_word, 0, len(self.lexical))
        return np.concatenate([binary, unary, lexical])


def _ends(lengths):
    return np.cumsum([0, *lengths], dtype=np.int32)
