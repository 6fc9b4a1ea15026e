"""Trainings in two portions by `partial_fit`, with room for all: the problem is that of both together."""

from fractions import Fraction

import numpy as np

import oneslack
from oneslack.losses import loss_of, names

from . import draws
from .case import Case, Claim
from .draws import pick
from .linear import exact, many_classes, tube, two_classes
from .linear_cases import weights_of_risk
from .losses import scalar


def portions_case(rng):
    n, d = draws.shape(rng, 5)
    n, d = max(n, 4), min(d, 3)
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    s, C, intercept = draws.weights(rng, n), draws.weight_of_risk(rng), bool(rng.random() < 0.7)
    s = np.maximum(s, 0.25) if s is not None else None  # a portion of nothing is refused
    form = {"C": C, "solver": pick(rng, ("auto", "dual_cd", "newton")), "n_jobs": 1}
    form |= {"fit_intercept": intercept, **draws.stopping(rng)}
    build = _numbers if rng.random() < 0.5 else _classes
    estimator, y, problem, first = build(rng, form, exact(values), weights_of_risk(C, n, s), intercept)

    def run():
        for part, more in ((slice(0, 2), first), (slice(2, n), {})):
            estimator.partial_fit(X[part], y[part], sample_weight=None if s is None else s[part], **more)
        return estimator

    def claims(model):
        weights = [*np.ravel(model.coef_), *np.ravel(model.intercept_)]
        return [Claim(problem, weights[: problem.d], model.result_)]

    settings = {name: value for name, value in estimator.get_params().items() if value is not None}
    given = settings | {"X": X, "y": y, "sample_weight": s}
    return Case(f"oneslack.{type(estimator).__name__}.partial_fit", given, run, claims, estimator.tol)


def _classes(rng, form, rows, c, intercept):
    """(estimator, y, problem, what the first portion is told)."""
    K = pick(rng, (2, 2, 3))
    loss = pick(rng, ("hinge", "squared_hinge")) if K == 2 else "hinge"
    y, first = draws.labels(rng, len(rows), K), {"classes": np.arange(K)}
    estimator = oneslack.LinearSVC(loss=loss, **form)
    if K == 3:
        cost = exact(1.0 - np.eye(K))
        return estimator, y, many_classes(rows, y.tolist(), c, K, cost, intercept), first
    sides = (2 * y - 1).tolist()
    if loss == "hinge":
        return estimator, y, two_classes(rows, sides, c, intercept), first
    return estimator, y, scalar(loss_of(loss, estimator), rows, exact(sides), c, intercept), first


def _numbers(rng, form, rows, c, intercept):
    loss = pick(rng, names(False))
    y = rng.normal(size=len(rows)) * pick(rng, (1.0, 1e-8, 1e8)) + pick(rng, (0.0, 1e6))
    estimator = oneslack.LinearSVR(loss=loss, epsilon=pick(rng, (0.0, 0.1)), quantile=0.25, **form)
    phi = loss_of(loss, estimator)
    if loss == "epsilon_insensitive":
        return estimator, y, tube(rows, exact(y), c, Fraction(phi.epsilon), intercept), {}
    return estimator, y, scalar(phi, rows, exact(y), c, intercept), {}
