"""`oneslack train KIND` for a kind without a command of its own here: its parameters are the options."""

from __future__ import annotations

from inspect import Parameter
from typing import Annotated

import typer

from .._jit.clock import now
from ..kinds.registry import KINDS, kind_of
from .data import OwnExamples, Source
from .option_groups import with_options
from .options import DataFile, Label, Limits, Output, Telling, Tol, ZeroBased
from .output import check_writable, guarded


def commands(written):
    """Those of all kinds that have one, but for the names of commands that are `written` by hand."""
    kinds = ((name, kind_of(name)) for name in KINDS)
    return [command_of(name, kind) for name, kind in kinds if kind.command not in (None, *written)]


def command_of(name, kind):
    """The command of an estimator's kind, as typer takes it."""
    of_rows = kind.takes == "rows"

    def train(*, file, output, tol, limits, telling, label=None, zero_based=None, **own):
        from . import training

        check_writable(output, inputs=[file])
        keeping = limits.keeping()
        examples = training.read(file, label, zero_based) if of_rows else _read(file, kind)
        model = training.build(name, tol=tol, **own, **limits.parameters())
        return training.train(model, examples, output, telling, keeping, kind.subject(examples, model))

    train.__name__, train.__doc__ = kind.command, kind.about
    own_file = Annotated[str, typer.Argument(metavar="FILE", help=kind.holds)]
    options = [
        ("file", DataFile if of_rows else own_file, Parameter.empty),
        ("output", Output, Parameter.empty),
        *(_option(name, *about) for name, about in kind.parameters.items()),
        ("tol", Tol, 1e-3),
        ("limits", Limits, Parameter.empty),
        *([("label", Label, None), ("zero_based", ZeroBased, None)] if of_rows else []),
        ("telling", Telling, Parameter.empty),
    ]
    return guarded(with_options(train, options))


def _option(name, default, words):
    flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
    return name, Annotated[type(default), typer.Option(flag, help=words)], default


def _read(file, kind) -> OwnExamples:
    clock = now()
    found = kind.read(file, None, with_outputs=True)
    return OwnExamples(file, found.X, found.y, Source(kind.command, found.zero_based), now() - clock)
