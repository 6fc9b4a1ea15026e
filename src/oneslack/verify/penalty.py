"""The penalty, and what a dual point proves of it.

    penalty(w) = 1/2 sum_k r_k^2 (w_k - prior_k)^2         or sum_k r_k |w_k| (L1); some w_k held >= 0
    min P >= gain + min_w (penalty(w) - <v, w>)            v = sum_i alpha_i x_i

The minimum is a sum over k of concave functions of v_k: where v_k is known within an error, it is least at
one of the two ends.  Under L1 it is 0 where |v_k| <= r_k, else minus infinity: duals are divided by the
largest |v_k| / r_k.  Gains are concave and 0 at 0, so that duals times t < 1 keep at least t of a gain.
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import ProofError
from .sums import SAFE, TINY, down, gamma, up


class Penalty(NamedTuple):
    """prior, scale r, held (bool), each of the shape of w, or one number for all."""

    prior: Any = 0.0
    scale: Any = 1.0
    held: Any = False
    is_l1: bool = False

    def value(self, w):
        """(penalty(w), how far off)."""
        if not np.all(np.asarray(self.scale) > 0) or (self.is_l1 and np.any(self.prior)):
            raise ProofError("a scale of the weights is not above 0, or an L1 penalty has a prior")
        if (w[np.broadcast_to(self.held, w.shape)] < 0).any():
            raise ProofError("a weight that must be >= 0 is negative")
        off = np.abs(w - self.prior)
        terms = self.scale * off if self.is_l1 else 0.5 * (self.scale * off) ** 2
        return up(terms), gamma(16) * up(terms) + TINY * w.size

    def dual(self, v, error, gain) -> float:
        """At most gain + min_w penalty(w) - <v', w> for every v' that is within the error of v."""
        if self.is_l1:
            size = np.where(self.held, v, np.abs(v)) + SAFE * error
            ratio = (1.0 + gamma(8)) * float((size / self.scale).max(initial=0.0))
            return gain if ratio <= 1.0 or gain <= 0.0 else gain / ratio * (1.0 - gamma(8))
        ends = [self._least(v + sign * error * SAFE) for sign in (-1.0, 1.0)]
        sizes = np.maximum(ends[0][1], ends[1][1])
        return down(gain, np.minimum(ends[0][0], ends[1][0]), -gamma(16) * sizes)

    def point(self, v):
        """The weights of a dual point."""
        w = self.prior + v / np.square(self.scale)
        return np.where(self.held, np.maximum(w, 0.0), w)

    def _least(self, v):
        """(min_w r^2/2 (w - prior)^2 - v w, the sizes of its terms), number by number."""
        square, at_zero = 0.5 * (v / self.scale) ** 2, 0.5 * (self.scale * self.prior) ** 2
        clipped = self.held & (v + self.scale**2 * self.prior <= 0.0)
        sizes = np.abs(v * self.prior) + square + self.held * at_zero
        return np.where(clipped, at_zero, -v * self.prior - square), sizes
