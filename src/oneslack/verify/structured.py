"""P and D of structured outputs: the structural hinge, max over outputs z of loss(y, z) + score(z) -
score(y).

    P(w) = penalty(w) + sum_i c_i max_z (loss(y_i, z) + <w, psi(x_i, z)> - <w, psi(x_i, y_i)>)
    v    = sum alpha_iz (psi(x_i, y_i) - psi(x_i, z)),       gain = sum alpha_iz loss(y_i, z)

A proof lists outputs z of examples, as many whole numbers each as the example says, with their duals alpha >=
0, whose sum is at most c_i.  chains.py and trees.py tell hinges, losses and features.
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import ProofError
from .claim import Bounds
from .duals import small
from .penalty import Penalty
from .sums import SAFE, down, gamma, numbers, up


class Structured(NamedTuple):
    """examples (chains.Chains or trees.Trees), c (n,), w, its penalty."""

    examples: Any
    c: np.ndarray
    w: np.ndarray
    penalty: Penalty = Penalty()

    def bounds(self, proof) -> Bounds:
        hinges, errors = self.examples.hinges(self.w)
        risk, off = up(self.c * np.maximum(hinges, 0.0)), SAFE * up(self.c * errors)
        regular, error = self.penalty.value(self.w)
        primal, error = regular + risk, error + off + gamma(16) * (regular + risk)
        return Bounds(primal - error, primal + SAFE * error, *self._dual(proof))

    def _dual(self, proof):
        alpha = numbers(proof, "duals", (None,)) if proof else np.zeros(0)
        of = numbers(proof, "examples", alpha.shape, "i").astype(int) if proof else np.zeros(0, int)
        Z = numbers(proof, "outputs", (None,), "i").astype(int) if proof else np.zeros(0, int)
        n, sizes = len(self.c), self.examples.sizes
        if len(of) and not 0 <= of.min() <= of.max() < n:
            raise ProofError("the proof has an output of an example that there is not")
        if len(Z) != sizes[of].sum():
            raise ProofError(f"the outputs of the proof are {len(Z)} numbers, expected {sizes[of].sum()}")
        if (alpha < 0).any():
            raise ProofError(f"a dual of example {of[np.argmin(alpha)]} is negative")
        given = np.bincount(of, alpha, n)
        over = np.divide(given, self.c, out=np.where(given > 0, np.inf, 1.0), where=self.c > 0) - 1.0
        share = small(float(over.max(initial=0.0)), "the dual of example", int(np.argmax(over)))
        costs = alpha * self.examples.losses(of, Z)
        v, size, terms = self.examples.features(given, of, Z, alpha)
        share += gamma(terms + len(of) + 64)
        low = self.penalty.dual(v, SAFE * share * size, down(costs) - SAFE * share * up(costs))
        middle = self.penalty.dual(v, np.zeros_like(v), up(costs))
        return max(low, 0.0), middle + SAFE * abs(middle - low)
