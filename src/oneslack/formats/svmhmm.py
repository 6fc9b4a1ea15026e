"""The files of SVM-hmm: `TAG qid:EXNUM FEATNUM:VAL ... # comment`, one token a line."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import svmlight
from .format import Format
from .labels import EXACT_INTEGERS
from .svmlight_rows import read_rows


@dataclass(frozen=True)
class TaggedRows:
    """Tokens as the rows of a CSR matrix X, their tags (n,) int64, and offsets (sentences + 1,)."""

    X: Any
    tags: np.ndarray
    offsets: np.ndarray
    path: str


def read_svmhmm(path, *, n_features=None, zero_based="auto", dtype=np.float64):
    """Read a file, plain or packed: successive tokens of the same EXNUM are a sentence.

    n_features, zero_based: as for read_svmlight.

    >>> from oneslack.formats import read_svmhmm
    >>> with open("train.dat", "w") as file:
    ...     _ = file.write("1 qid:1 3:1\\n2 qid:1 1:1\\n1 qid:2 2:1\\n")
    >>> rows = read_svmhmm("train.dat")
    >>> rows.X.shape, rows.tags.tolist(), rows.offsets.tolist()
    ((3, 3), [1, 2, 1], [0, 2, 3])
    """
    path = os.fspath(path)
    table = svmlight.read_svmlight(path, n_features=n_features, zero_based=zero_based, dtype=dtype, qid=True)
    _check_tags(path, table.y)
    starts = np.flatnonzero(np.diff(table.qid, prepend=table.qid[0] - 1))
    _check_sentences(path, table.qid[starts], starts)
    offsets = np.append(starts, len(table.y))
    return TaggedRows(table.X, table.y.astype(np.int64), offsets, path)


def _check_tags(path, y):
    wrong = (y != np.round(y)) | ((np.abs(y) >= EXACT_INTEGERS) & (y.dtype.kind == "f"))
    if wrong.any():
        row = wrong.argmax()
        raise _error(path, row, f"the tag {y[row]:g} is not a whole number; number the tags from 1.")


def _check_sentences(path, numbers, starts):
    _, first = np.unique(numbers, return_index=True)
    if len(first) < len(numbers):
        again = np.setdiff1d(np.arange(len(numbers)), first)[0]
        raise _error(
            path,
            starts[again],
            f"qid:{numbers[again]} comes back after another sentence; put its tokens together, or give "
            "the second sentence a number of its own.",
        )


def _error(path, row, sentence):
    """The lines of the rows are not kept: the file is read again to name one."""
    return read_rows(path, np.float64).error_at_row(row, sentence)


def looks_like(sample):
    """A file with query numbers is rather a table to rank, unless sentences are asked for."""
    return 0.3 * (svmlight.looks_like(sample) == svmlight.WITH_QUERIES)


FORMAT = Format("svmhmm", "SVM-hmm", "sentences", read_svmhmm, (), looks_like)
