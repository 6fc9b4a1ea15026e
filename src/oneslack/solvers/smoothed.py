"""P_mu of a problem: the regulariser and the losses with their kinks rounded off by mu, for Newton steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..objective import inner, relative_gap
from ..result import no_dual_point

#: No step is longer than this many Newton steps.
LONGEST = 1000.0
#: Squares whose diagonal falls below this share of its peak are summed up anew: rounding is a share of that.
CANCELLED = 1e-3
#: A line search ends where the slope is this share of that at its start.
FLAT = 0.25


class Losses(NamedTuple):
    """What the smoothed losses are at some scores; sums times C."""

    shares: np.ndarray  # of the duals
    linear: float  # sum of the duals' losses
    hinge: float  # the losses themselves
    error: float  # what rounding off adds to them


class Squares(NamedTuple):
    """C times the Hessian of the losses, lower triangle; where it is known, what each example weighs in it;
    and the largest that its diagonal was since it was summed up."""

    H: np.ndarray
    h: np.ndarray | None = None
    peak: np.ndarray | None = None


@dataclass(frozen=True)
class Point:
    """P_mu at a point: duals, gradient, and the parts of the objective."""

    w: np.ndarray
    shares: np.ndarray
    v: np.ndarray  # C sum of the duals' cuts
    gradient: np.ndarray
    slack: float  # what the gradient adds to the gap: quadratic, but linear along free weights
    regular: float
    hinge: float
    error: float
    rounded: float  # the losses, rounded off: P_mu without the regulariser
    bound: float  # the dual value, valid where there is no intercept

    @property
    def primal(self) -> float:
        return self.regular + self.hinge

    @property
    def smoothed(self) -> float:
        """P_mu."""
        return self.regular + self.rounded


class Smoothed:
    """P_mu of a problem: C sum_i s_i H_mu,i + 1/2 |r (w - prior)|^2."""

    def __init__(self, problem):
        self.problem, self.shares, self.smooth = problem, problem.shares, problem.smooth
        regulariser = problem.regulariser
        penalised = np.ones(problem.n_params)
        if regulariser.n_free:
            penalised[regulariser.free] = 0.0
        self.penalised = penalised
        self.curvature = penalised if regulariser.scale is None else penalised * regulariser.curvature

    def losses(self, S, mu) -> Losses:
        return Losses(*self.smooth.duals(S, mu))

    def at(self, w, losses) -> Point:
        problem = self.problem
        v = self.shares.sum(losses.shares)
        gradient = problem.regulariser.gradient(w) - v
        regular = problem.regulariser.value(w)
        return Point(
            w, losses.shares, v, gradient, self._slack(gradient), regular, losses.hinge, losses.error,
            rounded=losses.linear - inner(w, v) + losses.error,
            bound=problem.regulariser.dual(v, losses.linear),
        )  # fmt: skip

    def _slack(self, gradient):
        free = self.problem.regulariser.free
        linear = 0.0 if free is None else float(np.abs(gradient[free]).sum())
        return 0.5 * inner(gradient, self.problem.regulariser.metric(gradient)) + linear

    def dual(self, at):
        """(a lower bound, its proof); with intercepts the duals must be balanced first, which is paid
        for only when the bound without it is worth it."""
        problem = self.problem
        if not problem.regulariser.n_free:
            # Duals that are rounded have another loss than those that the scores gave: it is found anew.
            return at.bound, lambda: self.shares.proof_at(at.v, self.shares.linear(at.shares), at.shares)
        if relative_gap(at.primal, at.bound) > 0.1 and problem.n > 10_000:
            return -np.inf, no_dual_point
        proof = self.shares.proof(at.shares)
        return problem.regulariser.dual(proof.v, proof.linear), lambda: proof

    def leaned(self, at, mu, dS, enough):
        """(a lower bound, its proof) of the duals ahead, or None."""
        shares = leaned_shares(self.problem, at.shares, mu, dS, enough)
        if shares is None:
            return None
        proof = self.shares.proof(shares)
        return self.problem.regulariser.dual(proof.v, proof.linear), lambda: proof

    def metric(self, shares, mu) -> Metric:
        """The Hessian of P_mu where the duals are `shares`."""
        return self.metric_of(self.squares(shares, mu).H)

    def squares(self, shares, mu, last=None) -> Squares:
        """The Hessian of the losses where the duals are `shares`: the `last` one and the examples that weigh
        otherwise now, where they are fewer."""
        if not self.smooth.has_squares:
            return Squares(self.problem.C * self.smooth.hessian(shares, mu))
        h = self.smooth.curvatures(shares, mu)
        if last is not None and last.h is not None:
            change = h - last.h
            if np.count_nonzero(change) < np.count_nonzero(h):
                H = last.H + self.smooth.squares(change)
                diagonal = np.einsum("ii->i", H)
                if (diagonal >= CANCELLED * last.peak).all():
                    return Squares(H, h, np.maximum(diagonal, last.peak))
        H = self.smooth.squares(h)
        return Squares(H, h, np.einsum("ii->i", H).copy())

    def metric_of(self, H) -> Metric:
        """The same where H, which is changed, is that of the losses alone (lower triangle)."""
        problem = self.problem
        diagonal = np.einsum("ii->i", H)
        diagonal += self.curvature + 1e-13 * (1.0 + diagonal)
        # Where no example is inside the rounding an intercept has no curvature: give it a little.
        lacking = np.maximum(1e-4 * problem.weight / problem.unit - diagonal, 0.0)
        diagonal += (1.0 - self.penalised) * lacking
        return Metric(H, self.smooth.centre)

    def search(self, at, S, direction, dS, mu):
        """(t, losses at S + t dS): line search on P_mu, by Newton steps on its slope, which is piecewise
        linear, inside a bracket.  A Newton step is mostly right, so 1 is tried first.  `at` is what there
        is at S: w, gradient and losses (`rounded`)."""
        slopes = self.problem.regulariser.slope(at.w, direction)
        t = self.smooth.search(S, dS, mu, *slopes, inner(at.gradient, direction), at.rounded)
        if t is not None:
            return t, self.losses(S + t * dS, mu)
        line = SmoothedLine(self, at, S, direction, dS, mu)
        low, high, t = 0.0, np.inf, 1.0
        for _ in range(50):
            losses = line.found(t)
            if losses is not None:
                break
            value, curvature = line.slope(t)
            low, high = (t, high) if value < 0 else (low, t)
            t = t - value / curvature if curvature > 0 else np.inf
            if not low < t < high:
                t = 0.5 * (low + high)
            t = min(t, 4.0 * low, LONGEST) if high == np.inf else t
        return t, self.losses(S + t * dS, mu) if losses is None else losses


def leaned_shares(problem, shares, mu, dS, enough):
    """Shares of the duals where a step that changes scores by dS is forecast to lead; None where the model
    cannot tell, or where ends of duals may make their bound worse by `enough`.

    Where P has next to nothing to gain, the gradient, which is what the bound at w lacks, may still be long:
    along a curvature of 1e10 it says little.  The duals ahead are without it, and rounding of the scores does
    not reach them.
    """
    if not hasattr(problem.model, "moved"):
        return None
    found, missing = problem.model.moved(problem.data, shares, mu, dS)
    return None if 0.5 * (problem.C * missing) ** 2 > enough else found


class SmoothedLine:
    """P_mu at w + t direction."""

    def __init__(self, smooth, at, S, direction, dS, mu):
        self.smooth, self.at, self.S, self.dS, self.mu = smooth, at, S, dS, mu
        self.first, self.second = smooth.problem.regulariser.slope(at.w, direction)
        self.enough = FLAT * abs(inner(at.gradient, direction))

    def slope(self, t):
        """(slope, curvature)."""
        value, curvature = self.smooth.smooth.slope(self.S, self.dS, t, self.mu)
        return self.first + t * self.second + value, self.second + curvature

    def found(self, t) -> Losses | None:
        """The losses at t, where it is flat enough there, and not above the start."""
        problem, S = self.smooth.problem, self.S + t * self.dS
        losses = self.smooth.losses(S, self.mu)
        c = problem.C * problem.model.coefficients(problem.data, losses.shares).ravel()
        slope = self.first + t * self.second - inner(c, self.dS.ravel())
        if abs(slope) > self.enough and t < LONGEST:
            return None
        along = t * (self.first + 0.5 * t * self.second)
        rise = along + losses.linear + losses.error - inner(c, S.ravel()) - self.at.rounded
        return losses if slope <= 0.0 or rise <= 1e-12 * abs(self.at.rounded) else None


class Metric:
    """A Hessian, factored: what turns gradients into Newton steps."""

    def __init__(self, H, centre):
        self._solve, self._centre = _solver_of_positive(H), centre

    def step(self, gradient):
        """The Newton step."""
        return self._centre(-self._solve(gradient))


def _solver_of_positive(H):
    """right -> H^-1 right for positive definite H given by its lower triangle."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    diagonal, ridge = np.einsum("ii->i", H), 1e-12
    for _ in range(8):
        factor, failed = dpotrf(H.T, lower=0, clean=0)  # by columns, as LAPACK has them: no copy in between
        if not failed:
            return lambda right: dpotrs(factor, right, lower=0)[0]
        # Singular but for rounding: a larger diagonal makes the step shorter, not wrong.
        diagonal *= 1.0 + ridge
        ridge *= 10.0
    return lambda right: right / diagonal
