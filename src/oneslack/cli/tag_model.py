"""How a file is read for a tagger that exists: the columns where its templates look, and the labels."""

from __future__ import annotations

from dataclasses import dataclass

from .output import Exit, Refusal
from .packed import sentences_of
from .tag_data import (
    LABEL,
    TagSource,
    column_names,
    columns_of,
    conllu_label,
    conllu_places,
    kind_of,
    label_place,
    look,
    packed_places,
    places_of,
)


@dataclass(frozen=True)
class Reading:
    """Where things are in a file.

    kind    "conll", "conllu" or "svmhmm"
    places  {column of the templates: position, or name in CoNLL-U}
    label   position or name of the label; None if the file has none
    tabs    whether tabs cut the columns
    """

    kind: str
    places: dict
    label: int | str | None
    tabs: bool


def refuse_tag_options(saved, options):
    """Options of tagged files have no meaning for other models."""
    for option, value in options.of_tags().items():
        if value is not None:
            raise Refusal(
                f"{saved.path}: is no tagger but a {saved.header['kind']}, where {option} has no meaning; "
                "drop it.",
                Exit.USAGE,
            )


def reading_of(saved, path, options, need_labels=False) -> Reading:
    """How to read `path` for the tagger."""
    if options.group is not None:
        raise Refusal(f"{saved.path}: is a tagger, where --group has no meaning; drop it.", Exit.USAGE)
    features = saved.header["features"]["from"]
    if features == "dicts":
        raise Refusal(
            f"{saved.path}: was trained in Python on dicts of features, which no file holds; use it in "
            "Python, or train it with templates."
        )
    kind = kind_of(path, options.format)
    if features in ("matrices", "kernel"):
        return _numbers(saved, path, kind, options)
    if options.zero_based is not None:
        raise Refusal("--zero-based and --one-based are for files of numbers; drop it.", Exit.USAGE)
    if kind == "packed":
        return _packed(saved, path, options, need_labels)
    if kind == "conllu":
        return _conllu(saved, path, options)
    if kind == "conll":
        return _conll(saved, path, options, need_labels)
    raise Refusal(
        f"{path}: looks like a table of numbers, but {saved.path} tags text; give a CoNLL or CoNLL-U file, "
        "or name its format with --format."
    )


def _numbers(saved, path, kind, options):
    if kind != "svmhmm":
        raise Refusal(
            f"{path}: is no SVM-hmm file (TAG qid:NUMBER FEATURE:VALUE ...), but {saved.path} was trained on "
            "numbers; give one, or name the format with --format svmhmm."
        )
    refuse_text_options(path, options.columns, options.label)
    return Reading("svmhmm", {}, None, False)


def refuse_text_options(path, columns, label):
    """Columns have no meaning in an SVM-hmm file."""
    for option, value in (("--columns", columns), ("--label", label)):
        if value is not None:
            raise Refusal(f"{path}: is an SVM-hmm file, where {option} has no meaning; drop it.", Exit.USAGE)


def refuse_columns_of_conllu(path, columns):
    """CoNLL-U names its columns itself."""
    if columns is not None:
        raise Refusal(f"{path}: is CoNLL-U, whose columns have names; drop --columns.", Exit.USAGE)


def _packed(saved, path, options, need_labels):
    if not need_labels:
        raise Refusal(f"{path}: is packed, but predictions go beside the text; give the file itself.")
    source, label = TagSource.from_header(saved.header), options.label
    if label is None and source is not None and source.label is not None:
        label = source.columns[source.label] if source.kind == "conll" else source.label
    places, label, _ = packed_places(path, _templates(saved), options.columns, label)
    return Reading("packed", places, label, False)


def _conllu(saved, path, options):
    refuse_columns_of_conllu(path, options.columns)
    source = TagSource.from_header(saved.header)
    label = options.label
    if label is None and source is not None and source.kind == "conllu":
        label = source.label
    label = conllu_label(path, label)
    return Reading("conllu", conllu_places(path, _templates(saved), label), label, True)


def _conll(saved, path, options, need_labels):
    n, tabs = look(path)
    names, label = _layout(saved, path, options, n)
    if options.label is not None or (label is None and need_labels and options.columns is not None):
        label = label_place(path, options.label, names)
    if label is None and need_labels:
        raise Refusal(f"{path}: holds no labels to compare with; use `oneslack predict`.")
    return Reading("conll", places_of(path, _templates(saved), names, label), label, tabs)


def _layout(saved, path, options, n):
    """(names of the n columns, position of the label or None)."""
    source = TagSource.from_header(saved.header)
    if options.columns is not None:
        return column_names(path, options.columns, n), None
    if source is None or source.kind != "conll":
        both = n == 2 and "pos" in columns_of(_templates(saved))  # and no label
        names = column_names(path, "w,pos" if both else None, n)
        used = places_of(path, _templates(saved), names).values()
        return names, None if n - 1 in used else n - 1
    names = source.columns
    if n == len(names):
        return names, source.label
    if n == len(names) - 1:
        return names[: source.label] + names[source.label + 1 :], None
    raise Refusal(
        f"{path}: has {n} columns, but {saved.path} was trained with {len(names)} ({', '.join(names)}), the "
        f"label being {names[source.label]}, which may be left out; name the columns with --columns."
    )


def _templates(saved):
    return saved.model._indexer.templates


def read_sentences(path, reading, saved, zero_based=None):
    """(X, labels (tokens,) of text or numbers) of a whole file with labels."""
    from ..formats.registry import FORMATS

    if reading.kind == "svmhmm":
        return read_numbers(path, saved, zero_based)
    if reading.kind == "packed":
        X = sentences_of(path, {**reading.places, LABEL: reading.label})
        return X, X.columns[LABEL].strings()
    X = FORMATS[reading.kind].read(path, {**reading.places, LABEL: reading.label})
    return X, X.columns[LABEL].strings()


def read_numbers(path, saved, zero_based):
    """(X, tags) of an SVM-hmm file, with the model's features: what training did not have is left out."""
    from ..data.rows import Ragged
    from ..formats import read_svmhmm

    source = TagSource.from_header(saved.header)
    if zero_based is None:
        zero_based = "auto" if source is None or source.zero_based is None else source.zero_based
    rows = read_svmhmm(path, zero_based=zero_based)
    d = saved.header["features"].get("columns") or saved.model.model_.n_features
    X = rows.X[:, :d] if rows.X.shape[1] > d else rows.X
    X.resize((X.shape[0], d))
    return Ragged(X, rows.offsets), rows.tags
