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
    """prior, scale r, held (bool), each of the shape of w, or None."""

    prior: Any = None
    scale: Any = None
    held: Any = None
    is_l1: bool = False

    def value(self, w):
        """(penalty(w), how far off)."""
        if self.held is not None and (w[self.held] < 0).any():
            raise ProofError("a weight that must be >= 0 is negative")
        r = 1.0 if self.scale is None else self.scale
        off = w if self.prior is None else w - self.prior
        terms = r * np.abs(w) if self.is_l1 else 0.5 * (r * off) ** 2
        size = (
            terms if self.prior is None else terms + (r * r) * np.abs(off) * (np.abs(w) + np.abs(self.prior))
        )
        return up(terms), gamma(16) * SAFE * up(size) + TINY * np.count_nonzero(off)

    def dual(self, v, error, gain) -> float:
        """At most gain + min_w penalty(w) - <v', w> for every v' that is within the error of v."""
        r = np.ones_like(v) if self.scale is None else self.scale
        if self.is_l1:
            size = np.abs(v) if self.held is None else np.where(self.held, v, np.abs(v))
            ratio = (1.0 + gamma(8)) * float(((size + SAFE * error) / r).max(initial=0.0))
            return gain if ratio <= 1.0 or gain <= 0.0 else gain / ratio * (1.0 - gamma(8))
        ends = [self._least(v + sign * error * SAFE, r) for sign in (-1.0, 1.0)]
        sizes = np.maximum(ends[0][1], ends[1][1])
        return down(gain, np.minimum(ends[0][0], ends[1][0]), -gamma(16) * sizes)

    def _least(self, v, r):
        """(min_w r^2/2 (w - prior)^2 - v w, the sizes of its terms), number by number."""
        prior = 0.0 if self.prior is None else self.prior
        square = 0.5 * (v / r) ** 2
        least, sizes = -v * prior - square, np.abs(v * prior) + square
        if self.held is None:
            return least, sizes
        clipped = self.held & (v + r * r * prior <= 0.0)
        at_zero = 0.5 * (r * prior) ** 2 * np.ones_like(v)
        return np.where(clipped, at_zero, least), sizes + at_zero
