"""What the parts of templates are worth at every token, as integers.

A value is computed once for each distinct string of a column and then looked up by the token's code:
no string is ever built or compared for a token.
"""

import enum
from dataclasses import replace

import numpy as np

from ..errors import OneslackError
from .functions import apply


class Outside(enum.Enum):
    """The value of every part that lies before or after the sentence, whatever its functions.

    >>> from oneslack.features import Outside
    >>> len(Outside)
    2
    """

    BOS = "BOS"
    EOS = "EOS"


BOS, EOS = 0, 1  # codes of Outside
FIRST = 2  # the code of the first string


def source_of(part):
    """What a part is but for its offset: parts of one source share their values."""
    return replace(part, offset=0)


class PartCodes:
    """Looks up parts in Sentences; remembers what several templates share."""

    def __init__(self, sentences):
        self.sentences = sentences
        offsets = np.asarray(sentences.offsets)
        lengths = np.diff(offsets)
        self.starts = np.repeat(offsets[:-1], lengths)
        self.stops = np.repeat(offsets[1:], lengths)
        self.shifted = {}

    def values(self, part):
        """The value of a part for each distinct string of its column; None where it has none."""
        texts = self._column(part.column).values
        return [apply(part.functions, text) for text in texts] if part.functions else texts

    def look_up(self, part, table):
        """table[code] at every token: table[BOS], table[EOS], then one entry for each of `values`."""
        place = (part.column, part.offset)
        if place not in self.shifted:
            self.shifted[place] = self._shift(self._column(part.column).codes, part.offset)
        return table[self.shifted[place]]

    def _shift(self, codes, offset):
        """FIRST + the code `offset` tokens to the right, or BOS or EOS."""
        if len(codes) == 0:
            return np.zeros(0, np.int32)
        neighbour = np.arange(offset, len(codes) + offset)
        shifted = codes.take(neighbour, mode="clip") + np.int32(FIRST)
        shifted[neighbour < self.starts] = BOS
        shifted[neighbour >= self.stops] = EOS
        return shifted

    def _column(self, name):
        columns = self.sentences.columns
        if name not in columns:
            raise OneslackError(
                f"the templates use the column {name!r}, but the sentences have {', '.join(columns)}; "
                "name the columns when you read them."
            )
        return columns[name]
