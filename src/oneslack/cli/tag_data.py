"""Files of tagged text as the commands need them: which column is which, to train on and for a model."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from . import packed
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


@dataclass(frozen=True)
class TaggedExamples:
    """Sentences with their labels, as `training` needs them; y is what `fit` takes."""

    path: str
    X: Any
    y: Any
    labels: list
    n_tokens: int
    source: TagSource
    seconds: float

    @property
    def title(self) -> str:
        return f"{len(self.X):,} sentences"

    def size(self, model) -> dict:
        return {"examples": len(self.X), "tokens": self.n_tokens, "features": model.model_.n_features}

    def words(self, facts) -> str:
        return f"{facts['examples']:,} sentences, {facts['tokens']:,} tokens, {facts['features']:,} features"


# What a file is.


def kind_of(path, wanted=None, least=0.0) -> str | None:
    """The format of a tagged file: as `wanted`, or as it looks at `least`; None for a table."""
    if wanted is not None:
        return wanted
    from ..formats.format import CERTAIN
    from ..formats.registry import format_of

    found = format_of(path, least=CERTAIN) or format_of(path, "sentences", least)
    return None if found is None or found.holds == "table" else found.name


def look(path):
    """(number of columns, whether tabs cut them) at the first token of a CoNLL file."""
    from ..formats import read_conll
    from ..formats.compression import read_buffer
    from ..formats.conll import first_line

    line = first_line(read_buffer(path))
    if not line:
        read_conll(path)  # says that there is no token
    tabs = b"\t" in line
    return len(line.split(b"\t") if tabs else line.split()), tabs


# Which column is which.


def column_names(path, text, n) -> list[str]:
    """The names of n columns: those of --columns, or w, pos (where there are three or more), col2, ..."""
    if text is None:
        usual = ["w", "pos"] if n >= 3 else ["w"]
        return usual[:n] + [f"col{k}" for k in range(len(usual), n)]
    names = [name.strip() for name in text.split(",")]
    names = [f"col{k}" if name in ("", "-") else name for k, name in enumerate(names)]
    if len(names) != n or len(set(names)) < n:
        raise Refusal(
            f"{path}: has {n} columns, but --columns gives {len(set(names))} different names; name all, - "
            "for one that is not wanted.",
            Exit.USAGE,
        )
    return names


def label_place(path, label, names) -> int:
    """The position of the label's column: by name, by position, or the last."""
    if len(names) == 1 and label is None:
        raise Refusal(
            f"{path}: has one column only, so no labels; give each token a line with its label after it, "
            "between blanks or tabs."
        )
    if label is None:
        return len(names) - 1
    place = _place(label, names)
    if place is None:
        raise Refusal(
            f"{path}: has no label column {label!r}; its columns are {', '.join(names)}, or 0 to "
            f"{len(names) - 1}."
        )
    return place


def _place(name, names):
    if name in names:
        return names.index(name)
    number = name.removeprefix("col") if isinstance(name, str) else str(name)
    if re.fullmatch(r"-?\d+", number) and -len(names) <= int(number) < len(names):
        return range(len(names))[int(number)]
    return None


def places_of(path, templates, names, label=None) -> dict:
    """{column of the templates: position in the file}; the label must not be among them."""
    places = {}
    for name in columns_of(templates):
        places[name] = _place(name, names)
        if places[name] is None:
            raise Refusal(
                f"{path}: the templates use the column {name!r}, but it has {', '.join(names)}; name its "
                "columns with --columns."
            )
        if places[name] == label:
            raise Refusal(
                f"{path}: the templates use the column {name!r}, which is the label; name the columns with "
                "--columns, or the label with --label."
            )
    return places


def conllu_places(path, templates, label) -> dict:
    """{column of the templates: column of CoNLL-U}; the label must not be among them."""
    from ..formats.conllu import CONLLU

    names = {name: CONLLU_NAMES.get(name, name) for name in columns_of(templates)}
    for name, column in names.items():
        if column not in CONLLU:
            raise Refusal(
                f"{path}: the templates use the column {name!r}, but CoNLL-U has w, pos, {', '.join(CONLLU)}."
            )
        if column == label:
            raise Refusal(
                f"{path}: the templates use the column {name!r}, which is the label; choose other templates, "
                "or name the label with --label."
            )
    return names


