"""Losses of a whole sample: C max over outputs of (loss - <shares, f>), with f the scores of all examples.

Every output is a plane under that risk, and so is every mean of outputs: a proof has weights, which sum to 1
at most, and the outputs: by the examples that a labelling has wrong, or as the worst output at some point w.
What an output costs is computed here, so it does not matter who chose it.  pairs.py and labellings.py tell
the worst output of a measure.
"""

from math import fsum
from typing import Any, NamedTuple

import numpy as np

from .duals import Duals, planes, small
from .sums import SAFE, down, gamma, numbers, up


class Sample(NamedTuple):
    """A measure with worst(f) -> (loss, shares (n,)), the most that scores may count, reach (n,), and how far
    rounding may put a sum off, doubt; and C."""

    measure: Any
    C: float

    def risk(self, F, E):
        f = F[:, 0]
        loss, shares = self.measure.worst(f)
        value, size = max(down(loss, -shares * f), 0.0), loss + fsum(np.abs(shares * f))
        near = up(self.measure.reach * (E[:, 0] + gamma(8) * (np.abs(f) + 1.0)))
        error = near + gamma(64) * size + self.measure.doubt * (1.0 + np.abs(f).max(initial=0.0))
        return self.C * value, SAFE * SAFE * self.C * error

    def duals(self, proof, scores_at=None, free=False) -> Duals:
        n = len(self.measure.reach)

        def output(j):
            if "labels" not in proof:
                return self.measure.worst(scores_at(j)[:, 0])
            bits = numbers(proof, "labels", (None, (n + 7) // 8), (0, 255))[j]
            return self.measure.output(np.unpackbits(bits.astype(np.uint8), count=n).astype(bool))

        A, sizes, losses, sums, masses = np.zeros(n), np.zeros(n), [], [], []
        for weight, (loss, shares) in planes(proof, output) if proof else ():
            A, sizes = A + weight * shares, sizes + weight * np.abs(shares)
            losses.append(weight * loss)
            sums.append(weight * fsum(shares))
            masses.append(weight * (loss + fsum(np.abs(shares))))
        # The dual point is the mean of the outputs, of which A is a rounded sum.
        gain, excess, rounding = self.C * down(losses), gamma(len(sums) + 64), gamma(len(sums) + 16)
        doubt = rounding * fsum(sizes) + (0.0 if "labels" in proof else self.measure.doubt)
        if free and any(sums):
            # The planes of the heavier side times 1 - left / side balance: so much of them is taken.
            left = abs(fsum(sums)) + rounding * fsum(map(abs, sums))
            part, mass = np.array(sums), np.array(masses)
            sides = [side for side in (part < 0, part > 0) if side.any()]
            taken = max(left * fsum(mass[side]) / abs(fsum(part[side])) for side in sides)
            small(taken / fsum(masses), "the balance of the planes is off", 0.5)
            doubt += taken
        return Duals(self.C * A[:, None], gain, gain, excess, SAFE * self.C * doubt, 1.0)
