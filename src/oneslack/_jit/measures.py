"""Compiled loops of the measures of a whole sample: which outputs are worst, given scores.

A worst output keeps the top `a` of the P positives and takes the top `b` of the N negatives for
positives.  It is told by two thresholds: an example counts as positive when its score is above its
class's threshold; of those that sit on it, the first `ties` do.
"""

import math

import numpy as np

from .compiler import njit, register_jitable

#: A bound that decides for or against an example is loosened by this much, for rounding.
LOOSE = 1e-12


@njit(nogil=True, cache=True)
def flip(y, S, above_p, ties_p, above_n, ties_n, c):
    """c_i = y_i where the output told by the thresholds is not y_i, else 0."""
    for i in range(y.shape[0]):
        s = S[i]
        if y[i] > 0.0:
            chosen = s > above_p
            if s == above_p and ties_p > 0:
                chosen = True
                ties_p -= 1
            c[i] = 0.0 if chosen else 1.0
        else:
            chosen = s > above_n
            if s == above_n and ties_n > 0:
                chosen = True
                ties_n -= 1
            c[i] = -1.0 if chosen else 0.0


# F-beta.  With c = beta^2 P, s = c + b, K = n (1 + beta^2):
#   one more negative, b -> b + 1, earns  q + K f(a, c + b)      f(x, z) = x / ((x + z) (x + z + 1))
#   one more positive, a -> a + 1, earns  p - K f(c + b, a)
# For fixed z, f rises in x until x = sqrt(z (z + 1)) and falls from there; it falls in z.


@register_jitable
def _f(x, z):
    return x / ((x + z) * (x + z + 1.0)) if x > 0.0 else 0.0


@register_jitable
def _range_of_f(x_lo, x_hi, z_lo, z_hi):
    """(lower, upper) bound of f(x, z) over x_lo <= x <= x_hi and z_lo <= z <= z_hi."""
    lower = min(_f(x_lo, z_hi), _f(x_hi, z_hi))
    upper = _f(min(max(math.sqrt(z_lo * (z_lo + 1.0)), x_lo), x_hi), z_lo)
    return lower * (1.0 - LOOSE), upper * (1.0 + LOOSE)


@register_jitable
def _sift(values, count, lower, upper):
    """Keep those of values[:count] that lie in [lower, upper], in front.

    Returns how many stay, how many are above, and the least of those above.
    """
    kept, above, least = 0, 0, np.inf
    for i in range(count):
        v = values[i]
        values[kept] = v
        kept += 1 if lower <= v <= upper else 0
        if v > upper:
            above += 1
            least = min(least, v)
    return kept, above, least


@njit(nogil=True, cache=True)
def fbeta_sift(p, q, c, K):
    """Shrink the box a_lo <= a <= a_hi, b_lo <= b <= b_hi that holds every best (a, b).

    Over a box the gains above are bounded.  A positive that is worth keeping wherever we are in the
    box is among the best a, one that never is worth it is not; the same for negatives.  So the box
    shrinks, the bounds tighten, and again.  p (P,) and q (N,) are overwritten: what is still open
    comes in front.  Returns a_lo, the number of open positives, the least positive that is surely kept,
    and the same for negatives.
    """
    open_p, open_q = p.shape[0], q.shape[0]
    a_lo, b_lo = 0, 0
    least_p, least_q = np.inf, np.inf
    while True:
        before = open_p + open_q
        if open_q:
            lower, upper = _range_of_f(a_lo, a_lo + open_p, c + b_lo, c + b_lo + open_q - 1)
            open_q, above, least = _sift(q, open_q, -K * upper, -K * lower)
            b_lo += above
            least_q = min(least_q, least)
        if open_p:
            lower, upper = _range_of_f(c + b_lo, c + b_lo + open_q, a_lo, a_lo + open_p - 1)
            open_p, above, least = _sift(p, open_p, K * lower, K * upper)
            a_lo += above
            least_p = min(least_p, least)
        # Sorting what is left costs a few passes: go on while a pass takes away a fifth of it.
        if open_p + open_q > 0.8 * before or open_p + open_q < 64:
            return a_lo, open_p, least_p, b_lo, open_q, least_q


@njit(nogil=True, cache=True)
def fbeta_scan(p, q, a_lo, b_lo, c, K):
    """The best (a, b) of the box, from its open scores p and q, ascending.

    For fixed a the gain of one more negative falls with b: go on while it is positive.  Along a that
    place first rises, then falls (see models/measures/f_beta.py), so the pointer walks O(P + N) steps.
    """
    n_p, n_q = p.shape[0], q.shape[0]
    best, best_a, best_b = -np.inf, a_lo, b_lo
    sum_p, sum_q = 0.0, 0.0
    j = 0
    for i in range(n_p + 1):
        a = a_lo + i
        if i > 0:
            sum_p += p[n_p - i]
        while j < n_q and q[n_q - 1 - j] + K * _f(a, c + b_lo + j) > 0.0:
            sum_q += q[n_q - 1 - j]
            j += 1
        while j > 0 and q[n_q - j] + K * _f(a, c + b_lo + j - 1) <= 0.0:
            j -= 1
            sum_q -= q[n_q - 1 - j]
        value = sum_p + sum_q - K * a / (c + a + b_lo + j)
        if value > best:
            best, best_a, best_b = value, a, b_lo + j
    return best_a, best_b


