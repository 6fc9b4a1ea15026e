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
from functools import partial

import numpy as np

from ..certificate.rounding import moved, norm_up
from ..memory.state_coding import check_point, check_scores, check_squares
from ..objective import inner, relative_gap
from ..result import Step, no_dual_point
from .line import polish
from .newton_sprint import AHEAD, FALL, LOOSE, can_sprint, is_short, kept_share, sprint, start_of
from .smoothed import Smoothed, Squares

#: All examples are inside the rounding at w = 0: the first step is a least-squares fit.
FIRST_MU = 4.0
#: Examples a weight in the first sample, and how much larger the next one is; it is cheap where the examples
#: are FEW times as many.
SAMPLE_ROWS = 32
SAMPLE_GROWTH = 8
FEW = 4
#: Numbers that a sample has at least: with fewer, calls cost more than the work in them.
SAMPLE_NUMBERS = 20_000
#: The smoothing at the start on other data or with another C, in terms of the last one's: 1 took more steps
#: than none where C was ten times as large, 100 saved few.
LOOSER = 10.0
#: The level of all the examples, behind those of the samples.
WHOLE = 1000


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

    @staticmethod
    def aim(problem, epsilon):
        """The relative gap that gives the papers' epsilon: P - D <= weight epsilon, as P <= P(start)."""
        return epsilon * problem.weight / problem.primal(problem.regulariser.start())

    def steps(self, problem, start=None, tol=1e-3):
        start = start or {}
        w, mu = start.get("w"), start.get("mu", FIRST_MU * problem.unit)
        first = start.get("level", 0 if w is None else WHOLE)
        w = problem.regulariser.start() if w is None else np.array(w, dtype=float)
        check_point(problem, w)
        for level, part, part_tol in self.samples(problem, tol):
            if level < first:
                continue
            if can_sprint(problem):  # else a sample alone would have that path compiled
                w, mu = start_of(part, w, mu, part_tol)
                state = partial(dict, w=w, mu=mu, level=level + 1)
                yield Step(w, -np.inf, n_cuts=part.n, state=state, proof=no_dual_point)
                continue
            for stage in descend(part, w, mu, part_tol, start if level == first else None):
                w, mu = stage.w, stage.mu
                is_last = stage.lacking <= part_tol * stage.primal or stage.stalled
                yield Step(
                    w, -np.inf, n_cuts=part.n, state=stage.state_at(level, is_last), proof=no_dual_point
                )
                if is_last:
                    break
        if can_sprint(problem) and "S" not in start:
            w, mu = yield from sprint(problem, w, mu, tol, start.get("tried", np.inf), start.get("known", 0))
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
        least = SAMPLE_NUMBERS / max(problem.shares.weights_an_example, 1.0)
        size, level = max(SAMPLE_ROWS * problem.n_params, int(least)), 0
        if size * FEW > problem.n or is_short(problem):  # steps with all examples are less than the calls
            return
        rng = np.random.default_rng(self.seed)
        while size * FEW <= problem.n:
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
    lacking: float  # what P had above its least before the last step, by the curvature there
    stalled: bool
    S: np.ndarray
    way: float | None  # of S, as in result.Step
    progress: dict
    chord: dict
    proof: Callable
    is_ahead: bool = False  # whether its bound is that of the duals ahead

    def state_at(self, level, is_last=False):
        """What goes on from here; from the last stage of a level, the next level."""
        if is_last:
            return lambda: {"w": self.w, "mu": self.mu, "level": level + 1}
        return lambda: {
            "w": self.w, "mu": self.mu, "level": level, "S": self.S, "way": self.way,
            "progress": self.progress, "chord": self.chord, "is_ahead": self.is_ahead,
        }  # fmt: skip


