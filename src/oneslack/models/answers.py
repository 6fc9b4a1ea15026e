"""What a user's model answers, looked at before it is believed.

A value that is not finite compares as "not greater": it would make a cut vanish, and with it the hinge that
it should have measured.  So every answer is a number, or an error that names the method.
"""

from __future__ import annotations

import math
from numbers import Real

import numpy as np
import scipy.sparse as sp

from ..data.rows import LARGEST
from ..errors import ModelError


def as_row(psi, n_params, method, what):
    """Features as a flat float64 array, or one CSR row.  Whether they are finite is not asked here."""
    if type(psi) is np.ndarray and psi.dtype == np.float64 and psi.shape == (n_params,):
        return psi  # at once: it is asked for each example of each pass
    fault = shape_fault(psi, n_params)
    if fault:
        raise ModelError(f"{method}: {what} {fault}")
    if not sp.issparse(psi):
        return np.asarray(psi, dtype=np.float64)
    row = sp.csr_array(psi.reshape(1, -1) if psi.ndim == 1 else psi)
    return row.astype(np.float64, copy=False)


def finite_row(psi, n_params, method, what):
    """Likewise, and finite."""
    row = as_row(psi, n_params, method, what)
    fault = number_fault(row)
    if fault:
        raise ModelError(f"{method}: {what} {fault}")
    return row


def shape_fault(psi, n_params) -> str | None:
    """What is wrong with the shape or type of features."""
    if not sp.issparse(psi):
        try:
            psi = np.asarray(psi)
        except ValueError:  # lists of unequal lengths
            return f"is {brief(psi)}, expected n_params = {n_params} numbers"
    if psi.shape != (n_params,) and not (sp.issparse(psi) and psi.shape == (1, n_params)):
        return f"has shape {psi.shape}, expected n_params = ({n_params},)"
    if psi.dtype.kind not in "biuf":
        return f"has entries of type {psi.dtype}, expected real numbers"
    return None


def number_fault(row) -> str | None:
    """Which number of a row, as `as_row` gives it, is not finite, or too large to be squared."""
    values = row.data if sp.issparse(row) else row
    bad = np.flatnonzero(~(np.abs(values) <= LARGEST))
    if not len(bad):
        return None
    place = row.indices[bad[0]] if sp.issparse(row) else bad[0]
    what = ", which is too large: scale the features" if np.isfinite(values[bad[0]]) else ""
    return f"has {values[bad[0]]} at feature {place}{what}"


def checked_loss(loss, method, what) -> float:
    """A loss as a float."""
    if type(loss) is float and 0.0 <= loss < math.inf:
        return loss
    fault = loss_fault(loss)
    if fault:
        raise ModelError(f"{method}: {what} {fault}")
    return float(loss)


def loss_fault(loss) -> str | None:
    """What is wrong with a loss."""
    if not is_one_number(loss):
        return f"has loss {brief(loss)}, expected one number"
    if not 0.0 <= float(loss) < math.inf:
        return f"has loss {float(loss):g}, expected a finite number >= 0"
    return None


def finite(value, method):
    """What a model has summed over examples, a number or a vector, if it is finite."""
    if not np.isfinite(value).all():
        raise ModelError(
            f"{method}: the sum over the examples is not finite; are the features finite, and not too large?"
        )
    return value


def is_one_number(value) -> bool:
    """Whether a value is one real number: Python's, numpy's, or an array without axes."""
    if isinstance(value, Real):
        return True
    try:
        value = np.asarray(value)
    except ValueError:
        return False
    return value.shape == () and value.dtype.kind in "biuf"


def brief(value) -> str:
    """A value in few words."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
