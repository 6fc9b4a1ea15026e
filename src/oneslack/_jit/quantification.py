"""Compiled loops of the measures of quantifiers."""

import numpy as np
from numba import njit
from numba.extending import register_jitable


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
