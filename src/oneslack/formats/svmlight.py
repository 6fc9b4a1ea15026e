"""svmlight / LIBSVM text, one example a line: `label [qid:N] index:value index:value # comment`."""

import os
import re
from functools import partial

import numpy as np

from ..errors import OneslackError
from .atomic import atomic_write
from .format import CERTAIN, Format
from .svmlight_rows import labels_apart, read_rows
from .table import Table

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
PAIR = re.compile(rb"\d+:\S+")
#: How much a file with query numbers looks like a table: it may be one of SVM-hmm.
WITH_QUERIES = 0.6


def read_svmlight(path, *, n_features=None, zero_based="auto", dtype=np.float64, qid=False):
    """Read a file, plain or packed, as a Table with a CSR matrix of `dtype` and float64 labels.

    Labels are int64 where they are whole numbers too large for float64 to tell them apart.

    zero_based: does the first feature have the index 0?  "auto" says yes when an index 0 occurs.
    qid: False ignores query numbers, True demands one on every line, "auto" takes them if present.

    >>> from oneslack.formats import read_svmlight
    >>> with open("train.svm", "w") as file:
    ...     _ = file.write("1 1:0.5 3:2\\n-1 2:1\\n")
    >>> table = read_svmlight("train.svm")
    >>> table.X.shape, table.y.tolist()
    ((2, 3), [1.0, -1.0])
    """
    _check_choice("zero_based", zero_based, (True, False, "auto"))
    _check_choice("qid", qid, (True, False, "auto"))
    _check_choice("dtype", np.dtype(dtype), (np.dtype(np.float64), np.dtype(np.float32)))
    path = os.fspath(path)
    rows = read_rows(path, dtype)
    return Table(
        X=_matrix(rows, n_features, zero_based),
        y=labels_apart(rows),
        qid=_query_numbers(rows, qid),
        path=path,
        kind="svmlight",
    )


def write_svmlight(path, X, y, qid=None):
    """Write X (dense or sparse) and the numeric labels y; indices count from 1.

    Numbers are written in the shortest form that reads back to the same double.  Trailing columns
    without an entry leave no trace: pass `n_features` when reading.  X (n, d), y (n,), qid (n,) or None.

    >>> import numpy as np
    >>> from oneslack.formats import write_svmlight
    >>> write_svmlight("eye.svm", np.eye(2), [1, -1])
    >>> with open("eye.svm") as file:
    ...     print(file.read(), end="")
    1 1:1
    -1 2:1
    """
    X = _canonical_csr(X)
    y = np.asarray(y)
    _check_writable(path, X, y, qid)
    labels = _shortest(y)
    if qid is not None:
        labels = [f"{a} qid:{b}" for a, b in zip(labels, np.asarray(qid).tolist(), strict=True)]
    with atomic_write(path, text=True) as file:
        for row, label in enumerate(labels):
            entries = slice(X.indptr[row], X.indptr[row + 1])
            indices = (X.indices[entries] + 1).tolist()
            pairs = map("{}:{}".format, indices, _shortest(X.data[entries]))
            file.write(" ".join([label, *pairs]) + "\n")


def _check_choice(name, value, choices):
    if value not in choices:
        wanted = ", ".join(map(repr, choices))
        raise OneslackError(f"{name} must be one of {wanted}, got {value!r}.")


def _matrix(rows, n_features, zero_based):
    from scipy.sparse import csr_matrix

    indices = rows.indices
    lowest = indices.min(initial=1)
    if not zero_based and lowest == 0:
        raise rows.error_at_slot(
            indices.argmin(), "index 0, but zero_based=False says that indices start at 1; drop it."
        )
    shift = int(lowest > 0 if zero_based == "auto" else not zero_based)
    if shift:
        indices -= 1
    needed = int(indices.max(initial=-1)) + 1
    if n_features is None:
        n_features = needed
    if needed > n_features:
        raise rows.error_at_slot(
            indices.argmax(),
            f"index {needed - 1 + shift} does not fit in n_features={n_features}; use {needed}.",
        )
    X = csr_matrix((rows.values, indices, rows.indptr), shape=(len(rows.labels), n_features))
    if not rows.ordered:
        X.has_sorted_indices = False
        X.sort_indices()
        _refuse_duplicates(rows, X, shift)
    X.has_canonical_format = True
    return X


def _refuse_duplicates(rows, X, shift):
    row_of_slot = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    twice = (X.indices[1:] == X.indices[:-1]) & (row_of_slot[1:] == row_of_slot[:-1])
    if twice.any():
        slot = twice.argmax()
        index = X.indices[slot] + shift
        raise rows.error_at_slot(slot, f"index {index} occurs twice; keep one of the two.")


def _query_numbers(rows, wanted):
    if not wanted or (wanted == "auto" and not rows.has_qid.any()):
        return None
    if not rows.has_qid.all():
        raise rows.error_at_row(
            rows.has_qid.argmin(),
            "no qid:N after the label; give every line one, or ignore them with qid=False.",
        )
    return rows.qids


def _canonical_csr(X):
    from scipy.sparse import csr_matrix

    X = csr_matrix(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _check_writable(path, X, y, qid):
    n = X.shape[0]
    if y.shape != (n,) or y.dtype.kind not in "biuf":
        raise OneslackError(
            f"{path}: y must be {n} numbers, got {y.dtype} of shape {y.shape}; map names to "
            "numbers, or write a CSV file."
        )
    if qid is not None and (np.shape(qid) != (n,) or np.asarray(qid).dtype.kind not in "iu"):
        raise OneslackError(f"{path}: qid must be {n} integers, one for each row of X.")
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise OneslackError(f"{path}: X or y holds nan or infinity; remove or replace them first.")


def _shortest(numbers):
    """Each number in the fewest digits that read back to the same double, 2.0 as 2."""
    if numbers.dtype.kind != "f":
        return [str(int(number)) for number in numbers]
    return [text.removesuffix(".0") for text in map(repr, numbers.astype(np.float64).tolist())]


def looks_like(sample):
    """By its first row.  A table that looks like nothing is taken for svmlight: its reader says best why."""
    rows = (line.partition(b"#")[0].split() for line in sample.splitlines())
    label, *pairs = next(filter(None, rows), [b""])
    if NUMBER.fullmatch(label) and all(map(PAIR.fullmatch, pairs[1:2])):
        if not pairs or PAIR.fullmatch(pairs[0]):
            return CERTAIN
        if pairs[0].startswith(b"qid:"):
            return WITH_QUERIES
    return 0.2


FORMAT = Format(
    "svmlight", "svmlight", "table", partial(read_svmlight, qid="auto"), (".svm", ".svmlight", ".libsvm"),
    looks_like, ("zero_based",),
)  # fmt: skip
