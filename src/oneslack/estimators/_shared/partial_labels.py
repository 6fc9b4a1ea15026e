"""Fitting a chain or a graph to examples of which not all labels are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ... import driver
from ..._jit.clock import now
from ...data.rows import Ragged
from ...latent.concave_convex import solve_completed
from ...models.chain.runs import inner_chain, known_runs, widened
from ...problems.in_memory import Problem
from ...problems.new import engine_of
from ...result import Status
from .given import TERMS

#: The first weights need not be exact.
ROUGH = 0.05


def check_is_here(engine, watch):
    """Raise where the examples would lie with workers, or the training were to be written down."""
    if engine_of(engine) is not None:
        raise ValueError("labels that are not known are filled in on this machine only; drop engine")
    watch.refuse_checkpoint("labels that are not known are filled in round by round")
    if watch.validation is not None:
        raise ValueError("validation stops one training, but labels that are not known take several; drop it")


def solve_partly_labelled(model, X, Y, C, problem_options, *, start=None, time_limit=None, **training):
    """The Result of training on sentences or graphs with labels of -1, which are not known.

    The first weights are `start`, or those learned from the runs of known labels, or the known nodes,
    alone.  `training` is what `driver.solve` takes, `problem_options` what Problem takes.
    """
    options = dict(problem_options)
    sample_weight = options.pop("sample_weight", None)
    begin, data = now(), model.pack(X, Y, sample_weight)
    training.pop("keep_state", None)  # nothing goes on from here
    w, interrupted = start, False
    if start is None:
        w, interrupted = _first_weights(model, data, C, training, time_limit, options)
    if interrupted:
        training["max_iter"] = 1  # for a bound, and no more
    if time_limit is not None:
        time_limit = max(time_limit - (now() - begin), 1e-9)

    def problem_of(filled):
        return Problem(filled, X, Y, C, sample_weight=sample_weight, **options)

    result = solve_completed(problem_of, model, data, w, time_limit=time_limit, **training)
    return replace(result, status=Status.INTERRUPTED) if interrupted else result


def _first_weights(model, data, C, training, time_limit, options):
    """(w, whether Ctrl-C cut it short)."""
    if (data.y < 0).all():
        raise ValueError("no token has a label: there is nothing to learn from")
    rough = dict(training, tol=max(training["tol"], ROUGH))
    if hasattr(data, "without_unknown"):
        known = data.without_unknown()
        truth = Ragged(known.y, known.offsets)
        problem = Problem(model, known, truth, C, sample_weight=data.weights, **options)
        with problem.engine:
            result = driver.solve(problem, time_limit=time_limit, keep_state=False, **rough)
        return result.w, result.status is Status.INTERRUPTED
    X, Y, weights = known_runs(data)
    if not weights.any():
        return np.zeros(model.n_params), False
    options = {name: value for name, value in options.items() if name not in TERMS}
    problem = Problem(inner_chain(model), X, Y, C, sample_weight=weights, **options)
    with problem.engine:
        result = driver.solve(problem, time_limit=time_limit, keep_state=False, **rough)
    return widened(model, result.w), result.status is Status.INTERRUPTED
