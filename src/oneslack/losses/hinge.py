"""The hinge max(0, 1 - y z): the support vector machine's (Cortes & Vapnik 1995).

Its dual is in [0, 1] on the side of y, and pays nothing: D(a) = sum_i y_i a_i - 1/2 |sum_i a_i x_i|^2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Hinge(NamedTuple):
    """max(0, 1 - y z)."""

    has_sides = True
    steepest = 1.0
    stiffest = np.inf

    def value(self, y, z):
        return max(1.0 - y * z, 0.0)

    def dual(self, y, z):
        return y if y * z < 1.0 else 0.0

    def target(self, y):
        return y

    def charge(self, y, a, C):
        return 0.0

    def bounds(self, y, C):
        return np.minimum(y, 0.0) * C, np.maximum(y, 0.0) * C

    def smooth(self, y, z, mu):
        q = min(max((1.0 - y * z) / mu + 0.5, 0.0), 1.0)
        return y * q, 0.5 * mu * q * (1.0 - q)

    def curvature(self, p, mu):
        return 1.0 / mu if p != 0.0 and abs(p) != 1.0 else 0.0

    def place(self, y, a, C):
        return -1 if a == 0.0 else 1 if abs(a) == C else 0

    def pull(self, y, z, a, C):
        return 1.0 - y * z

    def step(self, y, z, a, C, q):
        u = 1.0 - y * z
        if q <= 0.0:  # an empty row lacks the same whatever w is
            return y * C if u > 0.0 else 0.0
        return y * min(max(abs(a) + u / q, 0.0), C)

    def size(self, y):
        return 1.0
