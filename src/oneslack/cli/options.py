"""Options and arguments that several commands share."""

from __future__ import annotations

import math
from typing import Annotated

import typer


def positive(value: float | None) -> float | None:
    """A callback of an option that must be a positive, finite number."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise typer.BadParameter(f"{value:g} is not a positive number")
    return value


def not_negative(value: float | None) -> float | None:
    """A callback of an option that must be a finite number >= 0."""
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise typer.BadParameter(f"{value:g} is not a number >= 0")
    return value


def seconds(text: str) -> float:
    """A callback of an option that is a time: 90, 30s, 5m or 1h."""
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:])
    try:
        return not_negative(float(text[:-1] if unit else text)) * (unit or 1.0)
    except (ValueError, typer.BadParameter):
        raise typer.BadParameter(f"{text!r} is not a time such as 30s, 5m or 1h") from None


DataFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Examples: svmlight, CSV/TSV, .npy or .npz; svmlight and CSV may be packed (.gz .bz2 .xz). Or a "
        "folder that `oneslack pack` wrote.",
        show_default=False,
    ),
]
AnyFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Examples: svmlight, CSV/TSV, .npy or .npz; for a tagger CoNLL, CoNLL-U or SVM-hmm; for a "
        "parser sentences, one a line, or trees. Text may be packed (.gz .bz2 .xz).",
        show_default=False,
    ),
]
ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model that oneslack saved.", show_default=False)
]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The label's column in a CSV, .npy or CoNLL file, by name or by position from 0; the name of "
        "its array in an .npz file. (default: the last column; y; upos in CoNLL-U)",
        show_default=False,
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that tells the query of a row in a CSV or .npy file, by name or by position from 0; "
        "the name of its array in an .npz file (default: qid). svmlight has its qid: numbers.",
        show_default=False,
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Where svmlight indices start. (default: at 1 unless an index 0 occurs)",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