# Any loss, as a table.


# Only finite numbers come in, so the compiler may reorder the comparisons of a maximum.
@register_jitable(fastmath={"nnan", "nsz"})
def _row_maximum(row, B):
    best = -np.inf
    for b in range(row.shape[0]):
        best = max(best, row[b] + B[b])
    return best


@njit(nogil=True, cache=True)
def table_best(L, A, B):
    """(value, a, b) of the largest L[a, b] + A[a] + B[b]."""
    best, best_a = -np.inf, 0
    for a in range(L.shape[0]):
        value = A[a] + _row_maximum(L[a], B)
        if value > best:
            best, best_a = value, a
    best_b = 0
    for b in range(1, L.shape[1]):
        if L[best_a, b] + B[b] > L[best_a, best_b] + B[best_b]:
            best_b = b
    return best, best_a, best_b


# Average precision.


@njit(nogil=True, cache=True)
def worst_places(p, q, places):
    """places[j] = how many positives stay before negative j in the worst ranking; p, q descending.

    Divide and conquer: the places rise with j (see models/measures/average_precision.py), so the
    place of the middle negative bounds those of both halves.
    """
    N = q.shape[0]
    stack = np.empty((128, 4), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, N, 0, p.shape[0]
    depth = 1
    while depth > 0:
        depth -= 1
        j_lo, j_hi, k_lo, k_hi = stack[depth]
        if k_lo == k_hi:
            places[j_lo:j_hi] = k_lo
            continue
        j = (j_lo + j_hi) // 2
        run, best, k = 0.0, 0.0, k_hi
        for i in range(k_hi - 1, k_lo - 1, -1):
            # Putting negative j before positive i as well; ranks count from 1.
            rank = i + 1.0
            run += N * rank / ((rank + j) * (rank + j + 1.0)) - (p[i] - q[j])
            if run > best:
                best, k = run, i
        places[j] = k
        if j_lo < j:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j_lo, j, k_lo, k
            depth += 1
        if j + 1 < j_hi:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j + 1, j_hi, k, k_hi
            depth += 1


@njit(nogil=True, cache=True)
def negatives_before(places, before):
    """before[i] = number of negatives before positive i; returns sum_i (i + 1) / (i + 1 + before[i])."""
    total, j = 0.0, 0
    for i in range(before.shape[0]):
        while j < places.shape[0] and places[j] <= i:
            j += 1
        before[i] = j
        total += (i + 1.0) / (i + 1.0 + j)
    return total


# The Q measure of quantifiers.


@register_jitable
def _best_of_row(r, q0, step, n, B, b_lo, b_hi):
    """(value, b) of the largest B[b] - n Q(q0 + step b, r) for b_lo <= b <= b_hi."""
    best, best_b = -np.inf, b_lo
    for b in range(b_lo, b_hi + 1):
        value = B[b]
        if r > 0.0:
            q = q0 + step * b
            value -= n * 2.0 * q * r / (q + r)
        if value > best:
            best, best_b = value, b
    return best, best_b


@njit(nogil=True, cache=True)
def q_worst(A, B, n):
    """(a, b) of the largest n (1 - Q(a, b)) + A[a] + B[b], by the divide and conquer of
    models/measures/q_measure.py; A (P + 1,) with P > 0, B (N + 1,)."""
    P, N = A.shape[0] - 1, B.shape[0] - 1
    M = max(P, N)
    stack = np.empty((128, 4), np.int64)
    best, best_a, best_b = -np.inf, 0, 0
    for side in (1.0, -1.0):
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, P + 1, 0, N
        depth = 1
        while depth > 0:
            depth -= 1
            a_lo, a_hi, b_lo, b_hi = stack[depth]
            a = (a_lo + a_hi) // 2
            q0 = 1.0 + side * (a - P) / M
            value, b = _best_of_row(a / P, q0, side / M, n, B, b_lo, b_hi)
            if value + A[a] > best:
                best, best_a, best_b = value + A[a], a, b
            # The best b falls with a where side is 1, and rises where it is -1.
            if a_lo < a:
                stack[depth, 0], stack[depth, 1] = a_lo, a
                stack[depth, 2], stack[depth, 3] = (b, b_hi) if side > 0 else (b_lo, b)
                depth += 1
            if a + 1 < a_hi:
                stack[depth, 0], stack[depth, 1] = a + 1, a_hi
                stack[depth, 2], stack[depth, 3] = (b_lo, b) if side > 0 else (b, b_hi)
                depth += 1
    return best_a, best_b
