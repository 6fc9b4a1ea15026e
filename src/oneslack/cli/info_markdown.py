"""`oneslack info --markdown`: what a bug report should say, ready to paste."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys

#: Packages whose versions matter.
PACKAGES = (
    "numpy", "scipy", "numba", "llvmlite", "scikit-learn", "safetensors", "loky", "typer", "rich",
    "matplotlib", "ray",
)  # fmt: skip
#: Settings of the surroundings that change what a program does.
VARIABLES = (
    "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS", "ONESLACK_DEBUG",
)  # fmt: skip


def markdown(facts) -> str:
    """Facts of a file (name to words), where there are some, then versions and the machine."""
    parts = [_table("file", facts)] if facts else []
    return "\n\n".join([*parts, _table("surroundings", _surroundings())])


def _surroundings() -> dict:
    from .. import __version__
    from ..engines.threads import count_jobs

    installed = {package.name: package.version for package in importlib.metadata.distributions()}
    return {
        "oneslack": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        **{name: installed[name] for name in PACKAGES if name in installed},
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "cores": f"{count_jobs(None)} of {os.cpu_count()}",
        "installed in a virtual environment": "yes" if sys.prefix != sys.base_prefix else "no",
        **{name: os.environ[name] for name in VARIABLES if name in os.environ},
    }


def _table(title, pairs) -> str:
    rows = [f"| {_cell(name)} | {_cell(words)} |" for name, words in pairs.items()]
    return "\n".join([f"| {title} | |", "|---|---|", *rows])


def _cell(value) -> str:
    """As text that stays in its cell."""
    return " ".join(str(value).replace("\\", "\\\\").replace("|", "\\|").split())
