"""Data files as the commands need them: to train on, or to fit a model that exists."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar

from ..errors import FormatError
from . import packed
from .output import Exit, Refusal


class Remembered:
    """A dataclass that model files keep as their "source"."""

    @classmethod
    def from_header(cls, header):
        """What a model file says, or None for a model that was saved from Python."""
        known = header.get("source")
        if not isinstance(known, dict) or "kind" not in known:
            return None
        return cls(**{name: known.get(name) for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class OwnExamples:
    """What was read to train on: X and y are what `fit` takes, `source` is what the model remembers."""

    path: str
    X: Any
    y: Any
    source: Any
    seconds: float
    called: ClassVar[str] = "examples"

    @property
    def title(self) -> str:
        return f"{self._count():,} {self.called}"

    def size(self, model) -> dict:
        return {"examples": self._count()}

    def _count(self) -> int:
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)  # rows of a sparse matrix, too

    def words(self, facts) -> str:
        return self.title


@dataclass(frozen=True)
class Source(Remembered):
    """How a file was read; the model remembers it, so that other files are read the same way.

    An svmlight file does not say whether its indices start at 0 or 1: taken for the other, every
    prediction would be wrong without a word.
    """

    kind: str
    zero_based: bool | None = None
    label: str | None = None
    feature_names: list[str] | None = None
    group: str | None = None
    #: How the columns of a CSV became numbers (table_columns.py), where they were not all numbers.
    encoder: dict | None = None


def read_any(path, label, zero_based, group=None, streamed=False, columns=None):
    """(Table, Source) of a file or a packed folder, with or without labels; a PackedTable if `streamed`.
    `columns` are ColumnOptions, or None."""
    if columns is not None and columns.is_given:
        return _read_columns(path, label, group, columns)
    if packed.is_packed(path):
        shards = packed.open_packed(path, label, zero_based, group)
        table = packed.PackedTable(shards, shards.path) if streamed else packed.in_memory(shards)
        return table, packed.source_of(shards)
    with _told_from_tagged_text(path, "use `oneslack train tag` to learn from it"):
        table, zero_based = _read_counting_from_one(path, label, zero_based, group)
    _refuse_other_options(table, label, group)
    names = list(table.feature_names) if table.feature_names else None
    return table, Source(table.kind, zero_based, label, names, group)


def _read_columns(path, label, group, columns):
    from ..formats.registry import format_of
    from .table_columns import read_encoded

    found = format_of(path) if packed.is_packed(path) else format_of(path, "table")
    if found.name != "csv":
        columns.refuse(path, f"a file of {found.title}" if found.holds == "table" else "a packed folder")
    table, known = read_encoded(path, label, group, columns)
    return table, Source("csv", **known)


def read_for_model(path, saved, label, zero_based, group=None, need_labels=False):
    """Table of a file with the model's features; its labels are optional unless they are needed."""
    if saved.source is not None and saved.source.encoder is not None:
        from .table_columns import read_encoded_for

        if packed.is_packed(path):
            raise Refusal(f"{path}: is packed, but {saved.path} makes numbers of a CSV's columns; use a CSV.")
        return read_encoded_for(path, saved, label, group, need_labels)
    if packed.is_packed(path):
        return packed.table_for_model(path, saved, need_labels)
    advice = f"{saved.path} is a {saved.header['kind']}; use a model of `oneslack train tag`"
    with _told_from_tagged_text(path, advice):
        table = _read_matching(path, saved, label, zero_based, group, need_labels)
    _refuse_other_options(table, label, group)
    if need_labels and table.y is None:
        raise Refusal(f"{path}: holds no labels to compare with; use `oneslack predict`.")
    return _with_features(_in_order(table, saved), saved)


@contextmanager
def _told_from_tagged_text(path, advice):
    """Sentences with labels are no table: say so, instead of what is wrong with it as a table."""
    from ..formats.format import LIKELY
    from .tag_columns import kind_of

    try:
        yield
    except FormatError as error:
        if kind_of(path, least=LIKELY):
            raise Refusal(f"{path}: is tagged text, not a table of numbers; {advice}.") from error
        raise


