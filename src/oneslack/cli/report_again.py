"""How a model came about, as commands to repeat it; and what it was made with."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex

#: Options whose parameter has another name.
PARAMETERS = {"jobs": "n_jobs", "seed": "random_state"}


def commands(saved, data) -> list[str]:
    """Command lines that train and evaluate the model; none for one that was trained in Python."""
    training, command = saved.header.get("training"), saved.kind.command
    if not training or command is None:
        return []
    options = training.get("options")
    if options is None:  # trained by `tune`, or written before options were remembered
        if not saved.kind.repeats:
            return []
        options = _options(command, saved)
    lines = [shlex.join(["oneslack", "train", command, training["data"], "-o", saved.path, *options])]
    if data:
        lines.append(shlex.join(["oneslack", "evaluate", saved.path, data]))
    return lines


def _options(command, saved) -> list[str]:
    """Options whose values are not the command's defaults."""
    from typer.main import get_command

    from .app import train_app
    from .given_options import option_words

    words = []
    for option in get_command(train_app).commands[command].params:
        if not option.opts[0].startswith("-"):
            continue
        value = _value(option.name, saved)
        default = getattr(option.default, "value", option.default)
        if value is None or value == default:
            continue
        words += option_words(option, value)
    return words


def _value(name, saved):
    """What an option must have been; None where it is not known, or was not given."""
    parameters, source = saved.header["parameters"], saved.header.get("source", {})
    if name in ("label", "group", "zero_based", "columns", "format", "tagged"):  # the format is found again
        is_folder = os.path.isdir(saved.header["training"]["data"])  # where `oneslack pack` knew the rest
        is_tag_label = name == "label" and saved.kind.takes == "sentences"
        value = source.get(name) if is_tag_label or not is_folder else None
        return ",".join(value) if isinstance(value, list) else value
    if name == "no_intercept":
        return not parameters.get("fit_intercept", True)
    if name in ("k", "beta") and name not in saved.header["training"]:
        return None
    value = parameters.get({**PARAMETERS, **saved.kind.options}.get(name, name))
    if name == "horizontal" and value is None:
        return -1
    if name == "class_weight" and isinstance(value, dict):
        return ",".join(f"{label}={weight:g}" for label, weight in value["pairs"])
    return value


def versions(path, data):
    """(name, words): programs and files."""
    import numba
    import numpy
    import scipy
    import sklearn

    from .. import __version__

    return [
        ("oneslack", __version__),
        ("Python", platform.python_version()),
        ("NumPy", numpy.__version__),
        ("SciPy", scipy.__version__),
        ("scikit-learn", sklearn.__version__),
        ("Numba", numba.__version__),
        *(_digest(file) for file in (path, data) if file),
    ]


def _digest(path):
    """(name, words); of a packed folder that of its manifest, which holds checksums of the others."""
    from ..formats.shards.manifest import NAME

    if os.path.isdir(path) and not os.path.exists(os.path.join(path, NAME)):
        files = sorted(name for name in os.listdir(path) if os.path.isfile(os.path.join(path, name)))
        digests = "".join(f"{name} {_digest(os.path.join(path, name))[1]}\n" for name in files)
        return f"SHA-256 of the {len(files):,} files of {path}", hashlib.sha256(digests.encode()).hexdigest()
    path = os.path.join(path, NAME) if os.path.isdir(path) else path
    with open(path, "rb") as file:
        return f"SHA-256 of {path}", hashlib.file_digest(file, "sha256").hexdigest()
