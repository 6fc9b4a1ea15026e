"""Trainings under the logistic loss, and with L1 penalties."""

from fractions import Fraction

import numpy as np

import oneslack
from oneslack.losses import Huber, SquaredHinge, SquaredTube
from oneslack.models.linear.scalar import Linear

from . import draws
from .case import Case, Claim
from .draws import pick
from .linear import Penalty, exact
from .linear_cases import SOLVERS, estimator_case, weights_of_risk
from .logistic import LogisticProblem
from .losses import Sizes, scalar
from .penalised_cases import SCALINGS


def logistic_case(rng):
    return _two_classes(rng, "logistic", "l2")


def l1_case(rng):
    return (
        _two_classes(rng, pick(rng, ("squared_hinge", "logistic")), "l1")
        if rng.random() < 0.7
        else _numbers(rng)
    )


def _two_classes(rng, loss, penalty):
    n, d = draws.shape(rng, 5)
    d = min(d, 4)
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    y, s, C = draws.labels(rng, n, 2), draws.weights(rng, n), draws.weight_of_risk(rng)
    intercept, scaling = pick(rng, ("none", "free", "penalised")), pick(rng, SCALINGS)
    scale = 10.0 ** rng.uniform(-2, 2, d) if rng.random() < 0.2 else None
    prior = rng.normal(size=d) if rng.random() < 0.2 and penalty == "l2" else None
    if prior is not None and np.abs(values @ prior).max() > 1000.0:
        prior = None  # the reference does not find its way back from much farther
    estimator = oneslack.LinearSVC(
        C, loss=loss, penalty=penalty, fit_intercept=intercept != "none", intercept_scaling=scaling,
        penalize_intercept=intercept == "penalised", scale=scale, prior=prior, n_jobs=1,
        solver="auto" if penalty == "l1" else pick(rng, SOLVERS), **draws.stopping(rng),
    )  # fmt: skip
    rows, r = exact(values), [Fraction(1)] * d if scale is None else exact(scale)
    prior = [Fraction(0)] * d if prior is None else exact(prior)
    if intercept == "penalised":
        rows, r = [[*row, Fraction(1)] for row in rows], [*r, 1 / Fraction(scaling)]
        prior = [*prior, Fraction(0)]
    sides, c, is_free = (2 * y - 1).tolist(), weights_of_risk(C, n, s), intercept == "free"
    if loss == "logistic":
        terms = Sizes(len(r), r) if penalty == "l1" else Penalty(len(r), int(is_free), prior, r)
        problem = LogisticProblem(terms, rows, sides, c, is_free)
    else:
        problem = scalar(SquaredHinge(), rows, exact(sides), c, is_free, is_l1=True, scale=r)

    def claims(model):
        weights = [*model.coef_[0], *model.intercept_][: len(r) + is_free]
        return [Claim(problem, weights, model.result_)]

    return estimator_case(estimator, {"X": X, "y": y, "sample_weight": s}, claims)


def _numbers(rng):
    """Of the losses that L1Problem takes and no estimator has."""
    n, d = draws.shape(rng, 5)
    d = min(d, 4)
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    y = rng.normal(size=n) * pick(rng, (1.0, 1e-8, 1e8))
    s, C, intercept = draws.weights(rng, n), draws.weight_of_risk(rng), bool(rng.random() < 0.5)
    phi, stopping = pick(rng, (SquaredTube(0.0), SquaredTube(0.5), Huber(0.5))), draws.stopping(rng)
    problem = scalar(phi, exact(values), exact(y), weights_of_risk(C, n, s), intercept, is_l1=True)

    def run():
        model = Linear(d, phi, intercept)
        return oneslack.solve(oneslack.L1Problem(model, X, y, C=C, sample_weight=s), **stopping)

    return Case(
        f"oneslack.solve(L1Problem(Linear({d}, {phi}, {intercept})))",
        {"X": X, "y": y, "sample_weight": s, "C": C, **stopping},
        run,
        lambda result: [Claim(problem, result.w.tolist(), result)],
        stopping["tol"],
    )
