"""Proximal Newton steps on working sets of features, for an L1 penalty.

Minimises  P(w, b) = sum_j r_j |w_j| + C sum_i s_i phi(y_i, <w, x_i> + b)      phi smooth, b not penalised.

At w, with the duals a_i = -C s_i phi' and the curvatures h_i = C s_i phi'', the model

    P(w + d) - P(w) ~ - <v, d> + 1/2 sum_i h_i <x_i, d>^2 + sum_j r_j (|w_j + d_j| - |w_j|)

with v = sum_i a_i x_i is minimised by coordinate descent (problems/quadratic.py), and a line search makes a
step of it: glmnet's method (Friedman, Hastie & Tibshirani 2010), LIBLINEAR's for logistic regression (Yuan,
Ho & Lin 2012).  b is put where sum_i a_i = 0, so that a / max(1, max_j |v_j| / r_j) is feasible, and P - D a
certificate.  So are the duals a_i - h_i <x_i, d> that the model has at its minimum: they are nearly feasible,
and near the best to second order in d, so they tell a small gap before v itself is near its bounds.

Only a working set of features takes part: those that are not 0, and those whose constraint |v_j| <= r_j is
nearest to be violated, beside the length of their column (Massias, Gramfort & Salmon 2018, celer).  Once a
step promises little beside the first one, all features are looked at again.  Models are minimised loosely
until steps promise little beside the gap that is asked for, then so well that their duals are feasible but
for what that gap allows.  Features that the gap rules out are dropped for good (gap safe, Ndiaye et al.
2017): the best a* is near, with h_max = C max phi'',

    sum_i (a_i - a*_i)^2 / s_i <= 2 h_max (P - D),    so |v_j - v*_j|^2 <= 2 h_max (P - D) sum_i s_i x_ij^2

The proof of a bound looks at all features whatever was dropped.  The start comes from samples of the examples
where features are few, or data small.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..memory.state_coding import check_point
from ..result import Step
from .feature_descent import Descent, Features, few
from .newton_sprint import LARGEST, is_short

#: Where features are few, examples a weight in the first sample, and how much larger the next one is; and
#: examples a weight where steps are one call.
SAMPLE_ROWS, SAMPLE_GROWTH, SPRINT_ROWS = 32, 8, 4
#: Numbers of all examples from which on passes over them cost more than the calls around a step.
SAMPLED = 100_000
#: Steps of a call.
STEPS = 20


@dataclass(frozen=True)
class ProximalNewton:
    """Proximal Newton steps on working sets of features, for L1Problem.

    >>> import numpy as np, oneslack
    >>> from oneslack.losses import Logistic
    >>> from oneslack.models.linear.scalar import Linear
    >>> X, y = np.array([[1.0, 0.0], [0.5, 1.0], [-1.0, 0.5]]), [1, 1, -1]
    >>> problem = oneslack.L1Problem(Linear(2, Logistic()), X, y, C=10.0)
    >>> oneslack.solve(problem, oneslack.ProximalNewton(), tol=1e-6).gap <= 1e-6
    True
    """

    name = "proximal_newton"
    needs = ("columns",)

    def steps(self, problem, start=None, tol=1e-3):
        start = start or {}
        if can_sprint(problem) and "alive" not in start:
            if start.get("sprinted", np.inf) > tol:
                step = sprint(problem, start.get("w"), tol)
                yield step
                start = step.state()
            start = {"w": start["w"]}
        features = Features(problem)
        descent = Descent(problem, features, start, tol)
        if not descent.is_resumed:
            yield descent.look()
        if ("w" not in start or start.get("is_first")) and (w := sampled(problem, tol)) is not None:
            descent = Descent(problem, features, {"w": w}, tol)
            yield descent.look()
        yield from descent.rounds()

    @staticmethod
    def at_other_C(state, ratio):
        """From where it ended; what was ruled out there may not be here."""
        return {}


def can_sprint(problem) -> bool:
    """Whether calls cost more than the work in them; products of dense matrices are half as long over a
    working set, at least."""
    work = problem.smooth.step_work
    return work is not None and work <= (0.5 if problem.smooth.has_products else 1.0) * LARGEST


def sprint(problem, w, tol) -> Step:
    """Many steps in one call, where data are so small that calls cost more than the work in them; samples
    give the start, where there is none."""
    if w is None:
        w = problem.regulariser.start()
        for part, part_tol in samples(problem, tol):
            w = _path(part, w, part_tol)[0]
    else:
        w = problem.regulariser.feasible(w)
        check_point(problem, w)
    w, primal, dual, shares = _path(problem, w, tol)
    return Step(
        w, dual, primal, n_cuts=problem.model.n_features, state=lambda: {"w": w, "sprinted": tol},
        proof=partial(problem.shares.proof, shares),
    )  # fmt: skip


def samples(problem, tol):
    """Samples for small data, each eight times the last, and all of them eight times, with the precision that
    each is worth; none where steps on all examples are less than the calls."""
    if is_short(problem):
        return
    sizes, size, rng = [], problem.n // SAMPLE_GROWTH, np.random.default_rng(0)
    while size >= SPRINT_ROWS * problem.n_params:
        sizes.append(size)
        size //= SAMPLE_GROWTH
    for size in reversed(sizes):
        index = _stretches(problem.n, size, rng)
        if problem.sample_weights[index].any():
            yield problem.sample(index), max(tol, 2.0 * problem.n_params / size)


def _stretches(n, size, rng) -> np.ndarray:
    """One example from each of `size` equal stretches."""
    return ((np.arange(size) + rng.random(size)) * (n / size)).astype(np.int64)


def _path(problem, w, tol):
    return problem.model.lasso_path(problem.data, problem.C, problem.regulariser, w, tol, STEPS)


def sampled(problem, tol):
    """A start from small samples of the examples, each eight times the last; None where these are few."""
    if problem.n * problem.n_params < SAMPLED:
        return None
    w, size, rng = None, SAMPLE_ROWS * problem.n_params, np.random.default_rng(0)
    while size * SAMPLE_GROWTH <= problem.n and problem.n_params <= few(problem.n):
        index = _stretches(problem.n, size, rng)
        if problem.sample_weights[index].any():
            part, start = problem.sample(index), {} if w is None else {"w": w}
            descent = Descent(part, Features(part), start, tol)
            descent.fall(0.1 * problem.n_params / size)
            w = descent.w
        size *= SAMPLE_GROWTH
    return w
