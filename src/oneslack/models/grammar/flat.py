"""What a sentence gets that the grammar has no tree for."""

from __future__ import annotations

import numpy as np

from ...trees.tree import Tree, new_tree
from .binarise import PHRASE

#: The label of a flat tree where the grammar has no phrase for whole trees.
FLAT = "FLAT"


def flat_tree(grammar, sentence) -> Tree:
    """One phrase over all words: the most frequent label of whole trees, the given or most frequent tags."""
    lexical_counts = grammar.counts[grammar.n_binary + grammar.n_unary :]
    leaves = []
    ids = grammar.word_ids(sentence)
    for token, word_class in zip(sentence, ids[:, 0].tolist(), strict=True):
        if isinstance(token, str):
            lo, hi = grammar.lexical_ptr[word_class : word_class + 2]
            tag = grammar.symbols[grammar.lexical_tag[lo + np.argmax(lexical_counts[lo:hi])]].label
            leaves.append(new_tree(tag, (token,)))
        else:
            leaves.append(new_tree(token[1], (token[0],)))
    return new_tree(top_label(grammar), tuple(leaves))


def top_label(grammar) -> str:
    """The most frequent label of a whole tree."""
    unary_counts = grammar.counts[grammar.n_binary : grammar.n_binary + grammar.n_unary]
    tops = np.isin(grammar.unary_parent, grammar.roots) & (grammar.kinds[grammar.unary_child] == PHRASE)
    if not tops.any():
        return FLAT
    best = np.flatnonzero(tops)[np.argmax(unary_counts[tops])]
    return grammar.symbols[grammar.unary_child[best]].label
