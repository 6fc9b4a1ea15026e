"""What an estimator asks for: one problem or several on the same X, solved one after the other.

A task turns labels into problems and their results back into weight rows:

    models()           yields (model, Y, weights) of each problem
    n_problems, n_features
    rows(results)      coef (rows, d) and intercept (rows,)
    flat(coef, intercept)   the w of each problem: the inverse of `rows`
    rounding(result, problem)   what P at the rows, and the optimum, may differ by from the result's
    identity()         (values, arrays) that make it this task and no other, beside X and C
    classes            (K,) or None, for a warm start: those of the last fit must be the same
"""

from __future__ import annotations

import time
from dataclasses import replace

from ... import driver
from ...certificate.rounding import rounded_down, rounded_up
from ...objective import relative_gap
from ...problems.new import engine_of, new_problem
from ...problems.on_disk import ShardedProblem
from ...result import Result, Status
from .sharded_tasks import is_shards


def solve_all(
    task, X, starts, *, C, n_jobs, time_limit, max_iter, keeping, terms=None, engine=None, **options
) -> list[Result]:
    """Solve each problem of the task; `time_limit` is for all of them together.  keeping(k) says where
    problem k is written down, terms[k] has its prior, scale and weights held >= 0."""
    results = []
    begin = time.perf_counter()
    for k, ((model, y, weights), start) in enumerate(zip(task.models(), starts, strict=True)):
        if time_limit is not None:
            options["time_limit"] = max(time_limit - (time.perf_counter() - begin), 1e-9)
        of_weights = terms[k] if terms else {}
        if is_shards(X) and engine_of(engine) is None:  # y and weights are functions of rows then
            problem = ShardedProblem(model, X, C, code=y, weigh=weights, n_jobs=n_jobs, **of_weights)
        else:
            where = {"engine": engine, "solver": options["solver"], "n_jobs": n_jobs}
            problem = new_problem(model, X, y, C, sample_weight=weights, **where, **of_weights)
        with problem.engine:
            result = driver.solve(problem, start=start, max_iter=max_iter, **options, **keeping(k))
            results.append(_restated(result, options["tol"], *task.rounding(result, problem)))
        if results[-1].status is Status.INTERRUPTED:
            max_iter = 1  # Ctrl-C is for all classes: the others get what one step gives
    return results


def _restated(result, tol, primal_error, dual_error) -> Result:
    """The certificate of what is stored and was asked for, which rounding may have moved."""
    if not result.certified or not (primal_error or dual_error):
        return result
    primal, dual = rounded_up(result.primal, primal_error), rounded_down(result.dual, dual_error)
    is_spoilt = result.status is Status.CONVERGED and relative_gap(primal, dual) > tol
    return replace(
        result, primal=primal, dual=dual, status=Status.ROUNDING if is_spoilt else result.status,
        rounding=result.rounding + primal - result.primal + result.dual - dual,
    )  # fmt: skip
