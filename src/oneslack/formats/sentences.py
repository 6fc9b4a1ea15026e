"""What the readers of tagged text return: columns of strings, one string a token, cut into sentences."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np

from ..errors import OneslackError


@dataclass(frozen=True, repr=False)
class Column:
    """One string a token: token t has values[codes[t]].  `values` are distinct, `codes` (n,) int32.

    A text repeats its words, so that this takes a few bytes a token, and what depends on the string
    alone is computed once for each distinct one.
    """

    values: list[str]
    codes: np.ndarray

    @classmethod
    def of(cls, texts):
        """That of a list of texts."""
        vocabulary = new_vocabulary()
        codes = encode(vocabulary, texts)
        return cls(list(vocabulary), codes)

    @classmethod
    def joined(cls, columns):
        """One of several that follow each other."""
        vocabulary = new_vocabulary()
        codes = [encode(vocabulary, list(one.values))[one.codes] for one in columns]
        return cls(list(vocabulary), np.concatenate(codes))

    def __len__(self):
        return len(self.codes)

    def __repr__(self):
        some = ", ".join(map(repr, self.values[:3])) + (", ..." if len(self.values) > 3 else "")
        return f"<Column of {len(self):,} tokens, {len(self.values):,} distinct: {some}>"

    @property
    def nbytes(self):
        return self.codes.nbytes + sum(map(len, self.values))

    def strings(self):
        """The strings of all tokens as an array of objects (n,)."""
        return np.array(self.values, object)[self.codes]


@dataclass(frozen=True, repr=False)
class Sentences:
    """Named columns, and the offsets (sentences + 1,): sentence i is tokens offsets[i]:offsets[i + 1].

    >>> from oneslack.formats import Sentences
    >>> sentences = Sentences.from_lists(w=[["Stop", "!"], ["Go"]], pos=[["VB", "."], ["VB"]])
    >>> sentences.columns["pos"].codes.tolist(), sentences.offsets.tolist()
    ([0, 1, 0], [0, 2, 3])
    """

    columns: dict[str, Column]
    offsets: np.ndarray
    path: str | None = None

    @classmethod
    def from_lists(cls, **columns):
        """From one list of sentences for each column, a sentence being a list of strings."""
        if not columns:
            raise OneslackError("Sentences need at least one column; give one, such as w=[['Go', '!']].")
        lengths = {name: [len(sentence) for sentence in column] for name, column in columns.items()}
        first = next(iter(columns))
        for name in columns:
            _refuse_text_for_lists(name, columns[name])
            _refuse_other_lengths(first, lengths[first], name, lengths[name])
        made = {name: _column(name, column) for name, column in columns.items()}
        return cls(made, np.cumsum([0, *lengths[first]], dtype=np.int64))

    def __len__(self):
        return len(self.offsets) - 1

    def __repr__(self):
        of = f" of {self.path}" if self.path else ""
        return (
            f"<Sentences{of}: {len(self):,} with {self.n_tokens:,} tokens, columns {', '.join(self.columns)}>"
        )

    def __getitem__(self, chosen):
        """Sentence i as `sentence(i)` gives it; of a slice, a mask or an array of numbers, Sentences."""
        if isinstance(chosen, int | np.integer):
            return self.sentence(chosen)
        index = np.arange(len(self))[chosen]
        lengths = np.diff(self.offsets)[index]
        offsets = np.append(0, np.cumsum(lengths))
        tokens = np.arange(offsets[-1]) + np.repeat(self.offsets[index] - offsets[:-1], lengths)
        columns = {name: Column(one.values, one.codes[tokens]) for name, one in self.columns.items()}
        return Sentences(columns, offsets, self.path)

    def __iter__(self):
        return map(self.sentence, range(len(self)))

    @property
    def n_tokens(self):
        return int(self.offsets[-1])

    def sentence(self, i) -> list[tuple[Any, ...]]:
        """Sentence i as rows of the file: one tuple of strings a token."""
        i = range(len(self))[i]
        tokens = slice(self.offsets[i], self.offsets[i + 1])
        parts = [[c.values[code] for code in c.codes[tokens]] for c in self.columns.values()]
        return list(zip(*parts, strict=True))


def new_vocabulary():
    """An empty dict from texts to codes 0, 1, 2, ... that gives an unknown text the next code."""
    return defaultdict(count().__next__)


def encode(vocabulary, texts):
    """The codes (n,) int32 of a list of texts; the vocabulary takes in those it does not know."""
    return np.fromiter(map(vocabulary.__getitem__, texts), np.int32, len(texts))


def _column(name, column):
    made = Column.of(list(chain.from_iterable(column)))
    for text in made.values:
        if not isinstance(text, str):
            raise OneslackError(f"column {name!r} holds {text!r}; expected strings only, so apply str to it.")
    return made


def _refuse_text_for_lists(name, column):
    for i, sentence in enumerate(column):
        if isinstance(sentence, str):
            raise OneslackError(
                f"sentence {i} of column {name!r} is one string; expected a list of words, so split it."
            )


def _refuse_other_lengths(first, expected, name, found):
    if len(expected) != len(found):
        raise OneslackError(
            f"column {first!r} has {len(expected)} sentences, but {name!r} has {len(found)}; "
            "give all columns the same sentences."
        )
    for i, (a, b) in enumerate(zip(expected, found, strict=True)):
        if a != b:
            raise OneslackError(
                f"sentence {i} has {a} tokens in column {first!r}, but {b} in {name!r}; give as many."
            )
