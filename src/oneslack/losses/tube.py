"""The tube max(0, |y - z| - epsilon): support vector regression's (Vapnik 1995), "epsilon-insensitive".

As a structural problem an example has two cuts beside the zero cut, one for a score that is too low and one
for a score that is too high (Ramanan 2013, A.6), of which only one can be violated: so their duals are one
number in [-1, 1], and epsilon |a| is what it pays.  Its step is a soft threshold (Ho & Lin 2012).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Tube(NamedTuple):
    """max(0, |y - z| - epsilon)."""

    epsilon: float = 0.0

    has_sides = False
    steepest = 1.0
    stiffest = np.inf

    def value(self, y, z):
        return max(abs(y - z) - self.epsilon, 0.0)

    def dual(self, y, z):
        r = y - z
        return 0.0 if abs(r) <= self.epsilon else 1.0 if r > 0.0 else -1.0

    def target(self, y):
        return y

    def charge(self, y, a, C):
        return self.epsilon * np.abs(a)

    def bounds(self, y, C):
        return -C, C

    def smooth(self, y, z, mu):
        # Both sides of the tube are hinges, rounded off by mu each.  Where the roundings overlap (epsilon <
        # mu/2), the two duals cancel in part, and the tube is paid for only once.
        r, eps = y - z, self.epsilon
        up = min(max((r - eps) / mu + 0.5, 0.0), 1.0)
        down = min(max((-r - eps) / mu + 0.5, 0.0), 1.0)
        rounding = 0.5 * mu * (up * (1.0 - up) + down * (1.0 - down))
        return up - down, rounding - 2.0 * eps * min(up, down)

    def curvature(self, p, mu):
        # p tells how many of the two roundings r is inside: below 1 - 2 epsilon / mu both, up to 1 one, and 0
        # is the flat of a wide tube.
        both, size = 1.0 - 2.0 * self.epsilon / mu, abs(p)
        if size >= 1.0 or (size == 0.0 and both <= 0.0):
            return 0.0
        return (2.0 if size < both else 1.0) / mu

    def place(self, y, a, C):
        return -1 if a == 0.0 else 1 if abs(a) == C else 0

    def pull(self, y, z, a, C):
        # How far r is beyond the side of the tube that a stands for, or the nearer one.
        r = y - z
        return (abs(r) if a == 0.0 else r if a > 0.0 else -r) - self.epsilon

    def step(self, y, z, a, C, q):
        r, eps = a * q + (y - z), self.epsilon
        if abs(r) <= eps:
            return 0.0
        size = min((abs(r) - eps) / q, C) if q > 0.0 else C  # an empty row stays outside whatever w is
        return size if r > 0.0 else -size

    def size(self, y):
        return np.abs(y) + self.epsilon
