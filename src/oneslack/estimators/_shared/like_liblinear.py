"""What scikit-learn's linear estimators take because LIBLINEAR does: `dual`, and a penalised intercept.

A penalised intercept b is the weight of one more column.  LIBLINEAR's is `intercept_scaling` everywhere, with
a weight b / intercept_scaling; here it is 1 everywhere, so that b itself is the weight, whatever the dtype of
X, and the penalty counts b / intercept_scaling.
"""

from __future__ import annotations

from math import frexp

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import gamma
from .given import is_shards


def check_combination(penalty, loss, dual):
    """Raise where scikit-learn does: LIBLINEAR has no such solver."""
    is_hinge = not isinstance(loss, str) or loss in ("hinge", "epsilon_insensitive")
    named = f"penalty={penalty!r}, loss={loss!r}, dual={dual!r}"
    if penalty == "l1" and is_hinge:
        without = "'squared_hinge', scikit-learn's default, or 'logistic'"
        raise ValueError(
            f"Unsupported set of arguments: {named}; penalty='l1' needs a loss without kinks: {without}"
        )
    if (is_hinge and dual is False) or (penalty == "l1" and dual is True):
        raise ValueError(f"Unsupported set of arguments: {named}; dual chooses nothing here, leave it out")


def l1_problem(estimator, model, X, Y, **options):
    """With sum_k |w_k| in place of 1/2 |w|^2."""
    from ...problems.l1 import L1Problem

    if is_shards(X) or getattr(estimator, "engine", None) not in (None, "threads"):
        raise ValueError("penalty='l1' needs examples in memory, on this machine; use penalty='l2'")
    return L1Problem(model, X, Y, estimator.C, **options)


def with_constant(X):
    """X with a column of ones behind the others."""
    column = np.ones((X.shape[0], 1), X.dtype)
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(column)], format="csr", dtype=X.dtype)
    return np.hstack([X, column])


def split(coef):
    """(coef, intercept) of weights that have one for that column."""
    return coef[:, :-1].copy(), coef[:, -1].copy()


def joined(model):
    """The weights of a fitted model, with one for that column: the inverse of `split`."""
    return np.column_stack([np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)])


def rounding(estimator, result, problem):
    """What P at the stored weights and the optimum may differ by, as 1 / intercept_scaling is rounded: the
    intercept's penalty by a share of three roundings, and P is at least that."""
    share = 0.0 if frexp(estimator.intercept_scaling)[0] == 0.5 else gamma(4)
    return share * max(result.primal, 0.0), share * max(result.dual, 0.0)
