"""Losses of examples, c_i phi(y_i, f_i) with c_i = C s_i, by scores f; and their duals.

All but one are phi(r) = max of a r - epsilon |a| - a^2 / k over low <= a <= high, of the residual r = y - f:

    loss                          low .. high               k     epsilon
    hinge                         0 .. 1    (y = -1: -1 .. 0)     inf   0
    squared_hinge                 0 .. inf  (y = -1: -inf .. 0)   4     0
    epsilon_insensitive           -1 .. 1                   inf   epsilon
    squared_epsilon_insensitive   -inf .. inf               4     epsilon
    pinball                       quantile - 1 .. quantile  inf   0
    huber                         -delta .. delta           2     0

So for any dual a with low c <= a <= high c the line gain - a f, gain = a y - epsilon |a| - a^2 / (k c), lies
under c phi.  Of the logistic loss, log(1 + exp(-y f)), gain is c H(a y / c), H the entropy.

Several classes (Crammer and Singer): c (max_z cost(y, z) + f_z - f_y) >= sum_z alpha_z (cost(y, z) + f_z -
f_y) for alpha >= 0 with sum_z alpha_z <= c.
"""

from math import fsum, inf
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import xlog1py, xlogy

from ..errors import ProofError
from .duals import Duals, balance, excess_of, planes
from .sums import SAFE, TINY, down, gamma, numbers, up


class OneScore(NamedTuple):
    """One score an example: name of the loss, y (n,), c (n,), and its epsilon, quantile or delta."""

    name: str
    y: np.ndarray
    c: np.ndarray
    size: float = 0.0

    @property
    def shape(self):
        """low (n,), high (n,), k, epsilon."""
        s, is_class = self.size, self.name in ("hinge", "squared_hinge", "logistic")
        low, high, k, epsilon = {
            "hinge": (0.0, 1.0, inf, 0.0), "squared_hinge": (0.0, inf, 4.0, 0.0),
            "logistic": (0.0, 1.0, inf, 0.0), "epsilon_insensitive": (-1.0, 1.0, inf, s),
            "squared_epsilon_insensitive": (-inf, inf, 4.0, s), "pinball": (s - 1.0, s, inf, 0.0),
            "huber": (-s, s, 2.0, 0.0),
        }[self.name]  # fmt: skip
        turned = is_class & (self.y < 0)
        return np.where(turned, -high, low), np.where(turned, -low, high), k, epsilon

    def phi(self, f):
        """((n,) losses at scores f, the a of each that is best there)."""
        if self.name == "logistic":
            return np.logaddexp(0.0, -self.y * f), self.y * np.exp(-np.logaddexp(0.0, self.y * f))
        (low, high, k, epsilon), r = self.shape, self.y - f
        far = np.maximum(np.abs(r) - epsilon, 0.0)
        with np.errstate(invalid="ignore"):
            a = np.where(far > 0, np.clip(np.sign(r) * far * (k / 2.0), low, high), 0.0)
        return np.abs(a) * far - a * (a / k), a

    def risk(self, F, E):
        """(sum_i c_i phi, how far off) at scores F that are within E."""
        f, own = F[:, 0], gamma(8) * (np.abs(F[:, 0]) + np.abs(self.y) + self.size + 1.0)
        here, low, high = (self.c * self.phi(f + e)[0] for e in (0.0, -E[:, 0] - own, E[:, 0] + own))
        worst = np.maximum(low, high)  # phi is convex: it is largest at an end
        # What underflows is no share of anything, and a logistic loss is never 0.
        faint = up(8.0 * TINY * (self.c + 1.0)) if self.name == "logistic" or worst.any() else 0.0
        return up(here), up(worst - here) + gamma(128) * up(worst) + faint

    def duals(self, proof, scores_at=None, free=False) -> Duals:
        """The dual point of a proof: duals (n,), or planes at points."""
        a = np.zeros(len(self.y))
        if "points" in proof:
            a = sum(weight * self.c * self.phi(F[:, 0])[1] for weight, F in planes(proof, scores_at))
        elif proof:
            a = numbers(proof, "duals", self.y.shape)
        low, high, *_ = self.shape
        bound = np.where(self.c != 0, np.where(a > 0, high, -low), 0.0)  # inf times 0 is no number
        excess = excess_of(np.abs(a), bound * self.c)
        if free and (left := abs(fsum(a.tolist()))):
            # The duals of the heavier side times 1 - left / side balance, and are feasible as they are.
            side = max(-fsum(a[a < 0].tolist()), fsum(a[a > 0].tolist()))
            excess += balance(proof, left, side, "duals")
        gains, sizes = self._gains(a)
        faint = np.where(a != 0, 1024.0 * TINY * (self.c + 1.0), 0.0)  # shares a / c may have underflown
        return Duals(a[:, None], down(gains, -gamma(64) * sizes, -faint), up(sizes), excess + gamma(16))

    def _gains(self, a):
        """(n,) gains, and the sizes of their terms."""
        (*_, k, epsilon), c = self.shape, np.where(self.c > 0, self.c, 1.0)  # without weight a is 0
        if self.name == "logistic":
            p = np.clip(a * self.y / c, 0.0, 1.0)
            gains = -c * (xlogy(p, p) + xlog1py(1.0 - p, -p))
            return gains, gains + np.abs(a)
        pays = epsilon * np.abs(a) + a * (a / (k * c))
        return a * self.y - pays, np.abs(a * self.y) + pays


