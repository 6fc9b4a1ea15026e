"""Trainings under all losses of one score but the logistic one (smooth_cases.py)."""

import numpy as np

import oneslack
from oneslack.losses import Huber, Pinball, SquaredHinge, SquaredTube
from oneslack.models.linear.scalar import Linear

from . import draws
from .case import Case, Claim
from .draws import pick
from .linear import exact
from .linear_cases import held, weights_of_risk
from .losses import scalar


def loss_case(rng):
    n, d = draws.shape(rng, 5)
    d = min(d, 4)  # beside the xi, one a row
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    s, C, intercept = draws.weights(rng, n), draws.weight_of_risk(rng), bool(rng.random() < 0.6)
    phi = pick(
        rng, (SquaredHinge(), SquaredHinge(), SquaredTube(0.0), SquaredTube(0.5), Pinball(0.25), Huber(0.5))
    )
    if phi.has_sides:
        y = 2.0 * draws.labels(rng, n, 2) - 1.0
    else:
        y = rng.normal(size=n) * pick(rng, (1.0, 1e-8, 1e8)) + pick(rng, (0.0, 0.0, 1e6))
    solver = pick(rng, (oneslack.DualCD(), oneslack.Newton(), oneslack.OneSlack()))
    penalty = draws.penalty(rng, d, can_hold=solver.name != "newton")
    stopping = draws.stopping(rng)
    problem = scalar(phi, exact(values), exact(y), weights_of_risk(C, n, s), intercept, **held(penalty))
    wide = {name: np.append(value, _more(name)) if intercept else value for name, value in penalty.items()}

    def run():
        model = Linear(d, phi, intercept)
        return oneslack.solve(oneslack.Problem(model, X, y, C=C, sample_weight=s, **wide), solver, **stopping)

    return Case(
        f"oneslack.solve(Problem(Linear({d}, {phi}, {intercept})), {solver})",
        {"X": X, "y": y, "sample_weight": s, "C": C, **wide, **stopping},
        run,
        lambda result: [Claim(problem, result.w.tolist(), result)],
        stopping["tol"],
    )


def _more(name):
    """Of the intercept, which is neither drawn anywhere nor held."""
    return {"prior": 0.0, "scale": 1.0, "nonnegative": False}[name]
