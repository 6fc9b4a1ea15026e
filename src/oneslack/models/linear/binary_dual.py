"""Dual coordinate passes of the binary hinge: the `dual pass` extension (protocols.py).

    D(alpha) = sum_i alpha_i - 1/2 |sum_i alpha_i y_i x_i|^2        0 <= alpha_i <= C s_i

One box-bounded variable an example (Hsieh et al. 2008), w kept up to date, examples at a bound left
out of the next passes (shrinking), rows visited in blocks of neighbours.
"""

from __future__ import annotations

import numpy as np

from .box_dual import BoxDual


class BinaryDual(BoxDual):
    """alpha (n,), w (d,) and what is active."""

    def linear(self):
        return float(self.alpha.sum())

    def _pass(self, *rest):
        from ..._jit.binary import dual_pass

        return dual_pass(self.data.view, self.data.y, *rest)

    def _unsettled(self, *rest):
        from ..._jit.binary import unsettled

        return unsettled(self.data.y, *rest)

    def _projected(self, alpha, length, S):
        return np.clip(alpha + length * (1.0 - self.data.y * S), 0.0, self.upper)

    def _imbalance(self):
        return self.data.y @ self.alpha
