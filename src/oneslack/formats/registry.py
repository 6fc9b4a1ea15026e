"""All formats, and one door: a file is what its name says, or else its first lines do."""

import os
from dataclasses import replace
from importlib import import_module

import numpy as np

from ..errors import OneslackError
from .compression import read_buffer
from .labels import integers_if_integral
from .lines import text_start

#: The files with a FORMAT; of two that look alike the first is taken.
FILES = (
    "svmlight",
    "delimited",
    "numpy_file",
    "conll",
    "conllu",
    "svmhmm",
    "trees",
    "shards.reading",
)
FORMATS = {entry.name: entry for entry in (import_module(f"{__package__}.{file}").FORMAT for file in FILES)}
SAMPLE = 1 << 16


def format_of(path, holds=None, least=0.0):
    """The Format of a file, plain or packed by gzip, bzip2 or xz; of a folder, that of packed folders.

    holds: look among the formats of tables, "sentences", "trees" or "packed" folders alone.
    least: how sure it must be, such as CERTAIN, which a name always is; None where it is not.

    >>> from oneslack.formats.registry import format_of
    >>> with open("train.txt", "w") as file:
    ...     _ = file.write("1,0.5,2\\n-1,0.25,4\\n")
    >>> format_of("train.txt").name, format_of("train.txt").read("train.txt").X.shape
    ('csv', (2, 2))
    """
    if holds is None and os.path.isdir(path):
        return FORMATS["packed"]
    among = [entry for entry in FORMATS.values() if holds in (None, entry.holds)]
    named = next((entry for entry in among if entry.names(path)), None)
    if named is not None:
        return named
    sample = _first_lines(path)
    sure = {entry.name: entry.looks_like(sample) for entry in among}
    best = max(among, key=lambda entry: sure[entry.name])
    return best if sure[best.name] >= least else None


def _first_lines(path):
    """Whole lines, where a line is not too long."""
    sample = bytes(read_buffer(path, limit=SAMPLE)[:SAMPLE])
    end = sample.rfind(b"\n") + 1 if len(sample) == SAMPLE else 0
    return sample[text_start(sample) : end or None]


def read_data(
    path, *, kind="auto", n_features=None, label=None, group=None, zero_based="auto", dtype=np.float64
):
    """Read a data file of any kind as a Table; whole-numbered labels become int64.

    kind: "svmlight", "csv" (also tabs and semicolons), "numpy", or "auto".  `label` and `group` are for
    csv and numpy (see read_csv, read_numpy), `zero_based` for svmlight, whose query numbers are kept if
    present.

    >>> import numpy as np
    >>> from oneslack.formats import read_data
    >>> np.savez("few.npz", X=np.eye(3), y=[1, 2, 2])
    >>> table = read_data("few.npz")
    >>> table.X.shape, table.y.tolist(), table.kind
    ((3, 3), [1, 2, 2], 'numpy')
    """
    path = os.fspath(path)
    kinds = [name for name, entry in FORMATS.items() if entry.holds == "table"]
    if kind not in ("auto", *kinds):
        names = ", ".join(map(repr, ["auto", *kinds[:-1]]))
        raise OneslackError(f"kind must be {names} or {kinds[-1]!r}, got {kind!r}.")
    found = format_of(path, "table") if kind == "auto" else FORMATS[kind]
    given = {"label": label, "group": group, "zero_based": zero_based}
    options = {name: given[name] for name in found.options}
    table = found.read(path, n_features=n_features, dtype=dtype, **options)
    return table if table.y is None else replace(table, y=integers_if_integral(table.y))
