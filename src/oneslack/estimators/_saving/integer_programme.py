"""Costs of integer programmes as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from .file_fields import count, floats
from .linear import common_from_file, common_to_file


def to_file(estimator):
    """(header, arrays) of a fitted IntegerProgramme."""
    header, arrays = common_to_file(estimator)
    header["model"] = {"name": "IntegerCosts"}
    header["n_features"] = int(estimator.n_features_in_)
    return header, arrays | {"coef": np.asarray(estimator.coef_, float)}


def from_file(cls, header, arrays):
    """The IntegerProgramme; a ValueError, TypeError or KeyError where something is missing or wrong."""
    estimator = common_from_file(cls, header, arrays)
    d = estimator.n_features_in_ = count(header, "n_features", 1)
    estimator.coef_ = floats(arrays, "coef", (d,), "weights")
    return estimator
