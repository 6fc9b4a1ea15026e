"""One door for all data files: the name says how to read, or else the content does."""

import os
from dataclasses import replace

import numpy as np

from ..errors import OneslackError
from .compression import read_buffer, strip_extension
from .delimited import read_csv
from .labels import integers_if_integral
from .numpy_file import read_numpy
from .svmlight import read_svmlight

KINDS = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".npy": "numpy",
    ".npz": "numpy",
}
NUMPY_MAGIC = (b"\x93NUMPY", b"PK\x03\x04")
SAMPLE = 1 << 16


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
    if kind == "auto":
        kind = _kind_of(path)
    if kind == "svmlight":
        table = read_svmlight(path, n_features=n_features, zero_based=zero_based, dtype=dtype, qid="auto")
    elif kind == "csv":
        table = read_csv(path, label=label, group=group, n_features=n_features, dtype=dtype)
    elif kind == "numpy":
        table = read_numpy(path, label=label, group=group, n_features=n_features, dtype=dtype)
    else:
        raise OneslackError(f"kind must be 'auto', 'svmlight', 'csv' or 'numpy', got {kind!r}.")
    return table if table.y is None else replace(table, y=integers_if_integral(table.y))


def _kind_of(path):
    extension = os.path.splitext(strip_extension(path))[1].lower()
    return KINDS.get(extension) or _kind_of_content(read_buffer(path, limit=SAMPLE)[:SAMPLE])


def _kind_of_content(sample):
    """svmlight unless the first line with more than one cell is cut by commas, semicolons or tabs.

    `1 3:0.5` has a colon in its second word; `1,3 2:0.5` (several labels) too, and it takes the
    svmlight reader to explain that.
    """
    if sample.startswith(NUMPY_MAGIC):
        return "numpy"
    for line in bytes(sample).splitlines():
        words = line.partition(b"#")[0].split()
        if any(b":" in word for word in words[1:]):
            return "svmlight"
        if any(delimiter in line.strip() for delimiter in (b",", b";", b"\t")):
            return "csv"
    return "svmlight"
