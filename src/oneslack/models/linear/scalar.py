"""A linear score under a scalar loss: P(w, b) = 1/2 |w|^2 + C sum_i s_i phi(y_i, <w, x_i> + b).

What all of them share: two classes under the hinge (binary.py), a number under the tube (regression.py), and
any other loss of losses/.  Nothing here knows which one it is.

Dual coordinate passes (the `dual pass` extension, protocols.py) raise

    D(alpha) = sum_i [t_i alpha_i - charge(alpha_i)] - 1/2 |sum_i alpha_i x_i|^2

one variable an example (Hsieh et al. 2008), w kept up to date, rows visited in blocks of neighbours.
Examples that rest at a bound are left out (shrinking) until a look at all scores (the KKT conditions) brings
them back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...certificate.rounding import FAINT, Sizes, gamma
from ...memory.state_coding import check_between, check_places
from ...objective import KeptWeights, inner, squared_norm
from .rows import LinearData, pack_rows
from .smooth_path import SmoothPath

#: Neighbouring rows that are visited together: they lie together in memory, but may be alike.
BLOCK = 32
#: An example that rests is left out when it lies beyond this share of the largest violation on its side.
SHRINK = 0.25
#: The same for examples whose dual is 0 where none has gone down yet (a first pass): beside the violations
#: above, which are larger than those to come.
SHRINK_FIRST = 0.2

#: The share of its bound from which on a dual is at it, but for rounding.
ALMOST = 1.0 - 1e-12


class ScalarModel:
    """A model with `n_features`, `intercept` and a loss `phi`.  With an intercept, the last weight is the
    bias."""

    @property
    def n_params(self) -> int:
        return self.n_features + self.intercept

    @property
    def free(self) -> np.ndarray:
        return np.arange(self.n_features, self.n_params)

    # Blocks of examples, through their scores (n,).

    def pack(self, X, Y, weights=None) -> LinearData:
        y = np.array(Y)
        if self.phi.has_sides:
            fine, expected = (y == 1) | (y == -1), "-1 or +1"
        else:
            fine, expected = np.isfinite(y := y.astype(np.float64, copy=False)), "a finite number"
        if not fine.all():
            raise ValueError(f"example {(i := np.argmin(fine))}: y is {y[i]}, expected {expected}")
        data = pack_rows(X, y.astype(np.float64, copy=False), weights)
        return data if self.phi.has_sides else data.in_units()

    def new_scores(self, data):
        return np.empty(data.n)

    def scores(self, data, shard, w, out):
        from ..._jit.rows import scores

        bias = w[-1] if self.intercept else 0.0
        scores(data.view, w, bias, shard.lo, shard.hi, out)

    def adjoint(self, data, shard, coefficients):
        from ..._jit.rows import adjoint

        g = np.zeros(self.n_params)
        adjoint(data.view, coefficients, shard.lo, shard.hi, g)
        if self.intercept:
            g[-1] = coefficients[shard.lo : shard.hi].sum()
        return g

    def cut(self, data, shard, S, coefficients):
        from ..._jit.scalar_loss import cut

        return cut(self.phi, data.y, data.weights, S, shard.lo, shard.hi, coefficients)

    def risk(self, data, shard, S):
        from ..._jit.scalar_loss import loss_sum

        return loss_sum(self.phi, data.y, data.weights, S, shard.lo, shard.hi)

    def along(self, data, shard, S, dS, t):
        from ..._jit.scalar_loss import along

        return along(self.phi, data.y, data.weights, S, dS, t, shard.lo, shard.hi)

    # Duals: p (n,), minus the slopes of the losses; above 0 where a score is too low.

    def coefficients(self, data, p):
        return data.weights * p

    def dual_loss(self, data, p):
        return inner(data.weights, p * self.phi.target(data.y) - self.phi.charge(data.y, p, 1.0))

    def balance(self, data, p):
        return self.balanced(data, p, self.flow(data, p)) if self.intercept else p

    def flow(self, data, p):
        """Dual mass upwards and downwards; those of parts of the examples add up."""
        up = np.maximum(p, 0.0)
        return np.array([inner(data.weights, up), inner(data.weights, up - p)])

    def balanced(self, data, p, flow):
        """Shares that balance where `flow` is that of all examples."""
        return p * np.where(p > 0, *self.balancing(flow))

    def upward(self, p):
        """The duals above 0, where what D gives for them is scaled as they are; else None."""
        return np.maximum(p, 0.0) if np.isinf(self.phi.stiffest) else None

    def balancing(self, flow):
        """By what duals above 0, and those below, are multiplied to balance."""
        common = min(flow)
        return _ratio(common, flow[0]), _ratio(common, flow[1])

    def rest(self, data, S, p):
        """How far each example is from moving its dual at scores S; 0 for those that may move."""
        from ..._jit.scalar_loss import resting

        out = np.empty(data.n)
        resting(self.phi, data.y, S, p, out)
        return out

    def dual_passes(self, data, C, seed, regulariser=None):
        return ScalarDual(self, data, C, seed, regulariser)

    # The loss with its kinks rounded off by mu.

    def smooth_duals(self, data, shard, S, mu, p):
        from ..._jit.scalar_loss import smooth_duals

        return smooth_duals(self.phi, data.y, data.weights, S, mu, shard.lo, shard.hi, p)

    def smooth_slope(self, data, shard, S, dS, t, mu):
        from ..._jit.scalar_loss import smooth_slope

        return smooth_slope(self.phi, data.y, data.weights, S, dS, t, mu, shard.lo, shard.hi)

    def curvatures(self, data, p, mu):
        """(n,): s_i times the curvature of the loss where its dual is p_i."""
        return self._curvatures(data.weights, p, mu)

    def _curvatures(self, s, p, mu):
        from ..._jit.scalar_loss import curvatures

        out = np.empty(len(p))
        curvatures(self.phi, s, p, mu, out)
        return out

    def moved(self, data, p, mu, dS):
        """The duals that are forecast where the scores change by dS, and how long the sum of what is missing
        is at most where they end before that, so that those at the ends are taken."""
        ahead = p - self._curvatures(np.ones(data.n), p, mu) * dS
        found = np.clip(ahead, *self.phi.bounds(data.y, np.ones(data.n)))
        return found, float(np.einsum("i,i,i", data.weights, np.abs(ahead - found), data.lengths))

    def smooth_hessian(self, data, shard, p, mu):
        rows = slice(shard.lo, shard.hi)
        return data.squares(shard, self._curvatures(data.weights[rows], p[rows], mu), self.intercept)

    def weighted_squares(self, data, shard, h):
        return data.squares(shard, h[shard.lo : shard.hi], self.intercept)

    def smooth_path(self, data, C, regulariser, w, mu, tol, rule, points) -> SmoothPath:
        """Newton steps on small data, in one call (_jit/newton.py)."""
        from ..._jit.newton import DUAL, MU, PRIMAL, newton_path

        W, path = np.empty((points, self.n_params)), np.empty((points, 3))
        shares, dS, v = np.empty(data.n), np.empty(data.n), np.empty(self.n_params)
        count, mu, promise = newton_path(
            self.phi, data.blocks, data.y, data.weights, C, regulariser.curvatures, regulariser.centre,
            self.intercept, w.copy(), mu, tol, rule, data.unit or 1.0, W, path, shares, v, dS,
        )  # fmt: skip
        path = path[:count].T.tolist()
        return SmoothPath(W[:count], path[MU], path[PRIMAL], path[DUAL], mu, promise, shares, v, dS)

    def lasso_path(self, data, C, regulariser, w, tol, steps) -> tuple:
        """Proximal Newton steps on small data, in one call: w, P, D and the shares of its duals."""
        from ..._jit.lasso import proximal_path

        w, shares, r = w.copy(), np.zeros(data.n), (regulariser.strength, regulariser.held)
        examples = self.phi, data.blocks, data.y, data.weights, C
        return w, *proximal_path(*examples, *r, self.intercept, w, tol, steps, shares), shares

    def smooth_search(self, data, C, S, dS, mu, *start) -> float:
        """How far to go along a step, given what P_mu is at its start (_jit/newton.py)."""
        from ..._jit.newton import search

        return search(self.phi, data.y, data.weights, C, S, dS, mu, *start)

    # How large things are, for bounds that hold whatever rounding does (rounding.py).

    def sizes(self, data) -> Sizes:
        steepest = self.phi.steepest
        slopes = None if steepest == np.inf else steepest * data.weights
        return Sizes(data.lengths + self.intercept, self.phi.size(data.y), slopes)

    def dual_sizes(self, data, p):
        """(sum_i s_i |p_i| |x_i|, the sum of the sizes of all terms of `dual_loss`), rounded up."""
        s, up = data.weights, 1.0 + gamma(data.n + 16)
        terms = np.abs(p * self.phi.target(data.y)) + np.abs(self.phi.charge(data.y, p, 1.0))
        faint = FAINT * (1.0 + s)  # where s p or s terms may have underflown
        mass = inner(s * np.abs(p) + faint, data.lengths + self.intercept)
        return up * mass, up * float((s * terms + faint).sum())

    def free_bound(self, data):
        """Where the best b can be, other weights fixed; None where there is none."""
        if not self.intercept:
            return None
        sizes = self.phi.size(data.y)
        largest = sizes.max() if isinstance(sizes, np.ndarray) else sizes
        return float(largest), float(data.lengths.max())

    def odds(self, data):
        """Weights of both sides, where the best b depends on them."""
        if not (self.intercept and getattr(self.phi, "has_odds", False)):
            return None
        return inner(data.weights, np.maximum(data.y, 0.0)), inner(data.weights, np.maximum(-data.y, 0.0))

    def worsened(self, data, S, e):
        """Scores that have every example's loss raised by what an error of e (n,) can do."""
        from ..._jit.scalar_loss import worsened

        out = np.empty(data.n)
        worsened(self.phi, data.y, S, np.broadcast_to(e, out.shape), out)
        return out

    def is_zero(self, data, S):
        """Whether no example that counts has a loss above 0 at scores S, be it less than floats can tell."""
        from ..._jit.scalar_loss import is_flat

        if getattr(self.phi, "has_odds", False):  # no slope is 0, so no loss is
            return not data.weights.any()
        return is_flat(self.phi, data.y, data.weights, S)


