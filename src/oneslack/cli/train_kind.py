"""`oneslack train KIND` for a kind without a command of its own here: its parameters are the options."""

from __future__ import annotations

import time
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer

from ..kinds.registry import KINDS, kind_of
from .data import Source
from .keeping import keep_in
from .options import DataFile, Json, Label, ZeroBased
from .output import check_writable, guarded
from .train_options import Checkpoint, Every, Jobs, MaxIter, Output, Quiet, Resume, TimeLimit, Tol

#: What every command takes beside the parameters of its kind, and what belongs to rows alone.
OPTIONS = {
    "tol": (Tol, 1e-3), "max_iter": (MaxIter, 100_000), "time_limit": (TimeLimit, None),
    "jobs": (Jobs, None), "checkpoint": (Checkpoint, None), "every": (Every, "5m"), "resume": (Resume, False),
    "quiet": (Quiet, False), "as_json": (Json, False),
}  # fmt: skip
OF_ROWS = {"label": (Label, None), "zero_based": (ZeroBased, None)}


@dataclass(frozen=True)
class OwnExamples:
    """What the kind itself has read, as `training` needs it."""

    path: str
    X: Any
    y: Any
    source: Source
    seconds: float

    @property
    def title(self) -> str:
        return f"{len(self.X):,} examples"

    def size(self, model) -> dict:
        return {"examples": len(self.X)}

    def words(self, facts) -> str:
        return self.title


def commands(written):
    """Those of all kinds that have one, but for the names of commands that are `written` by hand."""
    kinds = ((name, kind_of(name)) for name in KINDS)
    return [command_of(name, kind) for name, kind in kinds if kind.command not in (None, *written)]


def command_of(name, kind):
    """The command of an estimator's kind, as typer takes it."""

    def train(
        file, output, tol, max_iter, time_limit, jobs, checkpoint, every, resume, quiet, as_json, **own
    ):
        from . import training

        check_writable(output, inputs=[file])
        keeping = keep_in(checkpoint, every, resume)
        if kind.takes == "rows":
            examples = training.read(file, own.pop("label"), own.pop("zero_based"), streamed=False)
        else:
            examples = _read(file, kind)
        model = training.build(
            name, **own, tol=tol, max_iter=max_iter, time_limit=time_limit, n_jobs=jobs
        )  # fmt: skip
        subject = kind.subject(examples)
        return training.train(model, examples, subject, output, quiet, as_json, keeping)

    own = Annotated[str, typer.Argument(metavar="FILE", help=kind.holds, show_default=False)]
    file = DataFile if kind.takes == "rows" else own
    options = {"file": (file, Parameter.empty), "output": (Output, Parameter.empty)}
    for parameter, (default, words) in kind.parameters.items():
        flag = f"-{parameter}" if len(parameter) == 1 else f"--{parameter.replace('_', '-')}"
        options[parameter] = (Annotated[type(default), typer.Option(flag, help=words)], default)
    options |= OPTIONS | (OF_ROWS if kind.takes == "rows" else {})
    train.__name__, train.__doc__ = kind.command, kind.about
    train.__annotations__ = {option: annotation for option, (annotation, _) in options.items()}
    train.__signature__ = Signature(
        Parameter(option, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for option, (annotation, default) in options.items()
    )
    return guarded(train)


def _read(file, kind) -> OwnExamples:
    clock = time.perf_counter()
    found = kind.read(file, None, with_outputs=True)
    return OwnExamples(file, found.X, found.y, Source(kind.command), time.perf_counter() - clock)
