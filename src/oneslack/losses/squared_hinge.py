"""The squared hinge max(0, 1 - y z)^2: LIBLINEAR's and scikit-learn's default, the "L2-loss" SVM.

Its dual has no upper bound and pays a^2 / 4C for it: the dual problem is strongly concave in every example.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SquaredHinge(NamedTuple):
    """max(0, 1 - y z)^2."""

    has_sides = True
    steepest = np.inf
    stiffest = 2.0

    def value(self, y, z):
        u = max(1.0 - y * z, 0.0)
        return u * u

    def dual(self, y, z):
        return y * (2.0 * max(1.0 - y * z, 0.0))

    def target(self, y):
        return y

    def charge(self, y, a, C):
        return a * (a / (4.0 * np.maximum(C, 1e-300)))

    def bounds(self, y, C):
        far = np.copysign(np.inf, y)
        return np.minimum(far, 0.0), np.maximum(far, 0.0)

    def smooth(self, y, z, mu):
        return y * (2.0 * max(1.0 - y * z, 0.0)), 0.0

    def curvature(self, p, mu):
        return 2.0 if p != 0.0 else 0.0

    def place(self, y, a, C):
        return -1 if a == 0.0 else 0

    def pull(self, y, z, a, C):
        return 1.0 - y * z - abs(a) / (2.0 * C)

    def step(self, y, z, a, C, q):
        stiff = 0.5 / C
        return y * max(abs(a) + (1.0 - y * z - abs(a) * stiff) / (q + stiff), 0.0)

    def size(self, y):
        return 1.0
