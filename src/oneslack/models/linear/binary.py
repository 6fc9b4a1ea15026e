"""Yes or no: psi(x, y) = y x / 2, 0/1 loss.  The structural hinge is max(0, 1 - y <w, x>)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...losses import Hinge
from .scalar import ScalarModel


@dataclass(frozen=True)
class Binary(ScalarModel):
    """Two classes, y in {-1, +1}; x (d,).  With an intercept, the last weight is the bias.

    >>> from oneslack.models import Binary
    >>> Binary(2).decode([1.0, -1.0], [3.0, 1.0])
    1
    """

    n_features: int
    intercept: bool = False

    phi = Hinge()
    #: What an example has with a kernel: one dual in [0, C s_i] for the hinge max(0, 1 - y S).
    kernel_duals = "box"

    def joint_feature(self, x, y):
        return 0.5 * y * self._extended(x)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        score = float(self._extended(x) @ np.asarray(w))
        if y is not None:
            score -= y  # the wrong answer earns the loss of 1; a score counts half, twice
        return 1 if score > 0 else -1

    def outputs(self, x):
        return (-1, 1)

    def _extended(self, x):
        x = np.asarray(x.todense()).ravel() if hasattr(x, "todense") else np.asarray(x, float)
        return np.append(x, 1.0) if self.intercept else x
