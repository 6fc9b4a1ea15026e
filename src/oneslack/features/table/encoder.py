"""A whole table as a matrix: which column is of what kind, and their features side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...errors import FormatError
from ...formats.cells import is_missing, is_number
from .categories import Categories
from .numbers import Numbers
from .text import Text

KINDS = {kind.kind: kind for kind in (Numbers, Categories, Text)}
#: More features than this are mostly zeros, where they come from words: they are kept sparse.
DENSE = 200
#: A column of words with more values than this, most of them once, is no column of categories.
MANY = 50


@dataclass(frozen=True)
class TableEncoder:
    """The columns that a model looks at, by name, and how each becomes numbers.

    Learned from the training data; a file to predict has its columns in any order, and perhaps more of them.

    >>> from oneslack.features.table import TableEncoder
    >>> from oneslack.formats.cells import read_cells
    >>> with open("people.csv", "w") as file:
    ...     _ = file.write("age,city\\n31,Rome\\n,Paris\\n29,Rome\\n")
    >>> cells = read_cells("people.csv")
    >>> encoder = TableEncoder.learned(cells, categorical=["city"], missing="indicator")
    >>> encoder.feature_names
    ['age', 'age is missing', 'city=Paris', 'city=Rome']
    >>> encoder.matrix(cells)
    array([[31.,  0.,  0.,  1.],
           [30.,  1.,  1.,  0.],
           [29.,  0.,  0.,  1.]])
    """

    columns: tuple

    @classmethod
    def learned(cls, cells, *, leave_out=(), categorical=(), text=(), missing=None):
        """From the Cells of the training data.

        leave_out, categorical, text   names of columns; categorical may be "auto": all with words in them
        missing                        None: refused; "mean": filled; "indicator": filled, and said so
        """
        names = [name for name in cells.names if name not in leave_out]
        kinds = dict.fromkeys(text, Text)
        if categorical == "auto":
            categorical = [name for name in names if name not in kinds and _has_words(cells, name)]
        kinds |= dict.fromkeys(categorical, Categories)
        columns = []
        for name in names:
            place = cells.place(name)
            kind = kinds.get(name, Numbers)
            columns.append(kind.learned(name, cells.columns[place], _where(cells, place), missing))
        return cls(tuple(columns))

    @property
    def names(self):
        """Of the columns."""
        return [column.name for column in self.columns]

    @property
    def feature_names(self):
        """Of the features that they become."""
        return [name for column in self.columns for name in column.feature_names]

    def matrix(self, cells):
        """(n, features): dense, or CSR where words make many features."""
        blocks = []
        for column in self.columns:
            place = cells.names.index(column.name)
            blocks.append(column.rows(cells.columns[place], _where(cells, place)))
        if not blocks:
            return np.zeros((len(cells), 0))
        if len(self.feature_names) > DENSE and any(map(sp.issparse, blocks)):
            return sp.hstack(blocks, format="csr")
        return np.hstack([block.toarray() if sp.issparse(block) else block for block in blocks])

    def to_header(self) -> list:
        """For a model file."""
        return [column.to_header() for column in self.columns]

    @classmethod
    def from_header(cls, header):
        """From a model file; ValueError, TypeError or KeyError where it is damaged."""
        return cls(tuple(KINDS[column["kind"]].from_header(column) for column in header))


def _where(cells, place):
    return lambda row: cells.where(row, place)


def _has_words(cells, name):
    """Whether some cell is a word; refused where there are too many different ones to be categories."""
    place = cells.place(name)
    texts = [text for text in cells.columns[place] if not is_missing(text)]
    if all(map(is_number, texts)):
        return False
    distinct = len(set(texts))
    if distinct > MANY and distinct > len(texts) / 2:
        raise FormatError(
            f"{cells.where(0, place)}: has {distinct:,} different values in {len(texts):,} rows, too many "
            f"to be categories; name it with --text {name} if it is text, or leave it out with --drop {name}."
        )
    return True
