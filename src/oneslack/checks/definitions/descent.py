"""Lower values of P by plain means: whatever w they find, P(w) is no less than the optimum.

Subgradient steps as long as a line that falls to a target (Polyak), and where weights are few, cutting planes
with SciPy's SLSQP; under an L1 penalty its L-BFGS-B.  None needs to be right to be of use: a claimed lower
bound above any P(w) is false.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

#: Weights and planes of the cutting-plane method at most.
FEW_WEIGHTS, ROUNDS = 40, 12


def lowest(objective, target, steps):
    """The best of all points that are tried, from the objective's own w and from no weights."""
    with np.errstate(all="ignore"):
        return _lowest(objective.linear(), target, steps)


def _lowest(objective, target, steps):
    start = objective.at(objective.feasible(objective.centre))
    points = [objective, start]
    if objective.is_l1:
        points += [_split_descent(begin, 10 * steps) for begin in points]
        return min(points, key=_value)
    for begin in (objective, start):
        points.append(_subgradient_steps(begin, target, steps))
    if len(objective.v) <= FEW_WEIGHTS:
        points.append(_cutting_planes(min(points, key=_value)))
    return min(points, key=_value)


def _value(objective):
    value = objective.value()
    return value if np.isfinite(value) else np.inf


def _subgradient_steps(point, target, steps):
    best, least = point, _value(point)
    curvature, centre = point.curvature, point.centre
    metric = 1.0 / np.where(curvature > 0, curvature, 1.0)
    for _ in range(steps):
        gradient = curvature * (point.v - centre) + point.slope()
        norm, above = float(gradient @ (metric * gradient)), _value(point) - target
        if not (0 < norm < np.inf and 0 < above < np.inf):
            break
        point = point.at(point.feasible(point.v - above / norm * metric * gradient))
        if _value(point) < least:
            best, least = point, _value(point)
    return best


def _split_descent(point, steps):
    """L1: as w = p - q with p, q >= 0 it is sum r (p + q), so linear; losses have no kinks there."""
    r, held = np.sqrt(point.curvature), point.held_mask
    d = len(r)

    def value_and_slope(both):
        here = point.at(both[:d] - both[d:])
        slope = here.slope()
        risk = here.value() - here.penalty()
        return risk + float(np.tile(r, 2) @ both), np.append(r + slope, r - slope)

    found = minimize(
        value_and_slope, np.append(np.maximum(point.v, 0.0), np.maximum(-point.v, 0.0)), jac=True,
        method="L-BFGS-B", bounds=[(0.0, None)] * d + [(0.0, 0.0 if one else None) for one in held],
        options={"maxiter": steps, "ftol": 1e-15, "gtol": 1e-12},
    )  # fmt: skip
    return point.at(found.x[:d] - found.x[d:])


def _cutting_planes(best):
    """Planes under the risk, the penalty as it is: one slack, solved anew with each two planes."""
    least, curvature, centre = _value(best), best.curvature, best.centre
    touching, slopes, heights = [best], [], []
    for _ in range(ROUNDS):
        for point in touching:
            slope = point.slope()
            risk = _value(point) - float(curvature @ (point.v - centre) ** 2) / 2
            slopes.append(slope)
            heights.append(risk - float(slope @ point.v))
        if not (np.isfinite(heights).all() and np.isfinite(slopes).all()):
            break
        v = best.feasible(_minimum(curvature, centre, np.array(slopes), np.array(heights), best.v))
        # The planes are right near where they touch: look along the way as well.
        way = [best.at(best.v + t * (v - best.v)) for t in (1.0, 0.5, 0.2, 0.05, 0.01)]
        touching = [way[0], min(way[1:], key=_value)]
        point = min(way, key=_value)
        if _value(point) < least:
            best, least = point, _value(point)
    return best


def _minimum(curvature, centre, slopes, heights, start):
    """argmin over v of 1/2 sum curvature (v - centre)^2 + max_j heights_j + <slopes_j, v>, about.

    SLSQP sees v = centre + stretch u, so that P is 1/2 |u|^2 + ... in units of its own size.
    """
    d, is_free = len(start), curvature == 0
    base = heights + slopes @ centre
    unit = max(float(np.abs(heights + slopes @ start).max()), 1e-300)
    stretch = np.sqrt(unit / np.where(is_free, unit, curvature))
    A, base = slopes * stretch / unit, base / unit
    planes = {
        "type": "ineq",
        "fun": lambda u: u[d] - base - A @ u[:d],
        "jac": lambda u: np.column_stack([-A, np.ones(len(A))]),
    }
    first = (start - centre) / stretch
    found = minimize(
        lambda u: float(u[:d] @ (~is_free * u[:d])) / 2 + u[d],
        np.append(first, float((base + A @ first).max())),
        jac=lambda u: np.append(~is_free * u[:d], 1.0),
        constraints=[planes],
        method="SLSQP",
        options={"maxiter": 30},
    )
    v = centre + stretch * found.x[:d]
    return v if np.isfinite(v).all() else start
