"""Yes or no: psi(x, y) = y x / 2, 0/1 loss.  The structural hinge is max(0, 1 - y <w, x>)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...certificate.rounding import Sizes
from .rows import LinearData, pack_rows


@dataclass(frozen=True)
class Binary:
    """Two classes, y in {-1, +1}; x (d,).  With an intercept, the last weight is the bias.

    >>> from oneslack.models import Binary
    >>> Binary(2).decode([1.0, -1.0], [3.0, 1.0])
    1
    """

    n_features: int
    intercept: bool = False

    #: What an example has with a kernel: one dual in [0, C s_i] for the hinge max(0, 1 - y S).
    kernel_duals = "box"

    @property
    def n_params(self) -> int:
        return self.n_features + self.intercept

    @property
    def free(self) -> np.ndarray:
        return np.arange(self.n_features, self.n_params)

    # One example.

    def joint_feature(self, x, y):
        return 0.5 * y * self._extended(x)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        score = float(self._extended(x) @ np.asarray(w))
        if y is not None:
            score -= y  # the wrong answer earns the loss of 1; a score counts half, twice
        return 1 if score > 0 else -1

    def outputs(self, x):
        return (-1, 1)

    def _extended(self, x):
        x = np.asarray(x.todense()).ravel() if hasattr(x, "todense") else np.asarray(x, float)
        return np.append(x, 1.0) if self.intercept else x

    # Blocks of examples, through their scores (n,).

    def pack(self, X, Y, weights=None) -> LinearData:
        Y = np.asarray(Y)
        bad = np.flatnonzero((Y != 1) & (Y != -1))
        if len(bad):
            raise ValueError(f"example {bad[0]}: y is {Y[bad[0]]}, expected -1 or +1")
        return pack_rows(X, Y.astype(np.float64), weights)

    def new_scores(self, data):
        return np.empty(data.n)

    def scores(self, data, shard, w, out):
        from ..._jit.rows import scores

        bias = w[-1] if self.intercept else 0.0
        scores(data.view, w, bias, shard.lo, shard.hi, out)

    def cut(self, data, shard, S, coefficients):
        from ..._jit.binary import hinge_cut

        return hinge_cut(data.y, data.weights, S, shard.lo, shard.hi, coefficients)

    def risk(self, data, shard, S):
        from ..._jit.binary import hinge_sum

        return hinge_sum(data.y, data.weights, S, shard.lo, shard.hi)

    def along(self, data, shard, S, dS, t):
        from ..._jit.binary import hinge_along

        return hinge_along(data.y, data.weights, S, dS, t, shard.lo, shard.hi)

    def adjoint(self, data, shard, coefficients):
        from ..._jit.rows import adjoint

        g = np.zeros(self.n_params)
        adjoint(data.view, coefficients, shard.lo, shard.hi, g)
        if self.intercept:
            g[-1] = coefficients[shard.lo : shard.hi].sum()
        return g

    # Duals: p (n,) in [0, 1], the share of the wrong answer.

    def coefficients(self, data, p):
        return data.weights * data.y * p

    def dual_loss(self, data, p):
        return float(np.einsum("i,i", data.weights, p))

    def balance(self, data, p):
        return self.balanced(data, p, self.flow(data, p)) if self.intercept else p

    def flow(self, data, p):
        """Dual mass of the positives and of the negatives; those of parts of the examples add up."""
        mass = data.weights * p
        return np.array([mass[data.y > 0].sum(), mass[data.y < 0].sum()])

    def balanced(self, data, p, flow):
        """Shares that balance where `flow` is that of all examples."""
        positive, negative = flow
        common = min(positive, negative)
        keep = np.where(data.y > 0, _ratio(common, positive), _ratio(common, negative))
        return p * keep

    # How large things are, for bounds that hold whatever rounding does (rounding.py).

    def sizes(self, data) -> Sizes:
        return Sizes(data.lengths + 1.0 if self.intercept else data.lengths, 1.0, data.weights)

    def free_bound(self, data):
        """The best b, other weights fixed, puts an example on its margin: y (<w, x> + b) = 1."""
        return 1.0, float(data.lengths.max())

    def worsened(self, data, S, e):
        """Scores that have every example's hinge raised by e (n,)."""
        return S - data.y * e

    def rest(self, data, S, p):
        """How far each example is from moving its dual at scores S; 0 for those that may move."""
        lacking = 1.0 - data.y * S
        at_bound = ((p == 0.0) & (lacking < 0.0)) | ((p == 1.0) & (lacking > 0.0))
        return np.where(at_bound, np.abs(lacking), 0.0)

    def merges(self, data, p):
        """Yield (mass, target, share): examples that may be merged, weighted by their duals, and what is then
        the target and the share of the dual."""
        for side in (-1.0, 1.0):
            yield np.where(data.y == side, data.weights * p, 0.0), side, 1.0

    def smooth_duals(self, data, shard, S, mu, p):
        from ..._jit.binary import smooth_duals

        return smooth_duals(data.y, data.weights, S, mu, shard.lo, shard.hi, p)

    def smooth_slope(self, data, shard, S, dS, t, mu):
        from ..._jit.binary import smooth_slope

        return smooth_slope(data.y, data.weights, S, dS, t, mu, shard.lo, shard.hi)

    def smooth_hessian(self, data, shard, p, mu):
        from ..._jit.binary import smooth_hessian

        H = np.zeros((self.n_params, self.n_params))
        smooth_hessian(data.view, data.weights, p, mu, shard.lo, shard.hi, self.intercept, H)
        return H

    def dual_passes(self, data, C, seed, regulariser=None):
        from .binary_dual import BinaryDual

        return BinaryDual(self, data, C, seed, regulariser)


def _ratio(part, whole):
    return part / whole if whole > 0 else 1.0
