"""Options of the commands that read tagged text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from .options import Group, Label, ZeroBased


class TagFormat(StrEnum):
    """Formats of tagged text."""

    conll = "conll"
    conllu = "conllu"
    svmhmm = "svmhmm"


class Rescaling(StrEnum):
    """Ways in which the loss enters."""

    margin = "margin"
    slack = "slack"


class Constraints(StrEnum):
    """Rules for which label may follow which."""

    iob = "iob"


class TagSolver(StrEnum):
    """Names of solvers for structured outputs."""

    auto = "auto"
    dual_cd = "dual_cd"
    n_slack = "n_slack"
    one_slack = "one_slack"


TaggedFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Tagged text: CoNLL (a token a line, columns between blanks or tabs, an empty line after a "
        "sentence), CoNLL-U, or SVM-hmm; may be packed (.gz .bz2 .xz).",
        show_default=False,
    ),
]
TagLabel = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="The label's column, by name or by position from 0. (default: the last; in CoNLL-U upos)",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        help="Tagged text: names of all columns of a CoNLL file, as the templates call them; - for one that "
        "is not wanted. (default: w, pos if there are three or more, col2, ...)",
        show_default=False,
    ),
]
Format = Annotated[
    TagFormat | None,
    typer.Option(
        "--format",
        help="Tagged text: its format. (default: by the name and the first lines)",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class FileOptions:
    """How a file is read for a model that exists; None where nothing is said."""

    label: Label = None
    group: Group = None
    zero_based: ZeroBased = None
    columns: Columns = None
    format: Format = None

    def of_tags(self) -> dict:
        """{option: value}, of those that only a tagged file has."""
        return {"--columns": self.columns, "--format": self.format}
