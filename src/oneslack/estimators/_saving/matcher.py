"""Matchers as the header and arrays of a model file, and back."""

from __future__ import annotations

import numpy as np

from .file_fields import count, floats
from .linear import common_from_file, common_to_file


def to_file(matcher):
    """(header, arrays) of a fitted Matcher."""
    header, arrays = common_to_file(matcher)
    header["n_features"] = int(matcher.n_features_in_)
    arrays["coef"] = np.asarray(matcher.coef_, float)
    if matcher.unmatched:
        arrays["price"] = np.array([matcher.price_])
    return header, arrays


def from_file(cls, header, arrays):
    """The Matcher; a ValueError, TypeError or KeyError where something is missing or wrong."""
    matcher = common_from_file(cls, header, arrays)
    d = matcher.n_features_in_ = count(header, "n_features", 1)
    matcher.coef_ = floats(arrays, "coef", (d,), "weights")
    matcher.price_ = float(floats(arrays, "price", (1,), "price")[0]) if matcher.unmatched else np.inf
    return matcher