def _ratio(part, whole):
    return part / whole if whole > 0 else 1.0


@dataclass(frozen=True)
class Linear(ScalarModel):
    """A target y under any loss `phi` of losses/; x (d,).  With an intercept, the last weight is the bias.

    >>> import numpy as np, oneslack
    >>> from oneslack.losses import Pinball
    >>> problem = oneslack.Problem(oneslack.Linear(1, Pinball(0.9)), [[1.0], [1.0]], [1.0, 3.0], C=10.0)
    >>> oneslack.solve(problem, tol=1e-6).w.round(3)
    array([3.])
    """

    n_features: int
    phi: Any
    intercept: bool = False


def resting_zone(low, high) -> tuple[float, float]:
    """How far beyond its bound, below and above, an example rests in the next pass, by the largest violations
    of the last one."""
    return SHRINK * low or SHRINK_FIRST * high or np.inf, SHRINK * high or np.inf


def best_multiple(regulariser, v, linear) -> float:
    """t in [0, 1] with the largest D at t times the duals whose sum is v; 0 or 1 where it has a kink."""
    penalised = v if regulariser.free is None else np.delete(v, regulariser.free)
    if regulariser.is_plain:
        return min(max(linear, 0.0) / max(squared_norm(penalised), 1e-300), 1.0)
    return float(regulariser.dual(v, linear) > regulariser.dual(np.zeros_like(v), 0.0))


