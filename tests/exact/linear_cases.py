"""Trainings of linear models on small data, by a seed."""

from fractions import Fraction

import numpy as np

import oneslack

from . import draws
from .case import Case, Claim
from .draws import pick
from .linear import constraints, exact, many_classes, planes, tube, two_classes
from .samples import ranking

SOLVERS = ("auto", "dual_cd", "newton", "one_slack", "streaming")


def estimator_case(estimator, given, claims):
    """A Case of an estimator and the arguments of its `fit`."""
    arguments = {name: value for name, value in given.items() if value is not None}
    what = f"oneslack.{type(estimator).__name__}.fit"
    settings = {name: value for name, value in estimator.get_params().items() if name != "verbose"}
    return Case(what, settings | given, lambda: estimator.fit(**arguments), claims, estimator.tol)


def results_of(estimator):
    return estimator.result_.parts


def weights_of_risk(C, n, sample_weight, of_class=None):
    """c_i = C s_i, exactly."""
    s = [Fraction(1)] * n if sample_weight is None else exact(sample_weight)
    return [Fraction(C) * s_i * (1 if of_class is None else Fraction(of_class[i])) for i, s_i in enumerate(s)]


def _solver_and_penalty(rng, d):
    solver = pick(rng, SOLVERS)
    return solver, draws.penalty(rng, d, can_hold=solver != "newton")


def held(penalty):
    """Given to the reference: numbers of the weights in place of a mask."""
    return penalty | {
        name: np.flatnonzero(mask).tolist() for name, mask in penalty.items() if name == "nonnegative"
    }


def two_classes_case(rng):
    n, d = draws.shape(rng)
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    y, s, C = draws.labels(rng, n, 2), draws.weights(rng, n), draws.weight_of_risk(rng)
    solver, penalty = _solver_and_penalty(rng, d)
    of_class = {0: 0.5, 1: pick(rng, (4.0, 0.25))} if rng.random() < 0.2 else None
    intercept = bool(rng.random() < 0.6)
    estimator = oneslack.LinearSVC(
        C,
        solver=solver,
        fit_intercept=intercept,
        class_weight=of_class,
        n_jobs=1,
        **penalty,
        **draws.stopping(rng),
    )
    factors = None if of_class is None else [of_class[label] for label in y.tolist()]
    c = weights_of_risk(C, n, s, factors)
    problem = two_classes(exact(values), (2 * y - 1).tolist(), c, intercept, **held(penalty))

    def claims(model):
        return [Claim(problem, [*model.coef_[0], *model.intercept_][: problem.d], model.result_)]

    return estimator_case(estimator, {"X": X, "y": y, "sample_weight": s}, claims)


def many_classes_case(rng):
    n, d = draws.shape(rng, 5)
    n, d, K = max(n, 3), min(d, 6), 3
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    y, s, C = draws.labels(rng, n, K), draws.weights(rng, n), draws.weight_of_risk(rng)
    solver, penalty = _solver_and_penalty(rng, K * d)
    penalty = {name: value.reshape(K, d) for name, value in penalty.items()}
    cost = np.where(np.eye(K), 0.0, rng.uniform(0.0, 3.0, (K, K))) if rng.random() < 0.3 else None
    intercept = bool(rng.random() < 0.5)
    estimator = oneslack.LinearSVC(
        C, solver=solver, loss="hinge" if cost is None else cost, fit_intercept=intercept, n_jobs=1,
        **penalty, **draws.stopping(rng),
    )  # fmt: skip
    costs = exact(1.0 - np.eye(K) if cost is None else cost)
    flat = held({name: value.ravel() for name, value in penalty.items()})
    problem = many_classes(exact(values), y.tolist(), weights_of_risk(C, n, s), K, costs, intercept, **flat)

    def claims(model):
        return [Claim(problem, [*model.coef_.ravel(), *model.intercept_][: problem.d], model.result_)]

    return estimator_case(estimator, {"X": X, "y": y, "sample_weight": s}, claims)


def one_against_the_rest_case(rng):
    n, d = draws.shape(rng, 5)
    n, K = max(n, 3), 3
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    y, s, C = draws.labels(rng, n, K), draws.weights(rng, n), draws.weight_of_risk(rng)
    solver, penalty = _solver_and_penalty(rng, d)
    intercept = bool(rng.random() < 0.6)
    estimator = oneslack.LinearSVC(
        C,
        solver=solver,
        multi_class="ovr",
        fit_intercept=intercept,
        n_jobs=1,
        **penalty,
        **draws.stopping(rng),
    )
    c, rows = weights_of_risk(C, n, s), exact(values)
    problems = [
        two_classes(rows, [1 if label == k else -1 for label in y], c, intercept, **held(penalty))
        for k in range(K)
    ]

    def claims(model):
        both = np.column_stack([model.coef_, model.intercept_])
        parts = zip(problems, both, results_of(model), strict=True)
        return [Claim(problem, row[: problem.d], result) for problem, row, result in parts]

    return estimator_case(estimator, {"X": X, "y": y, "sample_weight": s}, claims)


