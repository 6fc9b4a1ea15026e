"""What an estimator asks for: one problem or several on the same X, solved one after the other.

A task turns labels into problems and their results back into weight rows:

    models()           yields (model, Y, weights) of each problem
    n_problems, n_features
    rows(results)      coef (rows, d) and intercept (rows,)
    flat(coef, intercept)   the w of each problem: the inverse of `rows`
    identity()         (values, arrays) that make it this task and no other, beside X and C
    classes            (K,) or None, for a warm start: those of the last fit must be the same
"""

from __future__ import annotations

import time

from .. import driver
from ..result import Result, Status
from ..sharded_problem import ShardedProblem
from ..split.new import engine_of, new_problem
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
            results.append(driver.solve(problem, start=start, max_iter=max_iter, **options, **keeping(k)))
        if results[-1].status is Status.INTERRUPTED:
            max_iter = 1  # Ctrl-C is for all classes: the others get what one step gives
    return results
