"""What a model file says of the optimum, by which predictions are settled, against the proof and the data.

The balls around the weights are looked at by the checker (verify/ball.py).  The bounds of a free intercept
are minorants of the risk, which certificate/intercepts.py finds from the examples: they are found once more.
"""

from __future__ import annotations

import numpy as np

from ..errors import ProofError
from ..verify.ball import check_ball, length


def refuse_other_balls(model, claims, problems, bounds, drifts):
    """Raise where a radius of the file is smaller than the one that is proven, or its centre another one."""
    radii = getattr(model, "_radii", None)
    if radii is None or not hasattr(model, "decision_bounds") or getattr(model, "penalty", "l2") == "l1":
        return
    if len(radii) != len(problems):
        raise ProofError(f"there are {len(radii)} distances to the optimum for {len(problems)} problems")
    for k, (problem, known) in enumerate(zip(problems, bounds, strict=True)):
        where = f", in problem {k}" if len(problems) > 1 else ""
        gap, shift = claims[k][0] - max(claims[k][1], 0.0), (0.5 * known.apart, 0.0)
        if known.point is not None:
            scale = _same_scale(model, problem, k, len(problems))
            centre = _centre(model, problem, k, len(problems))
            middle = 0.5 * (problem.w + known.point)
            shift = length(scale * (middle - centre)), length(scale * (problem.w - centre))
        check_ball(float(radii[k]), shift, known.apart, gap, where, drifts[k])


def _rows_of(model, k, n_problems):
    return slice(None) if n_problems == 1 else slice(k, k + 1)


def _centre(model, problem, k, n_problems):
    """What the radius is around: weights of the shape of the problem's."""
    if model._middle is None:
        return problem.w
    rows, side = _rows_of(model, k, n_problems), getattr(model, "_side", 1)
    coef, bias = side * model._middle[0][rows], side * model._middle[1][rows]
    return coef if coef.shape == problem.w.shape else np.column_stack([coef, bias])


def _same_scale(model, problem, k, n_problems):
    """The scale of the problem, which must be that of its distances."""
    scale, said = problem.penalty.scale, model._scale_rows
    d = np.atleast_2d(model.coef_).shape[1]
    said = 1.0 if said is None else said[_rows_of(model, k, n_problems)]
    if not np.all(said == (scale if np.ndim(scale) == 0 else np.atleast_2d(scale)[:, :d])):
        raise ProofError("the file measures the distance to the optimum by other scales than its weights")
    return scale


def refuse_other_intercepts(model, X, y, sample_weight):
    """Raise where the bounds of the intercepts are narrower than those found from the examples again."""
    said = getattr(model, "_intercepts", None)
    if said is None:
        return
    found = model._intercepts_again(X, y, sample_weight)
    for mine, its in ((said.below, found.below), (said.above, found.above)):
        # Both are sums of the same examples, perhaps in another order.
        room = np.where(np.isfinite(its), 1e-6 * np.abs(its) + 1e-12, 0.0)
        if not (mine >= its - room).all() or not np.allclose(said.centre, found.centre, rtol=1e-6, atol=1e-9):
            raise ProofError("the bounds of the intercepts are not those that the examples give")
