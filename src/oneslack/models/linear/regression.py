"""A number: the loss is max(0, |y - <w, x> - b| - epsilon), nothing inside a tube around the line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...losses import Tube
from .rows import LinearData
from .scalar import ScalarModel


@dataclass(frozen=True)
class Regression(ScalarModel):
    """A target y, any real number; x (d,).  With an intercept, the last weight is the bias.

    epsilon  half the width of the tube inside which an error costs nothing

    >>> import numpy as np, oneslack
    >>> problem = oneslack.Problem(oneslack.Regression(1, 0.5), [[1.0], [2.0]], [1.0, 3.0])
    >>> float(problem.primal(np.array([1.0])))  # 1/2 |w|^2 + (0 + 0.5)
    1.0
    """

    n_features: int
    epsilon: float = 0.0
    intercept: bool = False

    @property
    def phi(self) -> Tube:
        return Tube(float(self.epsilon))

    def pack(self, X, Y, weights=None) -> LinearData:
        if not (np.isfinite(self.epsilon) and self.epsilon >= 0):
            raise ValueError(f"epsilon must be a number >= 0; got {self.epsilon!r}")
        return super().pack(X, Y, weights)
