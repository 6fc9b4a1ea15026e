"""`oneslack train FILE`: what the file seems to hold, and the command that would learn from it."""

from __future__ import annotations

import os
import shlex
from typing import Annotated

import typer
from typer.core import TyperGroup

from .output import Exit, Refusal, guarded

#: Whole numbers of more values than this are rather amounts than classes.
MANY = 50
#: Grades have at most so many values.
GRADES = 10
#: A class with a smaller share of the examples is rare: accuracy says little about it.
RARE = 0.1


class Suggesting(TyperGroup):
    """Takes the name of a file where a command is expected for a question about it."""

    def resolve_command(self, ctx, args):
        if args and args[0] not in self.commands and os.path.exists(args[0]):
            return "suggest", self.commands["suggest"], args
        if args and args[0] not in self.commands and os.path.splitext(args[0])[1]:
            ctx.fail(f"{args[0]!r} is neither a way to train nor a file")
        return super().resolve_command(ctx, args)


@guarded
def suggest(file: Annotated[str, typer.Argument(metavar="FILE")]):
    """Say what a file seems to hold, and the command that would learn from it."""
    from .model_store import looks_like_model

    if os.path.isfile(file) and looks_like_model(file):
        raise Refusal(f"{file}: is a model, trained already; see `oneslack info`.", Exit.USAGE)
    held, commands = _looked_at(file)
    print(f"{file}: {held}")
    for why, command in commands:
        print(f"{why}:\n  {command}")


def _looked_at(file):
    """(what it holds, [(why, command)])."""
    from ..formats.registry import format_of

    found = format_of(file)
    if found.holds == "packed":
        return _folder(file)
    if found.holds == "trees":
        return found.title, [("to learn a grammar from them", _train("parse", file))]
    if found.holds == "sentences":
        return f"tagged text ({found.title})", [("to learn to tag", _train("tag", file))]
    return _table(file)


def _folder(file):
    from ..formats import open_shards

    shards = open_shards(file)
    if shards.kind == "sentences":
        return "a packed folder of sentences", [("to learn to tag", _train("tag", file))]
    held = f"a packed folder of {shards.n_rows:,} examples, {shards.n_features:,} features"
    labels, classes = shards.manifest.labels, shards.classes
    if labels is None:
        raise Refusal(f"{file}: {held}, but no labels to learn from.")
    if shards.manifest.groups is not None:
        return f"{held}, in queries", [("to learn to rank", _train("rank", file))]
    if labels == "numbers" or (labels == "integers" and (classes is None or len(classes) > MANY)):
        return held, [("to learn to predict its targets", _train("regress", file))]
    return held, [("to learn to classify", _train("classify", file))]


def _table(file):
    import numpy as np

    from ..errors import FormatError
    from ..formats.registry import format_of
    from .data import read_any

    try:
        table, source = read_any(file, None, None)
    except FormatError:
        if format_of(file, "table").name != "csv":
            raise
        return _mixed_table(file)
    n, d = table.X.shape
    held = f"{source.kind} data, {n:,} examples, {d:,} features"
    if table.y is None:
        raise Refusal(f"{file}: {held}, but no labels to learn from.")
    values, counts = np.unique(table.y, return_counts=True)
    if table.qid is not None:
        queries = len(np.unique(table.qid))
        return f"{held}, {queries:,} queries", [("to learn to rank", _train("rank", file))]
    is_amount = table.y.dtype.kind == "f" or (table.y.dtype.kind in "iu" and len(values) > MANY)
    if is_amount:
        held += f", targets from {values[0]:g} to {values[-1]:g}"
        return held, [("to learn to predict them", _train("regress", file))]
    if len(values) == 1:
        raise Refusal(f"{file}: {held}, but all have the label {values[0]!s}; there is nothing to learn.")
    held += f", {len(values)} classes"
    commands = [
        ("to learn to classify", _train("classify", file)),
        ("to choose C first", f"oneslack tune {shlex.quote(file)} -o {_model(file)}"),
    ]
    if len(values) == 2 and counts.min() < RARE * n:
        share = 100 * counts.min() / n
        why = f"as {share:.2g} % have the label {values[counts.argmin()]!s}, for the F1 score"
        commands.append((why, _train("classify", file, "--metric f1")))
    elif table.y.dtype.kind in "iu" and 2 < len(values) <= GRADES:
        commands.append(("if the labels are grades in an order", _train("ordinal", file)))
    return held, commands


def _mixed_table(file):
    """A CSV with words or gaps."""
    from ..formats.cells import read_cells
    from .table_info import columns_of, command

    cells = read_cells(file)
    seen = columns_of(cells)
    held = "".join(f"\n  {column.name or '(no name)'}: {column.words}" for column in seen)
    held = f"csv data, {len(cells):,} examples, {len(seen)} columns{held}"
    return held, [("to learn from them", command(file, cells, seen))]


def _train(task, file, more=""):
    return " ".join(filter(None, ["oneslack train", task, shlex.quote(file), more, "-o", _model(file)]))


def _model(file):
    stem = os.path.basename(os.path.normpath(file)).partition(".")[0] or "my"
    return shlex.quote(f"{stem}.model")
