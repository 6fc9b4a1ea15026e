"""Trainings for a measure of the whole sample, and with kernels, by a seed."""

from fractions import Fraction

import numpy as np

import oneslack

from . import draws
from .case import Claim
from .draws import pick
from .kernels import kernel_many_classes, kernel_two_classes, linear_kernel, poly
from .linear import exact, two_classes
from .linear_cases import estimator_case, results_of, weights_of_risk
from .samples import f_beta_loss, labellings, measure, ranking, rankings, top_k

#: A loss of counts whose values are floats without rounding.
COUNTED = {"metric": lambda tp, fp, fn, tn: (fp + 5 * fn) / 8}


def _measures(rng, n):
    """(metric, its parameters)."""
    metric = pick(
        rng,
        (
            "error",
            "f1",
            "fbeta",
            "prbep",
            "precision_at_k",
            "recall_at_k",
            "roc_auc",
            "average_precision",
            "own",
        ),
    )
    if metric == "own":
        return metric, {"metric": COUNTED["metric"], "concave": bool(rng.random() < 0.5)}
    more = {"k": int(rng.integers(1, n + 1))} if metric.endswith("at_k") else {}
    return metric, {
        "metric": metric,
        **more,
        **({"beta": pick(rng, (0.5, 2.0, 0.3))} if metric == "fbeta" else {}),
    }


def _measured(metric, parameters, X, y, C, intercept):
    """The problem of one column of labels, -1 and +1."""
    n, P = len(y), sum(label > 0 for label in y)
    if metric == "error":
        return two_classes(X, y, [C] * n, intercept)
    if metric == "roc_auc":
        return ranking(X, y, [0] * n, [Fraction(1)] * n, C)
    if metric in ("f1", "fbeta"):
        return measure(X, y, C, labellings(y, f_beta_loss(parameters.get("beta", 1.0))), intercept)
    if metric == "own":
        return measure(X, y, C, labellings(y, COUNTED["metric"]), intercept)
    if metric == "average_precision":
        return measure(X, y, C, rankings(y))
    k = P if metric == "prbep" else parameters["k"]
    return measure(X, y, C, top_k(y, k, k if metric == "precision_at_k" else P))


def measure_case(rng):
    n, d = draws.shape(rng, 5)
    K = 3 if rng.random() < 0.2 and n >= 3 else 2
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    y, C = draws.labels(rng, n, K), draws.weight_of_risk(rng)
    metric, parameters = _measures(rng, n)
    intercept = bool(rng.random() < 0.6)
    solver = pick(rng, ("auto", "one_slack"))
    estimator = oneslack.MetricSVC(
        C=C, solver=solver, fit_intercept=intercept, n_jobs=1, **parameters, **draws.stopping(rng)
    )
    columns = [[1 if label == k else -1 for label in y] for k in ([1] if K == 2 else range(K))]
    problems = [
        _measured(metric, parameters, exact(values), column, Fraction(C), intercept) for column in columns
    ]

    def claims(model):
        both = np.column_stack([model.coef_, model.intercept_])
        parts = zip(problems, both, results_of(model), strict=True)
        return [Claim(problem, row[: problem.d], result) for problem, row, result in parts]

    return estimator_case(estimator, {"X": X, "y": y}, claims)


def _kernel(rng, X, n):
    """(parameters, what to fit on, the matrix in rational numbers)."""
    name = pick(rng, ("linear", "poly", "precomputed"))
    if name == "precomputed":
        # Products of small whole numbers are floats: the matrix is one of a kernel without rounding.
        B = rng.integers(-4, 5, size=(n, 3)).astype(float)
        K = (B @ B.T) * 2.0 ** rng.integers(-40, 41)
        return {"kernel": name}, K, exact(K)
    if name == "linear":
        return {"kernel": name}, X, linear_kernel(exact(X))
    gamma, coef0, degree = float(rng.uniform(0.1, 2.0)), pick(rng, (0.0, 1.0)), pick(rng, (2, 3))
    parameters = {"kernel": name, "gamma": gamma, "coef0": coef0, "degree": degree}
    return parameters, X, poly(exact(X), Fraction(gamma), Fraction(coef0), degree)


def kernel_case(rng):
    n, d = draws.shape(rng, 5)
    classes = 3 if rng.random() < 0.3 and n >= 3 else 2
    parameters, X, K = _kernel(rng, draws.matrix(rng, n, d), n)
    y, s, C = draws.labels(rng, n, classes), draws.weights(rng, n), draws.weight_of_risk(rng)
    intercept = classes == 2 and bool(rng.random() < 0.4)
    estimator = oneslack.KernelSVC(
        C, method=pick(rng, ("exact", "exact", "linear")), fit_intercept=intercept, n_jobs=1, **parameters,
        **draws.stopping(rng),
    )  # fmt: skip
    c = weights_of_risk(C, n, s)
    if classes == 2:
        problem = kernel_two_classes(K, (2 * y - 1).tolist(), c, intercept)
    else:
        problem = kernel_many_classes(K, y.tolist(), c, classes)

    def claims(model):
        coefficients = np.zeros((len(model.dual_coef_), n))
        coefficients[:, model.support_] = model.dual_coef_
        return [Claim(problem, [*coefficients.ravel(), *model.intercept_][: problem.d], model.result_)]

    return estimator_case(estimator, {"X": X, "y": y, "sample_weight": s}, claims)
