"""The template language: which strings around a token are its features.

    line    = [ factor { "&" factor } ] [ "#" anything ]       one line, one or more templates
    factor  = "bias" | atom | "ngram" "(" atom "," numbers ")"
    atom    = column "[" numbers "]" | function "(" atom { "," numbers } ")"
    numbers = integer [ ".." integer ]

A range stands for each of its numbers, and a line for every combination: suffix(w[-1..0], 2..3) is four
templates.  docs/feature_templates.md explains it by examples.
"""

import math
import os
import re
from dataclasses import dataclass
from itertools import product

from ..errors import FormatError, OneslackError
from ..formats.lines import read_text
from .functions import FUNCTIONS

TOKEN = re.compile(r"(?P<name>[^\W\d]\w*)|(?P<number>[+-]?\d{1,4}(?!\d))|(?P<sign>\.\.|[\[\]()&,])")
BLANKS = re.compile(r"\s*")
#: Templates that a line may stand for.
MOST = 10_000


@dataclass(frozen=True)
class Part:
    """The string in `column`, `offset` tokens to the right, after `functions` (("name", number), ...).

    >>> from oneslack.features import parse_templates
    >>> parse_templates("suffix(w[-1], 3)")[0].parts
    (Part(column='w', offset=-1, functions=(('suffix', 3),)),)
    """

    column: str
    offset: int
    functions: tuple = ()

    def __str__(self):
        text = f"{self.column}[{self.offset}]"
        for name, *numbers in self.functions:
            text = f"{name}({', '.join([text, *map(str, numbers)])})"
        return text


@dataclass(frozen=True)
class Template:
    """Parts that count together; without parts it is the bias, the same for every token.

    >>> from oneslack.features import Part, Template, parse_templates
    >>> parse_templates("w[0] & pos[1]")[0] == Template((Part("w", 0), Part("pos", 1)))
    True
    """

    parts: tuple[Part, ...] = ()

    def __str__(self):
        return " & ".join(map(str, self.parts)) or "bias"


def parse_templates(text):
    """The templates of a text, one or more a line, as a tuple.

    >>> from oneslack.features import parse_templates
    >>> len(parse_templates("w[-1..1]  # three\\nsuffix(w[0], 3) & pos[1]"))
    4
    """
    return _parse(text, "templates", OneslackError)


def read_templates(path):
    """The templates of a UTF-8 file.

    >>> from oneslack.features import read_templates
    >>> with open("mine.txt", "w") as file:
    ...     _ = file.write("w[-1..1]  # the word and its neighbours")
    >>> len(read_templates("mine.txt"))
    3
    """
    path = os.fspath(path)
    return _parse(read_text(path), path, FormatError)


def _parse(text, where, error):
    lines = {}  # from the parts of a template, in any order, to its line
    templates = []
    for number, line in enumerate(text.splitlines(), 1):
        for template in _Line(line.partition("#")[0], f"{where}, line {number}", error).templates():
            parts = frozenset(template.parts)
            if parts in lines:
                raise error(
                    f"{where}, line {number}, column 1: {template} stands already in line {lines[parts]}; "
                    "drop one of them."
                )
            lines[parts] = number
            templates.append(template)
    if not templates:
        raise error(f"{where}, line 1, column 1: there is no template; write one a line, such as w[0].")
    return tuple(templates)


