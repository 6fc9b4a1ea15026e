"""The certificate in words: how far a fit came, and what would help."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from ..result import Status

#: Frames of these packages stand between a warning and the line that asked for the fit.
_BETWEEN = {"oneslack", "sklearn", "joblib"}
#: Columns that differ by more make every method slow.
_UNEVEN = 100.0


def warn_if_stopped_early(model, X, results):
    """A ConvergenceWarning at the caller's line unless every problem reached what was asked for.  X is the
    matrix of features, or None where there is none."""
    open_ends = [result for result in results if not result.status.ok]
    if not open_ends:
        return
    worst = max(open_ends, key=lambda result: (result.status is Status.INTERRUPTED, result.gap))
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


def users_level():
    """The stacklevel of the first frame outside this library and scikit-learn's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _package(frame) in _BETWEEN:
        frame, level = frame.f_back, level + 1
    return level


def _package(frame):
    return frame.f_globals.get("__name__", "").partition(".")[0]
