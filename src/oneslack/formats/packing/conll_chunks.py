"""Tagged text in chunks of whole sentences."""

from dataclasses import replace
from functools import partial

import numpy as np

from .. import conll, conllu
from ..sentences import Sentences
from ..shards.pieces import Piece
from ..streams import TextStream, sentence_end, windows
from .chunks import Chunk


def conll_chunks(path, options, size, start):
    """Chunks from byte `start` on; a file called .conllu is CoNLL-U."""
    if conllu.FORMAT.names(path):
        return conllu_chunks(path, options, size, start)
    return _chunks(path, _layout(path, options.columns, size), size, start)


def conllu_chunks(path, options, size, start):
    """Chunks from byte `start` on."""
    return _chunks(path, conllu.layout_of(path, options.columns or ("form", "upos")), size, start)


def _chunks(path, layout, size, start):
    if layout is None:
        return
    with TextStream(path, start) as stream:
        for text, stop in windows(stream, size, start, sentence_end, "sentence"):
            yield Chunk(partial(_piece, replace(layout), text), stop, stream.done)


def _layout(path, columns, size):
    """How to cut the lines, as the first token shows, or None where there is none."""
    with TextStream(path) as stream:
        for text, _ in windows(stream, size, 0, sentence_end, "sentence"):
            if first := conll.first_line(text):
                layout = conll.Layout(path, b"\t" in first, False, None, None)
                conll.read_sentences(text, layout, columns)
                return layout
    return None


def _piece(layout, text):
    if conll.classify(text, layout).is_token.any():
        sentences = conll.read_sentences(text, layout)
    else:  # comments or empty lines only
        sentences = Sentences({}, np.zeros(1, np.int64))
    names, n_lines = list(layout.chosen), text.count(b"\n")
    return Piece("sentences", sentences, feature_names=names, path=layout.path, n_lines=n_lines)
