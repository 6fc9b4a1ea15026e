"""Arrays of other libraries as NumPy's, on the same memory."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import validate_data

#: DLPack's number of the memory that this processor reads.
CPU = 1


def as_numpy(values):
    """NumPy's view of a tensor or another array with DLPack (`__dlpack__`); anything else as it is.

    scikit-learn's `array_api_dispatch` would keep it what it is, which compiled loops cannot read.
    """
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__"):
        return values
    if values.__dlpack_device__()[0] != CPU:
        where = getattr(values, "device", "another device")
        raise ValueError(f"an array is on {where}, but training is on the CPU; copy it there, as by .cpu()")
    if hasattr(values, "detach"):
        values = values.detach()  # gradients end here
    return np.asarray(values) if hasattr(values, "__array__") else np.from_dlpack(values)


def validated(estimator, X, *y, **options):
    """`validate_data` for arrays of any library."""
    return validate_data(estimator, as_numpy(X), *map(as_numpy, y), **options)
