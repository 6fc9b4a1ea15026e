"""How the programs train: a model and its problem, without the estimators, whose scikit-learn takes a second.

Whatever a program imports for this comes after its file has been read, so that a mistake is told at once.
"""

from __future__ import annotations

import sys

import numpy as np


def trained(model, X, Y, C, *, weights=None, solver="auto", l1=False, **until):
    """The Result of a problem; a run that did not get where it should says so on stderr.

    model, X, Y, C, weights   as `oneslack.Problem` has them
    l1                        the penalty is |w|_1
    until                     tol or epsilon
    """
    from ...driver import solve
    from ...problems.in_memory import Problem

    if l1:
        from ...problems.l1 import L1Problem as Problem
    problem = Problem(model, X, Y, C, sample_weight=weights, n_jobs=None)
    with problem.engine:
        result = solve(problem, solver, keep_state=False, **until)
    if not result.status.ok:
        print(f"the gap is {result.primal - result.dual:.3g}: {result.status.advice}.", file=sys.stderr)
    return result


def line_of(result, d):
    """(weights (d,), intercept) of a model of one score."""
    return result.w[:d], float(result.w[d]) if len(result.w) > d else 0.0


def with_constant(X, value):
    """X with one more column of a value, where it is not 0."""
    import scipy.sparse as sp

    from ...data.rows import as_rows

    if not value:
        return as_rows(X)
    column = np.full((X.shape[0], 1), value, dtype=X.dtype)
    if sp.issparse(X):
        return as_rows(sp.hstack([X, sp.csr_array(column)], format="csr"))
    return as_rows(np.hstack([X, column]))
