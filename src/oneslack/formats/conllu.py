"""CoNLL-U: ten columns between tabs, comments, multiword tokens and empty nodes; see `conll` for the rest."""

import os
import re

from ..errors import FormatError
from .compression import read_buffer
from .conll import DOCUMENT, Layout, read_sentences
from .format import CERTAIN, Format

CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_WORD_ID = re.compile(rb"\d+([-.]\d+)?")


def read_conllu(path, columns=("form", "upos")):
    """Read CoNLL-U, plain or packed, as Sentences of the words: no multiword tokens, no empty nodes.

    columns: names among id, form, lemma, upos, xpos, feats, head, deprel, deps, misc; or a dict from
    names of your own to these.

    >>> from oneslack.formats import read_conllu
    >>> with open("one.conllu", "w") as file:
    ...     _ = file.write("1\\tStop\\tstop\\tVERB\\t_\\t_\\t0\\troot\\t_\\t_\\n\\n")
    >>> list(read_conllu("one.conllu", {"w": "form", "pos": "upos"}).columns)
    ['w', 'pos']
    """
    path = os.fspath(path)
    return read_sentences(read_buffer(path), layout_of(path, columns), None, "utf-8")


def layout_of(path, columns):
    """How to cut lines into the columns, names of CoNLL-U's or a dict from other names to these."""
    chosen = dict(columns) if isinstance(columns, dict) else dict(zip(columns, columns))
    unknown = [name for name in chosen.values() if name not in CONLLU]
    if unknown or not chosen:
        fault = f"CoNLL-U has no column {unknown[0]!r}" if unknown else "columns is empty"
        raise FormatError(f"{path}: {fault}; choose from {', '.join(CONLLU)}.")
    chosen = {name: CONLLU.index(place) for name, place in chosen.items()}
    return Layout(path, True, True, len(CONLLU), chosen)


def looks_like(sample):
    """Certain, if the first token has an id and ten columns."""
    lines = (line for line in sample.splitlines() if line.strip() and not line.startswith((b"#", DOCUMENT)))
    cells = next(lines, b"").split(b"\t")
    return CERTAIN * (len(cells) == len(CONLLU) and _WORD_ID.fullmatch(cells[0]) is not None)


FORMAT = Format("conllu", "CoNLL-U", "sentences", read_conllu, (".conllu",), looks_like)
