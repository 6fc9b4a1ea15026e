"""Losses of examples, c_i phi(y_i, f_i) with c_i = C s_i, by scores f; and their duals.

For any a the line -a f + gain(a) lies under c phi(y, f), where gain(a) = -(c phi)*(-a) is

    a t - epsilon |a| - a^2 / (k c)       low c <= a <= high c            (k infinite where phi has kinks)
    c H(p),  p = a y / c                  logistic, H the entropy

    loss                          t   epsilon   k     low .. high
    hinge                         y   0         inf   0 .. y
    squared_hinge                 y   0         4     0 .. y infinity
    epsilon_insensitive           y   epsilon   inf   -1 .. 1
    squared_epsilon_insensitive   y   epsilon   4     no bounds
    pinball                       y   0         inf   quantile - 1 .. quantile
    huber                         y   0         2     -delta .. delta

Several classes (Crammer and Singer): c (max_z cost(y, z) + f_z - f_y) >= sum_z alpha_z (cost(y, z) + f_z -
f_y) for alpha >= 0 with sum_z alpha_z <= c.
"""

from math import fsum, inf
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import xlog1py, xlogy

from ..errors import ProofError
from .duals import Duals, limit_of, planes, small
from .sums import SAFE, TINY, check_ends, down, gamma, numbers, up


class OneScore(NamedTuple):
    """One score an example: name of the loss, y (n,), c (n,), and its epsilon, quantile or delta."""

    name: str
    y: np.ndarray
    c: np.ndarray
    size: float = 0.0

    def risk(self, F, E):
        """(sum_i c_i phi, how far off) at scores F that are within E."""
        f, own = F[:, 0], gamma(8) * (np.abs(F[:, 0]) + np.abs(self.y) + self.size + 1.0)
        here, low, high = (self.c * self._phi(f + e) for e in (0.0, -E[:, 0] - own, E[:, 0] + own))
        worst = np.maximum(low, high)  # phi is convex: it is largest at an end
        # What underflows is no share of anything, and a logistic loss is never 0.
        faint = up(8.0 * TINY * (self.c + 1.0)) if self.name == "logistic" or worst.any() else 0.0
        return up(here), up(worst - here) + gamma(128) * up(worst) + faint

    def _phi(self, f):
        r, size = self.y - f, self.size
        if self.name in ("hinge", "squared_hinge"):
            return np.maximum(0.0, 1.0 - self.y * f) ** (2 if self.name == "squared_hinge" else 1)
        if self.name == "logistic":
            return np.logaddexp(0.0, -self.y * f)
        if self.name == "pinball":
            return np.maximum(size * r, (size - 1.0) * r)
        if self.name == "huber":
            near = np.minimum(np.abs(r), size)
            return near * near / 2.0 + size * (np.abs(r) - near)
        far = np.maximum(0.0, np.abs(r) - size)
        return far * far if self.name == "squared_epsilon_insensitive" else far

    def slope(self, F):
        """(n, 1): a = -c d phi / d f at scores F."""
        f, r, size, y = F[:, 0], self.y - F[:, 0], self.size, self.y
        lacking, far = np.maximum(0.0, 1.0 - y * f), np.maximum(0.0, np.abs(r) - size)
        p = {
            "hinge": y * (lacking > 0), "squared_hinge": 2.0 * y * lacking, "huber": np.clip(r, -size, size),
            "logistic": y * np.exp(-np.logaddexp(0.0, y * f)), "pinball": np.where(r > 0, size, size - 1.0),
            "epsilon_insensitive": np.sign(r) * (far > 0),
            "squared_epsilon_insensitive": 2.0 * np.sign(r) * far,
        }  # fmt: skip
        return (self.c * p[self.name])[:, None]

    def duals(self, proof, scores_at=None, free=False) -> Duals:
        """The dual point of a proof: duals (n,), or planes at points."""
        if "points" in proof:
            a = sum(weight * self.slope(F)[:, 0] for weight, F in planes(proof, scores_at))
        else:
            a = numbers(proof, "duals", self.y.shape) if proof else np.zeros(len(self.y))
        low, high = self._bounds()
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = np.abs(a) / np.abs(np.where(a > 0, high, low) * self.c)
        beyond = np.where(a == 0, 0.0, np.fmax(beyond, 0.0))
        excess = small(float(beyond.max(initial=0.0)) - 1.0, "the dual of example", int(np.argmax(beyond)))
        gain, size = self._gain(a)
        left = abs(fsum(a.tolist())) if free else 0.0
        if left:
            # The duals of the heavier side times 1 - left / side balance, and are feasible as they are.
            side = max(-fsum(a[a < 0].tolist()), fsum(a[a > 0].tolist()))
            excess += small(left / max(side, 1e-300), "the balance of the duals", limit=limit_of(proof))
        return Duals(a[:, None], gain, size, excess + gamma(16))

    def _bounds(self):
        if self.name in ("hinge", "squared_hinge", "logistic"):
            reach = inf if self.name == "squared_hinge" else 1.0
            return np.where(self.y < 0, -reach, 0.0), np.where(self.y > 0, reach, 0.0)
        reach = {"pinball": (self.size - 1.0, self.size), "huber": (-self.size, self.size)}
        wide = inf if self.name == "squared_epsilon_insensitive" else 1.0
        return reach.get(self.name, (-wide, wide))

    def _gain(self, a):
        c = np.maximum(self.c, 1e-300)
        if self.name == "logistic":
            p = np.clip(a * self.y / c, 0.0, 1.0)
            gains = -c * (xlogy(p, p) + xlog1py(1.0 - p, -p))
            size = gains + np.abs(a)
            faint = np.where(a != 0, 1024.0 * TINY * (c + 1.0), 0.0)  # p may have underflown
            return down(gains, -gamma(64) * size, -faint), up(size)
        k = {"squared_hinge": 4.0, "squared_epsilon_insensitive": 4.0, "huber": 2.0}.get(self.name, inf)
        epsilon = self.size if "epsilon" in self.name else 0.0
        pays = epsilon * np.abs(a) + a * (a / (k * c))
        size = np.abs(a * self.y) + pays
        return down(a * self.y - pays, -gamma(16) * size), up(size)


