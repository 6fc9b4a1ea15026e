"""Where a warm start begins.

The same data, labels, weights and form as in the last fit: its whole state (planes, duals, smoothing), so
that the fit goes on where it stopped, or, with another C, from what is still true.  Anything else with the
same classes and features: its weights, and Newton's smoothing, loosened.  Planes and duals of other data
would give a false certificate, therefore the data are compared by a digest, not by their size.
"""

from __future__ import annotations

import numpy as np

from ...data.digests import Digest
from ...solvers.newton import LOOSER


def fingerprint(X, task, terms=()):
    """What makes the problem, but for C: a digest, and the function that is trained for, where there is one.

    The function itself, not its address: the next one may be given the same.
    """
    return Digest(X, task.identity(), terms).hex, getattr(task, "function", None)


def starts_of(model, task, key):
    """What each problem of the task starts from: a Result, a state with a w, or None."""
    nothing = [None] * task.n_problems
    coef = getattr(model, "coef_", None)
    if coef is not None and model._penalises_intercept:
        from .like_liblinear import joined

        coef = joined(model)
    if coef is None or coef.shape[-1] != task.n_features:
        return nothing
    if task.classes is not None and not np.array_equal(model.classes_, task.classes):
        return nothing
    results = model._results()
    if results and model._fitted_on == key:
        return results
    weights = task.flat(np.atleast_2d(coef), np.atleast_1d(model.intercept_))
    if len(weights) != task.n_problems:
        return nothing
    alike = len(results) == len(weights)
    states = [result.state for result in results] if alike else [{}] * len(weights)
    return [_on_other_data(w, state) for w, state in zip(weights, states, strict=True)]


def _on_other_data(w, state):
    return {"w": w, "mu": LOOSER * state["mu"]} if "mu" in state else {"w": w}
