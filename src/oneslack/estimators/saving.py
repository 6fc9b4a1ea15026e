"""Class labels of any plain type, as a header and arrays of a model file."""

from __future__ import annotations

import numpy as np

from ..errors import OneslackError


def classes_to_file(classes):
    """(header, arrays): text in the header, numbers as an array."""
    if classes.dtype.kind in "iufb":
        return {"type": "number", "dtype": classes.dtype.str}, {"classes": classes}
    values = classes.tolist()
    if not all(isinstance(value, str) for value in values):
        raise OneslackError(
            f"cannot save class labels of type {type(values[0]).__name__}; use text or numbers"
        )
    kind = "text" if classes.dtype.kind == "U" else "object"
    return {"type": kind, "values": values}, {}


def classes_from_file(header, arrays):
    """The labels as they were."""
    if header["type"] == "number":
        return arrays["classes"]
    return np.array(header["values"], dtype=object if header["type"] == "object" else None)
