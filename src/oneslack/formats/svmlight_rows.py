"""From the bytes of an svmlight file to flat arrays, and from a bad byte to a sentence.

Two passes: newlines and colons are counted, which bounds the number of rows and of entries, then
the compiled parser fills the arrays.  A plain file is mapped, not loaded, so the peak memory is the
result.  An error is a byte position first; only when it is raised does it become a line number.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FormatError
from .compression import read_buffer
from .labels import EXACT_INTEGERS, INTEGER
from .lines import blocks_of_lines, count, line_number

EXPECTED = "expected 'label index:value index:value ...'"
TOKEN = re.compile(rb"[^ \t\r\n]*")
LABEL = re.compile(rb"[ \t\r]*([^ \t\r\n#]*)")
NOT_FINITE = ("nan", "inf", "infinity")


@dataclass
class Rows:
    """labels, qids, has_qid, starts (rows,); indptr (rows + 1,); indices, values (entries,).

    `starts` are the byte positions of the lines that the rows came from.
    """

    path: str
    buffer: Any
    labels: np.ndarray
    qids: np.ndarray
    has_qid: np.ndarray
    starts: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    ordered: bool = True

    def error(self, position, sentence):
        line = line_number(self.buffer, position)
        return FormatError(f"{self.path}, line {line}: {sentence}")

    def error_at_row(self, row, sentence):
        return self.error(self.starts[row], sentence)

    def error_at_slot(self, slot, sentence):
        return self.error_at_row(np.searchsorted(self.indptr, slot, side="right") - 1, sentence)


def read_rows(path, dtype):
    """All rows of a file, in the order and with the indices written there."""
    rows = rows_of(path, read_buffer(path), dtype)
    if len(rows.labels) == 0:
        raise rows.error(len(rows.buffer), f"the file ends without any example; {EXPECTED}.")
    return rows


def rows_of(path, buffer, dtype):
    """The rows of a text, perhaps none."""
    rows = _allocate(path, buffer, dtype)
    n_rows = n_entries = 0
    for block, offset in blocks_of_lines(buffer):
        first = n_rows
        n_rows, n_entries = _parse_block(rows, block, offset, n_rows, n_entries)
        rows.starts[first:n_rows] += offset
    _trim(rows, n_rows, n_entries)
    return rows


def labels_apart(rows):
    """The labels: as they are, or as int64 where whole numbers are too large for doubles of their own.

    Those that are too long for int64 too must at least not become one.
    """
    large = np.flatnonzero(np.abs(rows.labels) >= EXACT_INTEGERS)
    if not len(large):
        return rows.labels
    texts = [LABEL.match(rows.buffer, start)[1].decode() for start in rows.starts[large].tolist()]
    if all(map(INTEGER.fullmatch, texts)) and (rows.labels == np.round(rows.labels)).all():
        labels = rows.labels.astype(np.int64)
        labels[large] = list(map(int, texts))
        return labels
    known = {}
    for row, text in zip(large, texts):
        if text.lstrip("+-").isdigit():
            other = known.setdefault(rows.labels[row], text)
            if int(other) != int(text):
                raise rows.error_at_row(
                    row, f"the label {text} cannot be told from {other}; give the labels at most 18 digits."
                )
    return rows.labels


def _allocate(path, buffer, dtype):
    n_lines = count(buffer, b"\n") + 1
    n_colons = count(buffer, b":")
    return Rows(
        path=path,
        buffer=buffer,
        labels=np.empty(n_lines),
        qids=np.zeros(n_lines, np.int64),
        has_qid=np.zeros(n_lines, bool),
        starts=np.empty(n_lines, np.int64),
        indptr=np.zeros(n_lines + 1, np.int64),
        indices=np.empty(n_colons, np.int32),
        values=np.empty(n_colons, dtype),
    )


def _trim(rows, n_rows, n_entries):
    """Give back what comments, blank lines and query numbers made the counts overestimate."""
    for array in (rows.labels, rows.qids, rows.has_qid, rows.starts):
        array.resize(n_rows, refcheck=False)
    rows.indptr.resize(n_rows + 1, refcheck=False)
    for array in (rows.indices, rows.values):
        array.resize(n_entries, refcheck=False)


def _parse_block(rows, block, offset, row, entry):
    """Parse a block into the arrays; the numbers of rows and entries after it."""
    from .._jit import svmlight as jit

    arrays = (rows.labels, rows.qids, rows.has_qid, rows.starts, rows.indptr, rows.indices, rows.values)
    hard = np.empty((256, 3), np.int64)
    position, what = 0, jit.FULL
    while what == jit.FULL:
        what, position, row, entry, n_hard, ordered = jit.parse_lines(
            block, position, row, entry, *arrays, hard
        )
        rows.ordered &= ordered
        _read_hard_numbers(rows, block, offset, hard[:n_hard])
        if what == jit.FULL and n_hard == 0:  # one line alone has more hard numbers than fit
            hard = np.empty((2 * len(hard), 3), np.int64)
    if what != jit.DONE:
        describe = {
            jit.BAD_LABEL: _bad_label,
            jit.BAD_QID: _bad_qid,
            jit.BAD_INDEX: _bad_index,
            jit.BAD_VALUE: _bad_value,
        }[what]
        # The text up to the next blank, cut to a length that a message can show.
        token = TOKEN.match(block[position : position + 40].tobytes()).group()
        raise rows.error(offset + position, describe(token.decode("utf-8", "backslashreplace")))
    return row, entry


def _read_hard_numbers(rows, block, offset, hard):
    for slot, start, stop in hard.tolist():
        text = block[start:stop].tobytes().decode()
        number = float(text)
        if not np.isfinite(number):
            raise rows.error(offset + start, _not_finite(text))
        if slot < 0:
            rows.labels[-1 - slot] = number
        else:
            rows.values[slot] = number


def _not_finite(text):
    return f"the number {text!r} is not finite; remove the example or put a number in its place."


def _bad_label(token):
    if "," in token:
        return f"several labels {token!r}; expected one label a line, so split or drop the example."
    if ":" in token:
        return f"no label before {token!r}; {EXPECTED}, so put a label in front (0 if unknown)."
    if token.lstrip("+-").lower() in NOT_FINITE:
        return _not_finite(token)
    if not token.isprintable() or "\\x" in token:
        return f"found the bytes {token!r}, but expected text; is this a binary file?"
    return (
        f"the label {token!r} is not a number; {EXPECTED} with a number as label, so map names to "
        "numbers, or use a CSV file, where labels may be names."
    )


def _bad_qid(token):
    return f"{token!r} is not a query number; expected 'qid:' and an integer after the label."


def _bad_index(token):
    index, colon, _ = token.partition(":")
    if index == "qid":
        return f"{token!r} is out of place; expected one 'qid:' a line, right after the label."
    if not colon:
        return f"no colon in {token!r}; expected 'index:value'."
    if index.startswith("-"):
        return f"the index in {token!r} is negative; indices start at 0 or 1."
    if index.isdigit():
        return f"the index in {token!r} is too large; expected at most {2**31 - 2}."
    return f"the index in {token!r} is not an integer; expected 'index:value'."


def _bad_value(token):
    value = token.partition(":")[2]
    if not value:
        return f"no value after {token!r}; expected 'index:value' without a blank."
    if value.lstrip("+-").lower() in NOT_FINITE:
        return _not_finite(value)
    return f"the value in {token!r} is not a number; expected 'index:value', such as 7:0.5."
