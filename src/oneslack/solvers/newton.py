"""Newton steps on a smoothed hinge, with the certificate of the hinge itself.

Round the max of the hinge off by mu:

    H_mu(w) = max_p  sum_z p_z g_z + (mu/2) (1 - |p|^2),   p on the simplex,   g_z = loss_z - <w, delta_z>

H_mu >= H, equal wherever one output wins by mu.  P_mu is once differentiable and piecewise quadratic, so
Newton's method with an exact line search ends in a few steps; the Hessian needs only the examples inside
the rounding, few when mu is small.  The p of the gradient are duals of the hinge: alpha_iz = C s_i p_iz is
feasible, and

    P(w) - D(alpha) <= 1/2 |grad P_mu(w)|^2 + C sum_i s_i (mu/2) (1 - |p_i|^2)

is a certificate that each gradient gives for nothing.  mu falls until it meets the tolerance.  First
the same is done on small samples of the data, each eight times the last: they give the start.

Made for many examples and few weights, where cutting planes and dual passes crawl.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..certificate.rounding import moved, norm_up
from ..memory.state_coding import check_point, check_scores
from ..objective import inner, relative_gap
from ..result import Step, no_dual_point
from .line import polish

#: All examples are inside the rounding at w = 0: the first step is a least-squares fit.
FIRST_MU = 4.0
#: Examples a weight in the first sample, and how much larger the next one is.
SAMPLE_ROWS = 32
SAMPLE_GROWTH = 8
#: mu is lowered by at most FALL, once what the gradient adds to the gap is LOOSE times the rounding.
FALL = 0.3
LOOSE = 0.3
#: The smoothing at the start on other data or with another C, in terms of the last one's: 1 took more steps
#: than none where C was ten times as large, 100 saved few.
LOOSER = 10.0
#: The level of all the examples, behind those of the samples.
WHOLE = 1000
#: No step is longer than this many Newton steps.
LONGEST = 1000.0


@dataclass(frozen=True)
class Newton:
    """Newton's method on the smoothed hinge.

    seed  of the samples that give the start

    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> problem = oneslack.Problem(oneslack.Binary(2), X, y, C=1.0)
    >>> oneslack.solve(problem, oneslack.Newton(), tol=1e-6).gap <= 1e-6
    True
    """

    seed: int = 0

    name = "newton"
    needs = ("weights", "squares", "here", "memory", "smooth", "any sign")

    def steps(self, problem, start=None, tol=1e-3):
        start = start or {}
        w, mu = start.get("w"), start.get("mu", FIRST_MU * problem.unit)
        first = start.get("level", 0 if w is None else WHOLE)
        w = problem.regulariser.start() if w is None else np.array(w, dtype=float)
        for level, part, part_tol in self.samples(problem, tol):
            if level < first:
                continue
            for stage in descend(part, w, mu, part_tol, start if level == first else None):
                w, mu = stage.w, stage.mu
                is_last = relative_gap(stage.primal, stage.dual) <= part_tol or stage.stalled
                yield Step(
                    w, -np.inf, n_cuts=part.n, state=stage.state_at(level, is_last), proof=no_dual_point
                )
                if is_last:
                    break
        for stage in descend(problem, w, mu, tol, start if first == WHOLE else None):
            if stage.stalled:
                yield from self._polished(problem, stage, tol)
            yield Step(
                stage.w, stage.dual, stage.primal, n_cuts=problem.n, stalled=stage.stalled,
                state=stage.state_at(WHOLE), proof=stage.proof, way=stage.way,
            )  # fmt: skip

    @staticmethod
    def _polished(problem, stage, tol):
        """A last step: the best multiple of w, with scores that nothing was carried along to."""
        enough = 0.1 * tol * abs(stage.primal)
        found = polish(problem, stage.w, problem.scores(stage.w), enough)
        yield Step(
            found.w, stage.dual, found.primal, n_cuts=problem.n, state=stage.state_at(WHOLE),
            proof=stage.proof, way=found.way,
        )  # fmt: skip

    @staticmethod
    def at_other_C(state, ratio):
        """From where it ended, smoothed more."""
        return {"mu": LOOSER * state["mu"]} if "mu" in state else {}

    def samples(self, problem, tol):
        """Growing samples, numbered, each with the precision it is worth."""
        rng = np.random.default_rng(self.seed)
        size, level = SAMPLE_ROWS * problem.n_params, 0
        while size * 2 <= problem.n:
            # One example from each of `size` equal stretches: cheap, and spread over the file.
            strata = np.arange(size) + rng.random(size)
            index = (strata * (problem.n / size)).astype(np.int64)
            if problem.sample_weights[index].any():
                yield level, problem.sample(index), max(tol, 2.0 * problem.n_params / size)
            size, level = size * SAMPLE_GROWTH, level + 1


@dataclass(frozen=True)
class Stage:
    """A point of the path with its bounds, and what goes on from it: its scores, and the progress before."""

    w: np.ndarray
    primal: float
    dual: float
    mu: float
    stalled: bool
    S: np.ndarray
    way: float | None  # of S, as in result.Step
    progress: dict
    proof: Callable

    def state_at(self, level, is_last=False):
        """What goes on from here; from the last stage of a level, the next level."""
        if is_last:
            return lambda: {"w": self.w, "mu": self.mu, "level": level + 1}
        return lambda: {
            "w": self.w, "mu": self.mu, "level": level, "S": self.S, "way": self.way,
            "progress": self.progress,
        }  # fmt: skip


def descend(problem, w, mu, tol, start=None):
    """Newton steps from w; yields a Stage before each.  `start` is the state of one to go on from."""
    smooth = Smoothed(problem)
    progress = Progress()
    is_resumed = start is not None and "S" in start
    if is_resumed:
        w, mu, S = start["w"], start["mu"], start["S"]
        check_point(problem, w)
        check_scores(problem, S)
        way = problem.scores.believed(w, S, start.get("way"))
        vars(progress).update(start["progress"])
    else:
        S, way = problem.scores(w), norm_up(w)
    while True:
        at = smooth.at(w, S, mu)
        primal = at.regular + at.hinge
        dual, proof = smooth.dual(at, primal)
        before = dict(vars(progress))
        stalled = progress.is_vain(at, mu, relative_gap(primal, dual))
        if not is_resumed:  # or it was the last step of the run that is resumed
            yield Stage(w, primal, dual, mu, stalled, S, way, before, proof)
        is_resumed = False
        # Follow the path w(mu) loosely: lower mu as soon as the rounding makes most of the gap, but not
        # by much, or too few examples are left inside it to tell the curvature.
        if at.slack <= LOOSE * at.error:
            wanted = np.sqrt(0.4 * tol * abs(primal) / max(at.error, 1e-300))
            mu *= min(max(wanted, FALL), 0.7)
            at = smooth.at(w, S, mu)
        direction = smooth.newton_direction(at, mu)
        dS = problem.scores(direction)
        t = smooth.search(w, S, direction, dS, mu)
        if way is not None:
            way = moved(way + abs(t) * norm_up(direction), w, t, direction)
        w = w + t * direction
        S = S + t * dS


class Progress:
    """A smaller gap, a smaller mu or a smaller P_mu; without any for long, rounding is to blame."""

    PATIENCE = 60

    def __init__(self):
        self.gap, self.mu, self.smoothed, self.vain = np.inf, np.inf, np.inf, 0

    def is_vain(self, at, mu, gap):
        if mu < self.mu:
            self.smoothed = np.inf
        moved = gap < 0.999 * self.gap or mu < self.mu or at.smoothed < self.smoothed * (1 - 1e-9)
        self.vain = 0 if moved else self.vain + 1
        self.gap, self.mu = min(self.gap, gap), mu
        self.smoothed = min(self.smoothed, at.smoothed)
        return self.vain >= self.PATIENCE or not np.isfinite(at.smoothed)


@dataclass(frozen=True)
class Point:
    """P_mu at a point: duals, gradient, and the parts of the objective."""

    shares: np.ndarray
    v: np.ndarray  # C sum of the duals' cuts
    loss: float  # C sum of their losses
    gradient: np.ndarray
    slack: float  # what the gradient adds to the gap: quadratic, but linear along free weights
    regular: float
    hinge: float
    error: float
    smoothed: float  # P_mu
    bound: float  # the dual value, valid where there is no intercept


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

    def at(self, w, S, mu) -> Point:
        problem = self.problem
        shares, loss, hinge, error = self.smooth.duals(S, mu)
        v = self.shares.sum(shares)
        gradient = problem.regulariser.gradient(w) - v
        regular = problem.regulariser.value(w)
        return Point(
            shares, v, loss, gradient, self._slack(gradient), regular, hinge, error,
            smoothed=regular + loss - inner(w, v) + error,
            bound=problem.regulariser.dual(v, loss),
        )  # fmt: skip

    def _slack(self, gradient):
        free = self.problem.regulariser.free
        linear = 0.0 if free is None else float(np.abs(gradient[free]).sum())
        return 0.5 * inner(gradient, self.problem.regulariser.metric(gradient)) + linear

    def dual(self, at, primal):
        """(a lower bound, its proof); with intercepts the duals must be balanced first, which is paid
        for only when the bound without it is worth it."""
        problem = self.problem
        if not problem.regulariser.n_free:
            return at.bound, lambda: self.shares.proof_at(at.v, at.loss, at.shares)
        if relative_gap(primal, at.bound) > 0.1 and problem.n > 10_000:
            return -np.inf, no_dual_point
        proof = self.shares.proof(at.shares)
        return problem.regulariser.dual(proof.v, proof.linear), lambda: proof

    def newton_direction(self, at, mu):
        return self.direction(self.problem.C * self.hessian(at.shares, mu), at.gradient)

    def hessian(self, shares, mu):
        """Of sum_i s_i H_mu,i (lower triangle): C times it, and the regulariser's, make that of P_mu."""
        return self.smooth.hessian(shares, mu)

    def direction(self, H, gradient):
        """The Newton step where H is the Hessian of P_mu without the regulariser; H is changed."""
        problem = self.problem
        diagonal = np.arange(len(H))
        H[diagonal, diagonal] += self.curvature + 1e-13 * (1.0 + H[diagonal, diagonal])
        # Where no example is inside the rounding an intercept has no curvature: give it a little.
        lacking = np.maximum(1e-4 * problem.weight / problem.unit - H[diagonal, diagonal], 0.0)
        H[diagonal, diagonal] += (1.0 - self.penalised) * lacking
        direction = -_solve_positive(H, gradient)
        return self.smooth.centre(direction)

    def search(self, w, S, direction, dS, mu):
        """Line search on P_mu: Newton on its slope, which is piecewise linear, inside a bracket."""
        problem = self.problem
        first, second = problem.regulariser.slope(w, direction)

        def slope(t):
            value, curvature = self.smooth.slope(S, dS, t, mu)
            return first + t * second + value, second + curvature

        low, high, t = 0.0, np.inf, 1.0
        enough = 0.1 * abs(slope(0.0)[0])
        for _ in range(50):
            value, curvature = slope(t)
            if abs(value) <= enough or t >= LONGEST:
                break
            low, high = (t, high) if value < 0 else (low, t)
            t = t - value / curvature if curvature > 0 else np.inf
            if not low < t < high:
                t = 0.5 * (low + high)
            t = min(t, 4.0 * low, LONGEST) if high == np.inf else t
        return t


def _solve_positive(H, right):
    """H^-1 right for positive definite H given by its lower triangle."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    ridge = 1e-12
    for _ in range(8):
        try:
            return cho_solve(cho_factor(H, lower=True, check_finite=False), right, check_finite=False)
        except LinAlgError:
            # Singular but for rounding: a larger diagonal makes the step shorter, not wrong.
            diagonal = np.arange(len(H))
            H[diagonal, diagonal] *= 1.0 + ridge
            ridge *= 10.0
    return right / H[diagonal, diagonal]
