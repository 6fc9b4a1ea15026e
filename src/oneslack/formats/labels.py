"""What type the labels of a file have: integers, other numbers, or text."""

import re

import numpy as np

INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
WHOLE = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: Below it every whole number is a double of its own; 2**53 + 1 is rounded to it.
EXACT_INTEGERS = 2.0**53


def labels_from_text(texts):
    """Labels as int64 when all are integers, as float64 when all are numbers, else as text.

    Integers so long that two of them would become one float64 stay text.
    """
    distinct = set(texts)
    for pattern, number in ((INTEGER, int), (NUMBER, float)):
        if all(map(pattern.fullmatch, distinct)):
            values = {text: number(text) for text in distinct}
            whole = {int(text) for text in distinct if WHOLE.fullmatch(text)}
            if number is float and len(set(map(float, whole))) < len(whole):
                break
            return np.array([values[text] for text in texts])
    return np.array(texts)


def integers_if_integral(y):
    """Labels as int64 when they are whole numbers held as floats, else as they are."""
    if y.dtype.kind == "f" and (np.abs(y) < EXACT_INTEGERS).all() and (y == np.round(y)).all():
        return y.astype(np.int64)
    return y
