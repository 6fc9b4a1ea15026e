"""The tree of commands, and what becomes of a mistyped one."""

from __future__ import annotations

from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.main import get_command

from . import (
    compat,
    demo,
    evaluate,
    info,
    pack,
    plan,
    predict,
    report,
    train,
    train_parse,
    train_segments,
    train_tag,
    tune,
    verify,
)
from .given_options import Remembering, Saying
from .output import Exit, complain, in_one_line
from .suggest_command import Suggesting, suggest
from .train_kind import commands

#: \b keeps click from joining the lines.
EXIT_CODES = "\b\nExit codes:\n" + "\n".join(f"  {code.value:<4} {code.meaning}" for code in Exit)

#: Typer brings its own copy of click from some version on: take the class from where it is.
UsageError = typer.BadParameter.__base__


class TrainFirst(TyperGroup):
    """Lists the commands in the order of their use; typer puts groups of commands last."""

    def list_commands(self, ctx):
        return ["train", *(name for name in super().list_commands(ctx) if name != "train")]


app = typer.Typer(
    name="oneslack",
    cls=TrainFirst,
    help="Train large-margin models, each with a certificate: the duality gap.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode=None,  # boxes would double the time of --help, and leave little room for words
)
train_app = typer.Typer(
    cls=Suggesting,
    help="Train a model on a file of examples; `oneslack train FILE` says which way suits the file.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
#: Those with options of their own; all other kinds have what `train_kind` makes of them.
WRITTEN = (
    train.classify, train.regress, train.rank, train.ordinal, train_tag.tag, train_segments.segments,
    train_parse.parse,
)  # fmt: skip
for command in (*WRITTEN, *commands([command.__name__ for command in WRITTEN])):
    train_app.command(cls=Remembering, epilog=EXIT_CODES)(command)
train_app.command("suggest", hidden=True)(suggest)
app.add_typer(train_app, name="train")
for command in (
    tune.tune, predict.predict, evaluate.evaluate, verify.verify, report.report, pack.pack, plan.plan,
    info.info, demo.demo, compat.compat,
):  # fmt: skip
    app.command(cls=Saying)(command)


def _print_version(wanted: bool):
    if wanted:
        from .. import __version__

        print(f"oneslack {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
):
    pass


def run(arguments: list[str] | None = None) -> int:
    """Run a command line; a mistyped one gets one sentence and exit code 2."""
    try:
        return get_command(app).main(arguments, prog_name="oneslack", standalone_mode=False) or Exit.OK
    except UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
        else:
            where = error.ctx.command_path if error.ctx else "oneslack"
            complain(f"{in_one_line(error.format_message()).rstrip('.')}; see `{where} --help`.")
        return Exit.USAGE
