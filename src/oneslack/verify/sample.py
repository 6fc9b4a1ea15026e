"""Losses of a whole sample: C max over outputs of (loss - <shares, f>), with f the scores of all examples.

Every output is a plane under that risk, and so is every mean of outputs: a proof has weights, which sum to 1
at most, and the outputs: by the examples that a labelling has wrong, or as the worst output at some point w.
What an output costs is computed here, so it does not matter who chose it.  pairs.py and labellings.py tell
the worst output of a measure.
"""

from math import fsum
from typing import NamedTuple

import numpy as np

from .duals import Duals, planes, small
from .sums import SAFE, down, gamma, numbers, up


class Sample(NamedTuple):
    """A measure with worst(f) -> (loss, shares (n,)), C, and the most that scores may count, reach (n,)."""

    measure: object
    C: float

    def risk(self, F, E):
        f = F[:, 0]
        loss, shares = self.measure.worst(f)
        value = self.C * max(down(loss, -shares * f), 0.0)
        size = loss + fsum(np.abs(shares * f))
        near = up(self.measure.reach * (E[:, 0] + gamma(8) * (np.abs(f) + 1.0)))
        error = SAFE * near + gamma(64) * size + self.measure.doubt * (1.0 + np.abs(f).max(initial=0.0))
        return value, self.C * error * SAFE

    def duals(self, proof, scores_at=None, free=False) -> Duals:
        n = len(self.measure.reach)
        A, M, losses, free_parts = np.zeros(n), np.zeros(n), [], []
        for weight, output in planes(proof, lambda j: self._output(proof, j, scores_at)) if proof else ():
            loss, shares = output
            A += weight * shares
            M += weight * np.abs(shares)
            losses.append(weight * loss)
            free_parts.append(weight * fsum(shares))
        # The dual point is the mean of the outputs, of which A is a rounded sum.
        J, rounded = len(losses), gamma(len(losses) + 16) * fsum(M)
        gain, excess = self.C * down(losses), gamma(J + 64)
        if free and any(free_parts):
            # The planes of the heavier side times 1 - left / side balance.
            side = max(abs(fsum(part for part in free_parts if part * sign > 0)) for sign in (-1, 1))
            left = abs(fsum(free_parts)) + gamma(J + 16) * fsum(map(abs, free_parts))
            excess += small(left / side, "the balance of the planes", limit=0.5)
        doubt = rounded if "labels" in proof else rounded + self.measure.doubt
        return Duals(self.C * A[:, None], gain, gain, excess, SAFE * self.C * doubt, 1.0)

    def _output(self, proof, j, scores_at):
        if "labels" not in proof:
            return self.measure.worst(scores_at(j)[:, 0])
        n = len(self.measure.reach)
        bits = numbers(proof, "labels", (None, (n + 7) // 8), "i")[j]
        return self.measure.output(np.unpackbits(bits.astype(np.uint8), count=n).astype(bool))
