"""`oneslack predict`: one prediction a line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .data import read_for_model
from .options import AnyFile, FileOptions, ModelFile
from .output import Refusal, check_writable, complain, guarded, writing
from .tag_model import refuse_tag_options, tagged_lines


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
    settled: Annotated[
        bool,
        typer.Option(
            "--settled",
            help="As the last column: `settled` where the exact optimum would predict the same, else `open`. "
            "It does not say whether a prediction is right.",
        ),
    ] = False,
    options: FileOptions,
):  # fmt: skip
    """Predict the class of each example in FILE; a ranking's score, larger comes first.

    One a line; labels in FILE are ignored. A tagger writes the text of FILE with its labels as one more
    column, in CoNLL-U in the label's column.
    """
    from .model_store import load_to_predict

    if output is not None:
        check_writable(output, inputs=[model, file])
    lines = _predicted_lines(load_to_predict(model), file, scores, settled, options)
    if output is None:
        sys.stdout.writelines(lines)
        return
    with writing(output) as target:
        target.writelines(lines)


def _predicted_lines(saved, path, scores, settled, options):
    """The lines of the output: one an example, or the text of a file again."""
    if settled and not hasattr(saved.model, "certain"):
        kind = saved.header["kind"]
        raise Refusal(f"{saved.path}: a {kind} does not tell which predictions are settled; drop --settled.")
    if saved.kind.takes == "sentences":
        return tagged_lines(saved, path, scores, options)
    refuse_tag_options(saved, options)
    if saved.kind.takes != "rows":
        return _lines(saved, saved.kind.read(path, saved, with_outputs=False), scores)
    table = read_for_model(path, saved, options.label, options.zero_based, options.group)
    if hasattr(table.X, "manifest"):  # shards, one after the other
        if settled and hasattr(saved.model, "rank"):
            raise Refusal(f"{path}: a place needs its whole query, which shards cut; drop --settled.")
        return (line for shard in table.X for line in _lines(saved, shard, scores, settled))
    return _lines(saved, table, scores, settled)


def _lines(saved, examples, scores, settled=False):
    rows = saved.kind.cells(saved, examples.X, scores, complain)
    if settled:
        words = ("settled" if is_certain else "open" for is_certain in _certain(saved, examples))
        rows = ([*cells, word] for cells, word in zip(rows, words, strict=True))
    return ("\t".join(cells) + "\n" for cells in rows)


def _certain(saved, examples):
    from ..kinds.settled import certain_of

    try:
        return certain_of(saved, examples).tolist()
    except ValueError as error:
        raise Refusal(f"{saved.path}: {error}.") from error
