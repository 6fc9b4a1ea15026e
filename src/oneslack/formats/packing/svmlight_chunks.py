"""svmlight text in chunks; indices stay as written, as a later chunk may show that they start at 0."""

from functools import partial

import numpy as np

from .. import svmlight, svmlight_rows
from ..lines import line_number
from ..shards.columns import as_column
from ..shards.pieces import Piece
from ..streams import TextStream, line_end, windows
from .chunks import Chunk


def svmlight_chunks(path, options, size, start):
    """Chunks from byte `start` on."""
    with TextStream(path, start) as stream:
        for text, stop in windows(stream, size, start, line_end):
            yield Chunk(partial(_piece, path, text, options.dtype), stop, stream.done)


def _piece(path, text, dtype):
    with np.errstate(over="ignore"):  # refused below
        rows = svmlight_rows.rows_of(path, text, dtype)
    _refuse_too_large(rows)
    line_of_zero = _line_of_zero(rows)
    X = svmlight._matrix(rows, None, True)
    groups = svmlight._query_numbers(rows, "auto")
    labels = as_column(rows.labels)
    return Piece("sparse", X, labels, groups, path=path, n_lines=text.count(b"\n"), line_of_zero=line_of_zero)


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
