"""Options and arguments that several commands share; those that go together are one dataclass."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from .output import Exit, Refusal


def positive(value: float | None) -> float | None:
    """A callback of an option that must be a positive, finite number."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise typer.BadParameter(f"{value:g} is not a positive number")
    return value


def share(value: float | None) -> float | None:
    """A callback of an option that must be a number between 0 and 1."""
    if value is not None and not 0 < value < 1:
        raise typer.BadParameter(f"{value:g} is not a number between 0 and 1")
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


# What is read.

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Examples: svmlight, CSV/TSV, .npy or .npz; svmlight and CSV may be packed (.gz .bz2 .xz). Or a "
        "folder that `oneslack pack` wrote.",
    ),
]
AnyFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Examples: svmlight, CSV/TSV, .npy or .npz; for a tagger CoNLL, CoNLL-U or SVM-hmm; for a "
        "parser sentences, one a line, or trees. Text may be packed (.gz .bz2 .xz).",
    ),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", help="A model that oneslack saved.")]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The label's column in a CSV, .npy or CoNLL file, by name or by position from 0; the name of "
        "its array in an .npz file. (default: the last column; y; upos in CoNLL-U)",
    ),
]
Group = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that tells the query of a row in a CSV or .npy file, by name or by position from 0; "
        "the name of its array in an .npz file (default: qid). svmlight has its qid: numbers.",
    ),
]
ZeroBased = Annotated[
    bool | None,
    typer.Option(
        "--zero-based/--one-based",
        help="Where svmlight indices start. (default: at 1 unless an index 0 occurs)",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME,...",
        help="Tagged text: names of all columns of a CoNLL file, as the templates call them; - for one that "
        "is not wanted. (default: w, pos if there are three or more, col2, ...)",
    ),
]
#: Of the registry, which is not imported before it is needed; a test compares them.
TaggedFormat = Literal["conll", "conllu", "svmhmm"]
TableFormat = Literal["svmlight", "csv", "numpy"]
Format = Annotated[
    TaggedFormat | None,
    typer.Option("--format", help="Tagged text: its format. (default: by the name and the first lines)"),
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


PosLabel = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="Of two classes the one that measures such as F1 look for. (default: 1 in 0/1 and -1/1, else "
        "the rarer one)",
    ),
]

#: Measures of a whole sample.
Metric = Literal[
    "f1", "fbeta", "error", "prbep", "precision_at_k", "recall_at_k", "roc_auc", "average_precision"
]


@dataclass(frozen=True)
class Aim:
    """The measure that is trained for, where it is not the sum of the examples' losses."""

    metric: Annotated[Metric | None, typer.Option(help="Train for this measure of the whole sample.")] = None
    k: Annotated[
        str | None,
        typer.Option(
            "--k", metavar="NUMBER|SHARE",
            help="For precision_at_k and recall_at_k: how many examples to predict positive, as 10, or which "
            "share of them, as 0.1.",
        ),
    ] = None  # fmt: skip
    beta: Annotated[
        float | None,
        typer.Option(help="For fbeta: above 1 recall counts more, below 1 precision.", callback=positive),
    ] = None
    pos_label: PosLabel = None


# What is said, and where it is written.

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Proof = Annotated[
    bool, typer.Option("--proof", help="Keep what proves the certificate, for `oneslack verify`.")
]
Log = Annotated[
    list[str] | None,
    typer.Option(
        metavar="tensorboard:DIR|mlflow:DIR",
        help="Write bounds, gap and seconds down for TensorBoard or MLflow, in a folder; may be repeated.",
    ),
]
Output = Annotated[str, typer.Option("--output", "-o", metavar="MODEL", help="Write here.")]


@dataclass(frozen=True)
class Telling:
    """What is said of a training."""

    quiet: Quiet = False
    as_json: Json = False
    proof: Proof = False
    log: Log = None


# What is solved, and how far.