def _read_matching(path, saved, label, zero_based, group, need_labels):
    """The file as the training data were read; where columns may be missing, the way that fits."""
    source = saved.source or Source("auto")
    if zero_based is None:
        zero_based = source.zero_based
    labels = [source.label if label is None else label]
    groups = [source.group if group is None else group]
    if not need_labels and label is None:
        labels.append(False)
    if not need_labels and group is None and source.group is not None:
        groups.append(False)
    tables, errors = {}, []
    for way, (group, label) in enumerate(product(groups, labels)):
        try:
            tables[way] = _read(path, label, zero_based, group)
        except FormatError as error:
            errors.append(error)
            continue
        if way == 0 and _fits(tables[0], saved):
            return tables[0]
    fitting = {way: table for way, table in tables.items() if _fits(table, saved)}
    if {1, 2} <= fitting.keys():  # labels left out, or groups left out
        raise Refusal(
            f"{path}: has one column less than {saved.path} was trained with, and no header to tell if the "
            "label or the group is missing; name the one that is there with --label or --group."
        )
    # If no way fits, the complaint about the first one is the plainest.
    if not tables:
        raise errors[0]
    return next(iter((fitting or tables).values()))


def _read_counting_from_one(path, label, zero_based, group):
    """(Table, whether its indices start at 0, or None where there are none)."""
    if zero_based is None:
        table, zero_based = counting_from_one(lambda zero_based: _read(path, label, zero_based, group))
    else:
        table = _read(path, label, zero_based, group)
    return table, zero_based if _is_indexed(table) else None


def counting_from_one(read):
    """(what read(zero_based) gives, zero_based): features count from 1, unless there is a 0."""
    try:
        return read(False), False
    except FormatError:  # an index 0; or another fault, which this reading names as well
        return read(True), True


def _read(path, label, zero_based, group):
    from ..formats import read_data

    return read_data(path, label=label, group=group, zero_based="auto" if zero_based is None else zero_based)


def _is_indexed(table) -> bool:
    """Does it number its features, where others have columns?  Those that it does not name are zeros."""
    from ..formats.registry import FORMATS

    return "zero_based" in FORMATS[table.kind].options


def _refuse_other_options(table, label, group):
    from ..formats.registry import FORMATS

    known = FORMATS[table.kind]
    for option, value in (("label", label), ("group", group)):
        if value is not None and option not in known.options:
            raise Refusal(
                f"{table.path}: --{option} has no meaning in a file of {known.title}; drop it.", Exit.USAGE
            )


def _fits(table, saved) -> bool:
    """Are its columns the model's?  Numbered features are none to confuse."""
    if _is_indexed(table):
        return True
    names, expected = table.feature_names, saved.feature_names
    if not names or not expected:
        return table.X.shape[1] == saved.n_features
    return set(expected) <= set(names)  # _in_order picks them, in the model's order


def _in_order(table, saved):
    """The model's columns, found by their names in whatever order; others are left out."""
    names, expected = table.feature_names, saved.feature_names
    if not names or not expected or names == expected or len(set(names)) < len(names):
        return table
    missing = [name for name in expected if name not in names]
    if missing:
        raise Refusal(
            f"{table.path}, line 1: has no column {missing[0]!r}, which {saved.path} was trained with; add "
            "it, or name the label with --label where it was taken for it."
        )
    columns = [names.index(name) for name in expected]
    return replace(table, X=table.X[:, columns], feature_names=list(expected))


def _with_features(table, saved):
    """The table with as many features as the model: absent ones that have numbers are zeros."""
    n, d = table.X.shape
    if d == saved.n_features:
        return table
    if d < saved.n_features and _is_indexed(table):
        X = table.X.copy()
        X.resize((n, saved.n_features))
        return replace(table, X=X)
    raise Refusal(
        f"{table.path}: has {d} features, but {saved.path} was trained with {saved.n_features}; "
        "use a file with the same features, or name the label with --label."
    )
