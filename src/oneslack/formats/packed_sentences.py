"""Tagged text of a packed folder, in parts that are read when they are needed."""

from __future__ import annotations

import numpy as np

from ..errors import OneslackError
from .sentences import Column, Sentences

#: Tokens of a part, unless a sentence is longer.
TOKENS = 20_000


class PackedSentences:
    """The sentences of a folder of shards: what `Sentences` are, but never in memory as a whole.

    shards   what `open_shards` gives for packed CoNLL or CoNLL-U
    columns  {name: column of the folder}; by default all, under their own names

    >>> import os, tempfile
    >>> from oneslack.formats import open_shards, pack
    >>> from oneslack.formats.packed_sentences import PackedSentences
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text, packed = os.path.join(folder, "text.conll"), os.path.join(folder, "packed")
    ...     with open(text, "w") as file:
    ...         _ = file.write("Stop V\\n! P\\n\\nGo V\\n")
    ...     _ = pack([text], packed, columns=["w", "pos"])
    ...     sentences = PackedSentences(open_shards(packed))
    ...     [part.sentence(0) for part in sentences.parts()], len(sentences), sentences.n_tokens
    ([[('Stop', 'V'), ('!', 'P')]], 2, 3)
    """

    def __init__(self, shards, columns=None):
        if shards.kind != "sentences":
            raise OneslackError(f"{shards.path}: holds rows of numbers, no tagged text; use a linear model.")
        there = shards.manifest.feature_names
        self.shards, self.path = shards, shards.path
        self.columns = {name: name for name in there} if columns is None else dict(columns)
        for column in self.columns.values():
            if column not in there:
                raise OneslackError(
                    f"{shards.path}: has no column {column!r}; its columns are {', '.join(there)}."
                )

    def __len__(self):
        return self.shards.n_rows

    @property
    def n_tokens(self):
        return self.shards.n_entries

    def texts(self, name):
        """The distinct strings of a column, one list a shard."""
        if name not in self.columns:
            raise OneslackError(
                f"{self.path}: has no column {name!r}, which the templates use; it has "
                f"{', '.join(self.columns)}."
            )
        for shard in self.shards:
            yield shard.sentences.columns[self.columns[name]].values

    def in_memory(self) -> Sentences:
        """All of them."""
        parts = [shard.sentences for shard in self.shards[:]]
        made = {
            name: Column.joined([part.columns[column] for part in parts])
            for name, column in self.columns.items()
        }
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        return Sentences(made, np.concatenate([[0], np.cumsum(lengths)]), self.path)

    def parts(self, tokens=TOKENS):
        """Sentences of about so many tokens, one part after the other."""
        for shard in self.shards:
            whole = shard.sentences
            offsets = np.asarray(whole.offsets)
            lo = 0
            while lo < len(whole):
                hi = int(np.searchsorted(offsets, offsets[lo] + tokens, side="right")) - 1
                hi = min(max(hi, lo + 1), len(whole))
                yield self._part(whole, offsets, lo, hi)
                lo = hi

    def _part(self, whole, offsets, lo, hi):
        first, last = int(offsets[lo]), int(offsets[hi])
        columns = {}
        for name, column in self.columns.items():
            own = whole.columns[column]
            used, codes = np.unique(own.codes[first:last], return_inverse=True)
            columns[name] = Column([own.values[code] for code in used.tolist()], codes.astype(np.int32))
        return Sentences(columns, offsets[lo : hi + 1] - first, self.path)
