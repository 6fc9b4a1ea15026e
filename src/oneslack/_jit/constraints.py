"""Compiled loops of groups of constraints that share a slack: cuts, slopes, dual coordinate passes.

The rows x_j with margins l_j lie sorted by group: group i has the rows starts[i] <= j < starts[i + 1].
g_j = l_j - <w, x_j> is how much constraint j lacks; a group pays s_i max(0, max_j g_j).
"""

import numpy as np

from .compiler import njit, register_jitable
from .held import add_row, metric, metric_product, weights
from .random import below, shuffle
from .rows import row_dot


@njit(nogil=True, cache=True)
def group_cut(starts, margins, s, S, lo, hi, c):
    """c_j = s_i for the worst row j of each group lo <= i < hi that lacks something, else 0.  Returns the
    sum of their s_i l_j."""
    total = 0.0
    for i in range(lo, hi):
        worst, most = -1, 0.0
        for j in range(starts[i], starts[i + 1]):
            c[j] = 0.0
            g = margins[j] - S[j]
            if g > most:
                worst, most = j, g
        if worst >= 0:
            c[worst] = s[i]
            total += s[i] * margins[worst]
    return total


@njit(nogil=True, cache=True)
def group_along(starts, margins, s, S, dS, t, lo, hi):
    """At S + t dS: the margins of the worst rows, what the groups pay, and the slope of that in t."""
    offset, total, slope = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        worst, most = -1, 0.0
        for j in range(starts[i], starts[i + 1]):
            g = margins[j] - (S[j] + t * dS[j])
            if g > most:
                worst, most = j, g
        if worst >= 0:
            offset += s[i] * margins[worst]
            total += s[i] * most
            slope -= s[i] * dS[worst]
    return offset, total, slope


@register_jitable
def _change(X, j, step, scale, alpha, total, i, full, w):
    """One dual moves by `step`; a group that is filled is filled exactly."""
    alpha[j] += step
    total[i] = full if step > 0.0 and total[i] + step >= full else total[i] + step
    add_row(X, j, scale * step, w)


@register_jitable
def _partner(rows, count, j, alpha, last):
    """The row that holds some dual and lacked least when it was last seen, but j; or -1."""
    k, least = -1, np.inf
    for a in range(count):
        other = rows[a]
        if other != j and alpha[other] > 0.0 and last[other] < least:
            k, least = other, last[other]
    return k


@register_jitable
def _pair_step(X, j, k, g, margins, norm2, scale, alpha, last, w, values):
    """Move dual from row k to row j, whose g is given.  Returns the growth of the dual and the violation."""
    last[k] = margins[k] - row_dot(X, k, values)
    violation = g - last[k]
    if violation <= 0.0:
        return 0.0, 0.0
    product, q_j, q_k = scale * metric_product(X, j, k, metric(w)), scale * norm2[j], scale * norm2[k]
    h = q_j + q_k - 2.0 * product
    step = min(violation / h, alpha[k]) if h > 0.0 else alpha[k]
    alpha[j] += step
    alpha[k] = alpha[k] - step if step < alpha[k] else 0.0
    add_row(X, j, scale * step, w)
    add_row(X, k, -scale * step, w)
    last[j] = g - step * (q_j - product)
    last[k] += step * (q_k - product)
    return step * (violation - 0.5 * step * h), violation


@register_jitable
def _visit(X, margins, norm2, scale, i, full, rows, count, alpha, total, last, w, values, seen):
    """Visit the rows of a group in their order; Ramanan's four cases.  Returns the growth of the dual.

    seen[0] becomes the group's gap full max(0, max g) - sum alpha g, from the g of each row when it was
    met; seen[1] and seen[2] the largest violations downwards and upwards.
    """
    growth, best, offered = 0.0, 0.0, 0.0
    for a in range(count):
        j = rows[a]
        g = margins[j] - row_dot(X, j, values)
        last[j] = g
        best = max(best, g)
        offered += alpha[j] * g
        q = scale * norm2[j]
        if g < 0.0 and alpha[j] > 0.0:
            step = max(g / q, -alpha[j]) if q > 0.0 else -alpha[j]
            seen[1] = max(seen[1], -g)
        elif g > 0.0 and total[i] < full:
            rest = full - total[i]
            step = min(g / q, rest) if q > 0.0 else rest
            seen[2] = max(seen[2], g)
        else:
            step = 0.0
        if step != 0.0:
            growth += step * (g - 0.5 * step * q)
            _change(X, j, step, scale, alpha, total, i, full, w)
            g -= step * q
            last[j] = g
        if g > 0.0 and total[i] == full:
            k = _partner(rows, count, j, alpha, last)
            if k >= 0 and last[k] < g:
                gained, violation = _pair_step(X, j, k, g, margins, norm2, scale, alpha, last, w, values)
                growth += gained
                seen[1] = max(seen[1], violation)
                seen[2] = max(seen[2], violation)
    seen[0] = full * best - offered
    return growth


