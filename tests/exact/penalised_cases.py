"""Trainings with a penalised intercept: P counts 1/2 (b / intercept_scaling)^2 of the b that is stored."""

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

import oneslack
from oneslack.losses import loss_of, names

from . import draws
from .case import Claim
from .draws import pick
from .linear import exact, many_classes, tube, two_classes
from .linear_cases import SOLVERS, estimator_case, weights_of_risk
from .losses import scalar

SCALINGS = (0.1, 3.0, 1e-3, 7.7, 1.0)


def penalised_intercept_case(rng):
    n, d = draws.shape(rng, 5)
    n, d = max(n, 3), min(d, 3)
    X = draws.matrix(rng, n, d).astype(pick(rng, (np.float32, np.float64)))
    s, C, scaling = draws.weights(rng, n), draws.weight_of_risk(rng), pick(rng, SCALINGS)
    form = {
        "C": C, "penalize_intercept": True, "intercept_scaling": scaling, "n_jobs": 1,
        "solver": pick(rng, SOLVERS), **draws.stopping(rng),
    }  # fmt: skip
    rows = [[*row, Fraction(1)] for row in exact(X.astype(float))]
    given = (rows, weights_of_risk(C, n, s), [Fraction(1)] * d + [1 / Fraction(scaling)])
    estimator, y, problem = (_numbers if rng.random() < 0.5 else _classes)(rng, form, *given)

    def claims(model):
        weights = np.column_stack([np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)])
        return [Claim(problem, weights.ravel(), model.result_)]

    X = sp.csr_array(X) if rng.random() < 0.2 else X
    return estimator_case(estimator, {"X": X, "y": y, "sample_weight": s}, claims)


def _classes(rng, form, rows, c, scale):
    """(estimator, y, problem): two classes by two losses, or three."""
    K = pick(rng, (2, 2, 3))
    loss = pick(rng, ("hinge", "squared_hinge")) if K == 2 else "hinge"
    y = draws.labels(rng, len(rows), K)
    estimator = oneslack.LinearSVC(loss=loss, **form)
    if K == 3:
        cost = exact(1.0 - np.eye(K))
        return estimator, y, many_classes(rows, y.tolist(), c, K, cost, False, scale=scale * K)
    sides = (2 * y - 1).tolist()
    if loss == "hinge":
        return estimator, y, two_classes(rows, sides, c, False, scale=scale)
    return estimator, y, scalar(loss_of(loss, estimator), rows, exact(sides), c, False, scale=scale)


def _numbers(rng, form, rows, c, scale):
    loss = pick(rng, names(False))
    y = rng.normal(size=len(rows)) * pick(rng, (1.0, 1e-8, 1e8)) + pick(rng, (0.0, 1e6))
    estimator = oneslack.LinearSVR(loss=loss, epsilon=pick(rng, (0.0, 0.1)), quantile=0.25, **form)
    phi = loss_of(loss, estimator)
    if loss == "epsilon_insensitive":
        return estimator, y, tube(rows, exact(y), c, Fraction(phi.epsilon), False, scale=scale)
    return estimator, y, scalar(phi, rows, exact(y), c, False, scale=scale)
