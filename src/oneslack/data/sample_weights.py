"""What users say of the weights of examples: a number >= 0 for each."""

from __future__ import annotations

import numpy as np

#: Sums of weights that can still be divided by.
SMALLEST = 1e-200


def weights_of(weights, n) -> np.ndarray:
    """(n,) float64, finite and >= 0; ones where none are given."""
    if weights is None:
        return np.ones(n)
    try:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be numbers, one for each example") from None
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, expected ({n},)")
    check_weights(weights)
    return weights


def check_weights(weights):
    """Raise unless all weights are >= 0 and finite."""
    bad = np.flatnonzero(~((weights >= 0.0) & (weights < np.inf)))
    if len(bad):
        value = float(weights[bad[0]])
        expected = "finite" if value == np.inf else ">= 0"
        raise ValueError(f"sample_weight must be {expected}; example {bad[0]} has {value!r}")


def check_total(total, C):
    """Raise unless examples whose weights sum to `total` can be averaged, and weigh something by C."""
    if not total > 0.0:
        raise ValueError("there is no example with a positive weight")
    for value, what in ((total, "the sample weights sum to"), (C * total, "C times their sum is")):
        if not SMALLEST <= value <= 1.0 / SMALLEST:
            raise ValueError(f"{what} {value:g}, which is too near to 0 or infinity; choose another scale")
