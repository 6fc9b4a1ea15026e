"""Span features: what stands at the edges of a span says which labels it may have.

Keys of a span (see _jit/cky_features.span_keys): its first and last word, the words before and after it,
pairs of them across an edge, the same by the most frequent tag of a word, and the length.  A weight stands
for a key with a label, and there is one for each that the right trees of training have.  The parts of a
binarised phrase are spans with a label of their own, whose edges are where the phrase splits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .data import pack_sentences
from .tables import compiled_rules


@dataclass(frozen=True, eq=False)
class SpanFeatures:
    """keys (E,), sorted; key e has a weight with each of labels[ptr[e]:ptr[e + 1]]."""

    keys: np.ndarray
    ptr: np.ndarray
    labels: np.ndarray
    n_words: int

    @property
    def n(self) -> int:
        """Weights."""
        return len(self.labels)

    @staticmethod
    def read(grammar, X, Y, min_count=2) -> SpanFeatures:
        """Those that trees Y (as Grammar.encode gives them) have at least min_count times."""
        from ..._jit.cky_features import spans_of_trees

        rules = compiled_rules(grammar)
        data = pack_sentences(grammar, rules, X, Y, None, tag_of_class(grammar))
        n_words = max(grammar.n_classes, grammar.n_symbols)
        keys, labels = spans_of_trees(
            rules, n_words, data.words.values, data.coarse, data.word_offsets, data.trees
        )
        pairs, counts = np.unique(keys * rules.n_labels + labels, return_counts=True)
        pairs = pairs[counts >= min_count]
        keys, labels = np.divmod(pairs, rules.n_labels)
        unique, first = np.unique(keys, return_index=True)
        ptr = np.append(first, len(keys)).astype(np.int64)
        return SpanFeatures(unique, ptr, labels, n_words)

    def compiled(self):
        """The Spans of _jit/cky_features."""
        from ..._jit.cky_features import Spans, build_table

        table = np.empty((_prime(2 * len(self.keys) + 1), 2), np.int64)
        build_table(self.keys, table)
        return Spans(table, self.ptr, self.labels, self.n_words)


def no_spans():
    """The Spans of a model without span features."""
    from ..._jit.cky_features import Spans

    return Spans(np.empty((0, 2), np.int64), np.zeros(1, np.int64), np.empty(0, np.int64), 0)


def tag_of_class(grammar) -> np.ndarray:
    """(word classes,): the most frequent tag of each."""
    counts = grammar.counts[grammar.n_binary + grammar.n_unary :]
    classes = np.repeat(np.arange(grammar.n_classes), np.diff(grammar.lexical_ptr))
    out = np.zeros(grammar.n_classes, np.int64)
    order = np.argsort(counts, kind="stable")
    out[classes[order]] = grammar.lexical_tag[order]  # the last one written is the most frequent
    return out


def _prime(n):
    """The first prime number >= n."""
    n = max(n, 3) | 1
    while any(n % d == 0 for d in range(3, int(n**0.5) + 1, 2)):
        n += 2
    return n
