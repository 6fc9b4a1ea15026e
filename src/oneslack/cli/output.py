"""What a command leaves behind: an exit code, one sentence for a mistake, one JSON object."""

from __future__ import annotations

import errno
import functools
import json
import math
import os
import sys
import warnings
from contextlib import contextmanager
from enum import IntEnum

import typer

from ..errors import OneslackError
from .option_groups import with_groups


class Exit(IntEnum):
    """Exit codes, each with its meaning."""

    OK = 0, "done"
    UNEXPECTED = 1, "an unexpected error"
    USAGE = 2, "a wrong option or argument"
    BAD_FILE = 3, "a file that cannot be read, understood or written"
    NOT_REACHED = 4, "stopped before the tolerance was reached; the model so far is saved"
    NOT_PROVEN = 5, "a model whose proof does not hold for the data"
    INTERRUPTED = 130, "interrupted (Ctrl-C); the model so far, if there is one, is saved"
    TERMINATED = 143, "ended by SIGTERM; the model so far, and a checkpoint where one is kept, are saved"

    def __new__(cls, code, meaning):
        one = int.__new__(cls, code)
        one._value_, one.meaning = code, meaning
        return one


#: What the system calls a disk that is full, a quota that is used up, a file that may not grow.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: What a shell reports when the reader of a pipe went away, as in `oneslack predict ... | head`.
_CLOSED_PIPE = 141


class Refusal(Exception):
    """An input that the user can put right: one sentence and an exit code."""

    def __init__(self, sentence, code=Exit.BAD_FILE):
        super().__init__(sentence)
        self.code = code


def guarded(command):
    """The command, with every failure turned into one sentence on stderr and an exit code, and every warning
    into one sentence."""
    command = with_groups(command)

    @functools.wraps(command)
    def run(*args, **kwargs):
        with _as_exit_codes(), warnings.catch_warnings():
            warnings.showwarning = lambda message, *where: complain(message)
            code = command(*args, **kwargs)
            sys.stdout.flush()
        raise typer.Exit(code or Exit.OK)

    return run


@contextmanager
def _as_exit_codes():
    try:
        yield
    except Refusal as error:
        _leave(str(error), error.code)
    except OneslackError as error:
        _leave(str(error), Exit.BAD_FILE)
    except KeyboardInterrupt:
        _leave("interrupted; nothing was written.", Exit.INTERRUPTED)
    except BrokenPipeError:
        _give_up_stdout()
        raise typer.Exit(_CLOSED_PIPE) from None
    except MemoryError:
        _leave("ran out of memory; use fewer examples or a machine with more.", Exit.UNEXPECTED)
    except (typer.Exit, typer.BadParameter):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _give_up_stdout()
            _leave(
                f"the output cannot be written whole ({error.strerror}); make room and run it again.",
                Exit.BAD_FILE,
            )
        if os.environ.get("ONESLACK_DEBUG"):
            raise
        _leave(
            f"unexpected {type(error).__name__}: {error}; please report it, with the traceback "
            "that ONESLACK_DEBUG=1 shows.",
            Exit.UNEXPECTED,
        )


def _give_up_stdout():
    """Python flushes stdout once more at its end, which would fail again, with a traceback."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave(sentence, code):
    complain(sentence)
    raise typer.Exit(code) from None


def complain(sentence):
    """Print one line on stderr."""
    print(fitted(f"oneslack: {in_one_line(sentence)}", sys.stderr), file=sys.stderr)


def fitted(text, stream) -> str:
    """The text with its lines broken between words where a terminal is too narrow; elsewhere as it is."""
    if not stream.isatty():
        return text
    import shutil
    import textwrap

    width = max(30, shutil.get_terminal_size().columns - 1)
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines += textwrap.wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(lines)


def in_one_line(text) -> str:
    """The text without line breaks or double blanks."""
    return " ".join(str(text).split())


def print_json(value):
    """Print one JSON object on stdout; a number that is not finite becomes null."""
    print(json.dumps(_plain(value), indent=2, allow_nan=False))


def _plain(value):
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def check_writable(path, inputs=()):
    """Refuse an output that cannot be written, before any work is spent on it."""
    from ..formats.atomic import atomic_write

    for name in inputs:
        if os.path.realpath(name) == os.path.realpath(path):
            raise Refusal(f"{path}: is read and written by the same command; name another.", Exit.USAGE)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise Refusal(f"{path}: is not a regular file; name one.")
    try:
        with atomic_write(path):
            raise _OnlyTrying
    except _OnlyTrying:
        pass


@contextmanager
def writing(path, *, text=True):
    """`atomic_write` for a command: a disk that is full is told in a sentence."""
    from ..formats.atomic import atomic_write

    try:
        with atomic_write(path, text=text) as file:
            yield file
    except OSError as error:
        raise Refusal(
            f"{path}: cannot be written ({error.strerror or error}); make room, or name another place."
        ) from error


class _OnlyTrying(Exception):
    pass
