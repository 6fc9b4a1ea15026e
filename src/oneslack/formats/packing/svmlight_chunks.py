"""svmlight text in chunks; indices stay as written, as a later chunk may show that they start at 0."""

from functools import partial

import numpy as np

from .. import svmlight, svmlight_rows
from ..lines import blocks_of_lines, line_number
from ..shards.columns import as_column
from ..shards.pieces import Piece
from .chunks import Chunk
from .streams import TextStream, line_end, windows


def svmlight_chunks(path, options, size, start):
    """Chunks from byte `start` on."""
    with TextStream(path, start) as stream:
        for text, stop in windows(stream, size, start, line_end):
            yield Chunk(partial(_piece, path, text, options.dtype), stop, stream.done)


def _piece(path, text, dtype):
    rows = svmlight_rows._allocate(path, text, dtype)
    n_lines = len(rows.labels) - 1
    n_rows = n_entries = 0
    for block, offset in blocks_of_lines(text):
        first = n_rows
        with np.errstate(over="ignore"):  # refused below
            n_rows, n_entries = svmlight_rows._parse_block(rows, block, offset, n_rows, n_entries)
        rows.starts[first:n_rows] += offset
    svmlight_rows._trim(rows, n_rows, n_entries)
    _refuse_too_large(rows)
    line_of_zero = _line_of_zero(rows)
    X = svmlight._matrix(rows, None, True)
    groups = svmlight._query_numbers(rows, "auto")
    labels = as_column(rows.labels)
    return Piece("sparse", X, labels, groups, path=path, n_lines=n_lines, line_of_zero=line_of_zero)


def _line_of_zero(rows):
    """The line with the first index 0, or None."""
    if rows.indices.min(initial=1) > 0:
        return None
    row = np.searchsorted(rows.indptr, rows.indices.argmin(), side="right") - 1
    return line_number(rows.buffer, rows.starts[row])


def _refuse_too_large(rows):
    finite = np.isfinite(rows.values)
    if not finite.all():
        raise rows.error_at_slot(
            finite.argmin(), "a number is too large for float32; pack with --dtype float64."
        )
