"""Text in chunks that end where a line, a row or a sentence does: svmlight, delimited, tagged."""

from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np

from ...errors import FormatError
from .. import conll, conllu, delimited, svmlight, svmlight_rows
from ..lines import line_number, text_start
from ..sentences import Sentences
from ..shards.columns import as_column, as_groups
from ..shards.pieces import Piece
from ..streams import TextStream, line_end, row_end, sentence_end, windows
from .chunks import Chunk

TOO_LARGE = "a number is too large for {}; pack with --dtype float64."


def _chunks(path, size, start, last_end, unit, parse):
    """Chunks from byte `start` on; parse(text) gives their pieces."""
    with TextStream(path, start) as stream:
        for text, stop in windows(stream, size, start, last_end, unit):
            yield Chunk(partial(parse, text), stop, stream.done)


# svmlight: indices stay as written, as a later chunk may show that they start at 0.


def svmlight_chunks(path, options, size, start):
    """Chunks from byte `start` on."""
    return _chunks(path, size, start, line_end, "line", partial(_sparse_piece, path, options.dtype))


def _sparse_piece(path, dtype, text):
    with np.errstate(over="ignore"):  # refused below
        rows = svmlight_rows.rows_of(path, text, dtype)
    finite = np.isfinite(rows.values)
    if not finite.all():
        raise rows.error_at_slot(finite.argmin(), TOO_LARGE.format("float32"))
    line_of_zero = None
    if rows.indices.min(initial=1) == 0:
        row = np.searchsorted(rows.indptr, rows.indices.argmin(), side="right") - 1
        line_of_zero = line_number(rows.buffer, rows.starts[row])
    X = svmlight._matrix(rows, None, True)
    groups = svmlight._query_numbers(rows, "auto")
    labels = as_column(rows.labels)
    return Piece("sparse", X, labels, groups, path=path, n_lines=text.count(b"\n"), line_of_zero=line_of_zero)


# Delimited text: the first lines of a file tell how to read all of it.


def csv_chunks(path, options, size, start):
    """Chunks from byte `start` on; 0 is the whole file with its header."""
    layout, n_header = _csv_layout(path, options, size)
    if layout is None:
        return
    parse = partial(_dense_piece, replace(layout, body=0), options.dtype)
    skipped = 0 if start else n_header
    for chunk in _chunks(path, size, start or layout.body, row_end, "row", parse):
        yield replace(chunk, skipped=skipped)
        skipped = 0


def _csv_layout(path, options, size):
    """(layout, number of lines before the first row) of a file, or (None, 0) of an empty one."""
    with TextStream(path) as stream:
        for text, _ in windows(stream, size, 0, line_end):
            if text[text_start(text) :].strip():
                layout = delimited._find_layout(path, text, options.label, options.group, None)
                return layout, text.count(b"\n", 0, layout.body)
    return None, 0


def _dense_piece(layout, dtype, text):
    # Groups are read as numbers first, which float32 would round.
    read_as = dtype if layout.group is None else np.float64
    with np.errstate(over="ignore"):
        plain = delimited._read_plain_cells(text, layout, read_as)
        X, labels, groups = plain or delimited._read_any_cells(text, layout, read_as)
        X = X.astype(dtype, copy=False)
    finite = np.isfinite(X).all(axis=1)
    if not finite.all():
        where, _ = next(islice(delimited._rows_of_cells(text, layout), finite.argmin(), None))
        raise FormatError(f"{where}: {TOO_LARGE.format(X.dtype)}")
    return Piece(
        "dense",
        X,
        None if layout.label is None else as_column(labels),
        None if layout.group is None else as_groups(groups),
        feature_names=layout.feature_names,
        path=layout.path,
        n_lines=text.count(b"\n"),
    )


# Tagged text.


def conll_chunks(path, options, size, start):
    """Chunks from byte `start` on; a file called .conllu is CoNLL-U."""
    if conllu.FORMAT.names(path):
        return conllu_chunks(path, options, size, start)
    layout = _conll_layout(path, options.columns, size)
    return [] if layout is None else _sentence_chunks(path, layout, size, start)


def conllu_chunks(path, options, size, start):
    """Chunks from byte `start` on."""
    layout = conllu.layout_of(path, options.columns or ("form", "upos"))
    return _sentence_chunks(path, layout, size, start)


def _sentence_chunks(path, layout, size, start):
    return _chunks(path, size, start, sentence_end, "sentence", partial(_sentences_piece, layout))


def _conll_layout(path, columns, size):
    """How to cut the lines, as the first token shows, or None where there is none."""
    with TextStream(path) as stream:
        for text, _ in windows(stream, size, 0, sentence_end, "sentence"):
            if first := conll.first_line(text):
                layout = conll.Layout(path, b"\t" in first, False, None, None)
                conll.read_sentences(text, layout, columns)
                return layout
    return None


def _sentences_piece(layout, text):
    if conll.classify(text, layout).is_token.any():
        sentences = conll.read_sentences(text, layout)
    else:  # comments or empty lines only
        sentences = Sentences({}, np.zeros(1, np.int64))
    names, n_lines = list(layout.chosen), text.count(b"\n")
    return Piece("sentences", sentences, feature_names=names, path=layout.path, n_lines=n_lines)
