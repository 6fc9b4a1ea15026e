"""Losses of scores by their definitions: value(F) and a slope (n, rows) at scores F (n, rows).

`work` says how often a value looks at each score; numbers are floats or Fractions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .objective import like, weighted


@dataclass(frozen=True)
class Hinge:
    """C sum_i s_i max(0, 1 - y_i f_i); y of -1 and +1."""

    y: np.ndarray
    s: np.ndarray
    C: float
    work = 1

    def _margins(self, F):
        return 1 - like(F, self.y) * F[:, 0]

    def value(self, F):
        return (weighted(F, self.C, self.s) * np.maximum(0, self._margins(F))).sum()

    def slope(self, F):
        return (-self.C * self.s * self.y * (self._margins(F) > 0))[:, None]


@dataclass(frozen=True)
class ManyClasses:
    """C sum_i s_i (max_z cost[y_i, z] + f_iz - f_iy_i): Crammer and Singer; y of 0 .. K-1."""

    y: np.ndarray
    s: np.ndarray
    C: float
    cost: np.ndarray
    work = 1

    def value(self, F):
        rows = np.arange(len(F))
        worst = (like(F, self.cost)[self.y] + F).max(axis=1)
        return (weighted(F, self.C, self.s) * (worst - F[rows, self.y])).sum()

    def slope(self, F):
        rows, G = np.arange(len(F)), np.zeros(F.shape)
        G[rows, (self.cost[self.y] + F).argmax(axis=1)] += self.C * self.s
        G[rows, self.y] -= self.C * self.s
        return G


@dataclass(frozen=True)
class Tube:
    """C sum_i s_i max(0, |y_i - f_i| - epsilon)."""

    y: np.ndarray
    s: np.ndarray
    C: float
    epsilon: float
    work = 1

    def value(self, F):
        errors = np.abs(like(F, self.y) - F[:, 0])
        return (weighted(F, self.C, self.s) * np.maximum(0, errors - like(F, np.array([self.epsilon])))).sum()

    def slope(self, F):
        errors = F[:, 0] - self.y
        return (self.C * self.s * np.sign(errors) * (np.abs(errors) > self.epsilon))[:, None]


@dataclass(frozen=True)
class OneScore:
    """C sum_i s_i phi(y_i, f_i) of the losses that have a name and nothing more here.

    name, size   of the loss, and its epsilon, quantile or delta
    """

    y: np.ndarray
    s: np.ndarray
    C: float
    name: str
    size: float = 0.0
    work = 1

    def value(self, F):
        y, f = like(F, self.y), F[:, 0]
        r, size = y - f, like(F, np.array([self.size]))[0]
        if self.name == "squared_hinge":
            each = np.maximum(0, 1 - y * f) ** 2
        elif self.name == "logistic":
            each = np.logaddexp(0.0, -(y * f).astype(float))
        elif self.name == "squared_epsilon_insensitive":
            each = np.maximum(0, np.abs(r) - size) ** 2
        elif self.name == "pinball":
            each = np.maximum(size * r, (size - 1) * r)
        else:
            far = np.maximum(np.abs(r) - size, 0)
            near = np.abs(r) - far
            each = near**2 / 2 + size * far
        return (weighted(F, self.C, self.s) * each).sum()

    def slope(self, F):
        y, f, size = self.y, F[:, 0], self.size
        r = y - f
        slopes = {
            "squared_hinge": lambda: -2 * y * np.maximum(0, 1 - y * f),
            "logistic": lambda: -y / (1 + np.exp(np.minimum(y * f, 700.0))),
            "squared_epsilon_insensitive": lambda: -2 * np.sign(r) * np.maximum(0, np.abs(r) - size),
            "pinball": lambda: np.where(r > 0, -size, 1 - size),
            "huber": lambda: -np.clip(r, -size, size),
        }
        return (self.C * self.s * slopes[self.name]())[:, None]


class Pairs:
    """C (sum of s) (mean of max(0, 1 - (f_i - f_j)), weighted by s_i s_j, over pairs of a group with
    target i > target j)."""

    def __init__(self, targets, groups, s, C):
        n = len(targets)
        groups = np.zeros(n, int) if groups is None else np.unique(groups, return_inverse=True)[1]
        above = (np.asarray(targets)[:, None] > targets) & (groups[:, None] == groups)
        self.upper, self.lower = np.nonzero(above)
        self.s, self.C = s, C
        self.work = 1 + len(self.upper) // n

    def _parts(self, F):
        s = like(F, self.s)
        share = s[self.upper] * s[self.lower]
        unit = like(F, np.array([self.C]))[0] * s.sum() / share.sum()
        return unit * share, 1 - (F[self.upper, 0] - F[self.lower, 0])

    def value(self, F):
        share, lacking = self._parts(F)
        return (share * np.maximum(0, lacking)).sum()

    def slope(self, F):
        share, lacking = self._parts(F)
        g, active = np.zeros(len(F)), share * (lacking > 0)
        np.subtract.at(g, self.upper, active)
        np.add.at(g, self.lower, active)
        return g[:, None]
