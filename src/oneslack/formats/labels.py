"""The labels of a file: cut out of its text, and of what type they are: integers, other numbers, or text."""

import re

import numpy as np

from ..errors import FormatError
from .sentences import Column

INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: Below it every whole number is a double of its own; 2**53 + 1 is rounded to it.
EXACT_INTEGERS = 2.0**53
#: Longer labels are cut out one by one.
WIDEST = 32
BLANK = np.isin(np.arange(256), list(b" \t\r\x0b\x0c"))


def label_and_group(where, n_columns, label, group, column):
    """Positions of the columns of label (None: the last, False: none) and group, or None.

    column(name, what) is the position of what is called so.
    """
    group = None if group is None or group is False else column(group, "group")
    if label is None:
        label = next((k for k in reversed(range(n_columns)) if k != group), None)
    else:
        label = None if label is False else column(label, "label")
    if label is not None and label == group:
        raise FormatError(f"{where}: column {label} cannot be label and group at once; name another.")
    return label, group


def labels_from_text(column):
    """The labels of a Column as int64 when all are integers, as float64 when all are numbers, else as text.

    Integers so long that two of them would become one float64 stay text.
    """
    values = np.array(column.values)
    if all(map(INTEGER.fullmatch, column.values)):
        values = np.array(list(map(int, column.values)))
    elif all(map(NUMBER.fullmatch, column.values)):
        whole = {int(text) for text in column.values if WHOLE.fullmatch(text)}
        if len(set(map(float, whole))) == len(whole):
            values = np.array(list(map(float, column.values)))
    return values[column.codes]


def integers_if_integral(y):
    """Labels as int64 when they are whole numbers held as floats, else as they are."""
    if y.dtype.kind == "f" and (np.abs(y) < EXACT_INTEGERS).all() and (y == np.round(y)).all():
        return y.astype(np.int64)
    return y


def texts_at(text, spans):
    """A Column of text[start:stop] without blanks at the end, for each of the spans (n, 2).

    None where one is empty, holds a quote or is not UTF-8: then the caller must look closer.
    """
    data = np.frombuffer(text, np.uint8)
    starts, stops = spans[:, 0], _without_blanks(data, spans)
    if not len(spans) or (stops <= starts).any():
        return None if len(spans) else Column([], np.zeros(0, np.int32))
    widest = int((stops - starts).max())
    if widest > WIDEST or text.find(b"\0") >= 0:
        keys = np.array([text[start:stop] for start, stop in zip(starts.tolist(), stops.tolist())], object)
    else:
        keys = _keys(data, starts, stops, widest)
    distinct, codes = np.unique(keys, return_inverse=True)
    values = [_bytes(key).decode("utf-8", "replace") for key in distinct.tolist()]
    if any('"' in value or "\ufffd" in value for value in values):
        return None
    return Column(values, codes.astype(np.int32))


def _without_blanks(data, spans):
    starts, stops = spans[:, 0], spans[:, 1].copy()
    while (blank := BLANK[data[stops - 1]] & (stops > starts)).any():
        stops -= blank
    return stops


def _keys(data, starts, stops, widest):
    """The bytes of each text, filled up with zeros: as an integer up to 8, which sorts faster."""
    width = 8 if widest <= 8 else widest
    place = starts[:, None] + np.arange(width)
    characters = np.where(place < stops[:, None], data[np.minimum(place, len(data) - 1)], 0).astype(np.uint8)
    return characters.view("<u8" if width == 8 else f"S{width}").ravel()


def _bytes(key):
    return key.to_bytes(8, "little").rstrip(b"\0") if isinstance(key, int) else key
