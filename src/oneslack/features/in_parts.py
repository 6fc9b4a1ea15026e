"""Learn the columns of an index from text that is read in parts.

A part gives the tuples of codes that occur in it, with how often; those of all parts are merged.  What is in
memory is what the index holds in the end, and the tuples that occur too seldom for it.
"""

import numpy as np

from .functions import apply
from .joint_keys import Keys
from .part_codes import FIRST, PartCodes, source_of


def values_in_parts(sources, texts):
    """{source: {string: code}}; texts(column) gives lists of the strings of a column."""
    found = {}
    for source in sources:
        known = found[source] = {}
        for strings in texts(source.column):
            for string in strings:
                value = apply(source.functions, string) if source.functions else string
                if value is not None:
                    known.setdefault(value, FIRST + len(known))
    return found


def keys_in_parts(index, parts):
    """One Keys a template, learned from Sentences one after the other."""
    counted = [Counted(index._sizes(template)) for template in index.templates]
    for sentences in parts:
        codes = PartCodes(sentences)
        tables = {source: index._table(codes, source) for source in index._sources}
        for template, tuples in zip(index.templates, counted, strict=True):
            looked_up = [codes.look_up(part, tables[source_of(part)]) for part in template.parts]
            tuples.add(looked_up, sentences.n_tokens)
    return [tuples.keys(index.min_count) for tuples in counted]


class Counted:
    """Distinct tuples of codes, and how often each occurs."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.waiting = []
        self.codes, self.counts = [np.empty(0, np.int64) for _ in sizes], np.empty(0, np.int64)

    def add(self, codes, n):
        """n tuples, given as one array for each place; those with a -1 do not count."""
        found = self._distinct(codes, np.ones(n, np.int64))
        self.waiting.append(found)
        if sum(len(counts) for _, counts in self.waiting) > len(self.counts):
            self._merge()

    def keys(self, min_count):
        """The Keys of the tuples that occur so often."""
        self._merge()
        kept = self.counts >= min_count
        keys = Keys(self.sizes)
        keys.learn([code[kept] for code in self.codes], int(kept.sum()))
        return keys

    def _merge(self):
        parts = [(self.codes, self.counts), *self.waiting]
        codes = [np.concatenate(each) for each in zip(*(part[0] for part in parts), strict=True)]
        self.codes, self.counts = self._distinct(codes, np.concatenate([part[1] for part in parts]))
        self.waiting = []

    def _distinct(self, codes, counts):
        keys = Keys(self.sizes)
        ranks = keys.learn(codes, len(counts))
        there = ranks >= 0
        sums = np.bincount(ranks[there], counts[there], minlength=len(keys))
        return keys.codes(), sums.astype(np.int64)
