"""Delimited text in chunks: the first lines of a file tell how to read all of it."""

from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from ...errors import FormatError
from .. import delimited
from ..lines import text_start
from ..shards.columns import as_column, as_groups
from ..shards.pieces import Piece
from ..streams import TextStream, line_end, row_end, windows
from .chunks import Chunk
from .label_texts import texts_at


def csv_chunks(path, options, size, start):
    """Chunks from byte `start` on; 0 is the whole file with its header."""
    layout, n_header = _layout(path, options, size)
    if layout is None:
        return
    first = start or layout.body
    skipped = 0 if start else n_header
    with TextStream(path, first) as stream:
        for text, stop in windows(stream, size, first, row_end, "row"):
            parse = partial(_piece, replace(layout, body=0), text, options.dtype)
            yield Chunk(parse, stop, stream.done, skipped)
            skipped = 0


def _layout(path, options, size):
    """(layout, number of lines before the first row) of a file, or (None, 0) of an empty one."""
    with TextStream(path) as stream:
        for text, _ in windows(stream, size, 0, line_end):
            if text[text_start(text) :].strip():
                layout = delimited._find_layout(path, text, options.label, options.group, None)
                return layout, text.count(b"\n", 0, layout.body)
    return None, 0


def _piece(layout, text, dtype):
    # Groups are read as numbers first, which float32 would round.
    read_as = dtype if layout.group is None else np.float64
    with np.errstate(over="ignore"):
        plain = delimited._read_plain_cells(text, layout, read_as, texts_at)
        X, labels, groups = plain or delimited._read_any_cells(text, layout, read_as)
        X = X.astype(dtype, copy=False)
    _refuse_too_large(layout, text, X)
    return Piece(
        "dense",
        X,
        None if layout.label is None else as_column(labels),
        None if layout.group is None else as_groups(groups),
        feature_names=layout.feature_names,
        path=layout.path,
        n_lines=text.count(b"\n"),
    )


def _refuse_too_large(layout, text, X):
    finite = np.isfinite(X).all(axis=1)
    if not finite.all():
        where, _ = next(islice(delimited._rows_of_cells(text, layout), finite.argmin(), None))
        raise FormatError(f"{where}: a number is too large for {X.dtype}; pack with --dtype float64.")
