"""Dual coordinate passes of the tube loss: the `dual pass` extension (protocols.py).

    D(alpha) = sum_i alpha_i y_i - epsilon |alpha_i| - 1/2 |sum_i alpha_i x_i|^2    |alpha_i| <= C s_i

One box-bounded variable an example (Ho & Lin 2012): its step is a soft threshold by epsilon, then the box.
w is kept up to date, examples that rest (at 0 inside the tube, at a bound outside) are left out of the next
passes, rows are visited in blocks of neighbours.
"""

from __future__ import annotations

import numpy as np

from .box_dual import BoxDual


class RegressionDual(BoxDual):
    """alpha (n,), w (d,) and what is active."""

    is_signed = True

    def __init__(self, model, data, C, seed, regulariser=None):
        super().__init__(model, data, C, seed, regulariser)
        self.epsilon = float(model.epsilon)

    def linear(self):
        return float(np.einsum("i,i", self.alpha, self.data.y) - self.epsilon * np.abs(self.alpha).sum())

    def _pass(self, *rest):
        from ..._jit.regression import dual_pass

        return dual_pass(self.data.view, self.data.y, self.epsilon, *rest)

    def _unsettled(self, *rest):
        from ..._jit.regression import unsettled

        return unsettled(self.data.y, self.epsilon, *rest)

    def _projected(self, alpha, length, S):
        free = alpha + length * (self.data.y - S)
        shrunk = np.sign(free) * np.maximum(np.abs(free) - length * self.epsilon, 0.0)
        return np.clip(shrunk, -self.upper, self.upper)

    def _imbalance(self):
        return self.alpha.sum()
