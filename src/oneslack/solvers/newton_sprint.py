"""Newton steps on small data: many in one compiled call, as calls would cost more than the work in them.

The method is that of newton.py.  A point depends on the (w, mu) that its call began with and nothing else, so
that a run goes on from there, without the points that are known.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..result import Step
from .smoothed import leaned_shares

#: What a Hessian may take, in products of two numbers.
LARGEST = 2e7
#: The same where it is less than the calls around a dual pass.
SHORT = 5e5
#: mu is lowered by at most FALL, once what the gradient adds to the gap is LOOSE times the rounding.
FALL = 0.3
LOOSE = 0.3
#: Where P lacks at most so much of the tolerance, the duals ahead may close the gap.
AHEAD = 0.7
#: What a Newton step leaves of what P lacks, near the end.
NEXT_TO_NOTHING = 1e-4
#: Points of a call.
POINTS = 64


def can_sprint(problem) -> bool:
    """Whether steps are so small that many are made at once."""
    work = problem.smooth.step_work
    return work is not None and work <= LARGEST


def is_short(problem) -> bool:
    """Whether that is all there is to do, and no dual pass is worth its calls."""
    work = problem.smooth.step_work
    return work is not None and work <= SHORT


def kept_share(problem) -> float:
    """The share of what P lacks that a step may leave: where it leaves more, a new Hessian, after which a
    step leaves next to nothing, gains more for its work."""
    return float(NEXT_TO_NOTHING ** (2.0 / (2.0 + problem.smooth.hessian_work)))


def _rule(problem, ahead, tried):
    # Where the loss has kinks mu falls, and no Hessian serves twice.  Where it has none the duals ahead are
    # those of the next point.
    if problem.smooth.has_kinks:
        return FALL, LOOSE, ahead, tried, 0.0
    return FALL, LOOSE, 0.0, tried, kept_share(problem)


def start_of(problem, w, mu, tol):
    """(w, mu) where P lacks at most `tol` of itself, or as near as a call comes."""
    found = problem.smooth.path(w, mu, tol, _rule(problem, 1.0, np.inf), POINTS)
    return found.W[-1], found.mu


def sprint(problem, w, mu, tol, tried=np.inf, known=0):
    """Yields steps; ends, with the (w, mu) to go on from, where no call comes nearer.  The first `known`
    points are not yielded again."""
    while True:
        begin = partial(dict, w=w, mu=mu, tried=tried)
        found = problem.smooth.path(w, mu, tol, _rule(problem, AHEAD, tried), POINTS)
        points = list(zip(found.W, found.mus, found.primals, found.duals, strict=True))
        for k in range(known, len(points)):
            w, mu, primal, dual = points[k]
            is_known = k == len(points) - 1 and mu == found.mu
            proof = partial(_proof, problem, w, mu, found if is_known else None)
            state = partial(begin, known=k + 1, at=mu)
            yield Step(w, dual, primal, n_cuts=problem.n, state=state, proof=proof)
        w, mu, primal, dual = points[-1]
        if not found.promise:
            return w, found.mu
        tried, known = found.promise, 1
        ahead = leaned_shares(problem, found.shares, found.mu, found.dS, tol * abs(primal))
        if ahead is not None:
            proof = problem.shares.proof(ahead)
            bound = max(dual, problem.regulariser.dual(proof.v, proof.linear))
            state = partial(dict, w=w, mu=mu, tried=tried, known=1)
            yield Step(w, bound, primal, n_cuts=problem.n, state=state, proof=lambda: proof)  # noqa: B023


def _proof(problem, w, mu, found=None):
    """The dual point that the smoothed losses make at w, where it is not `found` already."""
    if found is None:
        return problem.shares.proof(problem.smooth.duals(problem.scores(w), mu)[0])
    if problem.regulariser.n_free:  # they are to be balanced
        return problem.shares.proof(found.shares)
    return problem.shares.proof_at(found.v, problem.shares.linear(found.shares), found.shares)
