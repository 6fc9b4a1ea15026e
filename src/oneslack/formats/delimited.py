"""Delimited text (CSV, TSV): one example a line, numbers in all columns but the label's and the group's.

A compiled loop reads plain cells.  When it stops short (quotes, a missing cell, a word among the
numbers), the file is walked again cell by cell, which reads what can be read and names what cannot.
"""

import csv
import io
import os
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..errors import FormatError
from .column_advice import gap_advice, no_column, words_advice
from .compression import read_buffer
from .format import Format
from .labels import EXACT_INTEGERS, integers_if_integral, label_and_group, labels_from_text, texts_at
from .lines import blocks_of_lines, count, decoded, first_where
from .sentences import Column
from .table import Table

DELIMITERS = ",;\t"


@dataclass(frozen=True)
class _Layout:
    """Where things stand: `body` is the byte after the header, `label` and `group` a column or None."""

    path: str
    delimiter: str
    n_columns: int
    label: int | None
    group: int | None
    feature_names: list[str] | None
    label_name: str | None
    body: int

    @property
    def features(self):
        return [column for column in range(self.n_columns) if column not in (self.label, self.group)]


def read_csv(path, *, label=None, group=None, delimiter=None, n_features=None, dtype=np.float64):
    """Read a file, plain or packed, as a Table with a dense X of `dtype`.

    label: the label column by name or position, None for the last one, False when there is none.
    group: the column that tells the query of a row, by name or position, which becomes `qid`.
    Labels stay what they are: integers, other numbers, or text.  A first line without any number
    among the features is the header.  The delimiter is found there: comma, semicolon or tab.

    >>> from oneslack.formats import read_csv
    >>> with open("iris.csv", "w") as file:
    ...     _ = file.write("length,width,species\\n5.1,3.5,setosa\\n7.0,3.2,versicolor\\n")
    >>> table = read_csv("iris.csv", label="species")
    >>> table.X.shape, table.y.tolist(), table.feature_names
    ((2, 2), ['setosa', 'versicolor'], ['length', 'width'])
    """
    path = os.fspath(path)
    buffer = _with_newlines(read_buffer(path))
    layout = _find_layout(path, buffer, label, group, delimiter)
    if n_features not in (None, len(layout.features)):
        raise FormatError(
            f"{path}, line 1: found {len(layout.features)} feature columns, but n_features is "
            f"{n_features}; drop n_features or name another label column."
        )
    plain = _read_plain_cells(buffer, layout, dtype)
    X, labels, groups = plain or _read_any_cells(buffer, layout, dtype)
    if len(X) == 0:
        raise FormatError(f"{path}, line 1: the header is all there is; add some examples.")
    return Table(
        X=X,
        y=None if layout.label is None else labels_from_text(labels),
        qid=None if layout.group is None else integers_if_integral(groups),
        path=path,
        kind="csv",
        feature_names=layout.feature_names,
        label_name=layout.label_name,
    )


def _with_newlines(buffer):
    """The text of old spreadsheets, whose lines end in a carriage return alone, with newlines."""
    if buffer.find(b"\n") >= 0 or buffer.find(b"\r") < 0:
        return buffer
    return bytes(buffer[:]).replace(b"\r", b"\n")


def _find_layout(path, buffer, label, group, delimiter):
    line, start, stop = first_where(buffer)
    if not line:
        raise FormatError(f"{path}, line 1: the file is empty; expected one example a line.")
    line = decoded(path, line, lines_before=count(buffer, b"\n", stop=start))
    if delimiter is None and "\t" in line and _is_tsv(path):
        delimiter = "\t"  # commas may stand inside its cells
    delimiter = delimiter or max(DELIMITERS, key=line.count)
    cells = [cell.strip() for cell in _first_cells(path, line, delimiter)]
    where = f"{path}, line 1"
    label, group = label_and_group(where, len(cells), label, group, partial(_column, where, cells))
    features = [cell for column, cell in enumerate(cells) if column not in (label, group)]
    if not features:
        raise FormatError(
            f"{path}, line 1: found one column only, cutting at {delimiter!r}; expected features "
            "and a label, so check the delimiter."
        )
    has_header = _is_header(cells, label, group)
    return _Layout(
        path=path,
        delimiter=delimiter,
        n_columns=len(cells),
        label=label,
        group=group,
        feature_names=features if has_header else None,
        label_name=cells[label] if has_header and label is not None else None,
        body=stop if has_header else start,
    )


def _is_tsv(path) -> bool:
    name = path.lower()
    for packed in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(packed)
    return name.endswith((".tsv", ".tab"))


def _first_cells(path, line, delimiter):
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        what = str(error)
        if "\r" in line.rstrip("\r\n"):
            what = "a carriage return stands inside the line, so end every line in a newline"
        raise FormatError(f"{path}, line 1: {what}; expected plain CSV.") from error


def _column(where, cells, name, what):
    """A column by its name in the header, or by its position."""
    if isinstance(name, str) and name in cells and _is_header(cells, cells.index(name)):
        return cells.index(name)
    try:
        return range(len(cells))[int(name)]
    except (ValueError, IndexError) as error:
        raise FormatError(no_column(where, cells, name, what)) from error