def conllu_label(path, label) -> str:
    """The column of CoNLL-U that is the label: by name or position, or upos."""
    from ..formats.conllu import CONLLU

    place = CONLLU.index("upos") if label is None else _place(label, list(CONLLU))
    if place is None:
        raise Refusal(
            f"{path}: CoNLL-U has no column {label!r}; choose the label from {', '.join(CONLLU)}.", Exit.USAGE
        )
    return CONLLU[place]


def columns_of(templates) -> list[str]:
    """The columns that templates look at."""
    return list(dict.fromkeys(part.column for template in templates for part in template.parts))


# To train on.


def read_tagged(
    path, kind, templates, columns=None, label=None, unlabelled=None, memory=None, on_disk=True
) -> TaggedExamples:
    """A file to train on, of which the templates' columns and the labels are read; labels that are
    `unlabelled` are not known.  A packed folder that is too large for `memory` is used where it lies, if it
    may stay `on_disk` and all labels are known."""
    clock = time.perf_counter()
    if kind == "svmhmm":
        X, tags, source = _read_svmhmm(path)
        labels = sorted(set(tags.tolist()))
        y = [tags[lo:hi].tolist() for lo, hi in pairwise(X.offsets)]
        return TaggedExamples(path, X, y, labels, len(tags), source, time.perf_counter() - clock)
    if kind == "packed" and unlabelled is None and on_disk:
        chosen, place, source = packed_places(path, templates, columns, label)
        X = packed.text_for_training(path, {**chosen, LABEL: place}, len(templates), memory)
        if hasattr(X, "parts"):
            labels = sorted(set().union(*X.texts(LABEL)))
            return TaggedExamples(path, X, LABEL, labels, X.n_tokens, source, time.perf_counter() - clock)
    else:
        X, source = _read_text(path, kind, templates, columns, label)
    labels = sorted(set(X.columns[LABEL].values) - {unlabelled})
    y = LABEL
    if len(labels) < len(X.columns[LABEL].values):
        flat = [None if text == unlabelled else text for text in X.columns[LABEL].strings().tolist()]
        y = [flat[lo:hi] for lo, hi in pairwise(X.offsets)]
    return TaggedExamples(path, X, y, labels, X.n_tokens, source, time.perf_counter() - clock)


def _read_text(path, kind, templates, columns, label):
    from ..formats.registry import FORMATS

    if kind == "packed":
        chosen, place, source = packed_places(path, templates, columns, label)
        return packed.sentences_of(path, {**chosen, LABEL: place}), source
    if kind == "conllu":
        names, place = None, conllu_label(path, label)
        chosen = conllu_places(path, templates, place)
    else:
        names = column_names(path, columns, look(path)[0])
        place = label_place(path, label, names)
        chosen = places_of(path, templates, names, place)
    return FORMATS[kind].read(path, {**chosen, LABEL: place}), TagSource(kind, names, place)


def packed_places(path, templates, columns, label):
    """({column of the templates: column of the folder}, the label's column, TagSource) of packed text, whose
    columns have names; by them CoNLL-U is told."""
    from ..formats.conllu import CONLLU

    if columns is not None:
        raise Refusal(f"{path}: is packed, its columns have names; drop --columns.", Exit.USAGE)
    names = packed.text_columns(path)
    if not all(name in CONLLU for name in names):
        place = label_place(path, label, names)
        chosen = places_of(path, templates, names, place)
        named = {name: names[k] for name, k in chosen.items()}
        return named, names[place], TagSource("conll", names, place)
    place = conllu_label(path, label)
    chosen = conllu_places(path, templates, place)
    for column in [*chosen.values(), place]:
        if column not in names:
            raise Refusal(f"{path}: was packed without the column {column!r}; pack it again with --columns.")
    return chosen, place, TagSource("conllu", None, place)


def _read_svmhmm(path):
    """Features count from 1, unless there is a 0."""
    from ..data.rows import Ragged
    from ..errors import FormatError
    from ..formats import read_svmhmm

    try:
        rows, zero_based = read_svmhmm(path, zero_based=False), False
    except FormatError:
        rows, zero_based = read_svmhmm(path, zero_based=True), True
    if rows.X.shape[1] == 0:
        raise Refusal(f"{path}: its tokens have no features; there is nothing to learn from.")
    return Ragged(rows.X, rows.offsets), rows.tags, TagSource("svmhmm", zero_based=zero_based)
