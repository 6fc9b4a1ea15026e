"""How a fit ends: its certificate in words, and Ctrl-C raised again once the model so far is stored."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ...errors import Interrupted, users_level
from ...result import Status

#: Columns that differ by more make every method slow.
_UNEVEN = 100.0


def conclude(model, X, results):
    """The last word of a fit, when all is stored: Interrupted after Ctrl-C, and a ConvergenceWarning at the
    caller's line unless every problem reached what was asked for.  X is the matrix of features, or None where
    there is none."""
    if any(result.status is Status.INTERRUPTED for result in results):
        raise Interrupted(model.result_)
    # Of an inconsistent one the driver has told.
    open_ends = [r for r in results if not (r.status.ok or r.status is Status.INCONSISTENT)]
    if not open_ends:
        return
    worst = max(open_ends, key=lambda result: result.gap)
    epsilon = model._stopping_epsilon()
    goal = f"tol={model.tol:g}" if epsilon is None else f"epsilon={epsilon:g}"
    of_them = f" ({len(open_ends)} of {len(results)} classes)" if len(results) > 1 else ""
    text = (
        f"{type(model).__name__} stopped at a relative duality gap of {model.duality_gap_:.2g} before it "
        f"reached {goal}{of_them}: {worst.status.advice}"
    )
    spread = 1.0 if X is None else _column_spread(X)
    if spread > _UNEVEN:
        text += (
            f"; the largest values of the features differ by a factor of {spread:.0e}, so scaling would help"
        )
    warnings.warn(f"{text}.", ConvergenceWarning, stacklevel=users_level())


def _column_spread(X):
    """Largest over smallest of the columns' largest absolute values, columns of zeros aside."""
    if sp.issparse(X):
        columns = np.zeros(X.shape[1])
        np.maximum.at(columns, X.indices, np.abs(X.data))
    else:
        columns = np.maximum(X.max(axis=0), -X.min(axis=0))
    columns = columns[columns > 0]
    return columns.max() / columns.min() if len(columns) else 1.0
