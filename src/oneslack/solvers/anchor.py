"""An anchor that makes dual passes converge faster on stiff problems.

    min_w  P(w) + kappa/2 |w - y|^2

is a problem with shorter memory: with v = sum alpha delta its point is w = (v + kappa y) / (1 + kappa), so a
dual pass works as on P with every curvature divided by 1 + kappa.  It is minimised loosely, then the anchor y
moves to where w went and a little beyond, y = w + beta (w - last w), and again (Shalev-Shwartz & Zhang 2014;
Lin, Mairal & Harchaoui 2015).  At the fixed point w = y = v.

The duals are those of P all along, so D(alpha) is a bound, and

    P(w) - D(alpha) = sum of the examples' gaps at w + 1/2 |w - v|^2,      w - v = kappa (y - w).
"""

from __future__ import annotations

import numpy as np

#: Problems with C |delta|^2 below this are not stiff: plain passes are as fast.
STIFF = 5.0
#: The anchor moves on when the examples' gaps are at most so many times kappa/2 |w - y|^2.
LOOSE = 10.0


class Anchor:
    """kappa, y and the last w, with the scores of both."""

    def __init__(self, kappa, weights):
        self.kappa, self.scale = kappa, 1.0 / (1.0 + kappa)
        self.beta = kappa / (kappa + 4.0)
        self.y, self.last = np.zeros_like(weights), np.zeros_like(weights)
        self.y_scores = self.last_scores = 0.0

    @staticmethod
    def for_passes(problem, passes) -> Anchor | None:
        """An anchor as strong as the problem is stiff, or None."""
        if not hasattr(passes, "spread"):
            return None
        data = problem.data
        stiffness = problem.C * float(data.weights @ data.norm2) / data.n * passes.spread
        return Anchor(float(np.sqrt(stiffness)), passes.weights) if stiffness > STIFF else None

    def distance2(self, w) -> float:
        """|w - y|^2."""
        from .._jit.vectors import distance2

        return distance2(w.ravel(), self.y.ravel())

    def excess(self, far) -> float:
        """1/2 |w - v|^2, given |w - y|^2."""
        return 0.5 * self.kappa**2 * far

    def is_near(self, gap, far) -> bool:
        """Whether it is time to move on."""
        return gap <= LOOSE * 0.5 * self.kappa * far

    def sum_of_duals(self, w):
        """v."""
        return (1.0 + self.kappa) * w - self.kappa * self.y

    def move(self, w, S):
        """Move on from w, whose scores are S; w is changed in place, its new scores are returned."""
        y = w + self.beta * (w - self.last)
        y_scores = S + self.beta * (S - self.last_scores)
        self.last, self.last_scores = w.copy(), S
        share = self.kappa * self.scale  # of y in w
        w += share * (y - self.y)
        S = S + share * (y_scores - self.y_scores)
        self.y, self.y_scores = y, y_scores
        return S

    def state(self):
        return dict(vars(self))

    def restore(self, state):
        vars(self).update(state)
