"""`oneslack predict`: one prediction a line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .options import AnyFile, Group, Label, ModelFile, ZeroBased
from .output import check_writable, guarded, writing
from .tag_options import Columns, Format


@guarded
def predict(
    model: ModelFile,
    file: AnyFile,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="Write here instead of stdout.",
                     show_default=False),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="After each label, tab-separated: the score of the second class when there are two, "
            "else of every class, in the order `oneslack info` shows; for classes in an order the one score "
            "that the thresholds cut. A ranking prints scores anyway. A tagger's score is by how much the "
            "label beats the best sequence with another one.",
        ),
    ] = False,
    label: Label = None,
    group: Group = None,
    zero_based: ZeroBased = None,
    columns: Columns = None,
    format: Format = None,
):  # fmt: skip
    """Predict the class of each example in FILE; a ranking's score, larger comes first.

    One a line; labels in FILE are ignored. A tagger writes the text of FILE with its labels as one more
    column, in CoNLL-U in the label's column.
    """
    from .tag_model import TagOptions

    if output is not None:
        check_writable(output, inputs=[model, file])
    lines = _lines(model, file, scores, TagOptions(label, columns, format, group, zero_based))
    if output is None:
        sys.stdout.writelines(lines)
        return
    with writing(output) as target:
        target.writelines(lines)


def _lines(model, file, scores, options):
    """The lines of the output, one an example or a line of text."""
    from . import parse_output, tag_model
    from .model_store import load_to_predict

    saved = load_to_predict(model)
    if parse_output.is_parser(saved):
        tag_model.refuse_tag_options(saved, options)
        return parse_output.tree_lines(saved, file, scores)
    if tag_model.is_tagger(saved):
        from .tag_predict import tagged_lines

        return tagged_lines(saved, file, scores, options)
    tag_model.refuse_tag_options(saved, options)
    return _table_lines(saved, file, scores, options)


def _table_lines(saved, file, scores, options):
    from .data import read_for_model

    X = read_for_model(file, saved, options.label, options.zero_based, options.group).X
    if hasattr(X, "manifest"):  # shards, one after the other
        return (line for shard in X for line in _row_lines(saved, shard.X, scores))
    return _row_lines(saved, X, scores)


def _row_lines(saved, X, scores):
    predicted = saved.model.predict(X)
    # One of several labels is a 0 or 1; scores of a ranking are told exactly, to keep their order.
    lines = ("\t".join(map(str, row)) for row in predicted.reshape(X.shape[0], -1).tolist())
    if scores and hasattr(saved.model, "classes_"):
        values = _scores(saved.model, X).reshape(X.shape[0], -1).tolist()
        numbers = ("\t".join(f"{value:.9g}" for value in row) for row in values)
        lines = map("{}\t{}".format, lines, numbers)
    return (f"{line}\n" for line in lines)


def _scores(model, X):
    """The one score of ordered classes, else what decides between the classes."""
    return model.rank_scores(X) if hasattr(model, "rank_scores") else model.decision_function(X)
