"""Examples that `partial_fit` forgets, merged: a few that lie under all of them.

Examples of weights s_i whose duals p_i have one sign become one: x = sum_i m_i x_i / sum_i m_i, and likewise
y, with m_i = s_i |p_i|, of weight M = sum_i m_i / q and dual q.  Losses are >= 0, and convex in score and
target together, so with q = max_i |p_i| (Jensen)

    M phi(y, <w, x>) <= sum_i (m_i / q) phi_i(w) <= sum_i s_i phi_i(w)

Of a square u^2 of an excess u, q = sum_i m_i |p_i| / sum_i m_i will do, which is less: by Cauchy and Schwarz
(sum_i m_i u_i)^2 <= sum_i m_i |p_i| sum_i s_i u_i^2.  Either way M q = sum_i m_i: v = sum alpha x stays as it
is, and so does D, for squares and for losses with kinks.  Of the others (Huber's, logistic) a dual pays more
the larger it is beside its weight, so that only those are merged that are alike.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

#: Duals are alike that differ by this factor at most; those of the last of so many groups by any.
FACTOR, GROUPS = 1.4, 8


def merge(model, data, shares):
    """Rows (X, y, weights, shares), each of length 1: one for each kind of dual that the examples have."""
    merged = []
    for mass, target, weight, share in _groups(model, data, shares):
        total = float(mass.sum())
        if total > 0.0:
            x = (mass / total) @ data.X
            x = sp.csr_array(np.atleast_2d(x)) if sp.issparse(data.X) else np.atleast_2d(x)
            merged.append((x, np.array([target], data.y.dtype), np.array([weight]), np.array([share])))
    return merged


def _groups(model, data, shares):
    """Yield (mass (n,), target, weight, share)."""
    if not hasattr(model, "phi"):
        for mass, target, share in model.merges(data, shares):
            yield mass, target, float(mass.sum()), share
        return
    phi = model.phi
    for side in (-1.0, 1.0):
        sizes = np.maximum(side * shares, 0.0)
        for chosen in _alike(phi, sizes):
            mass = np.where(chosen, data.weights * sizes, 0.0)
            if (total := float(mass.sum())) > 0.0:
                share = (
                    float(mass @ sizes) / total if phi.steepest == np.inf else float(sizes[mass > 0].max())
                )
                target = side if phi.has_sides else float(mass @ data.y) / total
                yield mass, target, total / share, side * share


def _alike(phi, sizes):
    """Yield masks (n,) of duals that may be merged."""
    if phi.steepest == np.inf or phi.stiffest == np.inf:
        yield sizes > 0.0
        return
    high = phi.steepest
    for k in range(GROUPS):
        low = high / FACTOR if k < GROUPS - 1 else 0.0
        yield (low < sizes) & (sizes <= high)
        high = low
