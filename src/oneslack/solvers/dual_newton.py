"""Dual passes while they promise to end soon, else Newton steps from where they are.

What Newton steps cost is known beforehand, from counted work.  How many passes it takes is not: that depends
on how alike the examples are.  So passes begin, and their pace decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..objective import relative_gap
from .dual_cd import DualCD
from .newton import FEW, FIRST_MU, SAMPLE_ROWS, Newton
from .newton_sprint import FALL

#: What Newton steps take, in passes over the data: steps with an old Hessian, and how often there is a new
#: one; for losses without and with kinks, which are rounded off less and less.
SMOOTH, KINKED = (8.0, 2.5), (40.0, 8.0)
#: The share of those Hessians that is left where samples give the start.
SAMPLED = 0.6
#: What a dual pass takes: a row is read twice, and not in the order of the data.
DUAL_PASS = 4.0
#: Losses are rounded off by as much at least where passes give way.
SMALLEST_MU = 1e-6


def newton_forecast(problem) -> float:
    """What Newton steps will cost, in passes over the data."""
    passes, hessians = KINKED if problem.smooth.has_kinks else SMOOTH
    share = SAMPLED if FEW * SAMPLE_ROWS * problem.n_params <= problem.n else 1.0
    return passes + share * hessians * problem.smooth.hessian_work


def start_after(problem, w, dual) -> dict:
    """What Newton steps begin with after passes that came to w: there, rounded off by about what P(w) is
    above its least; or anew, where w is no better than what a sample gives, or than nothing."""
    S = problem.scores(w)
    primal = problem.regulariser.value(w) + problem.weight * problem.scores.risk(S)
    size = SAMPLE_ROWS * problem.n_params
    has_cheap_sample = FEW * size <= problem.n
    if relative_gap(primal, dual) > (2.0 * problem.n_params / size if has_cheap_sample else 1.0):
        return {}
    mu = FIRST_MU * problem.unit
    while mu > SMALLEST_MU * problem.unit and problem.smooth.duals(S, mu)[3] > primal - dual:
        mu *= FALL
    return {"w": w, "mu": mu}


@dataclass(frozen=True)
class DualNewton:
    """Dual coordinate ascent that gives way to Newton's method where that is forecast to be faster.

    seed  of the order in which examples are visited, and of samples

    >>> import numpy as np, oneslack
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> problem = oneslack.Problem(oneslack.Binary(2), X, y, C=1.0)
    >>> oneslack.solve(problem, "dual_newton", tol=1e-6).gap <= 1e-6
    True
    """

    seed: int = 0

    name = "dual_newton"
    needs = tuple(dict.fromkeys((*Newton.needs, "passes")))

    aim = staticmethod(Newton.aim)

    def steps(self, problem, start=None, tol=1e-3):
        if not start or "passes" in start or "duals" in start:
            w = None
            for step in DualCD(self.seed).steps(problem, start, tol, newton_forecast(problem) / DUAL_PASS):
                w = step.w
                yield step
            start = start_after(problem, w, step.dual)
        yield from Newton(self.seed).steps(problem, start, tol)

    @staticmethod
    def at_other_C(state, ratio):
        return (Newton if "mu" in state else DualCD).at_other_C(state, ratio)