def _is_header(cells, *text_columns):
    return not any(_is_number(cell) for column, cell in enumerate(cells) if column not in text_columns)


def _read_plain_cells(buffer, layout, dtype):
    """X (n, features), the labels as a Column and the groups, or None when some line is not plain numbers."""
    from .._jit.delimited import parse_cells

    n_lines = count(buffer, b"\n") + 1
    X = np.empty((n_lines, layout.n_columns - (layout.label is not None)), dtype)
    starts = np.empty(n_lines, np.int64)
    spans = np.zeros((n_lines, 2), np.int64)
    label = -1 if layout.label is None else layout.label
    n = 0
    for block, offset in blocks_of_lines(buffer, layout.body):
        first = n
        position, n = parse_cells(block, ord(layout.delimiter), layout.n_columns, label, n, X, starts, spans)
        if position < len(block):
            return None
        starts[first:n] += offset
        spans[first:n] += offset
    X.resize((n, X.shape[1]), refcheck=False)
    _read_hard_numbers(buffer, layout, X, starts)
    labels = Column.of([]) if layout.label is None else texts_at(buffer, spans[:n])
    if labels is None or not np.isfinite(X).all():
        return None
    X, groups = _take_groups(X, layout)
    # Rounded numbers of two groups could be the same: their text is read instead.
    exact = groups is None or (dtype == np.float64 and (np.abs(groups) < EXACT_INTEGERS).all())
    return (X, labels, groups) if exact else None


def _take_groups(X, layout):
    """X without the groups' column, and that column, where there is one."""
    if layout.group is None:
        return X, None
    place = layout.group - (layout.label is not None and layout.label < layout.group)
    return np.delete(X, place, axis=1), X[:, place].copy()


def _read_hard_numbers(buffer, layout, X, starts):
    """Let Python read the rows in which the compiled loop left a nan."""
    for row in np.flatnonzero(np.isnan(X).any(axis=1)):
        stop = buffer.find(b"\n", starts[row])
        line = bytes(buffer[starts[row] : stop if stop >= 0 else None])
        cells = line.split(layout.delimiter.encode())
        X[row] = [float(cell) for column, cell in enumerate(cells) if column != layout.label]


def _read_any_cells(buffer, layout, dtype):
    """X (n, features), labels as a Column, groups, by the rules of CSV; names a cell that does not fit."""
    rows, labels, groups = [], [], []
    for where, cells in _rows_of_cells(buffer, layout):
        if len(cells) != layout.n_columns:
            raise FormatError(
                f"{where}: found {len(cells)} cells, but the first line has {layout.n_columns}; "
                "expected as many in every line."
            )
        rows.append([_feature(where, layout, column, cells[column]) for column in layout.features])
        if layout.label is not None:
            labels.append(_text(where, layout.label, cells, "label"))
        if layout.group is not None:
            groups.append(_text(where, layout.group, cells, "group"))
    X = np.array(rows, dtype).reshape(len(rows), len(layout.features))
    return X, Column.of(labels), _groups_from_text(groups) if groups else None


def _groups_from_text(texts):
    """Numbers, but for those so long that two of them could become one."""
    groups = labels_from_text(Column.of(texts))
    rounded = groups.dtype.kind == "f" and (np.abs(groups) >= EXACT_INTEGERS).any()
    return np.array(texts) if rounded else groups


def _rows_of_cells(buffer, layout):
    """(file and line, cells) of each row that is not blank."""
    lines_before = count(buffer, b"\n", stop=layout.body)
    text = decoded(layout.path, buffer[layout.body :], lines_before=lines_before)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=layout.delimiter)
    try:
        for cells in reader:
            if "".join(cells).strip():
                yield f"{layout.path}, line {lines_before + reader.line_num}", cells
    except csv.Error as error:
        line = lines_before + reader.line_num
        raise FormatError(f"{layout.path}, line {line}: {error}; expected plain CSV.") from error


def _feature(where, layout, column, text):
    if _is_number(text):
        return float(text)
    called = layout.feature_names[layout.features.index(column)] if layout.feature_names else str(column)
    name = f", column {column + 1}" + (f" ({called})" if layout.feature_names else "")
    if not text.strip():
        raise FormatError(f"{where}{name}: the cell is empty; {gap_advice()}.")
    other = layout.n_columns - 1 if layout.label is None else layout.label
    advice = words_advice(called, may_be_label=column != other)
    raise FormatError(f"{where}{name}: {text.strip()[:40]!r} is not a finite number; {advice}.")


def _text(where, column, cells, what):
    text = cells[column].strip()
    if not text:
        raise FormatError(f"{where}, column {column + 1}: the {what} is empty; fill it or drop the line.")
    return text


def _is_number(text):
    try:
        return np.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def looks_like(sample):
    """Likely, if a line is cut by a delimiter before one has a colon after its first word, as svmlight's."""
    for line in sample.splitlines():
        words = line.partition(b"#")[0].split()
        if any(b":" in word for word in words[1:]):
            break
        if any(delimiter in line.strip() for delimiter in map(str.encode, DELIMITERS)):
            return 0.6
    return 0.0


FORMAT = Format("csv", "CSV", "table", read_csv, (".csv", ".tsv", ".tab"), looks_like, ("label", "group"))
