"""The options that a training was started with: its model remembers them, for a report to repeat."""

from __future__ import annotations

import sys
from contextvars import ContextVar

from typer.core import TyperCommand

#: Of the command that runs; None outside of one.
_given: ContextVar[list[str] | None] = ContextVar("given", default=None)

#: What is not repeated: where to write, how much to say.
LEFT_OUT = ("output", "quiet", "as_json", "checkpoint", "every", "resume", "log")


class Saying(TyperCommand):
    """A command that says at once which file it reads: what it imports takes seconds."""

    def invoke(self, ctx):
        _say_at_once(ctx.params)
        return super().invoke(ctx)


class Remembering(Saying):
    """A command that `given_options` can be asked about while it runs."""

    def invoke(self, ctx):
        token = _given.set(_words(ctx))
        try:
            return super().invoke(ctx)
        finally:
            _given.reset(token)


def _say_at_once(params):
    """On a terminal: what happens in the seconds before there is a table to show."""
    file = params.get("file") or params.get("data")
    if file and not params.get("quiet") and sys.stderr.isatty():
        print(f"reading {file} ...", file=sys.stderr, flush=True)


def given_options() -> list[str] | None:
    """The words of the options, as they could stand in the command; None where no such command runs."""
    return _given.get()


def _words(ctx) -> list[str]:
    words = []
    for option in ctx.command.params:
        source = ctx.get_parameter_source(option.name)
        if option.name in LEFT_OUT or source is None or source.name != "COMMANDLINE":
            continue
        if option.opts[0].startswith("-"):
            words += option_words(option, ctx.params[option.name])
    return words


def option_words(option, value) -> list[str]:
    """An option with its value: -C, or the longest of its names; the flag that says yes or no."""
    if isinstance(value, bool):
        return (option.opts if value else option.secondary_opts)[:1]
    return [max(option.opts, key=len), str(getattr(value, "value", value))]