def descend(problem, w, mu, tol, start=None):
    """Newton steps from w; yields a Stage before each.  `start` is the state of one to go on from."""
    smooth = Smoothed(problem)
    progress, chord = Progress(), Chord(smooth)
    is_resumed = start is not None and "S" in start
    was_ahead = is_resumed and start["is_ahead"]
    if is_resumed:
        w, mu, S = start["w"], start["mu"], start["S"]
        check_point(problem, w)
        check_scores(problem, S)
        way = problem.scores.believed(w, S, start.get("way"))
        vars(progress).update(start["progress"])
        chord.restore(start["chord"])
    else:
        S, way = problem.scores(w), norm_up(w)
    losses = smooth.losses(S, mu)
    while True:
        at = smooth.at(w, losses)
        primal = at.primal
        dual, proof = smooth.dual(at)
        before = dict(vars(progress)), chord.state()
        stalled = progress.is_vain(at, mu, relative_gap(primal, dual))
        if not is_resumed:  # or it was the last step of the run that is resumed
            yield Stage(w, primal, dual, mu, at.error + chord.promise, stalled, S, way, *before, proof)
        is_resumed = False
        direction = chord.step(at, mu)
        # Follow the path w(mu) loosely: lower mu as soon as the rounding makes most of what P lacks, but not
        # by much, or too few examples are left inside it to tell the curvature.
        is_round = at.error > 0.5 * tol * abs(primal)
        if min(at.slack, chord.promise if is_round else np.inf) <= LOOSE * at.error:
            wanted = np.sqrt(0.4 * tol * abs(primal) / max(at.error, 1e-300))
            mu *= min(max(wanted, FALL), 0.7)
            losses = smooth.losses(S, mu)
            at = smooth.at(w, losses)
            direction = chord.step(at, mu)
        dS = problem.scores(direction)
        lacking = at.error + chord.promise
        is_near = lacking <= AHEAD * tol * abs(primal) and chord.promise <= 0.1 * progress.tried
        # A loss without kinks has the duals ahead at the next point.
        is_near = is_near and problem.smooth.has_kinks and not was_ahead
        if is_near and (ahead := smooth.leaned(at, mu, dS, tol * abs(primal))):
            progress.tried = chord.promise
            bounds = primal, ahead[0], mu, lacking
            yield Stage(w, *bounds, stalled, S, way, *before, ahead[1], is_ahead=True)
        was_ahead = False
        t, losses = smooth.search(at, S, direction, dS, mu)
        if way is not None:
            way = moved(way + abs(t) * norm_up(direction), w, t, direction)
        w = w + t * direction
        S = S + t * dS


class Chord:
    """Newton steps with a Hessian that is kept while it serves: a step without a new one costs two passes
    over the data."""

    def __init__(self, smooth):
        self.smooth, self.metric = smooth, None
        self.squares, self.mu, self.promise = None, None, np.inf
        self.fresh = np.inf  # what the last new Hessian promised; 0 where old ones have lied
        self.enough = kept_share(smooth.problem)

    def step(self, at, mu):
        """The next step."""
        if mu != self.mu:
            self.fresh = np.inf
        elif self.enough * self.fresh > 0.0:
            if self.metric is None:  # it goes on from a state
                self.metric = self.smooth.metric_of(self.squares.H.copy())
            direction, promise = self._ahead(at)
            if promise <= self.enough * self.promise:
                self.promise = promise
                return direction
        self.mu, self.squares = mu, self.smooth.squares(at.shares, mu, self.squares)
        self.metric = self.smooth.metric_of(self.squares.H.copy())
        direction, self.promise = self._ahead(at)
        # Where an old Hessian has promised that less is left than there is, it is not believed again.
        self.fresh = self.promise if self.promise <= max(self.enough, 0.5) * self.fresh else 0.0
        return direction

    def _ahead(self, at):
        direction = self.metric.step(at.gradient)
        return direction, -0.5 * inner(at.gradient, direction)

    _STATE = ("mu", "promise", "fresh")

    def state(self):
        squares = self.squares and self.squares._asdict()
        return {name: getattr(self, name) for name in self._STATE} | {"squares": squares}

    def restore(self, state):
        vars(self).update(state)
        if self.squares is not None:
            self.squares = Squares(**self.squares)
            check_squares(self.smooth.problem, *self.squares)


class Progress:
    """A smaller gap, a smaller mu or a smaller P_mu; without any for long, rounding is to blame."""

    PATIENCE = 60

    def __init__(self):
        self.gap, self.mu, self.smoothed, self.vain = np.inf, np.inf, np.inf, 0
        self.tried = np.inf  # what a step promised when the duals ahead were last tried

    def is_vain(self, at, mu, gap):
        if mu < self.mu:
            self.smoothed = self.tried = np.inf
        moved = gap < 0.999 * self.gap or mu < self.mu or at.smoothed < self.smoothed * (1 - 1e-9)
        self.vain = 0 if moved else self.vain + 1
        self.gap, self.mu = min(self.gap, gap), mu
        self.smoothed = min(self.smoothed, at.smoothed)
        return self.vain >= self.PATIENCE or not np.isfinite(at.smoothed)
