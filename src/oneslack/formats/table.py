"""What every reader returns: the examples of one file."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """Examples and labels of one file.

    X is a CSR matrix or a dense 2-D array, one row an example; y (n,) holds the labels, or is None
    when the file has none; qid (n,), numbers or text, tells which query (group) a row belongs to, or is
    None.

    >>> import numpy as np
    >>> from oneslack.formats import read_data, write_svmlight
    >>> write_svmlight("eye.svm", np.eye(2), [1, -1])
    >>> table = read_data("eye.svm")
    >>> table.X.shape, table.y.tolist(), table.kind
    ((2, 2), [1, -1], 'svmlight')
    """

    X: Any
    y: np.ndarray | None
    qid: np.ndarray | None
    path: str
    kind: str
    feature_names: list[str] | None = None
    #: The column that y was, where it has a name.
    label_name: str | None = None
