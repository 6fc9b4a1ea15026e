"""Dual passes of the multi-class hinge: exact steps, example by example, with shrinking of classes.

    D(alpha) = sum_iz alpha_iz L[y_i, z] - 1/2 |W|^2,    W = sum_i x_i (upper_i e_y - alpha_i)'

alpha (n, K) has row sums upper_i.  With g_z = L[y_i, z] + <w_z, x_i> + b_z, the best alpha_i for all others
fixed is the projection of alpha_i + g / |x_i|^2 on its simplex (Crammer & Singer 2001; Keerthi et al. 2008).
"""

import numpy as np

from .compiler import njit, register_jitable
from .held import add_row_all, add_row_some, weights
from .multiclass import project_simplex
from .random import below, shuffle
from .rows import row_scores, row_some_scores

#: Weights of a feature lie side by side: taking all classes is faster than picking fewer than one in so many.
PICKED = 8


@register_jitable
def draw(active, lo, a, state):
    """One of active[lo : a + 1], which goes to place a: called for falling a, a shuffle."""
    k = lo + below(state, a - lo + 1)
    i = active[k]
    active[k] = active[a]
    active[a] = i
    return i


@register_jitable
def offers(losses, p, mine, size, g):
    """Add the losses to the scores g of the classes in play; returns the highest, the lowest of those with
    duals p, and <p, g>."""
    highest, lowest, offered = -np.inf, np.inf, 0.0
    for j in range(size):
        z = mine[j]
        g[j] += losses[z]
        highest = max(highest, g[j])
        offered += p[z] * g[j]
        if p[z] > 0.0:
            lowest = min(lowest, g[j])
    return highest, lowest, offered


@register_jitable
def leave(p, mine, size, g, bar):
    """Classes with no dual whose g lies below the bar go behind the others; returns how many stay."""
    left = 0
    for j in range(size):
        z = mine[j]
        if p[z] > 0.0 or g[j] >= bar:
            mine[j], mine[left] = mine[left], z
            g[j], g[left] = g[left], g[j]
            left += 1
    return left


@register_jitable
def step(p, total, g, highest, mine, left, norm, rate, bias, scale, changed, change, work):
    """Move the duals p of an example to their best; returns the number of classes that changed, first in
    `changed`, with scale times what their weights get of x in `change`, and the growth of the dual."""
    q = norm + rate
    for j in range(left):
        # An empty row is linear in its duals: all goes to the highest.  Counted from there, what a
        # very short one makes too large for a number is -inf, which no dual goes to.
        away = (g[j] - highest) / q if q > 0.0 else 0.0
        change[j] = p[mine[j]] + away if q > 0.0 else total * (g[j] == highest)
    project_simplex(change, total, left, work)
    moves, growth = 0, 0.0
    for j in range(left):
        z = mine[j]
        gone = p[z] - change[j]
        if gone != 0.0:
            p[z] = change[j]
            growth -= gone * (g[j] + 0.5 * gone * norm)
            bias[z] += rate * gone
            changed[moves] = z
            change[moves] = scale * gone
            moves += 1
    return moves, growth


@njit(nogil=True, cache=True)
def dual_pass(
    X, y, upper, L, norm2, scale, rate, alpha, W, bias, classes, n_classes, active, count, kept, block,
    zone, state,
):  # fmt: skip
    """One pass of dual block steps over active[:count], in blocks of neighbouring rows.

    W = scale sum_i x_i (upper_i e_y - alpha_i)' + anything fixed is kept up to date (scale is below 1 around
    an anchor, solvers/anchor.py), or is a Held (held.py).  Only the classes still in play are looked at,
    classes[i, :n_classes[i]]; one with no dual that lies below the others by more than `zone` leaves.
    kept[:m] lists the examples that stay.  Returns m, the running sum of gaps upper_i max_z g_z -
    <alpha_i, g>, the growth of the dual, and the largest violation.
    """
    K = L.shape[0]
    full, g, change, work = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    changed = np.empty(K, np.int64)
    segments = np.arange((count + block - 1) // block)
    shuffle(segments, 0, segments.shape[0], state)
    gap, growth, violation = 0.0, 0.0, 0.0
    m, values = 0, weights(W)
    for segment in segments:
        lo = segment * block
        for a in range(min(lo + block, count) - 1, lo - 1, -1):
            i = draw(active, lo, a, state)
            if upper[i] == 0.0:
                continue
            mine, size, p = classes[i], n_classes[i], alpha[i]
            if PICKED * size <= K:
                for j in range(size):
                    g[j] = bias[mine[j]]
                row_some_scores(X, i, values, mine, size, g)
            else:
                for z in range(K):  # a copy of slices would compile a message on shapes, for two seconds
                    full[z] = bias[z]
                row_scores(X, i, values, full)
                for j in range(size):
                    g[j] = full[mine[j]]
            highest, lowest, offered = offers(L[y[i]], p, mine, size, g)
            gap += upper[i] * highest - offered
            left = leave(p, mine, size, g, lowest - zone)
            n_classes[i] = left
            if left == 1:
                continue
            kept[m] = i
            m += 1
            # lowest: the worst class that holds some dual
            if highest - lowest <= 0.0:
                continue
            violation = max(violation, highest - lowest)
            moves, grown = step(
                p, upper[i], g, highest, mine, left, scale * norm2[i], rate, bias, scale, changed, change,
                work,
            )  # fmt: skip
            growth += grown
            if PICKED * moves <= K:
                add_row_some(X, i, change, changed, moves, W)
            else:
                full[:] = 0.0
                for j in range(moves):
                    full[changed[j]] = change[j]
                add_row_all(X, i, full, W)
    return m, gap, growth, violation


@njit(nogil=True, cache=True)
def reopen(y, upper, L, S, alpha, classes, n_classes, out):
    """Put every class that matters at scores S back into play; list the examples with two or more."""
    K = L.shape[0]
    m = 0
    for i in range(y.shape[0]):
        lowest = np.inf
        for z in range(K):
            if alpha[i, z] > 0.0:
                lowest = min(lowest, L[y[i], z] + S[i, z])
        size = 0
        for z in range(K):
            if alpha[i, z] > 0.0 or L[y[i], z] + S[i, z] >= lowest:
                classes[i, size] = z
                size += 1
        n_classes[i] = size
        if size > 1:
            out[m] = i
            m += 1
    return m
