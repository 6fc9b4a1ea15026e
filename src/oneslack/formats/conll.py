"""CoNLL text: one token a line in columns, an empty line after each sentence.

A block of lines is classified by array operations (how many fields, a comment, the end of a sentence),
then all its fields are cut out at once.  No Python code runs for a line.
"""

import os
import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ..errors import FormatError, OneslackError
from .compression import read_buffer
from .format import LIKELY, Format
from .lines import blocks_of_lines, first_where, line_number
from .sentences import Column, Sentences, encode, new_vocabulary
from .svmlight import NUMBER

BLOCK = 1 << 22  # bytes in a block, but for longer lines: bounds the memory that the fields take
DOCUMENT = b"-DOCSTART-"
NEWLINE, TAB, HASH, HYPHEN, POINT = b"\n\t#-."
_EMPTY_LINE = re.compile(rb"\n[ \t\r]*\n")
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1f]")
#: The bytes at which bytes.split() cuts.
IS_BLANK = np.isin(np.arange(256), list(b" \t\n\r\x0b\x0c"))


@dataclass
class Layout:
    """How to cut lines; `n_columns` and `chosen`, from name to position, are known at the first token."""

    path: str
    tabs: bool
    conllu: bool
    n_columns: int | None
    chosen: dict[str, int] | None


def read_conll(path, columns=None, *, separator="auto", encoding="utf-8"):
    """Read tagged text in columns, plain or packed, as Sentences.

    columns: names of all columns in the file's order, None for one that is not wanted; or a dict from
    names to positions, where -1 is the last; without it they are called col0, col1, ...
    separator: "tab", "blank" (any run of spaces and tabs), or "auto": "tab" when there is one in the
    first line.  Lines that start with -DOCSTART- end a sentence and are left out.

    >>> from oneslack.formats import read_conll
    >>> with open("train.txt", "w") as file:
    ...     _ = file.write("He PRP B-NP\\nran VBD B-VP\\n\\nStop VB B-VP\\n")
    >>> sentences = read_conll("train.txt", ["w", "pos", "chunk"])
    >>> list(sentences.columns["w"].values), sentences.offsets.tolist()
    (['He', 'ran', 'Stop'], [0, 2, 3])
    """
    if separator not in ("auto", "tab", "blank"):
        raise OneslackError(f"separator must be 'auto', 'tab' or 'blank', got {separator!r}.")
    path = os.fspath(path)
    buffer = read_buffer(path)
    tabs = separator == "tab" or (separator == "auto" and b"\t" in first_line(buffer))
    return read_sentences(buffer, Layout(path, tabs, False, None, None), columns, encoding)


def first_line(buffer):
    """The first line with a token, without blanks around it."""
    line, _, _ = first_where(buffer, lambda line: line.strip() and not line.startswith(DOCUMENT))
    return line.strip()


def read_sentences(buffer, layout, columns=None, encoding="utf-8", lines_before=0):
    """The Sentences of a text, of which so many lines stand before it in its file."""
    vocabularies, pieces = defaultdict(new_vocabulary), defaultdict(list)
    ends = [np.zeros(1, np.int64)]
    n_lines, n_tokens = lines_before, 0
    for block, _ in blocks_of_lines(buffer, size=BLOCK):
        lines = classify(block.tobytes(), layout)
        if layout.chosen is None and lines.is_token.any():
            layout.n_columns = int(lines.n_fields[lines.is_token.argmax()])
            layout.chosen = _choose(layout, columns, n_lines + 1 + lines.is_token.argmax())
        _check_fields(layout, lines, n_lines)
        chosen = layout.chosen or {}
        for name, texts in zip(chosen, lines.columns(chosen.values(), layout.n_columns), strict=True):
            pieces[name].append(encode(vocabularies[name], texts))
        before = n_tokens + np.cumsum(lines.is_token)
        ends.append(before[lines.is_end])
        n_lines += len(before)
        n_tokens = int(before[-1])
    if n_tokens == 0:
        raise FormatError(
            f"{layout.path}, line {max(n_lines, 1)}: the file ends without any token; "
            "expected one token a line, its columns separated by blanks or tabs."
        )
    made = {
        name: Column(
            _decode(layout, buffer, vocabularies[name], encoding, lines_before), np.concatenate(pieces[name])
        )
        for name in layout.chosen
    }
    return Sentences(made, np.unique(np.concatenate([*ends, [n_tokens]])), layout.path)


def classify(block, layout):
    """What the lines of a block are, the last one with its newline."""
    lines = _TabLines(block) if layout.tabs else _BlankLines(block)
    if layout.conllu:
        lines.leave_out_what_is_no_word()
    else:
        lines.leave_out_document_starts()
    return lines


class _Lines:
    """What each line of a block is: n_fields, is_token and is_end (of a sentence), all (lines,)."""

    def __init__(self, block):
        self.block = block
        self.data = np.frombuffer(block, np.uint8)
        self.stops = np.flatnonzero(self.data == NEWLINE)
        self.starts = np.concatenate([[0], self.stops[:-1] + 1])
        self.n_fields = self._count_fields()
        self.is_token = self.n_fields > 0
        self.is_end = ~self.is_token

    def begin_with(self, byte):
        return self.data[self.starts] == byte

    def leave_out_document_starts(self):
        lines = np.flatnonzero(self.begin_with(HYPHEN))
        lines = [line for line in lines if self.block.startswith(DOCUMENT, self.starts[line])]
        self.is_token[lines] = False
        self.is_end[lines] = True


