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
    """

    X: Any
    y: np.ndarray | None
    qid: np.ndarray | None
    path: str
    kind: str
    feature_names: list[str] | None = None
