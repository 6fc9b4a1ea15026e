"""The squared tube max(0, |y - z| - epsilon)^2; with epsilon = 0 it is least squares, so ridge regression."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class SquaredTube(NamedTuple):
    """max(0, |y - z| - epsilon)^2."""

    epsilon: float = 0.0

    has_sides = False
    steepest = np.inf
    stiffest = 2.0

    def value(self, y, z):
        excess = max(abs(y - z) - self.epsilon, 0.0)
        return excess * excess

    def dual(self, y, z):
        r = y - z
        size = 2.0 * max(abs(r) - self.epsilon, 0.0)
        return size if r > 0.0 else -size

    def target(self, y):
        return y

    def charge(self, y, a, C):
        return self.epsilon * np.abs(a) + a * (a / (4.0 * np.maximum(C, 1e-300)))

    def bounds(self, y, C):
        return 0.0 * y - np.inf, 0.0 * y + np.inf

    def smooth(self, y, z, mu):
        r = y - z
        size = 2.0 * max(abs(r) - self.epsilon, 0.0)
        return size if r > 0.0 else -size, 0.0

    def curvature(self, p, mu):
        return 2.0 if p != 0.0 or self.epsilon == 0.0 else 0.0

    def place(self, y, a, C):
        return -1 if a == 0.0 and self.epsilon > 0.0 else 0

    def pull(self, y, z, a, C):
        r = y - z
        beyond = (abs(r) if a == 0.0 else r if a > 0.0 else -r) - self.epsilon
        return beyond - abs(a) / (2.0 * C)

    def step(self, y, z, a, C, q):
        r = a * q + (y - z)
        size = max(abs(r) - self.epsilon, 0.0) / (q + 0.5 / C)
        return size if r > 0.0 else -size

    def size(self, y):
        return np.abs(y) + self.epsilon
