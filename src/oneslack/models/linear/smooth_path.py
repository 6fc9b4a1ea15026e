"""What many Newton steps of one call come to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SmoothPath(NamedTuple):
    """Points of Newton's method: (points, n_params) w, and of each the mu that it came with, P and D.  Of
    the last one: its mu, the shares of its duals, their sum v, how the step from there changes the scores,
    and what that promises where the duals ahead are worth a look, else 0."""

    W: np.ndarray
    mus: list[float]
    primals: list[float]
    duals: list[float]
    mu: float
    promise: float
    shares: np.ndarray
    v: np.ndarray
    dS: np.ndarray
