"""Options that the ways to train share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from .options import Json, not_negative, positive, seconds
from .output import Exit, Refusal


class PlaneSolver(StrEnum):
    """Names of solvers for risks that are no sum over examples."""

    auto = "auto"
    one_slack = "one_slack"


Output = Annotated[
    str, typer.Option("--output", "-o", metavar="MODEL", help="Write here.", show_default=False)
]
Tol = Annotated[float, typer.Option(help="Stop at this relative duality gap.", callback=not_negative)]
Epsilon = Annotated[
    float | None,
    typer.Option(
        help="Stop by the papers' rule instead: no constraint violated by more (mean loss).",
        callback=positive,
        show_default=False,
    ),
]
Planes = Annotated[PlaneSolver, typer.Option(help="How to solve it: either way by cutting planes.")]
PairC = Annotated[
    float,
    typer.Option("-C", help="Weight of the mean hinge of a pair, times the examples.", callback=positive),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        metavar="balanced|LABEL=W,...", help="Let errors on a class count W times.", show_default=False
    ),
]
MaxIter = Annotated[int, typer.Option(help="Stop after so many steps.", min=1)]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="Stop training after so long.", callback=positive, show_default=False
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="Write the training down here as it goes, to go on after a crash.",
        show_default=False,
    ),
]  # fmt: skip
Every = Annotated[str, typer.Option(metavar="TIME", help="How often: 30s, 5m, 1h.", callback=seconds)]
Resume = Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, where there is one.")]
Jobs = Annotated[
    int | None,
    typer.Option(help="Threads, or workers on Ray. (default: all cores)", min=1, show_default=False),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", show_default=False,
        help="Of a packed folder keep no more than this in memory, as 500MB or 2GB. (default: 2GB)",
    ),
]  # fmt: skip


class Engine(StrEnum):
    """Where a training runs."""

    threads = "threads"
    ray = "ray"


Where = Annotated[
    Engine,
    typer.Option("--engine", help="Train on this machine's cores, or on a Ray cluster (--jobs workers)."),
]
Address = Annotated[
    str | None,
    typer.Option(
        metavar="auto|HOST:PORT", help="Of a Ray cluster. (default: one of its own on this machine)",
        show_default=False,
    ),
]  # fmt: skip
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="Of each worker on Ray. (default: 1; of tag and parse without --jobs, all of a machine)",
        show_default=False,
    ),
]  # fmt: skip
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]


@dataclass(frozen=True)
class Limits:
    """How long to train, where that is written down, on how many cores."""

    max_iter: MaxIter = 100_000
    time_limit: TimeLimit = None
    checkpoint: Checkpoint = None
    every: Every = "5m"
    resume: Resume = False
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

    engine: Where = Engine.threads
    address: Address = None
    threads: Threads = None

    @property
    def is_here(self) -> bool:
        return self.engine is Engine.threads


@dataclass(frozen=True)
class Telling:
    """What is said of a training."""

    quiet: Quiet = False
    as_json: Json = False
