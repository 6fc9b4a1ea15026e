"""The logistic loss log(1 + exp(-y z)): logistic regression's; its scores are log-odds.

Its dual lies strictly between 0 and C on the side of y, and D is paid the entropy of the share (Yu, Huang &
Lin 2011).  Nothing rests at a bound, so nothing is left out of dual passes.
"""

from __future__ import annotations

from math import exp, log, log1p
from typing import NamedTuple

import numpy as np

#: Newton steps for one dual, at most, and the change of its log-odds that ends them.
STEPS, ENOUGH = 60, 1e-12


class Logistic(NamedTuple):
    """log(1 + exp(-y z))."""

    has_sides = True
    steepest = 1.0
    stiffest = 0.25
    #: No slope is 0, so the best intercept depends on how much both sides weigh.
    has_odds = True

    def value(self, y, z):
        m = y * z
        return log1p(exp(-m)) if m > 0.0 else log1p(exp(m)) - m

    def dual(self, y, z):
        m = y * z
        return y * (exp(-m) / (1.0 + exp(-m)) if m > 0.0 else 1.0 / (1.0 + exp(m)))

    def target(self, y):
        return 0.0 * y

    def charge(self, y, a, C):
        # C (p log p + (1 - p) log(1 - p)): both terms have one sign, so rounding is a share of the sum.
        C = np.maximum(C, 1e-300)
        p = np.minimum(np.abs(a) / C, 1.0)
        q = 1.0 - p
        return C * (p * np.log(np.maximum(p, 1e-300)) + q * np.log(np.maximum(q, 1e-300)))

    def bounds(self, y, C):
        return np.minimum(y, 0.0) * C, np.maximum(y, 0.0) * C

    def smooth(self, y, z, mu):
        m = y * z
        return y * (exp(-m) / (1.0 + exp(-m)) if m > 0.0 else 1.0 / (1.0 + exp(m))), 0.0

    def curvature(self, p, mu):
        return abs(p) * (1.0 - abs(p))

    def place(self, y, a, C):
        return 0

    def pull(self, y, z, a, C):
        p = abs(a) / C
        return np.inf if p <= 0.0 else -np.inf if p >= 1.0 else log((1.0 - p) / p) - y * z

    def step(self, y, z, a, C, q):
        # In the log-odds t of the share, t + q (C sigma(t) - |a|) + y z = 0 has slopes from 1 to 1 + q C / 4.
        m, old = y * z, abs(a)
        low, high = -m - q * (C - old), -m + q * old
        t = -m if old <= 0.0 or old >= C else min(max(log(old / (C - old)), low), high)
        for _ in range(STEPS):
            p = 1.0 / (1.0 + exp(-t)) if t > 0.0 else exp(t) / (1.0 + exp(t))
            f = t + q * (C * p - old) + m
            if f > 0.0:
                high = t
            else:
                low = t
            newton = f / (1.0 + q * C * p * (1.0 - p))
            t = t - newton
            if abs(newton) <= ENOUGH * max(abs(t), 1.0):
                break
            if not low < t < high:
                t = 0.5 * (low + high)
        return y * (C / (1.0 + exp(-t)) if t > 0.0 else C * exp(t) / (1.0 + exp(t)))

    def size(self, y):
        return 1.0  # no entropy is larger
