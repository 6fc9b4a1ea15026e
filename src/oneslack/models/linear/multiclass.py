"""One of many: psi(x, y) puts x at the weights of class y; 0/1 loss or a loss matrix."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...certificate.rounding import Sizes
from .rows import LinearData, circulation, has_long_rows, pack_rows


@dataclass(frozen=True, eq=False)
class Multiclass:
    """K classes, y in 0 .. K-1; x (d,).

    Weight (feature k, class z) is number k K + z, so that the K weights of a feature lie side by
    side; with intercepts, the K biases come last.  `losses` (K, K): L[y, z] >= 0, L[y, y] = 0.

    >>> import numpy as np, oneslack
    >>> model = oneslack.Multiclass(2, 3)
    >>> model.n_params, int(model.decode(np.array([0.0, 2.0, 1.0, 0.0, 0.0, 3.0]), np.array([1.0, 0.0])))
    (6, 1)
    """

    n_features: int
    n_classes: int
    intercept: bool = False
    losses: np.ndarray | None = field(default=None)

    #: What an example has with a kernel: duals of its outputs that share C s_i, losses as above.
    kernel_duals = "simplex"

    def __post_init__(self):
        K = self.n_classes
        losses = 1.0 - np.eye(K) if self.losses is None else np.array(self.losses, float)
        is_loss = (losses >= 0).all() and np.isfinite(losses).all()
        if losses.shape != (K, K) or not is_loss or np.diag(losses).any():
            raise ValueError(
                f"losses must be ({K}, {K}), finite and >= 0, with a diagonal of 0; got shape {losses.shape}"
            )
        object.__setattr__(self, "losses", losses)

    @property
    def n_params(self) -> int:
        return (self.n_features + self.intercept) * self.n_classes

    @property
    def free(self) -> np.ndarray:
        return np.arange(self.n_features * self.n_classes, self.n_params)

    # One example.

    def joint_feature(self, x, y):
        psi = np.zeros((self.n_features + self.intercept, self.n_classes))
        psi[:, y] = self._extended(x)
        return psi.ravel()

    def loss(self, y, y_hat):
        return float(self.losses[y, y_hat])

    def decode(self, w, x, y=None):
        scores = self._extended(x) @ np.reshape(w, (-1, self.n_classes))
        return int(np.argmax(scores if y is None else scores + self.losses[y]))

    def outputs(self, x):
        return range(self.n_classes)

    def _extended(self, x):
        x = np.asarray(x.todense()).ravel() if hasattr(x, "todense") else np.asarray(x, float)
        return np.append(x, 1.0) if self.intercept else x

    # Blocks of examples, through their scores (n, K).

    def pack(self, X, Y, weights=None) -> LinearData:
        Y = np.asarray(Y)
        bad = np.flatnonzero((Y < 0) | (self.n_classes <= Y) | (np.floor(Y) != Y))
        if len(bad):
            raise ValueError(f"example {bad[0]}: y is {Y[bad[0]]}, expected 0 .. {self.n_classes - 1}")
        return pack_rows(X, Y.astype(np.int64), weights)

    def _split(self, w):
        W = w[: self.n_features * self.n_classes].reshape(self.n_features, self.n_classes)
        return W, w[W.size :] if self.intercept else np.zeros(self.n_classes)

    def new_scores(self, data):
        return np.empty((data.n, self.n_classes))

    def multiplies(self, data) -> bool:
        """Whether scores and dual passes go through products of matrices."""
        return has_long_rows(data.X)

    def scores(self, data, shard, w, out):
        W, bias = self._split(w)
        if self.multiplies(data):
            from ..._jit.multiclass_blocks import dense_scores

            dense_scores(data.view[0], W, bias, shard.lo, shard.hi, out)
        else:
            from ..._jit.rows import class_scores

            class_scores(data.view, W, bias, shard.lo, shard.hi, out)

    def cut(self, data, shard, S, coefficients):
        from ..._jit.multiclass import hinge_cut

        return hinge_cut(data.y, data.weights, self.losses, S, shard.lo, shard.hi, coefficients)

    def risk(self, data, shard, S):
        from ..._jit.multiclass import hinge_sum

        return hinge_sum(data.y, data.weights, self.losses, S, shard.lo, shard.hi)

    def along(self, data, shard, S, dS, t):
        from ..._jit.multiclass import hinge_along

        return hinge_along(data.y, data.weights, self.losses, S, dS, t, shard.lo, shard.hi)

    def adjoint(self, data, shard, coefficients):
        from ..._jit.rows import class_adjoint

        g = np.zeros(self.n_params)
        G, _ = self._split(g)
        class_adjoint(data.view, coefficients, shard.lo, shard.hi, G)
        if self.intercept:
            g[G.size :] = coefficients[shard.lo : shard.hi].sum(axis=0)
        return g

    # Duals: P (n, K), rows on the simplex.

    def coefficients(self, data, P):
        from ..._jit.multiclass import share_coefficients

        A = np.empty_like(P)
        share_coefficients(data.y, data.weights, P, A)
        return A

    def dual_loss(self, data, P):
        return float(np.einsum("i,ij,ij", data.weights, P, self.losses[data.y]))

    def balance(self, data, P):
        return self.balanced(data, P, self.flow(data, P)) if self.intercept else P

    def flow(self, data, P):
        """(K, K): dual mass that examples of a class give to another; those of parts of the data add up."""
        from ..._jit.multiclass import class_flow

        flow = np.zeros((self.n_classes, self.n_classes))
        class_flow(data.y, data.weights, P, flow)
        return flow

    def balanced(self, data, P, flow):
        """Shares that balance where `flow` is that of all examples."""
        K = self.n_classes
        kept = circulation(flow)
        keep = np.divide(kept, flow, out=np.ones((K, K)), where=flow > 0)
        np.fill_diagonal(keep, 0.0)
        P = P * keep[data.y]
        P[np.arange(data.n), data.y] = 1.0 - P.sum(axis=1)
        return P

    # How large things are, for bounds that hold whatever rounding does (rounding.py).

    def sizes(self, data) -> Sizes:
        losses = self.losses.max(axis=1)[data.y]
        return Sizes(data.lengths + self.intercept, losses, 2.0 * data.weights)

    def free_bound(self, data):
        """Any group of classes may be moved, other weights fixed, until two classes tie for an example: so
        there is a best b where ties connect all classes, and b_k - b_l is at most K - 1 steps of
        max loss + |<w_k - w_l, x>|."""
        steps = self.n_classes - 1.0
        return steps * float(self.losses.max()), steps * 1.5 * float(data.lengths.max())

    def worsened(self, data, S, e):
        """Scores that have every example's hinge raised by 2 e (n,)."""
        worse = S + e[:, None]
        rows = np.arange(data.n)
        worse[rows, data.y] = S[rows, data.y] - e
        return worse

    def is_zero(self, data, S):
        """Whether no example that counts has a hinge above 0 at scores S."""
        truth = S[np.arange(data.n), data.y]
        return not ((S + self.losses[data.y]).max(axis=1) > truth)[data.weights > 0.0].any()

    def rest(self, data, S, P):
        """How far each example is from moving its duals at scores S; 0 for those that may move."""
        violation = S + self.losses[data.y]
        top = violation.argmax(axis=1)
        rows = np.arange(data.n)
        best = violation[rows, top]
        violation[rows, top] = -np.inf
        return np.where(P[rows, top] == 1.0, best - violation.max(axis=1), 0.0)

    def merges(self, data, P):
        """Yield (mass, target, share): examples that may be merged, weighted by their duals, and what is then
        the target and the share of the duals."""
        for y in range(self.n_classes):
            weights = np.where(data.y == y, data.weights, 0.0)
            for z in range(self.n_classes):
                if z != y:
                    yield weights * P[:, z], y, np.eye(self.n_classes)[z]

    def centre(self, w):
        """w with intercepts that sum to zero: adding one number to them all changes nothing."""
        if self.intercept:
            w[-self.n_classes :] -= w[-self.n_classes :].mean()
        return w

    def smooth_duals(self, data, shard, S, mu, P):
        from ..._jit.multiclass import smooth_duals

        return smooth_duals(data.y, data.weights, self.losses, S, mu, shard.lo, shard.hi, P)

    def smooth_slope(self, data, shard, S, dS, t, mu):
        from ..._jit.multiclass import smooth_slope

        return smooth_slope(data.y, data.weights, self.losses, S, dS, t, mu, shard.lo, shard.hi)

    def smooth_hessian(self, data, shard, P, mu):
        from ..._jit.multiclass import smooth_hessian

        H = np.zeros((self.n_params, self.n_params))
        smooth_hessian(data.view, data.weights, P, mu, shard.lo, shard.hi, self.intercept, H)
        return H

    def dual_passes(self, data, C, seed, regulariser=None):
        from .multiclass_dual import MulticlassDual

        return MulticlassDual(self, data, C, seed, regulariser)
