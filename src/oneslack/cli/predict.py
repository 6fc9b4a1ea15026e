"""`oneslack predict`: one prediction a line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .options import AnyFile, FileOptions, ModelFile
from .output import check_writable, guarded, writing


@guarded
def predict(
    *,
    model: ModelFile,
    file: AnyFile,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="OUT", help="Write here instead of stdout."),
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
    options: FileOptions,
):  # fmt: skip
    """Predict the class of each example in FILE; a ranking's score, larger comes first.

    One a line; labels in FILE are ignored. A tagger writes the text of FILE with its labels as one more
    column, in CoNLL-U in the label's column.
    """
    from .model_store import load_to_predict
    from .reading import predicted_lines

    if output is not None:
        check_writable(output, inputs=[model, file])
    lines = predicted_lines(load_to_predict(model), file, scores, options)
    if output is None:
        sys.stdout.writelines(lines)
        return
    with writing(output) as target:
        target.writelines(lines)
