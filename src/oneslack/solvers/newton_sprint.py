"""Newton steps on small data: many in one compiled call, as calls would cost more than the work in them.

The method is that of newton.py, without its samples and old Hessians.  A point depends on (w, mu) before it
and nothing else, so that a run goes on from any of them.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..result import Step
from .smoothed import leaned_shares

#: What a Hessian may take, in products of two numbers: less than the calls around it.
LARGEST = 5e5
#: The same where the loss has kinks: as mu falls no Hessian serves twice, and nothing is lost by new ones.
LARGEST_WITH_KINKS = 1e7
#: mu is lowered by at most FALL, once what the gradient adds to the gap is LOOSE times the rounding.
FALL = 0.3
LOOSE = 0.3
#: Where P lacks at most so much of the tolerance, the duals ahead may close the gap.
AHEAD = 0.7
#: Points of a call.
POINTS = 64


def can_sprint(problem) -> bool:
    """Whether steps are so small that many are made at once."""
    work = problem.smooth.step_work
    return work is not None and work <= (LARGEST_WITH_KINKS if problem.smooth.has_kinks else LARGEST)


def is_short(problem) -> bool:
    """Whether that is all there is to do, and no dual pass is worth its calls."""
    work = problem.smooth.step_work
    return work is not None and work <= LARGEST


def start_of(problem, w, mu, tol):
    """(w, mu) where P lacks at most `tol` of itself, or as near as a call comes."""
    found = problem.smooth.path(w, mu, tol, (FALL, LOOSE, 1.0, np.inf), POINTS)
    return found.W[-1], found.mu


def sprint(problem, w, mu, tol, tried=np.inf, skips=0):
    """Yields steps; ends, with the (w, mu) to go on from, where no call comes nearer.  The first `skips`
    points are known."""
    while True:
        found = problem.smooth.path(w, mu, tol, (FALL, LOOSE, AHEAD, tried), POINTS)
        points = list(zip(found.W, found.mus, found.primals, found.duals, strict=True))
        for k in range(skips, len(points)):
            w, mu, primal, dual = points[k]
            is_known = k == len(points) - 1 and mu == found.mu
            proof = partial(_proof, problem, w, mu, found.shares if is_known else None)
            state = partial(dict, w=w, mu=mu, tried=tried)
            yield Step(w, dual, primal, n_cuts=problem.n, state=state, proof=proof)
        w, mu, primal, dual = points[-1]
        if not found.promise:
            return w, found.mu
        tried, skips = found.promise, 1
        ahead = leaned_shares(problem, found.shares, found.mu, found.dS, tol * abs(primal))
        if ahead is not None:
            proof = problem.shares.proof(ahead)
            bound = max(dual, problem.regulariser.dual(proof.v, proof.linear))
            state = partial(dict, w=w, mu=mu, tried=tried)
            yield Step(w, bound, primal, n_cuts=problem.n, state=state, proof=lambda: proof)  # noqa: B023


def _proof(problem, w, mu, shares=None):
    """The dual point that the smoothed losses make at w, with these shares if they are known."""
    if shares is None:
        shares = problem.smooth.duals(problem.scores(w), mu)[0]
    return problem.shares.proof(shares)