SumC = Annotated[float, typer.Option("-C", help="Weight of the sum over sentences.", callback=positive)]
HingeC = Annotated[
    float | None,
    typer.Option(
        "-C",
        help="Weight of the sum of the hinges, as in LIBLINEAR. (default: 1; with --metric the number of "
        "examples times the loss of one missed positive)",
        callback=positive,
    ),
]
PairC = Annotated[
    float,
    typer.Option("-C", help="Weight of the mean hinge of a pair, times the examples.", callback=positive),
]
Tol = Annotated[float, typer.Option(help="Stop at this relative duality gap.", callback=not_negative)]
Epsilon = Annotated[
    float | None,
    typer.Option(
        help="Stop by the papers' rule instead: no constraint violated by more (mean loss).",
        callback=positive,
    ),
]
Solver = Annotated[
    Literal["auto", "dual_cd", "newton", "dual_newton", "one_slack", "streaming"],
    typer.Option(help="How to solve it; auto chooses and says why."),
]
ClassLoss = Annotated[
    Literal["hinge", "squared_hinge", "logistic"] | None,
    typer.Option(help="What an example costs; logistic gives probabilities. (default: hinge)"),
]
Penalty = Annotated[
    Literal["l2", "l1"] | None,
    typer.Option(
        help="What weights cost: squares, or their size, which makes most of them 0 (with squared_hinge, its "
        "default, or logistic). (default: l2)"
    ),
]
MultiClass = Annotated[
    Literal["crammer_singer", "ovr"] | None,
    typer.Option(
        help="More than two classes: all at once, or one problem a class. (default: crammer_singer with the "
        "hinge, else ovr)"
    ),
]
PlaneSolver = Annotated[
    Literal["auto", "one_slack"], typer.Option(help="How to solve it: either way by cutting planes.")
]
StructuredSolver = Literal["auto", "dual_cd", "n_slack", "one_slack"]
Rescaling = Literal["margin", "slack"]
NoIntercept = Annotated[bool, typer.Option("--no-intercept", help="Learn no intercept.")]
ClassWeight = Annotated[
    str | None,
    typer.Option(metavar="balanced|LABEL=W,...", help="Let errors on a class count W times."),
]
Prior = Annotated[
    str | None,
    typer.Option(metavar="MODEL", help="Draw the weights to those of this earlier model, instead of to 0."),
]
Nonnegative = Annotated[bool, typer.Option("--nonnegative", help="Hold all weights >= 0.")]
NBasis = Annotated[
    int | None,
    typer.Option(
        min=1, help="With a kernel: examples of the basis (default: 500 to rank, 1000 tokens to tag)."
    ),
]


@dataclass(frozen=True)
class KernelOptions:
    """Which kernel, and its parameters."""

    kernel: Annotated[
        Literal["rbf", "poly", "linear", "laplacian"] | None,
        typer.Option(help="Learn with this kernel instead of linearly."),
    ] = None
    gamma: Annotated[
        float | None,
        typer.Option(
            help="Of the kernel: exp(-gamma |a - b|^2) for rbf. (default: 1 / (features × variance))",
            callback=positive,
        ),
    ] = None
    degree: Annotated[float | None, typer.Option(help="Of poly. (default: 3)", callback=not_negative)] = None
    coef0: Annotated[float | None, typer.Option(help="Of poly: what is added. (default: 0)")] = None


# How long, and on what machines.

Jobs = Annotated[int | None, typer.Option(help="Threads, or workers on Ray. (default: all cores)", min=1)]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Of a packed folder keep no more than this in memory, as 500MB or 2GB. (default: 2GB)",
    ),
]


@dataclass(frozen=True)
class Limits:
    """How long to train, where that is written down, on how many cores."""

    max_iter: Annotated[int, typer.Option(help="Stop after so many steps.", min=1)] = 100_000
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Stop training after so long, compilation not counted.", callback=positive
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Write the training down here as it goes, to go on after a crash."
        ),
    ] = None
    every: Annotated[str, typer.Option(metavar="TIME", help="How often: 30s, 5m, 1h.", callback=seconds)] = (
        "5m"
    )
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint, where there is one.")
    ] = False
    jobs: Jobs = None

    def keeping(self):
        """A CheckpointFolder, or None."""
        if self.checkpoint is None:
            if self.resume:
                raise Refusal("--resume needs --checkpoint FOLDER: where it was written down.", Exit.USAGE)
            return None
        from ..memory.checkpoint import CheckpointFolder

        return CheckpointFolder(self.checkpoint, self.every, self.resume)

    def parameters(self) -> dict:
        """The same as estimators take it."""
        return {"max_iter": self.max_iter, "time_limit": self.time_limit, "n_jobs": self.jobs}


@dataclass(frozen=True)
class Machines:
    """Which machines train."""

    engine: Annotated[
        Literal["threads", "ray"],
        typer.Option(help="Train on this machine's cores, or on a Ray cluster (--jobs workers)."),
    ] = "threads"
    address: Annotated[
        str | None,
        typer.Option(
            metavar="auto|HOST:PORT", help="Of a Ray cluster. (default: one of its own on this machine)"
        ),
    ] = None
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Of each worker on Ray. (default: 1; of tag and parse without --jobs, all of a machine)",
        ),
    ] = None

    @property
    def is_here(self) -> bool:
        return self.engine == "threads"

    def engine_for(self, jobs):
        """What an estimator takes as its engine: None for this machine's cores."""
        if not self.is_here:
            from ..engines.ray import Ray

            return Ray(jobs, self.address, self.threads)
        if self.address is not None:
            raise Refusal("--address is that of a Ray cluster; add --engine ray.", Exit.USAGE)
        if self.threads is not None:
            raise Refusal(
                "--threads is for each worker of a Ray cluster; add --engine ray, or give --jobs alone.",
                Exit.USAGE,
            )
        return None
