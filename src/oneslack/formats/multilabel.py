"""svmlight text with several labels an example: `label,label index:value index:value # comment`.

Labels are whole numbers or names without blanks, commas and colons; a line that begins with `index:value`, or
with a blank, has none.
"""

from __future__ import annotations

import os
import re

import numpy as np

from .compression import read_buffer
from .labels import INTEGER
from .svmlight import _matrix
from .svmlight_rows import rows_of

#: What stands before the first blank; an index and its value are no labels.
LABELS = re.compile(rb"(?m)^(?!#)([^ \t\r\n:#]*)(?=[ \t\r]|$)")
BLANK = re.compile(rb"[ \t\r]*(#.*)?")


def read_multilabel(path, *, n_features=None, zero_based="auto"):
    """(X, labels): a CSR matrix, and a list with the tuple of labels of each example.

    Labels are ints where all of them are whole numbers, else text.  `zero_based` as for read_svmlight.  No
    label stands twice in a tuple, and they keep their order.

    >>> from oneslack.formats import read_multilabel
    >>> with open("several.svm", "w") as file:
    ...     _ = file.write("2,5 1:0.5 3:2\\n 2:1\\n5 1:1\\n")
    >>> X, labels = read_multilabel("several.svm")
    >>> X.shape, labels
    ((3, 3), [(2, 5), (), (5,)])
    """
    path = os.fspath(path)
    lines = bytes(read_buffer(path)).split(b"\n")
    texts, plain = [], []
    for line in lines:
        if BLANK.fullmatch(line):
            plain.append(b"")
            continue
        given = LABELS.match(line)
        own = given[1] if given else b""
        texts.append(tuple(dict.fromkeys(filter(None, own.decode("utf-8", "backslashreplace").split(",")))))
        plain.append(b"0 " + line[len(own) :])  # the reader of one label does the rest, line by line
    rows = rows_of(path, b"\n".join(plain), np.float64)
    if not texts:
        raise rows.error(0, "the file holds no example; expected 'label,label index:value ...'.")
    X = _matrix(rows, n_features, zero_based)
    if all(INTEGER.fullmatch(label) for labels in texts for label in labels):
        return X, [tuple(int(label) for label in labels) for labels in texts]
    return X, texts