class ManyClasses(NamedTuple):
    """Crammer and Singer: y (n,) of 0 .. K-1, c (n,), cost (K, K)."""

    y: np.ndarray
    c: np.ndarray
    cost: np.ndarray

    def risk(self, F, E):
        own, at = gamma(8) * (np.abs(F) + self.cost[self.y]) + E, np.arange(len(F))
        each = self.c * ((self.cost[self.y] + F).max(axis=1) - F[at, self.y])
        return up(each), up(2.0 * SAFE * self.c * own.max(axis=1)) + gamma(16) * up(np.abs(each))

    def slope(self, F):
        """(n, K): alpha at scores F, all of it at the worst class."""
        worst, at = (self.cost[self.y] + F).argmax(axis=1), np.arange(len(F))
        alpha = sp.csr_array((self.c * (worst != self.y), (at, worst)), shape=F.shape)
        return alpha

    def duals(self, proof, scores_at=None, free=False) -> Duals:
        n, K = len(self.y), len(self.cost)
        if "points" in proof:
            alpha = sum(weight * self.slope(F) for weight, F in planes(proof, scores_at))
        elif proof:
            alpha = self._given(proof, n, K)
        else:
            alpha = sp.csr_array((n, K))
        rows, classes, values = sp.find(alpha)
        if (values < 0).any():
            raise ProofError(f"a dual of example {rows[np.argmin(values)]} is negative")
        given = np.bincount(rows, values, n)
        beyond = np.divide(given, self.c, out=np.where(given > 0, inf, 0.0), where=self.c > 0)
        excess = small(float(beyond.max(initial=0.0)) - 1.0, "the dual of example", int(np.argmax(beyond)))
        A = sp.csr_array((given, (np.arange(n), self.y)), shape=(n, K)) - alpha
        gains = values * self.cost[self.y[rows], classes]
        taken = 0.0
        if free:
            left = [abs(fsum([*values[self.y[rows] == k], *-values[classes == k]])) for k in range(K)]
            # What flows between classes is circles and paths from who gives too much to who gets too much:
            # without the paths, of at most K - 1 steps, they balance.
            taken = SAFE * (K - 1) * fsum(left) / 2.0
            small(taken / max(fsum(values), 1e-300), "the balance of the classes", limit=limit_of(proof))
        cost = float(self.cost.max())
        return Duals(A, down(gains, -gamma(8) * gains), up(gains), excess + gamma(K + 16), taken, cost)

    @staticmethod
    def _given(proof, n, K):
        ends = numbers(proof, "ends", (n + 1,), "i").astype(np.int64)
        values = numbers(proof, "duals", (None,))
        classes = numbers(proof, "classes", values.shape, "i")
        check_ends(ends, len(values))
        if len(classes) and not 0 <= classes.min() <= classes.max() < K:
            raise ProofError(f"the proof has a dual of a class that is none of the {K}")
        return sp.csr_array((values, classes.astype(np.int64), ends), shape=(n, K))