class _Line:
    """A recursive-descent parser of one line; `tokens` are (kind, text, column) and end in ("end", ...)."""

    def __init__(self, line, where, error):
        self.where, self.error = where, error
        self.tokens = []
        at = BLANKS.match(line).end()
        while at < len(line):
            match = TOKEN.match(line, at)
            if match is None:
                raise self._fail(at + 1, f"cannot read {line[at : at + 10].split()[0]!r}; {_EXAMPLES}")
            self.tokens.append((match.lastgroup, match.group(), at + 1))
            at = BLANKS.match(line, match.end()).end()
        self.tokens.append(("end", "the end of the line", len(line) + 1))
        self.next = 0

    def templates(self):
        """The templates of the line, [] for a line without any."""
        if self.tokens[0][0] == "end":
            return []
        factors = [self._factor()]
        while self._skip("&"):
            factors.append(self._factor())
        self._expect("end", "'&' or the end of the line")
        self._refuse_many(1, *map(len, factors))
        joined = [Template(sum(choice, ())) for choice in product(*factors)]
        for template in joined:
            if len(factors) > 1 and any(() in factor for factor in factors):
                raise self._fail(1, "bias is the same for every token; give it a line of its own.")
            if len(set(template.parts)) < len(template.parts):
                raise self._fail(1, f"{template} has a part twice; drop one, or write out the ranges.")
        return joined

    def _factor(self):
        """A list of tuples of parts."""
        kind, text, column = self.tokens[self.next]
        following = self.tokens[self.next + 1][1] if kind != "end" else ""
        if text == "bias" and following != "[":
            self.next += 1
            return [()]
        if text != "ngram" or following != "(":
            return [(part,) for part in self._atom()]
        self.next += 2
        parts = self._atom()
        self._expect(",", "',' and a length")
        lengths = self._numbers(least=1)
        self._expect(")", "')'")
        if len({part.functions for part in parts}) > 1 or max(lengths) > len(parts):
            raise self._fail(
                column, "ngram takes a window and a length that fits in it, as in ngram(pos[-2..2], 3)."
            )
        self._refuse_many(column, len(parts), len(lengths))
        return [tuple(parts[i : i + n]) for n in lengths for i in range(len(parts) - n + 1)]

    def _atom(self):
        """A list of parts."""
        kind, name, column = self.tokens[self.next]
        if kind != "name":
            found = _shown(kind, name)
            raise self._fail(column, f"expected a column or a function, found {found}; {_EXAMPLES}")
        self.next += 1
        if self._skip("["):
            offsets = self._numbers()
            self._expect("]", "']'")
            return [Part(name, offset) for offset in offsets]
        if not self._skip("("):
            at = self.tokens[self.next][2]
            raise self._fail(at, f"expected '[' after {name!r}; {name}[0] is that of the token itself.")
        if name not in FUNCTIONS:
            raise self._fail(column, f"there is no function {name!r}; choose from {', '.join(FUNCTIONS)}.")
        parts = self._atom()
        arguments = []
        while self._skip(","):
            arguments.append(self._numbers(least=1))
        self._expect(")", "')'")
        wanted = FUNCTIONS[name][1]
        if len(arguments) != wanted:
            right = f"{name}({parts[0]}{', 3' * wanted})"
            raise self._fail(column, f"{name} takes {wanted} numbers, found {len(arguments)}; write {right}.")
        self._refuse_many(column, len(parts), *map(len, arguments))
        return [
            Part(part.column, part.offset, (*part.functions, (name, *numbers)))
            for part in parts
            for numbers in product(*arguments)
        ]

    def _numbers(self, least=-9999):
        column = self.tokens[self.next][2]
        first = last = int(self._expect("number", "a number"))
        if self._skip(".."):
            last = int(self._expect("number", "a number after '..'"))
        if first > last:
            raise self._fail(column, f"the range {first}..{last} is empty; write the smaller number first.")
        if first < least:
            raise self._fail(column, f"found {first}, expected {least} or more.")
        return range(first, last + 1)

    def _refuse_many(self, column, *counts):
        if math.prod(counts) > MOST:
            raise self._fail(
                column, f"the ranges stand for {math.prod(counts)} templates, at most {MOST} fit."
            )

    def _skip(self, sign):
        found = self.tokens[self.next][:2] == ("sign", sign)
        self.next += found
        return found

    def _expect(self, wanted, description):
        kind, text, column = self.tokens[self.next]
        if wanted not in (kind, text if kind == "sign" else None):
            raise self._fail(column, f"expected {description}, found {_shown(kind, text)}.")
        self.next += 1
        return text

    def _fail(self, column, sentence):
        return self.error(f"{self.where}, column {column}: {sentence}")


_EXAMPLES = "write templates such as w[-1], suffix(w[0], 1..3), w[0] & pos[0]."


def _shown(kind, text):
    return text if kind == "end" else repr(text)
