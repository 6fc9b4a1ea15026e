"""Fewer support vectors for the same function, but for a stated error.

f(x) = <w, phi(x)> with w = sum_i c_i phi(x_i).  Of its projection w' on the span of some x_i we know exactly
what is lost: |f(x) - f'(x)| <= |w - w'| sqrt(k(x, x)) for every x.  Vectors are added one by one, each the
one that brings the projection nearest to w (orthogonal matching pursuit), until |w - w'| is small enough.
"""

from __future__ import annotations

import numpy as np

#: Candidates whose columns of K are computed at a time.
STEP = 32
#: Vectors that the others explain up to this share of the largest k(x, x) are left out, by precision.
FLOOR = {"f": 1e-5, "d": 1e-9}


def shrink(kernel, A, c, bound, max_vectors, engine):
    """(chosen (k,), coefficients (k, slots), lost): lost >= |w_z - w'_z| for every slot z.

    A : Inputs of the m support vectors; c : (m, slots)
    """
    limit = min(len(A), max_vectors or len(A))
    scores = kernel.product(A, A, c, engine)
    aim = bound
    for _ in range(4):
        chosen = _choose(kernel, A, c, scores, aim, limit)
        d = _projection(kernel, A, chosen, scores[chosen])
        lost = _distance(kernel, A, c, chosen, d, engine)
        if lost <= bound or len(chosen) == limit:
            break
        aim *= 0.3  # rounding has flattered the course: choose more
    return chosen, d, lost


def _choose(kernel, A, c, scores, bound, limit):
    """Vectors (k,) on whose span the projection is within `bound`, but for rounding."""
    m = len(A)
    rest_scores = scores.copy()  # of w - w'
    rest_norm2 = np.einsum("ij,ij->j", c, rest_scores)
    rest_diagonal = kernel.diagonal(A)
    floor = FLOOR[np.dtype(kernel.dtype).char] * rest_diagonal.max(initial=0.0)
    L, chosen = np.zeros((m, min(limit, 64))), []
    while len(chosen) < limit and rest_norm2.max(initial=0.0) > bound**2:
        gain = np.einsum("ij,ij->i", rest_scores, rest_scores)
        gain = np.where(rest_diagonal > floor, gain / np.maximum(rest_diagonal, floor), 0.0)
        wanted = np.argsort(gain)[::-1][: min(STEP, limit - len(chosen))]
        wanted = wanted[gain[wanted] > 0]
        if not len(wanted):
            break
        if len(chosen) + STEP > L.shape[1]:
            L = np.hstack([L, np.zeros((m, min(L.shape[1], limit) + STEP))])
        columns = kernel.values(A, A.take(wanted)).astype(np.float64)
        columns -= L[:, : len(chosen)] @ L[wanted, : len(chosen)].T
        first = len(chosen)
        for j, pivot in enumerate(wanted):
            k = len(chosen)
            column = columns[:, j] - L[:, first:k] @ L[pivot, first:k]
            if column[pivot] <= floor or rest_norm2.max() <= bound**2:
                continue
            column /= np.sqrt(column[pivot])
            column[chosen] = 0.0  # but for rounding
            part = rest_scores[pivot] / column[pivot]
            L[:, k] = column
            chosen.append(int(pivot))
            rest_scores -= np.outer(column, part)
            rest_norm2 = rest_norm2 - part**2
            rest_diagonal = np.maximum(rest_diagonal - column**2, 0.0)
            rest_diagonal[chosen] = 0.0
        if len(chosen) == first:
            rest_diagonal[wanted] = 0.0
    return np.array(chosen, int)


def _projection(kernel, A, chosen, scores):
    """d with K(chosen, chosen) d = scores: w' has the scores of w at the chosen vectors.

    Solved anew: the factor above serves to choose, but its rounding would be blown up.
    """
    from scipy.linalg import cho_factor, cho_solve

    if not len(chosen):
        return np.zeros((0, scores.shape[1]))
    part = A.take(chosen)
    K = kernel.values(part, part).astype(np.float64)
    K = 0.5 * (K + K.T)
    ridge = FLOOR[np.dtype(kernel.dtype).char] * np.diag(K).max() * np.eye(len(K))
    factor = cho_factor(K + 0.1 * ridge, lower=True)
    d = np.zeros_like(scores)
    for _ in range(10):  # refinements: the ridge, there to be safe, leaves no trace
        d += cho_solve(factor, scores - K @ d)
    return d


def _distance(kernel, A, c, chosen, d, engine):
    """|w - w'| of the slot that lost most, computed anew."""
    rest = c.copy()
    rest[chosen] -= d
    norm2 = np.einsum("ij,ij->j", rest, kernel.product(A, A, rest, engine))
    return float(np.sqrt(np.maximum(norm2, 0.0).max(initial=0.0)))