class ScalarDual:
    """alpha (n,), w (d,) and what is active."""

    #: |delta|^2 of an example beside |x|^2.
    spread = 1.0
    #: Each dual has bounds of its own.
    is_boxed = True

    def __init__(self, model, data, C, seed, regulariser=None):
        self.model, self.data = model, data
        self.upper = C * data.weights
        self.kept_weights = KeptWeights(model.n_features, regulariser)
        self.w = self.kept_weights.w
        self.norm2 = data.norm2 if self.kept_weights.q is None else self.kept_weights.norms(data)
        self.scale = 1.0
        n = data.n
        self.alpha = np.zeros(n)
        self.bias = np.zeros(1)
        self.random = np.array([seed], np.uint64)
        self.active = np.arange(n)
        self.kept = np.empty(n, np.int64)
        self.count = n
        self.zone = np.full(2, np.inf)

    @property
    def point(self):
        return np.append(self.w, self.bias) if self.model.intercept else self.w

    @property
    def unclipped(self):
        """The point before weights are held >= 0, all of whose dual has come from the rows."""
        u = self.kept_weights.u
        return np.append(u, 0.0) if self.model.intercept else u

    @property
    def weights(self):
        """The penalised part of the point, to be changed in place."""
        return self.w

    @property
    def shares(self):
        """The duals as shares of their bound."""
        return self.shares_of(self.alpha)

    def shares_of(self, alpha):
        """Any duals, or changes of them, as shares of their bound."""
        return np.divide(alpha, self.upper, out=np.zeros_like(alpha), where=self.upper > 0)

    def linear(self):
        """sum_i t_i alpha_i - charge(alpha_i)."""
        phi, y = self.model.phi, self.data.y
        paid = np.sum(phi.charge(y, self.alpha, self.upper))
        return float(np.einsum("i,i", self.alpha, phi.target(y)) - paid)

    def leaning(self, S):
        """The duals after each example's own exact step at scores S, as if it were alone."""
        from ..._jit.scalar_loss import leaning

        out = np.empty_like(self.alpha)
        leaning(self.model.phi, self.data.y, self.upper, self.norm2, S, self.alpha, out)
        return out

    def run(self, rate, takes_imbalance=True):
        """One pass over what is active; returns the running gap and the growth of the dual.  The bias takes
        the imbalance that is left, but where others have duals too."""
        from ..._jit.scalar_loss import dual_pass

        self.count, gap, growth, low, high = dual_pass(
            self.model.phi, self.data.view, self.data.y, self.upper, self.norm2, self.scale, rate, self.alpha,
            self.kept_weights.loops, self.bias, self.active, self.count, self.kept, BLOCK, self.zone,
            self.random,
        )  # fmt: skip
        self.active, self.kept = self.kept, self.active
        if rate and takes_imbalance:
            self.bias += rate * self.alpha.sum()
        self.zone[:] = resting_zone(low, high)
        return gap, growth

    def imbalance(self):
        """What the duals sum to along the intercept, as the bias has it."""
        return np.full(1, self.alpha.sum())

    def begin(self, problem, alpha, bias):
        """Begin at these duals, or their best multiple."""
        self.alpha[:] = alpha
        low, high = self.model.phi.bounds(self.data.y, self.upper)
        np.copyto(self.alpha, low, where=self.alpha <= ALMOST * low)
        np.copyto(self.alpha, high, where=self.alpha >= ALMOST * high)
        v = problem.shares.sum(self.shares)
        t = best_multiple(problem.regulariser, v, self.linear())
        self.alpha *= t
        self.kept_weights.reset(t * v[: self.w.size])
        self.bias[:] = bias

    def reopen(self, S):
        """Bring back every example that may still move at scores S."""
        from ..._jit.scalar_loss import unsettled

        self.count = unsettled(self.model.phi, self.data.y, self.upper, S, self.alpha, self.active)
        self.zone[:] = np.inf

    def state(self):
        return {
            "alpha": self.alpha, "bias": self.bias, "random": self.random,
            "active": self.active[: self.count], "zone": self.zone, **self.kept_weights.state(),
        }  # fmt: skip

    def restore(self, state):
        for name in ("alpha", "bias", "random", "zone"):
            getattr(self, name)[...] = state[name]
        self.kept_weights.restore(state)
        check_between("alpha", self.alpha, *self.model.phi.bounds(self.data.y, self.upper))
        check_between("bias", self.bias, -np.finfo(float).max, np.finfo(float).max)
        check_places("active", state["active"], self.data.n)
        self.count = len(state["active"])
        self.active[: self.count] = state["active"]
