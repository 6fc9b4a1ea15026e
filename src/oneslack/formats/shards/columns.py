"""A column of labels or groups in shards: numbers, or a Column of texts.

Whether the labels of all shards are integers, other numbers or text is known at the end only.  So a column
of text keeps its texts, even `01`, unless it has very many different ones and all are numbers.
"""

import json

import numpy as np

from ..labels import INTEGER, NUMBER, integers_if_integral
from ..sentences import Column

LEVELS = (None, "integers", "numbers", "text")
#: More different labels than this are no classes.
MANY = 10_000


def as_column(values):
    """Numbers as int64 where they are whole, else float64; anything else as a Column."""
    if isinstance(values, Column):
        return _without_many(values)
    if not isinstance(values, list):
        values = np.asarray(values)
        if values.dtype.kind in "biuf":
            wide = np.float64 if values.dtype.kind == "f" else np.int64
            return integers_if_integral(values.astype(wide, copy=False))
        values = list(map(str, values.tolist()))
    return _without_many(Column.of(values))


def as_groups(values):
    """Integers, or anything else as a Column: rounded numbers of two groups could be the same."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        column = as_column(values)
        return column if column.dtype.kind == "i" else _as_texts(column)
    return Column.of(list(map(str, values)))


def group_level(column):
    """Its level, of "integers" and "text"."""
    return "text" if level(column) == "numbers" else level(column)


def level(column):
    """The narrowest of "integers", "numbers" and "text" that holds the column."""
    if column is None:
        return None
    if not isinstance(column, Column):
        return "integers" if column.dtype.kind == "i" else "numbers"
    if all(map(INTEGER.fullmatch, column.values)):
        return "integers"
    return "numbers" if all(map(NUMBER.fullmatch, column.values)) else "text"


def wider(a, b):
    """The narrowest level that holds both."""
    return LEVELS[max(LEVELS.index(a), LEVELS.index(b))]


def distinct(column):
    """The distinct values, as Python's numbers or texts."""
    if isinstance(column, Column):
        return set(column.values)
    known = np.unique(column[:64])  # mostly all there are; sorting the whole column takes longer
    place = np.minimum(np.searchsorted(known, column), len(known) - 1)
    others = np.unique(column[known[place] != column]) if len(column) else column
    return {*known.tolist(), *others.tolist()}


def to_level(value, kind):
    """One number or text as Python's value of a level."""
    if kind == "text":
        return value if isinstance(value, str) else _shortest(value)
    return int(value) if kind == "integers" else float(value)


def join(name, columns, *, keep_texts=False):
    """{name: pieces} of a shard's arrays for columns that follow each other."""
    if not any(isinstance(column, Column) for column in columns):
        dtype = np.result_type(*columns)
        return {name: [column.astype(dtype, copy=False) for column in columns]}
    joined = Column.joined([one if isinstance(one, Column) else _as_texts(one) for one in columns])
    if not keep_texts:
        joined = _without_many(joined)
    if not isinstance(joined, Column):
        return {name: [joined]}
    listed = np.frombuffer(json.dumps(joined.values).encode(), np.uint8)
    return {f"{name}_codes": [joined.codes], f"{name}_texts": [listed]}


def column_of(arrays, name):
    """The column that join wrote, or None."""
    if f"{name}_codes" in arrays:
        return Column(json.loads(arrays[f"{name}_texts"].tobytes()), arrays[f"{name}_codes"])
    return arrays.get(name)


def values_of(column, kind):
    """One value a row: int64, float64 or text."""
    if isinstance(column, Column):
        return np.array([to_level(text, kind) for text in column.values])[column.codes]
    if kind == "text":
        texts = _as_texts(column)
        return np.array(texts.values)[texts.codes]
    return column.astype(np.int64 if kind == "integers" else np.float64, copy=False)


def positions_in(column, classes, kind):
    """For each row the position of its value in the sorted `classes` (int32)."""
    if isinstance(column, Column):
        place = {value: k for k, value in enumerate(classes.tolist())}
        return np.array([place[to_level(text, kind)] for text in column.values], np.int32)[column.codes]
    return np.searchsorted(classes, values_of(column, kind)).astype(np.int32)


def _without_many(texts):
    """As numbers where there are too many different texts to be names."""
    if len(texts.values) <= MANY or level(texts) == "text":
        return texts
    return values_of(texts, level(texts))


def _as_texts(numbers):
    values, codes = np.unique(numbers, return_inverse=True)
    return Column([_shortest(value) for value in values.tolist()], codes.astype(np.int32))


def _shortest(number):
    return str(number).removesuffix(".0")
