"""Newton's method along rising C, as precisely as a choice of C needs.

Who compares models by their predictions needs no tight bounds for each.  With one mu for all C, P_mu of
newton.py is within the same share of P for all of them: the rounding grows with C as the hinges do.  So its
minimum for one C is a good start for the next, and a step or two end there.  What the examples add to the
gradient and to the Hessian is C times what does not know C, so the first step to a larger C needs no look at
them at all.  A step promises to lower P_mu by

    1/2 <g, H^-1 g>        g, H: gradient and Hessian of P_mu

which is what is missing where P_mu is quadratic; with a promise of a small share of P, the point is taken.
That is far earlier than the bounds meet, as their gap has 1/2 |g|^2 instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..objective import inner
from .newton import FALL, FIRST_MU, LOOSE, Newton
from .smoothed import Smoothed

#: The rounding, and what another step would gain, as shares of P.
ROUNDING = 5e-3
PROMISE = 5e-4
#: A gap above this, a little more than the two together, is that of a point where the steps ran out.
ENOUGH = 6e-3
#: Steps for one C; rounding errors, or a C far from the last one, may keep a promise from being kept.
MOST_STEPS = 60


def newton_path(problem, Cs, seed=0, max_iter=MOST_STEPS):
    """Yield (w, gap) for each C of a rising sequence: a near minimiser, and how far its P is from the lowest
    as a share of it, by the rounding and the promise of another step: no certificate.  A gap above ENOUGH
    says that neither MOST_STEPS nor `max_iter` steps led to one."""
    w, mu = problem.regulariser.start(), FIRST_MU * problem.unit
    n_steps = min(max_iter, MOST_STEPS)
    for _, part, _ in Newton(seed).samples(problem.with_C(Cs[0]), ROUNDING):
        end, _ = _nearly(part, part.C, Place.of(part, w, part.scores(w), mu), n_steps)
        w, mu = end.w, end.mu
    here = Place.of(problem, w, problem.scores(w), mu)
    for C in Cs:
        here, promise = _nearly(problem, C, here, n_steps)
        yield here.w, (promise + C * here.error) / max(here.primal(C), 1e-300)


@dataclass(frozen=True)
class Place:
    """A point and what the examples say there, for any C: the sums over them are without it."""

    w: np.ndarray
    S: np.ndarray
    mu: float
    shares: np.ndarray
    hinge: float
    error: float
    rounded: float  # the losses, rounded off
    regular: float
    pull: np.ndarray  # minus the gradient of the sum of the smoothed hinges
    hessian: np.ndarray

    @staticmethod
    def of(problem, w, S, mu) -> Place:
        smooth = Smoothed(problem.with_C(1.0))
        at = smooth.at(w, smooth.losses(S, mu))
        pull = problem.regulariser.gradient(w) - at.gradient
        hessian = smooth.smooth.hessian(at.shares, mu)
        return Place(w, S, mu, at.shares, at.hinge, at.error, at.rounded, at.regular, pull, hessian)

    def primal(self, C):
        return self.regular + C * self.hinge


class Start(NamedTuple):
    """Of a line search, for one C."""

    w: np.ndarray
    gradient: np.ndarray
    rounded: float


def _nearly(problem, C, here, n_steps) -> tuple[Place, float]:
    """Where a step would gain next to nothing, and what; or where the steps ran out."""
    smooth = Smoothed(problem.with_C(C))
    for _ in range(n_steps):
        primal, error = here.primal(C), C * here.error
        gradient = problem.regulariser.gradient(here.w) - C * here.pull
        direction = smooth.metric_of(C * here.hessian).step(gradient)
        promise = -0.5 * inner(gradient, direction)
        is_round = error > ROUNDING * primal
        if not is_round and promise <= PROMISE * primal:
            break
        if is_round and promise <= LOOSE * error:
            mu = here.mu * min(max(np.sqrt(0.8 * ROUNDING * primal / error), FALL), 0.7)
            here = Place.of(problem, here.w, here.S, mu)
            continue
        dS = problem.scores(direction)
        at = Start(here.w, gradient, C * here.rounded)
        t, _ = smooth.search(at, here.S, direction, dS, here.mu)
        here = Place.of(problem, here.w + t * direction, here.S + t * dS, here.mu)
    return here, promise
