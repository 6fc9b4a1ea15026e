"""The logistic loss log(1 + exp(-y z)): logistic regression's; its scores are log-odds.

Its dual lies strictly between 0 and C on the side of y, and D is paid the entropy of the share (Yu, Huang &
Lin 2011).  Nothing rests at a bound, so nothing is left out of dual passes.
"""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import NamedTuple

import numpy as np

#: Newton steps for one dual, at most, and the share of its way that ends them: it need not be exact where
#: others move next.
STEPS, ENOUGH, NEAR = 60, 1e-12, 0.1
#: The largest number below 1.
ALMOST = 1.0 - 2.0**-53


def log_odds(m, old, C, q, enough):
    """The log-odds of the best share for the dual `old` at margin m: t + q (C share(t) - old) + m = 0, whose
    slopes are from 1 to 1 + q C / 4."""
    low, high = -m - q * (C - old), -m + q * old
    t = -m
    if 0.0 < old < C:
        first = log(old / (C - old))
        t = first - (first + m) / (1.0 + q * old * (C - old) / C)
    t, last = min(max(t, low), high), inf
    for _ in range(STEPS):
        e = exp(-abs(t))
        p = 1.0 / (1.0 + e) if t > 0.0 else e / (1.0 + e)
        f = t + q * (C * p - old) + m
        if f > 0.0:
            high = t
        else:
            low = t
        newton = f / (1.0 + q * C * p * (1.0 - p))
        t = t - newton
        if not low < t < high or abs(newton) > 0.5 * last:  # or it may jump between two points for ever
            t = 0.5 * (low + high)
        elif C * p * (1.0 - p) * abs(newton) <= enough * abs(C * p - old) and abs(newton) <= 1.0:
            break
        last = abs(newton)
    return t


class Logistic(NamedTuple):
    """log(1 + exp(-y z))."""

    has_sides = True
    steepest = 1.0
    stiffest = 0.25
    #: Functions that the methods call, for compiled loops.
    helpers = (log_odds,)
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
        # C (p log p + (1 - p) log(1 - p)): both terms have one sign, so rounding is a share of the sum, where
        # 1 - p is not rounded before its logarithm is taken.
        C = np.maximum(C, 1e-300)
        p = np.minimum(np.abs(a) / C, 1.0)
        return C * (p * np.log(np.maximum(p, 1e-300)) + (1.0 - p) * np.log1p(-np.minimum(p, ALMOST)))

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
        t = log_odds(y * z, abs(a), C, q, ENOUGH)
        return y * (C / (1.0 + exp(-t)) if t > 0.0 else C * exp(t) / (1.0 + exp(t)))

    def touched(self, y, z, mu):
        # One exponential and one logarithm for all; the entropy of the share as a sum of what is positive.
        m = abs(z)
        e = exp(-m)
        least, q = log1p(e), e / (1.0 + e)
        entropy = least + m * q
        return (y * q, entropy, least, 0.0) if y * z > 0.0 else (y / (1.0 + e), entropy, least + m, 0.0)

    def gained(self, y, z, a, C, norm, rate):
        old, m = abs(a), y * z
        p = old / C
        paid = C * (p * log(p) + (1.0 - p) * log1p(-p)) if 0.0 < p < 1.0 else 0.0
        gap = C * (log1p(exp(-abs(m))) + max(-m, 0.0)) + old * m + paid
        t = log_odds(m, old, C, norm + rate, NEAR)
        e = exp(-abs(t))
        new = C / (1.0 + e) if t > 0.0 else C * e / (1.0 + e)
        entropy = C * (log1p(e) + abs(t) * e / (1.0 + e))
        change = new - old
        return y * new, entropy + paid - change * (m + 0.5 * change * norm), gap

    def size(self, y):
        return 1.0  # no entropy is larger
