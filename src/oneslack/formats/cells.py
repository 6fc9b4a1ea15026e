"""The cells of a CSV as text, column by column: for files with words, with missing cells, with a text column.

`delimited.py` reads numbers, and quickly; here nothing is a number yet: `features/table/` makes them.
"""

import os
from dataclasses import dataclass

import numpy as np

from ..errors import FormatError
from .column_advice import no_column
from .compression import read_buffer
from .delimited import _find_layout, _is_number, _rows_of_cells, _with_newlines

#: What stands for a cell that is not known, in small letters.
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "?", "-nan", "#n/a"))
#: So many rows that are numbered from elsewhere than 0 or 1 are no coincidence.
FAR = 20


@dataclass(frozen=True)
class Cells:
    """Columns of text.

    names    those of the header, or "0", "1", ... where there is none; `has_header` tells which
    columns  one list of n texts for each, without blanks around
    lines    (n,): where each row ends in the file
    """

    path: str
    names: list[str]
    columns: list[list[str]]
    lines: list[int]
    has_header: bool

    def __len__(self):
        return len(self.lines)

    def place(self, name, what="") -> int:
        """The column that is called so, or stands there; a FormatError names the one that is most alike."""
        if name in self.names:
            return self.names.index(name)
        try:
            return range(len(self.names))[int(name)]
        except (ValueError, IndexError):
            pass
        raise FormatError(no_column(f"{self.path}, line 1", self.names, name, what))

    def where(self, row, place) -> str:
        """File, line and column of a cell, as sentences begin."""
        name = f" ({self.names[place]})" if self.has_header else ""
        return f"{self.path}, line {self.lines[row]}, column {place + 1}{name}"


def read_cells(path) -> Cells:
    """All cells of a file, plain or packed.

    >>> from oneslack.formats.cells import read_cells
    >>> with open("people.csv", "w") as file:
    ...     _ = file.write("age,city\\n31,Rome\\n,Paris\\n")
    >>> cells = read_cells("people.csv")
    >>> cells.names, cells.columns
    (['age', 'city'], [['31', ''], ['Rome', 'Paris']])
    """
    path = os.fspath(path)
    buffer = _with_newlines(read_buffer(path))
    layout = _find_layout(path, buffer, False, None, None)
    rows, lines = [], []
    for where, cells in _rows_of_cells(buffer, layout):
        if len(cells) != layout.n_columns:
            raise FormatError(
                f"{where}: found {len(cells)} cells, but the first line has {layout.n_columns}; "
                "expected as many in every line."
            )
        rows.append([cell.strip() for cell in cells])
        lines.append(int(where.rpartition(" ")[2]))
    if not rows:
        raise FormatError(f"{path}, line 1: the header is all there is; add some examples.")
    names = layout.feature_names
    return Cells(
        path,
        [str(k) for k in range(layout.n_columns)] if names is None else names,
        [list(column) for column in zip(*rows, strict=True)],
        lines,
        names is not None,
    )


def is_missing(text) -> bool:
    """Does it say that nothing is known?"""
    return text.lower() in MISSING


def is_number(text) -> bool:
    """Is it a finite number?"""
    return _is_number(text)


def counts_rows(texts) -> bool:
    """Whether a column numbers the rows, as spreadsheets, pandas and databases do: see `numbers_rows`."""
    if not texts or not texts[0].isdigit() or not _is_long(len(texts), int(texts[0])):
        return False
    first = int(texts[0])
    return all(text.isdigit() and int(text) == first + k for k, text in enumerate(texts))


def numbers_rows(X, column) -> bool:
    """Whether a column of a matrix is one more in every row: from 0 or 1 on, or of many rows."""
    values = np.asarray(X[:, column])
    n = len(values)
    return n > 0 and _is_long(n, values[0]) and np.array_equal(values, values[0] + np.arange(n))


def _is_long(n, first):
    """Rows that are numbered from elsewhere must be many: a handful may be years."""
    return n >= (3 if first in (0, 1) else FAR)
