"""Dual passes of independent labels: one visit to a row of X moves the duals of all its labels.

    D(alpha) = sum_il alpha_il - 1/2 |W|^2,    W = sum_i x_i (sign_i o alpha_i)',    0 <= alpha_il <= upper_i

Labels share nothing but the row, so each takes its own exact step (Hsieh et al. 2008), and the row is read
twice for all of them.  Labels that rest at a bound leave the row's list until the next check (shrinking).
"""

import numpy as np

from .compiler import njit
from .held import add_row_all, add_row_some
from .multiclass_dual import PICKED, draw
from .random import shuffle
from .rows import row_scores, row_some_scores


@njit(nogil=True, cache=True)
def dual_pass(X, Y, upper, norm2, scale, alpha, W, labels, n_labels, active, count, kept, block, zone, state):
    """One pass over active[:count], in blocks of neighbouring rows.

    W = scale sum_i x_i (sign_i o alpha_i)' + anything fixed is kept up to date.  A label at a bound whose
    slope leads out of it by more than `zone` leaves labels[i, :n_labels[i]].  kept[:m] lists the rows that
    stay.  Returns m, the running sum of gaps, the growth of the dual, and the largest violation.
    """
    L = Y.shape[1]
    full, g, change = np.empty(L), np.empty(L), np.empty(L)
    changed = np.empty(L, np.int64)
    segments = np.arange((count + block - 1) // block)
    shuffle(segments, 0, segments.shape[0], state)
    gap, growth, violation = 0.0, 0.0, 0.0
    m = 0
    for segment in segments:
        lo = segment * block
        for at in range(min(lo + block, count) - 1, lo - 1, -1):
            i = draw(active, lo, at, state)
            C = upper[i]
            if C == 0.0:
                continue
            mine, size, p, norm = labels[i], n_labels[i], alpha[i], scale * norm2[i]
            if PICKED * size <= L:
                for j in range(size):
                    g[j] = 0.0
                row_some_scores(X, i, W, mine, size, g)
            else:
                for a in range(L):
                    full[a] = 0.0
                row_scores(X, i, W, full)
                for j in range(size):
                    g[j] = full[mine[j]]
            left = moves = 0
            for j in range(size):
                a = mine[j]
                sign = 1.0 if Y[i, a] else -1.0
                slope = 1.0 - sign * g[j]
                gap += C * max(slope, 0.0) - p[a] * slope
                if (p[a] == 0.0 and slope < -zone) or (p[a] == C and slope > zone):
                    continue
                mine[j], mine[left] = mine[left], a
                left += 1
                if (p[a] == 0.0 and slope <= 0.0) or (p[a] == C and slope >= 0.0):
                    continue
                violation = max(violation, abs(slope))
                best = (C if slope > 0.0 else 0.0) if norm == 0.0 else min(max(p[a] + slope / norm, 0.0), C)
                step = best - p[a]
                if step != 0.0:
                    p[a] = best
                    growth += step * (slope - 0.5 * step * norm)
                    changed[moves], change[moves] = a, scale * sign * step
                    moves += 1
            n_labels[i] = left
            if left:
                kept[m] = i
                m += 1
            if moves == 0:
                continue
            if PICKED * moves <= L:
                add_row_some(X, i, change, changed, moves, W)
            else:
                full[:] = 0.0
                for j in range(moves):
                    full[changed[j]] = change[j]
                add_row_all(X, i, full, W)
    return m, gap, growth, violation


@njit(nogil=True, cache=True)
def reopen(Y, upper, S, alpha, labels, n_labels, out):
    """Put every dual that may move at scores S back into play; list the rows that have one."""
    m = 0
    for i in range(Y.shape[0]):
        size = 0
        for a in range(Y.shape[1]):
            slope = 1.0 - S[i, a] if Y[i, a] else 1.0 + S[i, a]
            is_free = 0.0 < alpha[i, a] < upper[i]
            if is_free or (alpha[i, a] < upper[i] and slope >= 0.0) or (alpha[i, a] > 0.0 and slope <= 0.0):
                labels[i, size] = a
                size += 1
        n_labels[i] = size
        if size:
            out[m] = i
            m += 1
    return m
