"""All trees of a short sentence, by the definition: for brute force."""

from __future__ import annotations

import numpy as np

#: No more trees than this are listed.
MAX_TREES = 200_000


def all_trees(grammar, words):
    """Flat trees (see Grammar.encode) over words (m, 2) of Grammar.word_ids, in no particular order."""
    listing = _Listing(grammar, words)
    roots = set(grammar.roots.tolist())
    tops = [tree for symbol, tree in listing.span(0, len(words)) if symbol in roots]
    return [np.array(tree, dtype=np.int64) for tree in tops]


class _Listing:
    def __init__(self, grammar, words):
        self.grammar, self.words, self.known = grammar, words, {}
        self.rules = {}
        rules = zip(grammar.binary_parent, grammar.binary_left, grammar.binary_right, strict=True)
        for r, (parent, left, right) in enumerate(rules):
            self.rules.setdefault((int(left), int(right)), []).append((r, int(parent)))
        self.chains = {}
        for c, (parent, child) in enumerate(zip(grammar.chain_parent, grammar.chain_child, strict=True)):
            self.chains.setdefault(int(child), []).append((c, int(parent)))

    def span(self, i, j):
        """Pairs (symbol, flat tree) of all that covers the words i .. j-1."""
        if (i, j) not in self.known:
            self.known[i, j] = [
                (top, (*node[:2], chain, *node[2:]))
                for symbol, node in (self._word(i) if j - i == 1 else self._splits(i, j))
                for chain, top in [(-1, symbol), *self.chains.get(symbol, ())]
            ]
            if len(self.known[i, j]) > MAX_TREES:
                raise ValueError(
                    f"the words {i} to {j - 1} have more than {MAX_TREES} trees: too many to list"
                )
        return self.known[i, j]

    def _word(self, i):
        """(tag, (rule, -1)) of the lexical rules of a word."""
        grammar, (word, given) = self.grammar, self.words[i].tolist()
        if given >= 0:
            rules = [given]
        else:
            rules = range(*grammar.lexical_ptr[word : word + 2].tolist()) if given == -1 else []
        return [(int(grammar.lexical_tag[r]), (r, -1)) for r in rules]

    def _splits(self, i, j):
        for k in range(i + 1, j):
            for left, first in self.span(i, k):
                for right, second in self.span(k, j):
                    for rule, parent in self.rules.get((left, right), ()):
                        yield parent, (rule, k, *first, *second)
