"""Sums of floats, and how far off they are at most.

A sum of k products of floats, in whatever order it is taken, is off by at most gamma(k) = k u / (1 - k u)
times the sum of their sizes, u = 2^-53 (Higham 2002, chapter 3).  `fsum` of Python is off by one rounding.
SAFE covers that such bounds are themselves computed in floats.
"""

from math import fsum, inf, nextafter

import numpy as np
import scipy.sparse as sp

from ..errors import ProofError

UNIT, TINY, SAFE = 2.0**-53, 2.0**-1074, 1.0 + 2.0**-20
#: Rows of a dense matrix whose sizes are taken at a time.
BLOCK = 16_384


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


def product(X, W):
    """(X W, how far each number of it may be off) for a matrix X, dense or CSR, and dense W (columns, k)."""
    sizes = abs(X) @ np.abs(W) if sp.issparse(X) else _in_blocks(lambda rows: np.abs(rows) @ np.abs(W), X)
    return np.asarray(X @ W), gamma(X.shape[1] + 4) * np.asarray(sizes) + TINY * X.shape[1]


def adjoint(X, A):
    """(A' X, sum_i |a_ik| |x_ij|) of shape (k, columns), for A (n, k), dense or CSR; the first is off by at
    most gamma(n + 4) times the second."""
    if sp.issparse(X):
        V, sizes = A.T @ X, abs(A).T @ abs(X)
        return tuple(part.toarray() if sp.issparse(part) else np.asarray(part) for part in (V, sizes))
    starts = range(0, len(X), BLOCK)
    sizes = sum(abs(A[at : at + BLOCK]).T @ np.abs(X[at : at + BLOCK]) for at in starts)
    return np.asarray(A.T @ X, dtype=float), np.asarray(sizes, dtype=float)


def _in_blocks(function, X):
    return np.concatenate([function(X[at : at + BLOCK]) for at in range(0, max(len(X), 1), BLOCK)])


def numbers(proof, name, shape, kind="f") -> np.ndarray:
    """An array of the proof: there, of float64 or whole numbers, of this shape (None is any), and finite."""
    if name not in proof:
        raise ProofError(f"the proof lacks {name!r}")
    array = proof[name]
    if array.dtype != np.float64 if kind == "f" else array.dtype.kind not in "iu":
        wanted = "float64" if kind == "f" else "whole numbers"
        raise ProofError(f"{name} of the proof is of type {array.dtype}, expected {wanted}")
    if len(array.shape) != len(shape) or any(m not in (None, k) for k, m in zip(array.shape, shape)):
        raise ProofError(f"{name} of the proof has shape {array.shape}, expected {shape}")
    if kind == "f" and not np.isfinite(array).all():
        raise ProofError(f"{name} of the proof holds NaN or infinity")
    return array


def check_ends(ends, size) -> np.ndarray:
    """Places that cut `size` things into parts, one behind the other."""
    if ends[0] != 0 or ends[-1] != size or (np.diff(ends) < 0).any():
        raise ProofError(f"the ends of the proof's parts do not rise from 0 to {size}")
    return np.diff(ends)
