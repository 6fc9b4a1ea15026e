"""Grammar: rules read off binarised trees, as arrays; sentences and trees as the numbers that charts use.

A binarised tree over m words has 2m - 1 spans.  In each, a binary rule (or for one word a lexical rule) makes
a symbol, and at most one chain of unary rules leads up from it:

    top symbol  <- chain -  ... -  parent  ->  left right      (or tag -> word)

The root symbol is above every tree, reached by a chain, so that the label of a whole tree has a weight too.
Weights lie in the order [binary | unary | lexical | what a model adds]; a chain weighs the sum of its rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .binarise import PHRASE, ROOT, TAG, Symbol
from .coding import decode, encode
from .unknown import ANY, WordClasses

#: Second column of `word_ids`: the tag is not given; the tag is given but not known, so that nothing fits.
NO_TAG, UNKNOWN_TAG = -1, -2


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules as arrays of symbol numbers (int32).

    symbols         Symbols, whose str is their name; number 0 is the root, which no rule has as a child
    binary_parent, binary_left, binary_right    (n_binary,)
    unary_parent, unary_child                   (n_unary,): plain rules
    chain_ptr, chain_rules   chain c is made of the unary rules chain_rules[chain_ptr[c]:chain_ptr[c + 1]],
                             the topmost first; no two chains are the same
    lexical_ptr, lexical_tag   word class c may have the tags lexical_tag[lexical_ptr[c]:lexical_ptr[c + 1]];
                               the positions are the numbers of the lexical rules
    counts          (n_rules,): how often training used each rule
    words           WordClasses
    direction, horizontal, vertical   how trees are binarised
    """

    symbols: list[Symbol]
    binary_parent: np.ndarray
    binary_left: np.ndarray
    binary_right: np.ndarray
    unary_parent: np.ndarray
    unary_child: np.ndarray
    chain_ptr: np.ndarray
    chain_rules: np.ndarray
    lexical_ptr: np.ndarray
    lexical_tag: np.ndarray
    counts: np.ndarray
    words: WordClasses
    direction: str = "right"
    horizontal: int | None = None
    vertical: int = 1

    # Sizes.

    @property
    def n_symbols(self) -> int:
        return len(self.symbols)

    @property
    def n_binary(self) -> int:
        return len(self.binary_parent)

    @property
    def n_unary(self) -> int:
        return len(self.unary_parent)

    @property
    def n_chains(self) -> int:
        return len(self.chain_ptr) - 1

    @property
    def n_classes(self) -> int:
        """Word classes."""
        return len(self.lexical_ptr) - 1

    @property
    def n_lexical(self) -> int:
        return len(self.lexical_tag)

    @property
    def n_rules(self) -> int:
        """Rules with a weight of their own: binary, unary, lexical, in this order."""
        return self.n_binary + self.n_unary + self.n_lexical

    # What symbols and chains are.

    @cached_property
    def kinds(self) -> np.ndarray:
        """(n_symbols,): PHRASE, TAG, PART (made by binarising) or ROOT."""
        return np.array([symbol.kind for symbol in self.symbols], dtype=np.int32)

    @cached_property
    def labels(self) -> list[str]:
        """The labels of phrases in the trees as they were."""
        return sorted({symbol.label for symbol in self.symbols if symbol.kind == PHRASE})

    @cached_property
    def label_of(self) -> np.ndarray:
        """(n_symbols,): the number in `labels` of a phrase; -1 for all else, which is no bracket."""
        number = {label: k for k, label in enumerate(self.labels)}
        return np.array(
            [number[symbol.label] if symbol.kind == PHRASE else -1 for symbol in self.symbols], dtype=np.int32
        )

    @cached_property
    def roots(self) -> np.ndarray:
        """Symbols that a whole tree may have on top: the root."""
        return np.flatnonzero(self.kinds == ROOT).astype(np.int32)

    @cached_property
    def chain_parent(self) -> np.ndarray:
        """(n_chains,): the symbol on top of each chain."""
        return self.unary_parent[self.chain_rules[self.chain_ptr[:-1]]]

    @cached_property
    def chain_child(self) -> np.ndarray:
        """(n_chains,): the symbol at the bottom of each chain."""
        return self.unary_child[self.chain_rules[self.chain_ptr[1:] - 1]]

    # Sentences and trees.

    def word_ids(self, sentence) -> np.ndarray:
        """(m, 2) int32: word classes, and the lexical rules of tags that are given, NO_TAG where none is.

        sentence: words, or (word, tag) pairs.  A tag that the grammar does not know is UNKNOWN_TAG.
        """
        words = [token if isinstance(token, str) else token[0] for token in sentence]
        out = np.full((len(words), 2), NO_TAG, np.int32)
        out[:, 0] = self.words.of_sentence(words)
        for t, token in enumerate(sentence):
            if not isinstance(token, str):
                out[t, 1] = self._rule_of_tag(int(out[t, 0]), token[1])
        return out

    def _rule_of_tag(self, word_class, tag):
        symbol = self.symbol_numbers.get(Symbol(tag, TAG))
        if symbol is None:
            return UNKNOWN_TAG
        found = self.lexical_numbers.get((word_class, symbol))
        return self.lexical_numbers[ANY, symbol] if found is None else found

    def encode(self, tree) -> np.ndarray:
        """The tree as int32 (3 (2m - 1),): for each span, parents first, left before right, three numbers:

        the binary rule (several words) or the lexical rule (one word); where the span splits, counted from
        the first word of the sentence, -1 for one word; the chain on top, -1 for none.
        Raises OutsideGrammar where the rules cannot make the tree.
        """
        return encode(self, tree)

    def decode(self, flat, sentence):
        """The tree, as it was before it was binarised, over the words (or pairs) of the sentence."""
        return decode(self, flat, sentence)

    # Weights.

    def frequency_weights(self, floor=1e-6) -> np.ndarray:
        """(n_rules,): log p(rule | parent) by relative frequencies, as a probabilistic grammar has.

        Words of no class have the tags of rare words, a hundredth as often; what never occurs has the
        probability `floor`.
        """
        parents = np.concatenate([self.binary_parent, self.unary_parent, self.lexical_tag])
        totals = np.bincount(parents, weights=self.counts, minlength=self.n_symbols)
        counts = self.counts.copy()
        lexical = counts[self.n_binary + self.n_unary :]
        rare = slice(0, self.lexical_ptr[1 + len(self.words.shapes)])
        of_tag = np.bincount(self.lexical_tag[rare], weights=lexical[rare], minlength=self.n_symbols)
        any_class = slice(0, self.lexical_ptr[ANY + 1])
        lexical[any_class] += 0.01 * of_tag[self.lexical_tag[any_class]]
        return np.log(np.maximum(counts / np.maximum(totals[parents], 1.0), floor))

    # Lookups, made when they are first used.

    @cached_property
    def symbol_numbers(self) -> dict:
        return {symbol: number for number, symbol in enumerate(self.symbols)}

    @cached_property
    def binary_numbers(self) -> dict:
        """From (parent, left, right) to the binary rule."""
        columns = (self.binary_parent, self.binary_left, self.binary_right)
        rules = zip(*(column.tolist() for column in columns), strict=True)
        return {rule: number for number, rule in enumerate(rules)}

    @cached_property
    def chain_numbers(self) -> dict:
        """From the symbols of a chain, the topmost first, to its number."""
        parent, child, ptr = self.unary_parent.tolist(), self.unary_child.tolist(), self.chain_ptr.tolist()
        chains = {}
        for c in range(self.n_chains):
            rules = self.chain_rules[ptr[c] : ptr[c + 1]].tolist()
            chains[(*(parent[rule] for rule in rules), child[rules[-1]])] = c
        return chains

    @cached_property
    def lexical_numbers(self) -> dict:
        """From (word class, tag) to the lexical rule."""
        classes = np.repeat(np.arange(self.n_classes), np.diff(self.lexical_ptr))
        pairs = zip(classes.tolist(), self.lexical_tag.tolist(), strict=True)
        return {pair: number for number, pair in enumerate(pairs)}
