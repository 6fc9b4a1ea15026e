"""Dense examples in blocks, feature by feature: compiled loops then do the same for many examples at once."""

from __future__ import annotations

import numpy as np


def blocks_of(X) -> np.ndarray:
    """(blocks, features, ROWS) of X (n, d): features are followed by a constant 1, and zeros up to an even
    number; the last block by zeros.

    >>> import numpy as np
    >>> blocks_of(np.array([[1.0, 2.0], [3.0, 4.0]]))[0, :, :3]
    array([[1., 3., 0.],
           [2., 4., 0.],
           [1., 1., 0.],
           [0., 0., 0.]])
    """
    from .._jit.all_rows import ROWS

    n, d = X.shape
    blocks = np.zeros((-(-n // ROWS), d + 1 + (d + 1) % 2, ROWS))
    whole = n - n % ROWS
    blocks[: whole // ROWS, :d] = X[:whole].reshape(-1, ROWS, d).transpose(0, 2, 1)
    blocks[: whole // ROWS, d] = 1.0
    if whole < n:
        blocks[-1, :d, : n - whole] = X[whole:].T
        blocks[-1, d, : n - whole] = 1.0
    return blocks