def regression_case(rng):
    n, d = draws.shape(rng)
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    y = rng.normal(size=n) * pick(rng, (1.0, 1e-8, 1e8)) + pick(rng, (0.0, 0.0, 1e6))
    y = np.full(n, y[0]) if rng.random() < 0.1 else y
    s, C = draws.weights(rng, n), draws.weight_of_risk(rng)
    epsilon = pick(rng, (0.0, 0.1, float(np.abs(y).max()) * 0.3))
    solver, penalty = _solver_and_penalty(rng, d)
    intercept = bool(rng.random() < 0.6)
    estimator = oneslack.LinearSVR(
        C, epsilon=epsilon, solver=solver, fit_intercept=intercept, n_jobs=1, **penalty, **draws.stopping(rng)
    )
    c = weights_of_risk(C, n, s)
    problem = tube(exact(values), exact(y), c, Fraction(epsilon), intercept, **held(penalty))

    def claims(model):
        return [Claim(problem, [*model.coef_, model.intercept_][: problem.d], model.result_)]

    return estimator_case(estimator, {"X": X, "y": y, "sample_weight": s}, claims)


def _ranked(rng, estimator_of, targets_of):
    n, d = draws.shape(rng, 5)
    X, values = draws.stored(rng, draws.matrix(rng, n, d))
    y, s, C = targets_of(n), draws.weights(rng, n), draws.weight_of_risk(rng)
    groups = rng.integers(2, size=n) if rng.random() < 0.3 else np.zeros(n, int)
    if not _has_pair(y, groups, s):
        groups, s, y = np.zeros(n, int), None, np.arange(n)
    estimator, given, groups = estimator_of(C, X, y, groups, s)
    weights = [Fraction(1)] * n if s is None else exact(s)
    problem = ranking(exact(values), y.tolist(), groups.tolist(), weights, Fraction(C))
    return estimator_case(
        estimator, given, lambda model: [Claim(problem, model.coef_.tolist(), model.result_)]
    )


def _has_pair(y, groups, s):
    pairs = (y[:, None] > y) & (groups[:, None] == groups)
    return bool(pairs.any() if s is None else (pairs & (np.outer(s, s) > 0)).any())


def ranking_case(rng):
    def build(C, X, y, groups, s):
        estimator = oneslack.RankSVM(
            C, solver=pick(rng, ("auto", "one_slack")), n_jobs=1, **draws.stopping(rng)
        )
        return estimator, {"X": X, "y": y, "groups": groups, "sample_weight": s}, groups

    return _ranked(rng, build, lambda n: rng.integers(3, size=n).astype(float))


def ordinal_case(rng):
    def build(C, X, y, groups, s):
        estimator = oneslack.OrdinalSVC(C, n_jobs=1, **draws.stopping(rng))
        return estimator, {"X": X, "y": y, "sample_weight": s}, np.zeros(len(y), int)

    return _ranked(rng, build, lambda n: draws.labels(rng, n, min(n, 3)))


def constraints_case(rng):
    m, d = draws.shape(rng, 8)
    rows = draws.matrix(rng, m, d)
    G = int(rng.integers(1, m + 1))
    groups = draws.labels(rng, m, G)
    margins = rng.normal(size=m) * pick(rng, (1.0, 1e-6, 1e6))
    s, C, penalty = draws.weights(rng, G), draws.weight_of_risk(rng), draws.penalty(rng, d)
    solver = pick(rng, ("auto", "dual_cd", "one_slack"))
    given = {"rows": rows, "margins": margins, "groups": groups, "C": C, "weights": s, **penalty}
    stopping = draws.stopping(rng)
    c = weights_of_risk(C, G, s)
    problem = constraints(exact(rows), exact(margins), groups.tolist(), c, **held(penalty))
    return Case(
        "oneslack.solve(oneslack.ConstraintProblem(...))",
        given | stopping | {"solver": solver},
        lambda: oneslack.solve(oneslack.ConstraintProblem(**given), solver, **stopping),
        lambda result: [Claim(problem, result.w.tolist(), result)],
        stopping["tol"],
    )


def minimize_case(rng):
    """The risk is computed in rational numbers, and rounded once."""
    m, d = draws.shape(rng)
    slopes, heights = draws.matrix(rng, m, d), rng.normal(size=m) * pick(rng, (1.0, 1e-6, 1e6))
    C, penalty, stopping = draws.weight_of_risk(rng), draws.penalty(rng, d), draws.stopping(rng)
    exact_slopes, exact_heights = exact(slopes), exact(heights)
    alone = planes(exact_slopes, exact_heights, Fraction(1))

    def risk(w):
        w = exact(w)
        values = [
            alone.product(w, dict(enumerate(row))) + b
            for row, b in zip(exact_slopes, exact_heights, strict=True)
        ]
        j = max(range(m), key=values.__getitem__)
        return float(values[j]), slopes[j]

    problem = planes(exact_slopes, exact_heights, Fraction(C), **held(penalty))
    terms = {("w0" if name == "prior" else name): value for name, value in penalty.items()}
    return Case(
        "oneslack.minimize(the largest of heights + slopes @ w)",
        {"slopes": slopes, "heights": heights, "C": C, **terms, **stopping},
        lambda: oneslack.minimize(risk, d, C=C, **terms, **stopping),
        lambda result: [Claim(problem, result.w.tolist(), result)],
        stopping["tol"],
    )
