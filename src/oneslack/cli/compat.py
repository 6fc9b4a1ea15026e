"""`oneslack compat`: launchers under the names of the papers' programs, so that old scripts run unchanged."""

from __future__ import annotations

import os
import stat
import sys
from typing import Annotated

import typer

from .output import Exit, Refusal, guarded


@guarded
def compat(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A folder, made where there is none.")],
    force: Annotated[bool, typer.Option("--force", help="Replace other files of these names.")] = False,
):
    """Write the programs svm_learn, svm_perf_learn, svm_rank_learn, svm_multiclass_learn, svm_hmm_learn,
    LIBLINEAR's train, and those that predict, into DIR: the same options and files, trained by oneslack.
    """
    from ..adapters.programs import MODULES

    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise Refusal(f"{folder}: cannot be made a folder ({error.strerror}); name another.") from error
    paths = {name: os.path.join(folder, name + (".cmd" if os.name == "nt" else "")) for name in MODULES}
    others = [path for path in paths.values() if os.path.lexists(path) and not _is_ours(path)]
    if others and not force:
        raise Refusal(f"{others[0]}: is another program; name another folder, or replace it with --force.")
    for name, path in paths.items():
        _write(path, name)
    print(
        f"{len(paths)} programs in {folder}; to find them first: export PATH={os.path.abspath(folder)}:$PATH"
    )
    return Exit.OK


_CALL = "-m oneslack.adapters.programs"


def _is_ours(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return _CALL in file.read(4096)
    except OSError:
        return False


def _write(path, name):
    from ..formats.atomic import atomic_write

    if os.name == "nt":
        text = f'@"{sys.executable}" {_CALL} {name} %*\n'
    else:
        # A shebang with arguments, or a path with blanks, is not understood everywhere.
        text = f'#!/bin/sh\nexec "{sys.executable}" {_CALL} {name} "$@"\n'
    with atomic_write(path, text=True) as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
