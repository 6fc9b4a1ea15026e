"""One door for tables: the name of a file says how to read it, or else its content does."""

import os
from dataclasses import replace

import numpy as np

from ..errors import OneslackError
from .labels import integers_if_integral
from .registry import FORMATS, format_of


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
