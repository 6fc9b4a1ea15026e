"""Packed sentences: word classes in one array, trees in another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from ...data.rows import Ragged, Shard, weights_of

#: Work is handed out in so many parts: long sentences cost most, and threads should end together.
PARTS = 32
#: Sentences that are worth a part.
SMALL = 8


@dataclass(frozen=True, eq=False)
class GrammarData:
    """n sentences.

    words : Ragged, (N, 2) int64: word classes, and the lexical rules of given tags, see Grammar.word_ids
    coarse : (N,) int64: coarse classes of the words, for span features
    trees : (6 N - 3 n,) int64: the right trees, three numbers a span; None where only to be predicted
    weights : (n,)
    """

    words: Ragged
    coarse: np.ndarray
    trees: np.ndarray | None
    weights: np.ndarray

    @property
    def n(self) -> int:
        return len(self.words)

    @property
    def word_offsets(self) -> np.ndarray:
        return self.words.offsets

    @cached_property
    def offsets(self) -> np.ndarray:
        """Where the trees of sentences begin."""
        return 6 * self.word_offsets - 3 * np.arange(self.n + 1)

    @cached_property
    def shards(self) -> list[Shard]:
        """All sentences in shards of about as much work; by the data only."""
        return self.split(0, self.n)

    def split(self, lo, hi) -> list[Shard]:
        """The sentences lo <= i < hi in shards of about as much work."""
        m = self.words.lengths[lo:hi].astype(float)
        work = np.append(0.0, np.cumsum(m**3 + 600.0 * m))  # as measured: what a cell costs, and a word
        count = max(1, min(PARTS, (hi - lo) // SMALL))
        inner = lo + np.searchsorted(work, work[-1] * np.arange(1, count) / count)
        bounds = np.unique([lo, *inner, hi])
        return [Shard(int(a), int(b)) for a, b in pairwise(bounds)] or [Shard(lo, hi)]

    def size(self, shard) -> int:
        """How many numbers the trees of a shard have."""
        return int(self.offsets[shard.hi] - self.offsets[shard.lo])

    @property
    def depth(self) -> int:
        """No tree has more numbers to sum up than this."""
        return 64 * int(self.words.lengths.max(initial=0))

    def known_trees(self) -> np.ndarray:
        if self.trees is None:
            raise ValueError("the sentences were packed without trees")
        return self.trees

    def take(self, index) -> GrammarData:
        """The sentences `index`, as a copy."""
        index = np.arange(self.n)[index]
        trees = None if self.trees is None else Ragged(self.trees, self.offsets).take(index).values
        coarse = self.coarse[self.words.places(index)]
        return GrammarData(self.words.take(index), coarse, trees, self.weights[index])


def pack_sentences(grammar, rules, X, Y, weights, tag_of_class) -> GrammarData:
    """Checked and packed.  X: sentences as words, (word, tag) pairs or (m, 2) arrays of Grammar.word_ids, or
    a Ragged of those; Y: trees as Grammar.encode gives them, or None."""
    words = X if isinstance(X, Ragged) else _stack([_word_ids(grammar, i, x) for i, x in enumerate(X)])
    n = len(words)
    values = np.ascontiguousarray(words.values, dtype=np.int64)
    words = Ragged(values, words.offsets)
    coarse = tag_of_class[values[:, 0]]
    given = values[:, 1] >= 0
    coarse[given] = grammar.lexical_tag[values[given, 1]]
    weights = weights_of(weights, n)
    trees = None if Y is None else _trees(rules, Y, words)
    return GrammarData(words, coarse, trees, weights)


def _stack(items):
    return Ragged.from_list(items) if items else Ragged(np.empty((0, 2), np.int64), [0])


def _word_ids(grammar, i, x):
    ids = x if isinstance(x, np.ndarray) and x.dtype.kind in "iu" else grammar.word_ids(x)
    if ids.ndim != 2 or ids.shape[1] != 2:
        raise ValueError(f"sentence {i}: x has shape {ids.shape}, expected (words, 2) of Grammar.word_ids")
    if len(ids) == 0:
        raise ValueError(f"sentence {i} has no word")
    if (ids[:, 0] < 0).any() or (ids[:, 0] >= grammar.n_classes).any():
        raise ValueError(f"sentence {i}: word classes are 0 .. {grammar.n_classes - 1}")
    if (ids[:, 1] < -2).any() or (ids[:, 1] >= grammar.n_lexical).any():
        raise ValueError(f"sentence {i}: lexical rules are 0 .. {grammar.n_lexical - 1}, -1 or -2 for none")
    return ids


def _trees(rules, Y, words):
    from ..._jit.cky_features import first_broken

    Y = Y if isinstance(Y, Ragged) else Ragged.from_list(Y)
    if len(Y) != len(words):
        raise ValueError(f"X has {len(words)} sentences but Y has {len(Y)} trees")
    expected = 6 * words.lengths - 3
    bad = np.flatnonzero(Y.lengths != expected)
    if len(bad):
        i = bad[0]
        raise ValueError(
            f"sentence {i} has {words.lengths[i]} words: its tree needs {expected[i]} numbers, "
            f"it has {Y.lengths[i]}"
        )
    values = np.ascontiguousarray(Y.values, dtype=np.int64)
    i = first_broken(rules, words.values, words.offsets, values)
    if i >= 0:
        raise ValueError(f"sentence {i}: y is no tree of the grammar over these words")
    return values
