"""CSV as people have it: words, gaps, text, an index.  What is said of its columns, and how they are read.

The model keeps how each column became numbers (`Source.encoder`), so that other files are read the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from ..errors import FormatError
from .output import Exit, Refusal


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of a CSV are, where they are not all numbers."""

    categorical: Annotated[
        str | None,
        typer.Option(
            metavar="auto|COLUMN,...",
            help="CSV: columns of words; each value becomes a feature of its own. auto: all columns with "
            "words in them.",
        ),
    ] = None
    text: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,...", help="CSV: columns of text; each word is a feature (tf-idf)."),
    ] = None
    missing: Annotated[
        Literal["mean", "indicator"] | None,
        typer.Option(
            help="CSV: fill missing cells with the mean of their column; with indicator a further feature "
            "says that the cell was missing. (default: refuse them)",
        ),
    ] = None
    drop: Annotated[
        str | None,
        typer.Option(metavar="COLUMN,...", help="CSV: columns to leave out, such as an index or names."),
    ] = None

    @property
    def is_given(self) -> bool:
        return any(value is not None for value in vars(self).values())

    def refuse(self, path, what):
        """Complain about the first that is given."""
        for name, value in vars(self).items():
            if value is not None:
                raise Refusal(
                    f"{path}: --{name} is about the columns of a CSV, and this is {what}; drop it.",
                    Exit.USAGE,
                )


def read_encoded(path, label, group, columns):
    """(Table, how it was read: {name: value} of a Source) of a CSV to train on."""
    from ..features.table import TableEncoder
    from ..formats.cells import read_cells

    cells = read_cells(path)
    _refuse_twins(cells)
    names = _Names(cells)
    group_place = None if group is None else cells.place(group, "group")
    if label is None:
        label_place = max(k for k in range(len(cells.names)) if k != group_place)
    else:
        label_place = cells.place(label, "label")
    taken = [cells.names[k] for k in (label_place, group_place) if k is not None]
    categorical = columns.categorical
    if categorical != "auto" or "auto" in cells.names:
        categorical = names.of(categorical, "--categorical", taken)
    encoder = TableEncoder.learned(
        cells,
        leave_out=[*taken, *names.of(columns.drop, "--drop", taken)],
        categorical=categorical,
        text=names.of(columns.text, "--text", taken),
        missing=columns.missing,
    )
    table = _table(cells, encoder, label_place, group_place)
    known = {
        "label": cells.names[label_place],
        "group": None if group_place is None else cells.names[group_place],
        "feature_names": encoder.feature_names,
        "encoder": {
            "columns": encoder.to_header(), "has_header": cells.has_header, "n_columns": len(cells.names)
        },
    }  # fmt: skip
    return table, known


def read_encoded_for(path, saved, label, group, need_labels):
    """Table of a CSV, for a model whose training data were read by `read_encoded`."""
    from ..formats.cells import read_cells

    source, encoder = saved.source, encoder_of(saved.source.encoder)
    cells = read_cells(path)
    _refuse_twins(cells)
    if not cells.has_header:
        cells = _numbered_as(cells, source, saved.path)
    missing = [name for name in encoder.names if name not in cells.names]
    if missing:
        raise Refusal(
            f"{path}, line 1: has no column {missing[0]!r}, which {saved.path} was trained with; add it."
        )
    places = []
    for given, before, what in ((label, source.label, "label"), (group, source.group, "group")):
        if given is not None:
            places.append(cells.place(given, what))
        else:
            places.append(cells.names.index(before) if before in cells.names else None)
    if need_labels and places[0] is None:
        raise Refusal(f"{path}: holds no column {source.label!r} to compare with; use `oneslack predict`.")
    if not need_labels:
        places[0] = None  # it may hold anything
    return _table(cells, encoder, *places)


def encoder_of(known):
    """The TableEncoder that a model file holds; ValueError, TypeError or KeyError where it is damaged."""
    from ..features.table import TableEncoder

    return TableEncoder.from_header(known["columns"])


def remark_on_index(table) -> str | None:
    """A sentence on a column that numbers the rows, which nobody wants to learn from."""
    from ..formats.cells import numbers_rows

    if table.kind != "csv" or hasattr(table.X, "indptr"):
        return None
    for column, name in enumerate(table.feature_names or range(table.X.shape[1])):
        if numbers_rows(table.X, column):
            called = f"{name!r} " if name else ""
            which = name if name not in (None, "") else column
            return (
                f"{table.path}: its column {called}counts the rows, and is learned from as any other; leave "
                f"it out with --drop {which}."
            )
    return None


def _table(cells, encoder, label, group):
    from ..formats.delimited import _groups_from_text
    from ..formats.labels import integers_if_integral, labels_from_text
    from ..formats.sentences import Column
    from ..formats.table import Table

    y = None if label is None else labels_from_text(Column.of(_filled(cells, label, "label")))
    qid = None if group is None else _groups_from_text(_filled(cells, group, "group"))
    return Table(
        X=encoder.matrix(cells),
        y=None if y is None else integers_if_integral(y),
        qid=None if qid is None else integers_if_integral(qid),
        path=cells.path,
        kind="csv",
        feature_names=encoder.feature_names,
        label_name=cells.names[label] if label is not None and cells.has_header else None,
    )


def _filled(cells, place, what):
    texts = cells.columns[place]
    for row, text in enumerate(texts):
        if not text:
            raise FormatError(f"{cells.where(row, place)}: the {what} is empty; fill it or drop the line.")
    return texts


@dataclass(frozen=True)
class _Names:
    """Columns as options name them."""

    cells: Any

    def of(self, text, option, taken) -> list[str]:
        """Those of NAME,NAME; a name may hold commas if it is all there is."""
        if text is None:
            return []
        parts = [text] if text in self.cells.names else [part.strip() for part in text.split(",")]
        names = []
        for part in parts:
            try:
                names.append(self.cells.names[self.cells.place(part)])
            except FormatError as error:
                raise Refusal(f"{option}: {error}") from error
        for name in names:
            if name in taken:
                raise Refusal(f"{option}: {name!r} is the label or the group; drop it there.", Exit.USAGE)
        return names


def _refuse_twins(cells):
    for name in cells.names:
        if cells.names.count(name) > 1:
            raise Refusal(f"{cells.path}, line 1: two columns are called {name!r}; rename one of them.")


def _numbered_as(cells, source, model):
    """Columns without a header, by their numbers in the training data: the label's may be missing."""
    from dataclasses import replace

    known = source.encoder
    numbers = [str(k) for k in range(known["n_columns"])]
    if known["has_header"]:
        raise Refusal(f"{cells.path}, line 1: has no header, but {model} finds its columns by name; add one.")
    if len(cells.names) == len(numbers):
        return cells
    numbers = [name for name in numbers if name != source.label]
    if len(cells.names) == len(numbers):
        return replace(cells, names=numbers)
    raise Refusal(
        f"{cells.path}: has {len(cells.names)} columns, but {model} was trained with {known['n_columns']}; "
        "use a file with the same columns."
    )
