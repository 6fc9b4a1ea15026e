"""What is said of words where numbers are needed, and of labels of several types."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np


@contextmanager
def words_named(X):
    """Where X cannot be made numbers of, the error names the first column with a word, and the word."""
    try:
        yield
    except ValueError as error:
        told = _first_word(X) if "could not convert" in str(error) else None
        if told is None:
            raise
        raise ValueError(told) from error


def _first_word(X) -> str | None:
    rows = np.asarray(X, dtype=object)
    for k, column in enumerate(rows.T if rows.ndim == 2 else ()):
        i = next((i for i, value in enumerate(column) if not _is_number(value)), None)
        if i is not None:
            name = repr(list(X.columns)[k]) if hasattr(X, "columns") else k
            return (
                f"X must hold numbers, but column {name} has {column[i]!s} in row {i}; make numbers of words "
                "with scikit-learn's OneHotEncoder or TfidfVectorizer, or train from the file with "
                "`oneslack train --categorical`"
            )
    return None


def _is_number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def refuse_mixed(y):
    """Raise for a list of text and numbers, of which numpy would make text."""
    kinds = sorted({type(label).__name__ for label in y}) if isinstance(y, list | tuple) else []
    if "str" in kinds and not all(isinstance(label, str) for label in y):
        raise ValueError(f"Unknown label type: y holds {' and '.join(kinds)}; use labels of one type")