class ManyClasses(NamedTuple):
    """Crammer and Singer: y (n,) of 0 .. K-1, c (n,), cost (K, K)."""

    y: np.ndarray
    c: np.ndarray
    cost: np.ndarray

    def risk(self, F, E):
        own, at = gamma(8) * (np.abs(F) + self.cost[self.y]) + E, np.arange(len(F))
        each = self.c * ((self.cost[self.y] + F).max(axis=1) - F[at, self.y])
        return up(each), up(2.0 * SAFE * self.c * own.max(axis=1)) + gamma(16) * up(np.abs(each))

    def duals(self, proof, scores_at=None, free=False) -> Duals:
        """The dual point of a proof: duals of wrong classes row by row, or planes at points."""
        n, K = len(self.y), len(self.cost)
        alpha = sp.csr_array((n, K))
        if "points" in proof:
            alpha = sum(weight * self._slope(F) for weight, F in planes(proof, scores_at))
        elif proof:
            alpha = self._given(proof, n, K)
        rows, classes, values = sp.find(alpha)
        given = np.bincount(rows, values, n)
        A = sp.csr_array((given, (np.arange(n), self.y)), shape=(n, K)) - alpha
        taken = 0.0
        if free:
            left = [abs(fsum([*values[self.y[rows] == k], *-values[classes == k]])) for k in range(K)]
            # What flows between classes is circles and paths from who gives too much to who gets too much:
            # without the paths, of at most K - 1 steps, they balance.
            taken = SAFE * (K - 1) * fsum(left) / 2.0
            balance(proof, taken, fsum(values), "classes")
        gains, excess = values * self.cost[self.y[rows], classes], excess_of(given, self.c) + gamma(K + 16)
        return Duals(A, down(gains, -gamma(8) * gains), up(gains), excess, taken, float(self.cost.max()))

    def _slope(self, F):
        """(n, K): alpha at scores F, all of it at the worst class."""
        worst, at = (self.cost[self.y] + F).argmax(axis=1), np.arange(len(F))
        return sp.csr_array((self.c * (worst != self.y), (at, worst)), shape=F.shape)

    @staticmethod
    def _given(proof, n, K):
        values = numbers(proof, "duals", (None,))
        classes = numbers(proof, "classes", values.shape, (0, K - 1))
        ends = numbers(proof, "ends", (n + 1,), (0, len(values)))
        if ends[0] != 0 or ends[-1] != len(values) or (np.diff(ends) < 0).any():
            raise ProofError(f"the ends of the proof's rows do not rise from 0 to {len(values)}")
        if (values < 0).any():
            raise ProofError(
                f"a dual of example {np.searchsorted(ends, np.argmin(values), 'right') - 1} is negative"
            )
        return sp.csr_array((values, classes, ends), shape=(n, K))
