"""Tagged text in blocks of whole sentences, and the same text with labels in it.

A file that is larger than memory goes through block by block, packed or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .conll import Layout, classify, read_sentences
from .conllu import CONLLU, layout_of
from .lines import BYTE_ORDER_MARK, decoded
from .sentences import Sentences
from .streams import TextStream, sentence_end, windows

#: Bytes that are read at a time; a block is about as long.
CHUNK = 1 << 22
#: The bytes at which bytes.split() cuts; str.rstrip() alone would take more.
BLANKS = " \t\r\x0b\x0c"


@dataclass(frozen=True)
class Block:
    """Whole sentences: their lines, which of these are tokens, and what was read; None without tokens."""

    lines: list[str]
    is_token: np.ndarray
    sentences: Sentences | None


def conll_blocks(path, columns, *, tabs) -> Iterator[Block]:
    """Blocks of a CoNLL file; `columns` as for read_conll."""
    return _blocks(path, Layout(path, tabs, False, None, None), columns)


def conllu_blocks(path, columns) -> Iterator[Block]:
    """Blocks of a CoNLL-U file; `columns` is a dict from names to CoNLL-U's."""
    return _blocks(path, layout_of(path, columns), None)


def with_last_column(block, labels, tabs) -> Iterator[str]:
    """The lines, each token's with its label as one more column."""
    cut, blanks = ("\t", "\r") if tabs else (" ", BLANKS)
    labels = iter(labels)
    for line, is_token in zip(block.lines, block.is_token.tolist(), strict=True):
        if is_token:
            end = "\r\n" if line.endswith("\r") else "\n"
            yield f"{line.rstrip(blanks)}{cut}{next(labels)}{end}"
        else:
            yield f"{line}\n"


def with_column(block, column, labels, notes=None) -> Iterator[str]:
    """The lines of CoNLL-U, each word's with its label in the column of that name; `notes` go to MISC."""
    place, labels = CONLLU.index(column), iter(labels)
    notes = None if notes is None else iter(notes)
    for line, is_token in zip(block.lines, block.is_token.tolist(), strict=True):
        if is_token:
            end = "\r" if line.endswith("\r") else ""
            fields = line.removesuffix("\r").split("\t")
            fields[place] = next(labels)
            if notes is not None:
                fields[-1] = next(notes) if fields[-1] in ("", "_") else f"{fields[-1]}|{next(notes)}"
            line = "\t".join(fields) + end
        yield f"{line}\n"


def _blocks(path, layout, columns):
    n_lines = n_tokens = 0
    with TextStream(path) as stream:
        for text, _ in windows(stream, CHUNK, 0, sentence_end, "sentence"):
            text = text.removeprefix(b"" if n_lines else BYTE_ORDER_MARK)
            lines = classify(text, layout)
            found = int(lines.is_token.sum())
            sentences = read_sentences(text, layout, columns, lines_before=n_lines) if found else None
            shown = decoded(path, text, lines_before=n_lines).split("\n")[:-1]
            yield Block(shown, lines.is_token, sentences)
            n_lines, n_tokens = n_lines + len(shown), n_tokens + found
    if n_tokens == 0:
        read_sentences(b"", layout, columns, lines_before=n_lines)  # says that there is no token
