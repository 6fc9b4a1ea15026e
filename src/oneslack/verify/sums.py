"""Sums of floats, and how far off they are at most; arrays of a proof.

A sum of k products of floats, in whatever order it is taken, is off by at most gamma(k) = k u / (1 - k u)
times the sum of their sizes, u = 2^-53 (Higham 2002, chapter 3).  `fsum` of Python is off by one rounding.
SAFE covers that such bounds are themselves computed in floats.
"""

from math import fsum, inf, nextafter

import numpy as np
import scipy.sparse as sp

from ..errors import ProofError

UNIT, TINY, SAFE = 2.0**-53, 2.0**-1074, 1.0 + 2.0**-20
#: Rows of a matrix whose sizes are taken at a time.
BLOCK = 16_384
#: Numbers that may be held.
ROOM = 10**7


def gamma(k) -> float:
    """By what share of the sum of their sizes a sum of k products may be off."""
    return SAFE * k * UNIT / (1.0 - k * UNIT)


def up(*values) -> float:
    """At least the sum of the numbers and arrays given."""
    total = fsum(np.concatenate([np.ravel(value) for value in values]).tolist())
    return nextafter(total, inf) if total else 0.0  # a sum that is 0 is exact


def down(*values) -> float:
    """At most that sum."""
    return 0.0 - up(*(-np.asarray(value) for value in values))


def dense(M) -> np.ndarray:
    """A matrix, dense or sparse, as an array of floats."""
    return M.toarray() if sp.issparse(M) else np.asarray(M, dtype=float)


def product(X, W):
    """(X W, how far each number of it may be off) for a matrix X, dense or CSR, and dense W (columns, k)."""
    sizes = np.concatenate([abs(X[some]) @ np.abs(W) for some in _blocks(X)])
    return np.asarray(X @ W), gamma(X.shape[1] + 4) * sizes + TINY * X.shape[1]


def adjoint(X, A):
    """(A' X, sum_i |a_ik| |x_ij|) of shape (k, columns), for A (n, k), dense or CSR; the first is off by at
    most gamma(n + 4) times the second."""
    return dense(A.T @ X), sum(dense(abs(A[some]).T @ abs(X[some])) for some in _blocks(X))


def _blocks(X):
    return [slice(at, at + BLOCK) for at in range(0, max(X.shape[0], 1), BLOCK)]


def batches(sizes, cost):
    """Yield the numbers of examples of one size (> 0), as many as can be held, each size * cost."""
    for size in np.unique(sizes[sizes > 0]):
        same = np.flatnonzero(sizes == size)
        yield from np.array_split(same, 1 + len(same) * size * cost // ROOM)


def numbers(proof, name, shape, within=None) -> np.ndarray:
    """An array of the proof: there, of this shape (None is any), and finite floats; or whole numbers from
    within[0] to within[1]."""
    if name not in proof:
        raise ProofError(f"the proof lacks {name!r}")
    array, is_whole = proof[name], within is not None
    if array.dtype.kind not in "iu" if is_whole else array.dtype != np.float64:
        wanted = "whole numbers" if is_whole else "float64"
        raise ProofError(f"{name} of the proof is of type {array.dtype}, expected {wanted}")
    if len(array.shape) != len(shape) or any(m not in (None, k) for k, m in zip(array.shape, shape)):
        raise ProofError(f"{name} of the proof has shape {array.shape}, expected {shape}")
    if not is_whole and not np.isfinite(array).all():
        raise ProofError(f"{name} of the proof holds NaN or infinity")
    if is_whole and array.size and not within[0] <= array.min() <= array.max() <= within[1]:
        raise ProofError(f"{name} of the proof has numbers that are not from {within[0]} to {within[1]}")
    return array.astype(np.int64) if is_whole else array
