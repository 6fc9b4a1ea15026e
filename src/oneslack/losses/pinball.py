"""The pinball loss: quantile r where r = y - z > 0, else (quantile - 1) r.  Koenker & Bassett (1978).

Quantile regression: the best score is that quantile of the targets at x: 0.5 is the median, 0.9 what nine in
ten stay below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Pinball(NamedTuple):
    """quantile (y - z) above the score, (1 - quantile) (z - y) below."""

    quantile: float = 0.5

    has_sides = False
    steepest = 1.0
    stiffest = np.inf

    def value(self, y, z):
        r = y - z
        return max(self.quantile * r, (self.quantile - 1.0) * r)

    def dual(self, y, z):
        return self.quantile if y > z else self.quantile - 1.0

    def target(self, y):
        return y

    def charge(self, y, a, C):
        return 0.0

    def bounds(self, y, C):
        return (self.quantile - 1.0) * C, self.quantile * C

    def smooth(self, y, z, mu):
        # Around the middle of its range a dual pays mu/2 of its square, and is given back mu/8.
        middle = self.quantile - 0.5
        off = min(max((y - z) / mu, -0.5), 0.5)
        return middle + off, 0.5 * mu * (0.25 - off * off)

    def curvature(self, p, mu):
        return 1.0 / mu if self.quantile - 1.0 < p < self.quantile else 0.0

    def place(self, y, a, C):
        return 1 if a == self.quantile * C or a == (self.quantile - 1.0) * C else 0

    def pull(self, y, z, a, C):
        return y - z if a > 0.0 else z - y

    def step(self, y, z, a, C, q):
        low, high = (self.quantile - 1.0) * C, self.quantile * C
        if q <= 0.0:
            return high if y > z else low
        return min(max(a + (y - z) / q, low), high)

    def size(self, y):
        return np.abs(y)
