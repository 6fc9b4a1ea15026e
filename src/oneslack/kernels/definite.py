"""Is a kernel positive semi-definite?  Without that |w|^2 = <c, K c> is no norm and no dual is a bound.

Of linear, rbf, laplacian and common poly kernels it is a theorem.  Of a matrix or a function it is a promise,
which is looked at: all of it up to CHECKED rows, of more a sample of the rows, and of a matrix every pair.

With K_ii brought to 1 .. 4 by powers of two, S K S, Cholesky's factorisation of S K S + t I runs to its end
only if  K + 2 t S^-2 >= 0:  it is exact for a matrix that is off by at most gamma_(n+1) trace (Higham 2002,
theorem 10.3; Rump 2006).  t is that bound with the unit roundoff u of the values, as a definite matrix whose
entries were rounded may be off by as much itself.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

#: Rows whose matrix is factorised.
CHECKED = 2048
#: Rows of a matrix whose pairs are looked at at a time.
BLOCK = 256


def why_indefinite(kernel, inputs) -> str | None:
    """What shows that the kernel is not definite on its rows, None where nothing does."""
    if kernel.is_definite:
        return None
    rows, n = np.arange(len(inputs)), len(inputs)
    if n > CHECKED:
        rows = np.sort(np.random.default_rng(0).choice(n, CHECKED, replace=False))
    wide, part = replace(kernel, dtype=np.float64), inputs.take(rows)
    u = _roundoff(kernel, part)
    found = _of_matrix(wide.values(part, part), rows, u)
    if found or not kernel.is_precomputed or n <= CHECKED:
        return found
    return _of_pairs(wide, inputs, u)


def _roundoff(kernel, A):
    """The unit roundoff of the values as they are given."""
    if kernel.is_precomputed:
        dtype = A.rows.dtype
    else:
        one = A.take(slice(0, 1))
        dtype = np.asarray(kernel.name(one.rows, one.rows)).dtype if callable(kernel.name) else np.float64
    return 2.0**-24 if dtype == np.float32 else 2.0**-53


def _of_matrix(K, rows, u):
    """`rows` are the names of the rows of K (m, m)."""
    from scipy.linalg import LinAlgError, cholesky

    diagonal, m = np.diag(K).copy(), len(K)
    bad = np.argwhere(~np.isfinite(K))
    if len(bad):
        i, j = rows[bad[0]]
        return f"k is {K[*bad[0]]} for rows {i} and {j}"
    if (diagonal < 0).any():
        i = int(np.argmin(diagonal))
        return f"k(x, x) is {diagonal[i]:.3g} for row {rows[i]}"
    scale = np.exp2(-np.floor(np.log2(np.where(diagonal > 0, diagonal, 1.0)) / 2))
    K = K * scale * scale[:, None]
    t = (m + 1) * u * np.trace(K) + np.finfo(float).tiny
    skew = np.abs(K - K.T)
    if skew.max(initial=0.0) > t:
        i, j = rows[list(np.unravel_index(np.argmax(skew), K.shape))]
        return f"k(a, b) and k(b, a) differ for rows {i} and {j}"
    K[np.diag_indices(m)] += t
    try:
        cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return "some combination of its rows has a negative square"
    return None


def _of_pairs(kernel, inputs, u):
    """k(a, b)^2 <= k(a, a) k(b, b) for all pairs of a matrix."""
    roots = np.sqrt(np.maximum(kernel.diagonal(inputs), 0.0))
    for lo in range(0, len(inputs), BLOCK):
        K = np.abs(kernel.values(inputs.take(slice(lo, lo + BLOCK)), inputs))
        over = (1.0 + len(inputs) * u) * roots[lo : lo + BLOCK, None] * roots < K
        if over.any():
            i, j = np.argwhere(over)[0]
            return f"k(a, b)^2 is larger than k(a, a) k(b, b) for rows {lo + i} and {j}"
    return None
