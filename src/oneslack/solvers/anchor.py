"""An anchor that makes dual passes converge faster on stiff problems: the accelerated proximal point method.

    min_w  P(w) + kappa/2 |r (w - y)|^2

is a problem with shorter memory: with u = prior + v / r^2, v = sum alpha delta, its point is
w = (u + kappa y) / (1 + kappa), so a dual pass works as on P with every curvature divided by 1 + kappa.  It
is minimised loosely, then the anchor y moves to where w went and a little beyond, y = w + beta (w - last w),
and again (Shalev-Shwartz & Zhang 2014; Lin, Mairal & Harchaoui 2015).  As P is strongly convex with modulus
1, beta = (1 - sqrt q) / (1 + sqrt q) with q = 1 / (1 + kappa).  At the fixed point w = y = u.

The duals are those of P all along, so D(alpha) is a bound, and

    P(w) - D(alpha) = sum of the examples' gaps at w + 1/2 |r (w - u)|^2,      w - u = kappa (y - w).

Where weights are held >= 0, t = (u + kappa y) / (1 + kappa) is kept beside w = max(t, 0), and the last term
is 1/2 |r (w - u)|^2 - 1/2 |r (max(u, 0) - u)|^2.
"""

from __future__ import annotations

import numpy as np

from ..objective import squared_norm

#: Problems with C |delta|^2 below this are not stiff: plain passes are as fast.
STIFF = 5.0
#: The anchor moves on when the examples' gaps are at most so many times kappa/2 |w - y|^2.
LOOSE = 30.0


class Anchor:
    """kappa, y and the last w, with the scores of both."""

    def __init__(self, kappa, weights, scores=0.0, r=None):
        self.kappa, self.scale = kappa, 1.0 / (1.0 + kappa)
        root = float(np.sqrt(self.scale))
        self.beta = (1.0 - root) / (1.0 + root)
        self.y, self.last = weights.copy(), weights.copy()
        self.y_scores = self.last_scores = scores
        self.r = r

    @staticmethod
    def for_passes(problem, passes) -> Anchor | None:
        """An anchor as strong as the problem is stiff, or None."""
        regulariser = problem.regulariser
        if not hasattr(passes, "spread"):
            return None
        r = regulariser.scale if regulariser.scale is None else regulariser.scale[: passes.weights.size]
        # Of most examples: a few long ones come to rest soon, and an anchor for them holds all others back.
        if r is None:
            stiffness = float(np.median(problem.upper_duals * problem.data.norm2)) * passes.spread
        else:
            stiffness = float(np.median(passes.upper) * np.median(passes.norm2)) * passes.spread
        if not STIFF < stiffness < np.inf:
            return None
        kappa = float(np.sqrt(stiffness))
        if regulariser.nonnegative is not None:
            return HeldAnchor(kappa, problem, passes, r)
        scores = problem.scores(passes.point) if passes.weights.any() else 0.0
        return Anchor(kappa, passes.weights, scores, r)

    def distance2(self, w) -> float:
        """|r (w - y)|^2."""
        from .._jit.vectors import distance2

        if self.r is not None:
            return squared_norm(self.r * (w - self.y).ravel())
        return distance2(w.ravel(), self.y.ravel())

    def excess(self, far) -> float:
        """1/2 |r (w - u)|^2, given |r (w - y)|^2."""
        return 0.5 * self.kappa**2 * far

    def is_near(self, gap, far) -> bool:
        """Whether it is time to move on."""
        return gap <= LOOSE * 0.5 * self.kappa * far

    def unanchored(self, w):
        """u."""
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

    _STATE = ("kappa", "scale", "beta", "y", "last", "y_scores", "last_scores")

    def state(self):
        return {name: getattr(self, name) for name in self._STATE}

    def restore(self, state):
        vars(self).update(state)


class HeldAnchor(Anchor):
    """Where weights are held >= 0: scores are no longer sums of scores, and are found anew."""

    def __init__(self, kappa, problem, passes, r):
        super().__init__(kappa, passes.weights, r=r)
        self.problem, self.passes = problem, passes
        self.y = passes.kept_weights.u.copy()  # where u is before any step

    def excess(self, far):
        kept = self.passes.kept_weights
        u, low = self.unanchored(kept.w), kept.loops.low
        far2, near2 = (kept.w - u) ** 2, (np.maximum(u, low) - u) ** 2
        return 0.5 * float(np.sum((far2 - near2) / kept.q))

    def unanchored(self, w):
        return (1.0 + self.kappa) * self.passes.kept_weights.u - self.kappa * self.y

    def move(self, w, S):
        kept = self.passes.kept_weights
        y = w + self.beta * (w - self.last)
        self.last = w.copy()
        kept.u += self.kappa * self.scale * (y - self.y)
        np.maximum(kept.u, kept.loops.low, out=kept.w)
        self.y = y
        return self.problem.scores(self.passes.point)
