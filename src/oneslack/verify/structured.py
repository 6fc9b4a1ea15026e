"""P and D of structured outputs: the structural hinge, max over outputs z of loss(y, z) + score(z) -
score(y).

    P(w) = penalty(w) + sum_i c_i max_z (loss(y_i, z) + <w, psi(x_i, z)> - <w, psi(x_i, y_i)>)
    v    = sum alpha_iz (psi(x_i, y_i) - psi(x_i, z)),       gain = sum alpha_iz loss(y_i, z)

With slack rescaling it is loss(y_i, z) (1 + score(z) - score(y)), and terms of v are multiplied by the loss.
A proof lists outputs z of examples, as many whole numbers each as the example says, with their duals alpha >=
0, whose sum is at most c_i.  chains.py and trees.py tell hinges, losses and features.
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import ProofError
from .claim import Bounds
from .duals import excess_of
from .penalty import Penalty
from .sums import SAFE, down, gamma, numbers, up


class Structured(NamedTuple):
    """examples (chains.Chains or trees.Trees), c (n,), w, its penalty."""

    examples: Any
    c: np.ndarray
    w: np.ndarray
    penalty: Penalty = Penalty()
    slack: bool = False

    def bounds(self, proof) -> Bounds:
        hinges, errors = self.examples.hinges(self.w, self.slack)
        risk = up(self.c * np.maximum(hinges, 0.0)), SAFE * up(self.c * errors)
        alpha, of, Z = self._given(proof) if proof else (np.zeros(0), np.zeros(0, int), np.zeros(0, int))
        share = excess_of(np.bincount(of, alpha, len(self.c)), self.c)
        losses = self.examples.losses(of, Z)
        v, sizes, terms = self.examples.features(of, Z, alpha * losses if self.slack else alpha)
        share, gain = SAFE * (share + gamma(terms + len(of) + 64)), up(alpha * losses)
        low = self.penalty.dual(v, share * sizes, down(gain, -share * gain))
        return Bounds.of(
            self.penalty.value(self.w), risk, low, self.penalty.dual(v, np.zeros_like(v), gain), gain
        )

    def _given(self, proof):
        """duals (m,), the examples (m,) that they are of, their outputs one behind the other."""
        alpha = numbers(proof, "duals", (None,))
        of = numbers(proof, "examples", alpha.shape, (0, len(self.c) - 1))
        Z = numbers(proof, "outputs", (self.examples.sizes[of].sum(),), self.examples.reach)
        if (alpha < 0).any():
            raise ProofError(f"a dual of example {of[np.argmin(alpha)]} is negative")
        return alpha, of, Z
