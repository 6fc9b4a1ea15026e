"""Data files as the commands need them: to train on, or to fit a model that exists."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import FormatError
from .output import Exit, Refusal


@dataclass(frozen=True)
class Source:
    """How a file was read; the model remembers it, so that other files are read the same way.

    An svmlight file does not say whether its indices start at 0 or 1: taken for the other, every
    prediction would be wrong without a word.
    """

    kind: str
    zero_based: bool | None = None
    label: str | None = None
    feature_names: list[str] | None = None

    @classmethod
    def from_header(cls, header) -> Source | None:
        """What a model file says, or None for a model that was saved from Python."""
        known = header.get("source")
        if not isinstance(known, dict) or "kind" not in known:
            return None
        return cls(**{name: known.get(name) for name in cls.__dataclass_fields__})


def read_any(path, label, zero_based):
    """(Table, Source) of a file, with or without labels."""
    table, zero_based = _read_counting_from_one(path, label, zero_based)
    names = list(table.feature_names) if table.feature_names else None
    return table, Source(table.kind, zero_based, label, names)


def read_labelled(path, label, zero_based):
    """(Table, Source) of a file to train on."""
    table, source = read_any(path, label, zero_based)
    if table.y is None:
        raise Refusal(f"{path}: holds no labels; training needs one for each example.")
    return table, source


def read_for_model(path, saved, label, zero_based, need_labels=False):
    """Table of a file with the model's features; its labels are optional unless they are needed."""
    table = _read_matching(path, saved, label, zero_based, need_labels)
    _check_names(table, saved)
    return _with_features(table, saved)


def _read_matching(path, saved, label, zero_based, need_labels):
    source = saved.source or Source("auto")
    if zero_based is None:
        zero_based = source.zero_based
    wanted = label if label is not None else source.label

    def read(label):
        return _read(path, label, zero_based)

    try:
        table = read(wanted)
    except FormatError:
        # Perhaps there is no label column; if that is not it, the first sentence is the better one.
        if need_labels or label is not None or wanted is None:
            raise
        return read(False)
    if table.kind != "svmlight" and not need_labels and label is None:
        n_columns = table.X.shape[1] + (table.y is not None)
        if table.X.shape[1] != saved.n_features and n_columns == saved.n_features:
            return read(False)
    if need_labels and table.y is None:
        raise Refusal(f"{path}: holds no labels to compare with; use `oneslack predict`.")
    return table


def _read_counting_from_one(path, label, zero_based):
    """(Table, whether its indices start at 0, or None where there are none)."""
    if zero_based is None:
        try:
            table, zero_based = _read(path, label, False), False
        except FormatError:
            # An index 0; or another fault, which this reading names as well.
            table, zero_based = _read(path, label, True), True
    else:
        table = _read(path, label, zero_based)
    return table, zero_based if table.kind == "svmlight" else None


def _read(path, label, zero_based):
    from ..formats import read_data

    table = read_data(path, label=label, zero_based="auto" if zero_based is None else zero_based)
    if table.kind == "svmlight" and label:
        raise Refusal(f"{path}: is an svmlight file, where --label has no meaning; drop it.", Exit.USAGE)
    return table


def _check_names(table, saved):
    """Refuse columns in another order: numbers would be taken for what they are not."""
    names, expected = table.feature_names, saved.feature_names
    if not names or not expected or len(names) != len(expected):
        return
    for position, (name, known) in enumerate(zip(names, expected)):
        if name != known:
            raise Refusal(
                f"{table.path}, line 1: feature {position} is {name!r}, but {saved.path} was trained with "
                f"{known!r} there; order the columns as in training, or name the label with --label."
            )


def _with_features(table, saved):
    """The table with as many features as the model: absent svmlight indices are zeros."""
    from dataclasses import replace

    n, d = table.X.shape
    if d == saved.n_features:
        return table
    if d < saved.n_features and table.kind == "svmlight":
        X = table.X.copy()
        X.resize((n, saved.n_features))
        return replace(table, X=X)
    raise Refusal(
        f"{table.path}: has {d} features, but {saved.path} was trained with {saved.n_features}; "
        "use a file with the same features, or name the label with --label."
    )
