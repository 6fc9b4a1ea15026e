"""The best solution of an integer programme, and a bound that no other exceeds: HiGHS, through SciPy.

    max_z  <g, z>         lower <= z <= upper,  lb <= A z <= ub,  some z_j whole

First the linear relaxation.  Any multipliers u of its rows prove a bound (weak duality),

    <g, z> = <u, A z> + <g - A'u, z>  <=  sum_i max(u_i lb_i, u_i ub_i) + sum_j max(r_j lower_j, r_j upper_j)

with r = g - A'u, which we compute ourselves and round up: it holds whatever HiGHS and floats did (Neumaier &
Shcherbina 2004).  Often its solution is whole (paths, assignments, flows and tracks), and all is done.  If
not, branch and bound follows; its bound is that of a tree that we do not see.  We take it at HiGHS's word but
for HiGHS's own tolerances, which are added, and made small beside the costs by a scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import frexp

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from ...certificate.rounding import gamma
from .programme import FEASIBLE

#: Costs are scaled by a power of two so that the largest is below 2 ** this.
LARGEST = 12
#: By how much HiGHS lets a reduced cost have the wrong sign, and an objective be missed where it stops.
DUAL_TOLERANCE, OBJECTIVE_TOLERANCE = 1e-7, 1e-6

#: Of `scipy.optimize.milp`'s status.
OUT_OF_TIME, INFEASIBLE = 1, 2
#: A relative gap at which any solution will do.
ANY = 1e9


class NoSolution(ValueError):
    """HiGHS came back without a solution."""


@dataclass(frozen=True)
class Effort:
    """When a search may stop: at a relative gap, at an absolute one, or after seconds; None for never."""

    mip_gap: float = 0.0
    time_limit: float | None = None
    enough: float = 0.0

    def options(self, size):
        """For `milp`, where the best value is about `size`: SciPy takes relative gaps alone."""
        limit = {} if self.time_limit is None else {"time_limit": self.time_limit}
        return {"mip_rel_gap": max(self.mip_gap, min(self.enough / size, 1.0) if size else 0.0)} | limit


def maximise(x, g, effort, known=None):
    """(z, upper): a solution, and a number that <g, .> of none exceeds.

    known   a solution to give where the search finds none in time; without one the first that is found
            after it is taken
    """
    scale = 2.0 ** (LARGEST - frexp(float(np.abs(g).max(initial=0.0)))[1])
    scale = scale if np.isfinite(scale) else 1.0
    relaxed, proven = _relaxation(x, scale * g)
    if relaxed is not None:
        z = np.where(x.integrality, np.rint(relaxed), relaxed)
        if np.abs(z - relaxed).max(initial=0.0) <= FEASIBLE and x.fault(z) is None:
            return _inside(x, z), proven / scale
    options = effort.options(abs(proven) / scale if np.isfinite(proven) else np.inf)
    z, upper = _branch_and_bound(x, scale * g, options, known)
    return _inside(x, z), min(upper, proven) / scale


def _inside(x, z):
    """Within its bounds, which HiGHS keeps but for rounding."""
    return np.clip(z, x.lower, x.upper)


def _relaxation(x, g):
    """(solution of the linear relaxation or None, bound)."""
    rows = x.rows
    found = linprog(
        -g, rows.A, rows.b, rows.E, rows.e, bounds=np.column_stack([x.lower, x.upper]), method="highs"
    )
    if found.x is None:
        return None, np.inf
    parts = [
        part.marginals for part, some in ((found.ineqlin, rows.A), (found.eqlin, rows.E)) if some is not None
    ]
    u = rows.to_own @ -np.concatenate([*parts, np.empty(0)])
    return found.x, dual_bound(x, g, u)


def dual_bound(x, g, u) -> float:
    """What multipliers u of the rows prove, rounded up; infinite where they prove nothing."""
    u = np.where((u > 0.0) & np.isinf(x.ub) | (u < 0.0) & np.isinf(x.lb), 0.0, u)
    r = g - x.A.T @ u
    e = gamma(x.depth + 4) * (np.abs(g) + abs(x.A).T @ np.abs(u))
    rows = np.where(u > 0.0, u * _finite(x.ub), u * _finite(x.lb))
    above, below = r + e, r - e  # where the true reduced cost lies
    if ((above > 0.0) & np.isinf(x.upper) | (below < 0.0) & np.isinf(x.lower)).any():
        return np.inf
    ends = np.stack([p * _finite(end) for p in (above, below) for end in (x.lower, x.upper)])
    columns = ends.max(axis=0)
    total = float(rows.sum() + columns.sum())
    size = float(np.abs(rows).sum() + np.abs(ends).max(axis=0).sum())
    return total + gamma(len(rows) + len(columns) + 16) * size


def _finite(bounds):
    return np.where(np.isfinite(bounds), bounds, 0.0)


def _branch_and_bound(x, g, options, known):
    found = _searched(x, g, options)
    if found.x is None and known is None and found.status == OUT_OF_TIME:
        found = _searched(x, g, {"mip_rel_gap": ANY})
    if found.x is None and (known is None or found.status == INFEASIBLE):
        raise NoSolution(_why(found))
    z = known if found.x is None else np.where(x.integrality, np.rint(found.x), found.x)
    if (fault := x.fault(z)) is not None:
        raise NoSolution(f"HiGHS's solution breaks the programme by more than its tolerance: {fault}")
    if found.mip_dual_bound is None or not np.isfinite(found.mip_dual_bound):
        return z, np.inf
    width = np.where(np.isfinite(x.upper - x.lower), x.upper - x.lower, 0.0).sum()
    slack = OBJECTIVE_TOLERANCE + DUAL_TOLERANCE * float(width) + gamma(x.m + 16) * float(np.abs(g) @ x.sizes)
    # What it found is a solution too: its bound may be below it by what it lets go.
    return z, max(-float(found.mip_dual_bound), float(g @ z)) + slack


def _searched(x, g, options):
    return milp(
        -g, integrality=x.integrality.astype(int), bounds=Bounds(x.lower, x.upper),
        constraints=LinearConstraint(x.A, x.lb, x.ub) if x.k else (), options=options,
    )  # fmt: skip


def _why(found):
    if found.status == INFEASIBLE:
        return "no solution obeys the constraints: the programme is infeasible"
    return f"HiGHS came back without a solution: {found.message}"
