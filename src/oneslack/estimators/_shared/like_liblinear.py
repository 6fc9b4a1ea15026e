"""What scikit-learn's linear estimators take because LIBLINEAR does: `dual`, and a penalised intercept.

A penalised intercept is the weight of one more column, `intercept_scaling` everywhere: 1/2 |w|^2 counts it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from .given import given_terms, is_shards


def check_combination(penalty, loss, dual):
    """Raise where scikit-learn does: LIBLINEAR has no such solver."""
    is_hinge = not isinstance(loss, str) or loss in ("hinge", "epsilon_insensitive")
    named = f"penalty={penalty!r}, loss={loss!r}, dual={dual!r}"
    if penalty == "l1" and is_hinge:
        raise ValueError(f"Unsupported set of arguments: {named}; penalty='l1' needs a loss without kinks")
    if (is_hinge and dual is False) or (penalty == "l1" and dual is True):
        raise ValueError(f"Unsupported set of arguments: {named}; dual chooses nothing here, leave it out")


def l1_problem(estimator, model, X, Y, **options):
    """With sum_k |w_k| in place of 1/2 |w|^2."""
    from ...problems.l1 import L1Problem

    if is_shards(X) or getattr(estimator, "engine", None) not in (None, "threads"):
        raise ValueError("penalty='l1' needs examples in memory, on this machine; use penalty='l2'")
    return L1Problem(model, X, Y, estimator.C, **options)


def with_constant(model, X):
    """X with a column of `intercept_scaling` behind the others."""
    for name in given_terms(model):
        raise ValueError(f"penalize_intercept=True and {name} do not go together; drop one of them")
    value = X.dtype.type(model.intercept_scaling)
    column = np.full((X.shape[0], 1), value, X.dtype)
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(column)], format="csr", dtype=X.dtype)
    return np.hstack([X, column])


def split(model, coef):
    """(coef, intercept) of weights that have one for that column."""
    return coef[:, :-1].copy(), coef[:, -1] * float(model.intercept_scaling)


def joined(model):
    """The weights of a fitted model, with one for that column: the inverse of `split`."""
    intercept = np.atleast_1d(model.intercept_) / float(model.intercept_scaling)
    return np.column_stack([np.atleast_2d(model.coef_), intercept])
