"""`oneslack predict`: one prediction a line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .options import DataFile, Group, Label, ModelFile, ZeroBased
from .output import check_writable, guarded


@guarded
def predict(
    model: ModelFile,
    file: DataFile,
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
            "that the thresholds cut. A ranking prints scores anyway.",
        ),
    ] = False,
    label: Label = None,
    group: Group = None,
    zero_based: ZeroBased = None,
):  # fmt: skip
    """Predict the class of each example in FILE; a ranking's score, larger comes first.

    One a line; labels in FILE are ignored.
    """
    if output is not None:
        check_writable(output, inputs=[model, file])
    lines = _lines(model, file, scores, label, zero_based, group)
    if output is None:
        sys.stdout.writelines(lines)
        return
    from ..formats.atomic import atomic_write

    with atomic_write(output, text=True) as target:
        target.writelines(lines)


def _lines(model, file, scores, label, zero_based, group):
    """The lines of the output, one an example."""
    from .data import read_for_model
    from .model_store import load

    saved = load(model)
    X = read_for_model(file, saved, label, zero_based, group).X
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
