"""What cannot be in an array of a shard: each function says what is wrong, or None where nothing is.

Compiled loops take indices and offsets as they are, and a checksum proves only that a file is as it was
written.  So these are asked once before the first use, whatever the checksums say.
"""

import math

import numpy as np

from ..labels import INTEGER, NUMBER
from ..sentences import Column
from .columns import distinct, to_level

PATTERNS = {"integers": INTEGER, "numbers": NUMBER}


def fault_of_offsets(offsets, n_items, may_be_empty):
    """Offsets (n + 1,) cut n_items items into n runs."""
    if offsets[0] != 0 or offsets[-1] != n_items:
        return f"its rows run from {offsets[0]} to {offsets[-1]}, expected 0 to {n_items}"
    wrong = offsets[1:] < offsets[:-1] if may_be_empty else offsets[1:] <= offsets[:-1]
    return f"row {np.argmax(wrong)} ends before it begins" if wrong.any() else None


def fault_of_values(values):
    """Finite numbers; min and max hand on a nan, and need no memory."""
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        return "it holds nan or infinity"
    return None


def fault_of_indices(indices, indptr, n_features):
    """Columns of the rows that indptr, which starts anywhere, cuts out: in range, and rising in each row."""
    if not len(indices):
        return None
    if indices.min() < 0 or indices.max() >= n_features:
        return f"it holds the column {_first_outside(indices, n_features)} of {n_features}"
    falls = indices[1:] <= indices[:-1]
    starts = indptr[1:-1] - indptr[0]
    falls[starts[(starts > 0) & (starts < len(indices))] - 1] = False
    return "the columns of a row are not in order" if falls.any() else None


def fault_of_codes(codes, n):
    """Positions in a list of n."""
    if len(codes) and (codes.min() < 0 or codes.max() >= n):
        return f"it holds the code {_first_outside(codes, n)} of {n} texts"
    return None


def fault_of_weights(weights):
    """Finite numbers >= 0."""
    if len(weights) and not (weights.min() >= 0 and np.isfinite(weights.max())):
        return "a weight is negative, nan or infinite"
    return None


def fault_of_column(column, kind, classes=None):
    """Labels or groups of a level (columns.LEVELS), all of them among the classes where there are some."""
    if isinstance(column, Column):
        fault = fault_of_texts(column.values, kind) or fault_of_codes(column.codes, len(column.values))
    else:
        fault = fault_of_values(column) if column.dtype.kind == "f" else None
    if fault or classes is None:
        return fault
    others = {to_level(value, kind) for value in distinct(column)}.difference(classes)
    return f"the label {min(others)!r} is not among the classes of the manifest" if others else None


def fault_of_texts(values, kind="text"):
    """A list of distinct texts that can be written, and are numbers where numbers are due."""
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return "its texts are no list of texts"
    if len(set(values)) < len(values):
        return "two of its texts are the same"
    if not are_writable(values):
        return "a text holds what is no character"
    if kind in PATTERNS:
        for value in values:
            if not PATTERNS[kind].fullmatch(value) or not math.isfinite(to_level(value, kind)):
                return f"the text {value!r} is no finite number"
    return None


def are_writable(texts):
    """No halves of characters, which no file can take, and no zeros at the end, which NumPy drops."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return not any(text.endswith("\0") for text in texts)


def _first_outside(numbers, n):
    return numbers[np.flatnonzero((numbers < 0) | (numbers >= n))[0]]
