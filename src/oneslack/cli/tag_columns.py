"""The columns of tagged text: which one is the label, and where the templates look."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .data import Remembered
from .output import Exit, Refusal

#: The key of the labels among the columns that are read: no template can name it.
LABEL = "the label"
#: Names that templates may use for columns of CoNLL-U, beside its own.
CONLLU_NAMES = {"w": "form", "pos": "upos"}


@dataclass(frozen=True)
class TagSource(Remembered):
    """How a tagged file was read; the model remembers it, so that other files are read the same way.

    kind        "conll", "conllu" or "svmhmm"
    columns     names of all columns, in the order of a CoNLL file
    label       where the label is: a position in a CoNLL file, a name in CoNLL-U
    zero_based  whether the features of an SVM-hmm file are numbered from 0
    """

    kind: str
    columns: list[str] | None = None
    label: int | str | None = None
    zero_based: bool | None = None


def kind_of(path, wanted=None, least=0.0) -> str | None:
    """The format of a tagged file: as `wanted`, or as it looks at `least`; None for a table."""
    if wanted is not None:
        return wanted
    from ..formats.format import CERTAIN
    from ..formats.registry import format_of

    found = format_of(path, least=CERTAIN) or format_of(path, "sentences", least)
    return None if found is None or found.holds == "table" else found.name


@dataclass(frozen=True)
class Columns:
    """The columns of a file of text, or of a packed folder.

    kind       "conll", "conllu" or "packed"
    names      in the order of the file
    is_conllu  whether they have the names of CoNLL-U, by which packed text is told
    tabs       whether tabs cut them
    """

    path: str
    kind: str
    names: list[str]
    is_conllu: bool
    tabs: bool = True

    @classmethod
    def of(cls, path, kind, text=None, names_of=None):
        """Those of a file of this kind; of CoNLL as --columns names them, or as names_of(n) does."""
        from ..formats import open_shards
        from ..formats.conllu import CONLLU

        if kind not in ("conllu", "packed"):
            n, tabs = _look(path)
            names = (names_of or usual_names)(n) if text is None else _named(path, text, n)
            return cls(path, "conll", names, False, tabs)
        if text is not None:
            what = "is CoNLL-U, whose" if kind == "conllu" else "is packed, its"
            raise Refusal(f"{path}: {what} columns have names; drop --columns.", Exit.USAGE)
        if kind == "conllu":
            return cls(path, kind, list(CONLLU), True)
        shards = open_shards(path)
        if shards.kind != "sentences":
            raise Refusal(f"{path}: holds rows of numbers, no tagged text; use `oneslack train classify`.")
        names = shards.feature_names
        if names == [f"col{k}" for k in range(len(names))]:  # packed without --columns
            names = usual_names(len(names))
        return cls(path, kind, names, set(names) <= set(CONLLU))

    def has_pos(self, label) -> bool:
        """Is there a column of parts of speech that is not the label?"""
        if self.is_conllu:
            return "upos" in self.names and label not in ("upos", "xpos")
        return "pos" in self.names and label != "pos"

    def label(self, given=None) -> str:
        """The name of the label's column: by name, by position, or the usual one."""
        known = self._known()
        if given is None and len(known) == 1:
            raise Refusal(
                f"{self.path}: has one column only, so no labels; give each token a line with its label "
                "after it, between blanks or tabs."
            )
        if given is None:
            return "upos" if self.is_conllu else known[-1]
        place = _place(given, known)
        if place is None and self.is_conllu:
            raise Refusal(
                f"{self.path}: CoNLL-U has no column {given!r}; choose the label from {', '.join(known)}.",
                Exit.USAGE,
            )
        if place is None:
            raise Refusal(
                f"{self.path}: has no label column {given!r}; its columns are {', '.join(known)}, or 0 to "
                f"{len(known) - 1}."
            )
        return known[place]

    def of_templates(self, templates, label=None) -> dict:
        """{column of the templates: name}; the label must not be among them."""
        known, chosen = self._known(), {}
        for name in columns_of(templates):
            place = _place(CONLLU_NAMES.get(name, name) if self.is_conllu else name, known)
            if place is None:
                has = "CoNLL-U has w, pos, " if self.is_conllu else "it has "
                advice = "" if self.is_conllu else "; name its columns with --columns"
                raise Refusal(
                    f"{self.path}: the templates use the column {name!r}, but {has}{', '.join(known)}"
                    f"{advice}."
                )
            if known[place] == label:
                advice = "choose other templates" if self.is_conllu else "name the columns with --columns"
                raise Refusal(
                    f"{self.path}: the templates use the column {name!r}, which is the label; {advice}, or "
                    "name the label with --label."
                )
            chosen[name] = known[place]
        return chosen

    def read(self, chosen):
        """Sentences of the columns, {name: column}."""
        from ..formats.registry import FORMATS

        if self.kind == "packed":
            return self.packed(chosen).in_memory()
        return FORMATS[self.kind].read(self.path, self.places(chosen))

    def places(self, chosen) -> dict:
        """The columns as readers take them: by position in CoNLL, by name in CoNLL-U."""
        if self.is_conllu:
            return chosen
        return {name: self.names.index(column) for name, column in chosen.items()}

    def packed(self, chosen):
        """The same of a packed folder, where it lies."""
        from ..formats import open_shards
        from ..formats.packed_sentences import PackedSentences

        for column in chosen.values():
            if column not in self.names:
                raise Refusal(
                    f"{self.path}: was packed without the column {column!r}; pack it again with --columns."
                )
        shards = open_shards(self.path)
        there = dict(zip(self.names, shards.feature_names, strict=True))
        return PackedSentences(shards, {name: there[column] for name, column in chosen.items()})

    def source(self, label) -> TagSource:
        """What the model remembers of a training on this file."""
        if self.is_conllu:
            return TagSource("conllu", None, label)
        return TagSource("conll", self.names, self.names.index(label))

    def _known(self):
        """Columns that can be named: all of CoNLL-U's, even if some were not packed."""
        from ..formats.conllu import CONLLU

        return CONLLU if self.is_conllu else self.names


def columns_of(templates) -> list[str]:
    """The columns that templates look at."""
    return list(dict.fromkeys(part.column for template in templates for part in template.parts))


def _look(path):
    """(number of columns, whether tabs cut them) at the first token of a CoNLL file."""
    from ..formats import read_conll
    from ..formats.compression import read_buffer
    from ..formats.conll import first_line

    line = first_line(read_buffer(path))
    if not line:
        read_conll(path)  # says that there is no token
    tabs = b"\t" in line
    return len(line.split(b"\t") if tabs else line.split()), tabs


def usual_names(n) -> list[str]:
    """The names of n columns: w, pos (where there are three or more), col2, ..."""
    first = ["w", "pos"] if n >= 3 else ["w"]
    return first[:n] + [f"col{k}" for k in range(len(first), n)]


def _named(path, text, n) -> list[str]:
    """The names of n columns by --columns."""
    names = [name.strip() for name in text.split(",")]
    names = [f"col{k}" if name in ("", "-") else name for k, name in enumerate(names)]
    if len(names) != n or len(set(names)) < n:
        raise Refusal(
            f"{path}: has {n} columns, but --columns gives {len(set(names))} different names; name all, - "
            "for one that is not wanted.",
            Exit.USAGE,
        )
    return names


def _place(name, names):
    if name in names:
        return names.index(name)
    number = name.removeprefix("col") if isinstance(name, str) else str(name)
    if re.fullmatch(r"-?\d+", number) and -len(names) <= int(number) < len(names):
        return range(len(names))[int(number)]
    return None
