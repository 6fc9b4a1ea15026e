"""Huber's loss (1964), robust regression: r^2 / 2 for an error |r| <= delta, else delta |r| - delta^2 / 2."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Huber(NamedTuple):
    """Half the square of an error up to delta, linear beyond."""

    delta: float = 1.0

    has_sides = False
    stiffest = 1.0

    @property
    def steepest(self):
        """The largest |p|."""
        return self.delta

    def value(self, y, z):
        size = abs(y - z)
        return 0.5 * size * size if size <= self.delta else self.delta * (size - 0.5 * self.delta)

    def dual(self, y, z):
        return min(max(y - z, -self.delta), self.delta)

    def target(self, y):
        return y

    def charge(self, y, a, C):
        return a * (a / (2.0 * np.maximum(C, 1e-300)))

    def bounds(self, y, C):
        return -self.delta * C, self.delta * C

    def smooth(self, y, z, mu):
        return min(max(y - z, -self.delta), self.delta), 0.0

    def curvature(self, p, mu):
        return 1.0 if abs(p) < self.delta else 0.0

    def place(self, y, a, C):
        return 1 if abs(a) == self.delta * C else 0

    def pull(self, y, z, a, C):
        return (y - z if a >= 0.0 else z - y) - abs(a) / C

    def step(self, y, z, a, C, q):
        bound = self.delta * C
        return min(max((a * q + (y - z)) / (q + 1.0 / C), -bound), bound)

    def size(self, y):
        return np.abs(y) + self.delta
