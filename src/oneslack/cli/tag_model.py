"""A file read for a tagger that exists, by what it remembers: to compare with, or to write labels into."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from .output import Exit, Refusal
from .tag_columns import LABEL, Columns, TagSource, columns_of, kind_of, usual_names


@dataclass(frozen=True)
class Reading:
    """Where things are in a file: {column of the templates: column}, and the label's, if there is one."""

    columns: Columns
    chosen: dict
    label: str | None


def refuse_tag_options(saved, options):
    """Options of tagged files have no meaning for other models."""
    for option, value in options.of_tags().items():
        if value is not None:
            raise Refusal(
                f"{saved.path}: is no tagger but a {saved.header['kind']}, where {option} has no meaning; "
                "drop it.",
                Exit.USAGE,
            )


def refuse_text_options(path, columns, label):
    """Columns have no meaning in an SVM-hmm file."""
    for option, value in (("--columns", columns), ("--label", label)):
        if value is not None:
            raise Refusal(f"{path}: is an SVM-hmm file, where {option} has no meaning; drop it.", Exit.USAGE)


def tagged_examples(saved, path, options):
    """The sentences of a whole file with their labels, (tokens,) of text or numbers."""
    from ..kinds.registry import Examples

    reading = _reading_of(saved, path, options, need_labels=True)
    if reading is None:
        return Examples(path, *_read_numbers(path, saved, options.zero_based))
    X = reading.columns.read({**reading.chosen, LABEL: reading.label})
    return Examples(path, X, X.columns[LABEL].strings())


def tagged_lines(saved, path, scores, options):
    """The text again, with a label for every token, made block by block."""
    reading = _reading_of(saved, path, options)
    if reading is None:
        X, _ = _read_numbers(path, saved, options.zero_based)
        return ("\t".join(texts) + "\n" for texts in saved.kind.cells(saved, X, scores))
    from ..formats import conll_blocks

    columns = reading.columns
    places = columns.places(reading.chosen)
    if columns.is_conllu:
        blocks = conll_blocks.conllu_blocks(path, places)
    else:
        blocks = conll_blocks.conll_blocks(path, places, tabs=columns.tabs)
    return chain.from_iterable(_block_lines(saved, block, reading, scores) for block in blocks)


def _block_lines(saved, block, reading, scores):
    from ..formats.conll_blocks import with_column, with_last_column

    cells = [] if block.sentences is None else saved.kind.cells(saved, block.sentences, scores)
    if reading.columns.is_conllu:
        notes = [f"Margin={margin}" for _, margin in cells] if scores else None
        return with_column(block, reading.label, [texts[0] for texts in cells], notes)
    tabs = reading.columns.tabs
    return with_last_column(block, [("\t" if tabs else " ").join(texts) for texts in cells], tabs)


def _reading_of(saved, path, options, need_labels=False) -> Reading | None:
    """How to read `path` for the tagger; None for tokens of numbers, which have no columns."""
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
        if kind != "svmhmm":
            raise Refusal(
                f"{path}: is no SVM-hmm file (TAG qid:NUMBER FEATURE:VALUE ...), but {saved.path} was "
                "trained on numbers; give one, or name the format with --format svmhmm."
            )
        refuse_text_options(path, options.columns, options.label)
        return None
    if options.zero_based is not None:
        raise Refusal("--zero-based and --one-based are for files of numbers; drop it.", Exit.USAGE)
    if kind not in ("packed", "conll", "conllu"):
        raise Refusal(
            f"{path}: looks like a table of numbers, but {saved.path} tags text; give a CoNLL or CoNLL-U "
            "file, or name its format with --format."
        )
    if kind == "packed" and not need_labels:
        raise Refusal(f"{path}: is packed, but predictions go beside the text; give the file itself.")
    templates, source = saved.model._indexer.templates, TagSource.from_header(saved.header)
    columns = Columns.of(path, kind, options.columns, lambda n: _names(saved, path, n, source, templates))
    label = _label(columns, source, templates, options, need_labels)
    if label is None and need_labels:
        raise Refusal(f"{path}: holds no labels to compare with; use `oneslack predict`.")
    return Reading(columns, columns.of_templates(templates, label), label)


def _names(saved, path, n, source, templates):
    """The names of the n columns of a CoNLL file, as they were in training; the label may be left out."""
    if source is None or source.kind != "conll":
        if n == 2 and "pos" in columns_of(templates):  # and no label
            return ["w", "pos"]
        return usual_names(n)
    names, place = source.columns, source.label
    if n == len(names):
        return names
    if n == len(names) - 1:
        return names[:place] + names[place + 1 :]
    raise Refusal(
        f"{path}: has {n} columns, but {saved.path} was trained with {len(names)} ({', '.join(names)}), the "
        f"label being {names[place]}, which may be left out; name the columns with --columns."
    )


def _label(columns, source, templates, options, need_labels):
    """The name of the label's column, None where there is none."""
    before = None
    if source is not None and source.label is not None:
        before = source.columns[source.label] if source.kind == "conll" else source.label
    if options.label is not None:
        return columns.label(options.label)
    if columns.kind == "packed":
        return columns.label(before)
    if columns.kind == "conllu":
        return columns.label(before if source is not None and source.kind == "conllu" else None)
    if options.columns is not None:
        return columns.label() if need_labels else None
    if source is None or source.kind != "conll":
        last = columns.names[-1]
        return None if last in columns.of_templates(templates).values() else last
    return before if before in columns.names else None


def _read_numbers(path, saved, zero_based):
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