@register_jitable
def _keep(rows, count, alpha, g, is_full, low, high):
    """Order the rows so that those which may still move come first; return their number, or 0 where the
    whole group is settled.

    A row without dual rests when it lies below what it would have to beat: 0, or in a full group the
    least of those that hold some.  A full group rests when one row alone holds all and lacks more than
    `high`.  low and high are the distances from which on a row rests.
    """
    holders, least = 0, np.inf
    for a in range(count):
        if alpha[rows[a]] > 0.0:
            holders += 1
            least = min(least, g[rows[a]])
    beaten = max(least, 0.0) if is_full and holders else 0.0
    m = 0
    for a in range(count):
        j = rows[a]
        if alpha[j] > 0.0 or g[j] >= beaten - low:
            rows[a] = rows[m]
            rows[m] = j
            m += 1
    settled = m == 1 and is_full and holders == 1 and least > high
    return 0 if settled else m


@njit(nogil=True, cache=True)
def dual_pass(
    X, starts, margins, upper, norm2, scale, alpha, total, last, w, rows, counts, active, n_active, kept,
    block, zone, state,
):  # fmt: skip
    """One pass of dual coordinate ascent over the groups active[:n_active], in blocks of neighbours.

    Duals alpha_j >= 0 sum to at most upper_i in a group; total_i is that sum, kept where a group has
    several rows, and w = scale sum alpha_j x_j + anything fixed is kept up to date (scale is below 1 around
    an anchor, solvers/anchor.py), or is a Held (held.py).  A group visits its counts[i] active rows, listed
    in rows[starts[i]:], in random order.  Rows that rest by more than `zone` (below, above) are left out of
    the next pass, and groups without an active row: kept[:m] lists those that stay.  Returns m, the number of
    their active rows, the running sum of the groups' gaps, the growth of the dual, and the largest violations
    downwards and upwards.
    """
    segments = np.arange((n_active + block - 1) // block)
    shuffle(segments, 0, segments.shape[0], state)
    gap, growth, low, high = 0.0, 0.0, 0.0, 0.0
    m, n_rows = 0, 0
    seen, values = np.zeros(3), weights(w)
    for segment in segments:
        lo = segment * block
        for a in range(min(lo + block, n_active) - 1, lo - 1, -1):
            b = lo + below(state, a - lo + 1)
            i = active[b]
            active[b] = active[a]
            active[a] = i
            j, C = starts[i], upper[i]
            if starts[i + 1] == j + 1:  # a slack of its own: one box-bounded dual
                g = margins[j] - row_dot(X, j, values)
                old = alpha[j]
                gap += (C - old) * g if g > 0.0 else -old * g
                if (old == 0.0 and g < -zone[0]) or (old == C and g > zone[1]):
                    continue
                kept[m] = i
                m += 1
                n_rows += 1
                if (old == 0.0 and g <= 0.0) or (old == C and g >= 0.0):
                    continue
                low = max(low, -g)
                high = max(high, g)
                q = scale * norm2[j]
                new = min(max(old + g / q, 0.0), C) if q > 0.0 else (C if g > 0.0 else 0.0)
                if new != old:
                    alpha[j] = new
                    growth += (new - old) * (g - 0.5 * (new - old) * q)
                    add_row(X, j, scale * (new - old), w)
                continue
            listed = rows[j : starts[i + 1]]
            shuffle(listed, 0, counts[i], state)
            seen[:] = 0.0
            growth += _visit(
                X, margins, norm2, scale, i, C, listed, counts[i], alpha, total, last, w, values, seen
            )
            gap += seen[0]
            low, high = max(low, seen[1]), max(high, seen[2])
            counts[i] = _keep(listed, counts[i], alpha, last, total[i] == C, zone[0], zone[1])
            if counts[i] > 0:
                kept[m] = i
                m += 1
                n_rows += counts[i]
    return m, n_rows, gap, growth, low, high


@njit(nogil=True, cache=True)
def reopen(starts, margins, upper, S, alpha, total, last, rows, counts, active):
    """List the rows that may still move at scores S, and their groups; all others are where they should
    be.  Returns the number of groups and of rows."""
    m, n_rows = 0, 0
    for j in range(margins.shape[0]):
        last[j] = margins[j] - S[j]
    for i in range(upper.shape[0]):
        first, size = starts[i], starts[i + 1] - starts[i]
        if size == 0 or upper[i] == 0.0:
            counts[i] = 0
            continue
        held = 0.0
        for a in range(size):
            rows[first + a] = first + a
            held += alpha[first + a]
        if total[i] != upper[i]:  # what rounding has left while duals came and went
            total[i] = min(held, upper[i])
        is_full = total[i] == upper[i] if size > 1 else alpha[first] == upper[i]
        counts[i] = _keep(rows[first : first + size], size, alpha, last, is_full, 0.0, 0.0)
        if counts[i] > 0:
            active[m] = i
            m += 1
            n_rows += counts[i]
    return m, n_rows
