"""The losses of a cost matrix."""

from __future__ import annotations

import numpy as np


def cost_matrix(loss, classes):
    """The losses (K, K) of a cost matrix, or None for the plain hinge."""
    if isinstance(loss, str):
        return None
    K = len(classes)
    try:
        cost = np.array(loss, dtype=float)
    except (TypeError, ValueError):
        cost = None
    if loss is None or cost is None:
        raise TypeError(f"loss must be the name of a loss, or a cost matrix of numbers; got {loss!r}")
    if cost.shape != (K, K):
        raise ValueError(
            f"loss must have a row and a column for each of the {K} classes, so shape ({K}, {K}); "
            f"got shape {cost.shape}"
        )
    if not np.isfinite(cost).all() or (cost < 0).any() or np.diag(cost).any():
        raise ValueError("loss must hold finite costs >= 0 with zeros on the diagonal (the right answers)")
    if not cost.any():
        raise ValueError("all costs of loss are zero: there is nothing to learn")
    return cost
