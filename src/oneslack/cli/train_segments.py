"""`oneslack train segments`: segments with labels in sentences."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from .options import Columns, Format, Limits, Output, StructuredSolver, SumC, Telling, Tol
from .output import check_writable, guarded
from .train_tag import TaggedFile, TagLabel, read_to_train

Price = Annotated[
    float, typer.Option(help="Price of a token of a segment that is told to be outside.", min=0)
]
FalsePrice = Annotated[float, typer.Option(help="Price of a token outside that is told to be inside.", min=0)]


@guarded
def segments(
    *,
    file: TaggedFile,
    output: Output,
    templates: Annotated[
        str | None,
        typer.Option(
            metavar="SET|FILE|TEXT",
            help="Features of a token: a set (chunking, tagging, ner), a file of templates, or a template. "
            "(default: chunking with a column pos, else ner)",
        ),
    ] = None,
    C: SumC = 0.1,
    coding: Annotated[
        Literal["bilou", "bio"],
        typer.Option(help="Which tokens of a segment have weights of their own; FILE may have either."),
    ] = "bilou",
    missed: Price = 1.0,
    false_alarm: FalsePrice = 1.0,
    tol: Tol = 1e-2,
    solver: Annotated[
        StructuredSolver, typer.Option(help="How to solve it; auto is dual_cd.")
    ] = "auto",
    order: Annotated[
        int, typer.Option(help="1: weights for pairs of neighbouring tags, 2: triples too.", min=1, max=2)
    ] = 1,
    min_count: Annotated[
        int, typer.Option(help="Features that occur less often get no weight.", min=1)
    ] = 1,
    label: TagLabel = None,
    columns: Columns = None,
    format: Format = None,
    limits: Limits,
    seed: Annotated[
        int, typer.Option(help="Of the order in which sentences are visited.", min=0, max=2**31 - 1)
    ] = 0,
    telling: Telling,
):  # fmt: skip
    """Train a segmenter: whole segments with labels, from BIO or BILOU tags of tokens.

    Predictions are BIO tags. Ctrl-C keeps the best model so far and says its gap.
    """
    from . import training

    check_writable(output, inputs=[file])
    keeping = limits.keeping()
    examples, chosen = read_to_train(file, format, templates, columns, label, None)
    model = training.build(
        "SequenceSegmenter", C=C, coding=coding, missed=missed, false_alarm=false_alarm, templates=chosen,
        min_count=min_count, order=order, solver=solver, tol=tol, random_state=seed, **limits.parameters(),
    )  # fmt: skip
    return training.train(model, examples, output, telling, keeping)