class _BlankLines(_Lines):
    """Lines cut at runs of blanks."""

    def _count_fields(self):
        blank = IS_BLANK[self.data]
        begins = ~blank
        begins[1:] &= blank[:-1]
        return np.add.reduceat(begins, self.starts, dtype=np.int32)

    def columns(self, places, n_columns):
        """The texts of all tokens in each of the columns `places`."""
        text = self.block
        if (self.is_end & (self.n_fields > 0)).any():
            text = self.data[np.repeat(self.is_token, self.stops + 1 - self.starts)].tobytes()
        fields = text.split()
        return [fields[place::n_columns] for place in places]


class _TabLines(_Lines):
    """Lines cut at every tab; a line of blanks only ends a sentence all the same."""

    def __init__(self, block):
        super().__init__(block.replace(b"\r\n", b"\n"))

    def _count_fields(self):
        # Line i is cut at cuts[first_cut[i]], ..., the last of these being its newline.
        self.cuts = np.flatnonzero((self.data == TAB) | (self.data == NEWLINE))
        last_cut = np.flatnonzero(self.data[self.cuts] == NEWLINE)
        self.first_cut = np.concatenate([[0], last_cut[:-1] + 1])
        n_fields = last_cut - self.first_cut + 1
        for line in np.flatnonzero(IS_BLANK[self.data[self.starts]]):
            if not self.block[self.starts[line] : self.stops[line]].strip():
                n_fields[line] = 0
        return n_fields

    def leave_out_what_is_no_word(self):
        """Comments, and what has an id such as 3-4 (a multiword token) or 5.1 (an empty node)."""
        marks = np.append(np.flatnonzero((self.data == HYPHEN) | (self.data == POINT)), len(self.data))
        in_id = marks[np.searchsorted(marks, self.starts)] < self.cuts[self.first_cut]
        self.is_token &= ~(in_id | self.begin_with(HASH))

    def columns(self, places, n_columns):
        """The texts of all tokens in each of the columns `places`."""
        first = self.first_cut[self.is_token]
        texts = []
        for place in places:
            starts = self.cuts[first + (place - 1)] + 1 if place else self.starts[self.is_token]
            stops = self.cuts[first + place]
            texts.append(list(map(self.block.__getitem__, map(slice, starts.tolist(), stops.tolist()))))
        return texts


def _check_fields(layout, lines, lines_before):
    wrong = (lines.n_fields != layout.n_columns) & lines.is_token
    if wrong.any():
        line = wrong.argmax()
        expected = (
            f"{layout.n_columns} columns, as {'CoNLL-U has' if layout.conllu else 'the first token has'}"
        )
        raise FormatError(
            f"{layout.path}, line {lines_before + 1 + line}: expected {expected}, found "
            f"{lines.n_fields[line]}, cutting at {'tabs' if layout.tabs else 'blanks'}; mend the line."
        )


def _choose(layout, columns, line):
    """From names to positions, given how many columns the first token has."""
    n = layout.n_columns
    if columns is None:
        return {f"col{place}": place for place in range(n)}
    if isinstance(columns, dict):
        beyond = [f"{name!r} at {place}" for name, place in columns.items() if not -n <= place < n]
        if not columns or beyond:
            raise FormatError(
                f"{layout.path}, line {line}: there are {n} columns, but columns asks for "
                f"{beyond[0] if beyond else 'none'}; give positions from 0 to {n - 1}."
            )
        return {name: range(n)[place] for name, place in columns.items()}
    names = [name for name in columns if name is not None]
    if len(columns) != n or not names or len(set(names)) < len(names):
        raise FormatError(
            f"{layout.path}, line {line}: expected {len(columns)} columns ({', '.join(map(str, columns))}), "
            f"found {n}; give {n} names that differ, None for a column that is not wanted."
        )
    return {name: place for place, name in enumerate(columns) if name is not None}


def _decode(layout, buffer, vocabulary, encoding, lines_before):
    try:
        return [text.decode(encoding) for text in vocabulary]
    except UnicodeDecodeError as error:
        line = lines_before + line_number(buffer, buffer.find(error.object))
        raise FormatError(
            f"{layout.path}, line {line}: {error.object[:40]!r} is not {encoding}; convert the file to UTF-8"
            f"{'' if layout.conllu else ', or name its encoding'}."
        ) from error


def looks_like(sample):
    """Likely, if most lines begin with a word and all have as many columns; more so with empty lines."""
    lines = [line for line in sample.splitlines() if line.strip() and not line.startswith(DOCUMENT)]
    rows = [line.split(b"\t" if b"\t" in line else None) for line in lines]
    n_words = sum(not NUMBER.fullmatch(row[0]) for row in rows)
    n_columns = {len(row) for row in rows}
    if _NO_TEXT.search(sample) or 2 * n_words <= len(rows) or not len(n_columns) == 1 < max(n_columns):
        return 0.1  # and yet its reader says best what is wrong with tagged text
    return 0.7 if _EMPTY_LINE.search(sample) else LIKELY


FORMAT = Format("conll", "CoNLL", "sentences", read_conll, (".conll", ".iob", ".iob2", ".bio"), looks_like)
