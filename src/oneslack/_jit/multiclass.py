"""Compiled loops of the multi-class hinge (Crammer & Singer) with any loss matrix.

y holds class numbers, L (K, K) the losses, S (n, K) the scores, s the sample weights, and
g_z = L[y_i, z] + S_iz is what class z offers against the truth: the hinge is max_z g_z - g_y.
"""

import numpy as np
from numba.extending import register_jitable

from .compiler import njit
from .held import add_row_all, add_row_some, weights
from .random import below, shuffle
from .rows import row_nonzeros, row_scores, row_some_scores


@register_jitable
def project_simplex(v, total, count, work):
    """Replace v[:count] by its projection on {p >= 0, sum p = total}, total > 0.

    Only entries within `total` of the largest can stay positive; of those, drop what lies under the
    threshold that the rest would have, until none does (Michelot 1986).  All are counted from the largest
    first: beside a v of 1e12, a total of 1e-4 would be lost.
    """
    top = v[0]
    for j in range(1, count):
        top = max(top, v[j])
    m, running = 0, 0.0
    for j in range(count):
        v[j] -= top
        if v[j] > -total or v[j] == 0.0:
            work[m] = v[j]
            running += v[j]
            m += 1
    threshold = (running - total) / m
    dropped = True
    while dropped and m > 1:
        dropped = False
        left, running = 0, 0.0
        for j in range(m):
            if work[j] > threshold:
                work[left] = work[j]
                running += work[j]
                left += 1
        if 0 < left < m:
            m, dropped = left, True
            threshold = (running - total) / m
    # Rounding must not leave the simplex: a dual bound rests on it.
    given = 0.0
    for j in range(count):
        v[j] = max(v[j] - threshold, 0.0)
        given += v[j]
    for j in range(count):
        v[j] = v[j] * (total / given) if given > 0.0 else 0.0


@register_jitable
def _worst(losses, scores):
    best, z_best = -np.inf, 0
    for z in range(losses.shape[0]):
        g = losses[z] + scores[z]
        if g > best:
            best, z_best = g, z
    return z_best


@njit(nogil=True, cache=True)
def hinge_cut(y, s, L, S, lo, hi, A):
    """Worst outputs at S: row i of A becomes s_i (e_y - e_z).  Returns sum s_i L[y_i, z_i]."""
    total = 0.0
    for i in range(lo, hi):
        A[i, :] = 0.0
        z = _worst(L[y[i]], S[i])
        if z != y[i]:
            A[i, y[i]] = s[i]
            A[i, z] = -s[i]
            total += s[i] * L[y[i], z]
    return total


@njit(nogil=True, cache=True)
def hinge_sum(y, s, L, S, lo, hi):
    """sum_i s_i (max_z g_z - g_y)."""
    total = 0.0
    for i in range(lo, hi):
        z = _worst(L[y[i]], S[i])
        total += s[i] * (L[y[i], z] + S[i, z] - S[i, y[i]])
    return total


@njit(nogil=True, cache=True)
def hinge_along(y, s, L, S, dS, t, lo, hi):
    """At S + t dS: the losses of the worst outputs, the hinge sum, and its slope in t."""
    K = L.shape[0]
    loss, total, slope = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        best, z_best = -np.inf, 0
        for z in range(K):
            g = L[y[i], z] + S[i, z] + t * dS[i, z]
            if g > best:
                best, z_best = g, z
        loss += s[i] * L[y[i], z_best]
        total += s[i] * (best - S[i, y[i]] - t * dS[i, y[i]])
        slope += s[i] * (dS[i, z_best] - dS[i, y[i]])
    return loss, total, slope


@njit(nogil=True, cache=True)
def smooth_duals(y, s, L, S, mu, lo, hi, P):
    """Duals of the smoothed hinge: row i of P is the projection of g / mu on the simplex.

    Returns sum s_i <p_i, L[y_i]>, the hinge sum, and the smoothing error
    sum s_i (mu/2) (1 - |p_i|^2).
    """
    K = L.shape[0]
    work = np.empty(K)
    mass, hinge, error = 0.0, 0.0, 0.0
    for i in range(lo, hi):
        p = P[i]
        losses = L[y[i]]
        best, z_best, second = -np.inf, 0, -np.inf
        for z in range(K):
            p[z] = losses[z] + S[i, z]
            if p[z] > best:
                best, z_best, second = p[z], z, best
            elif p[z] > second:
                second = p[z]
        hinge += s[i] * (best - S[i, y[i]])
        if best - second >= mu:  # outside the rounding: one output has it all
            p[:] = 0.0
            p[z_best] = 1.0
            mass += s[i] * losses[z_best]
            continue
        for z in range(K):
            p[z] = (p[z] - best) / mu
        project_simplex(p, 1.0, K, work)
        norm2 = 0.0
        for z in range(K):
            mass += s[i] * p[z] * losses[z]
            norm2 += p[z] * p[z]
        error += s[i] * (1.0 - norm2)
    return mass, hinge, 0.5 * mu * error


@njit(nogil=True, cache=True)
def share_coefficients(y, s, P, A):
    """Row i of A becomes s_i (e_y - p_i): what other classes get the truth gives.  As 1 - p_y it would have
    the rounding of 1, large beside duals that are tiny."""
    for i in range(y.shape[0]):
        given = 0.0
        for z in range(P.shape[1]):
            A[i, z] = -s[i] * P[i, z]
            if z != y[i]:
                given += P[i, z]
        A[i, y[i]] = s[i] * given


@njit(nogil=True, cache=True)
def smooth_slope(y, s, L, S, dS, t, mu, lo, hi):
    """Slope and curvature along dS, at t, of the smoothed hinge sum."""
    K = L.shape[0]
    p = np.empty(K)
    work = np.empty(K)
    slope, curvature = 0.0, 0.0
    for i in range(lo, hi):
        best, z_best, second = -np.inf, 0, -np.inf
        for z in range(K):
            p[z] = L[y[i], z] + S[i, z] + t * dS[i, z]
            if p[z] > best:
                best, z_best, second = p[z], z, best
            elif p[z] > second:
                second = p[z]
        if best - second >= mu:
            slope += s[i] * (dS[i, z_best] - dS[i, y[i]])
            continue
        for z in range(K):
            p[z] = (p[z] - best) / mu
        project_simplex(p, 1.0, K, work)
        mean, square, support = 0.0, 0.0, 0
        for z in range(K):
            if p[z] > 0.0:
                slope += s[i] * p[z] * dS[i, z]
                mean += dS[i, z]
                square += dS[i, z] * dS[i, z]
                support += 1
        slope -= s[i] * dS[i, y[i]]
        curvature += s[i] * (square - mean * mean / support)
    return slope, curvature / mu


@njit(nogil=True, cache=True)
def smooth_hessian(X, s, P, mu, lo, hi, intercept, H):
    """H += sum_i (s_i / mu) (I - 11'/|Z_i|) (x) x_i x_i' on the support Z_i of p_i (lower
    triangle).

    Parameter (feature k, class z) is k K + z; the biases come last, as one more feature.
    """
    K = P.shape[1]
    d = H.shape[0] // K
    index = np.empty(d, np.int64)
    value = np.empty(d)
    support = np.empty(K, np.int64)
    for i in range(lo, hi):
        m = 0
        for z in range(K):
            if P[i, z] > 0.0:
                support[m] = z
                m += 1
        if m < 2:
            continue
        count = row_nonzeros(X, i, index, value)
        if intercept:
            index[count] = d - 1
            value[count] = 1.0
            count += 1
        for a in range(count):
            for b in range(a + 1):
                product = s[i] / mu * value[a] * value[b]
                for j in range(m):
                    row = H[index[a] * K + support[j]]
                    for k in range(m):
                        factor = 1.0 - 1.0 / m if j == k else -1.0 / m
                        row[index[b] * K + support[k]] += product * factor


@njit(nogil=True, cache=True)
def dual_pass(
    X, y, upper, L, norm2, scale, rate, alpha, W, bias, classes, n_classes, active, count, kept, block,
    zone, state,
):  # fmt: skip
    """One pass of dual block steps over active[:count], in blocks of neighbouring rows.

    alpha (n, K) has row sums upper_i; W = scale sum_i x_i (upper_i e_y - alpha_i)' + anything fixed is kept
    up to date (scale is below 1 around an anchor, solvers/anchor.py), or is a Held (held.py).
    The step on example i is the projection of alpha_i + g / (scale |x_i|^2) on its simplex, over the
    classes still in play, classes[i, :n_classes[i]]; a class with no dual that lies below the
    others by more than `zone` leaves.  kept[:m] lists the examples that stay.  Returns m, the
    running sum of gaps upper_i max_z g_z - <alpha_i, g>, the growth of the dual, and the largest
    violation.
    """
    K = L.shape[0]
    full, g, v, work = np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    changed = np.empty(K, np.int64)
    segments = np.arange((count + block - 1) // block)
    shuffle(segments, 0, segments.shape[0], state)
    gap, growth, violation = 0.0, 0.0, 0.0
    m, values = 0, weights(W)
    for segment in segments:
        lo = segment * block
        for a in range(min(lo + block, count) - 1, lo - 1, -1):
            k = lo + below(state, a - lo + 1)
            i = active[k]
            active[k] = active[a]
            active[a] = i
            if upper[i] == 0.0:
                continue
            mine = classes[i]
            size = n_classes[i]
            # All K weights of a feature lie side by side: taking them all is faster than picking some,
            # unless those are very few.
            if 8 * size <= K:
                for j in range(size):
                    g[j] = bias[mine[j]]
                row_some_scores(X, i, values, mine, size, g)
            else:
                for z in range(K):  # a copy of slices would compile a message on shapes, for two seconds
                    full[z] = bias[z]
                row_scores(X, i, values, full)
                for j in range(size):
                    g[j] = full[mine[j]]
            highest, lowest, offered = -np.inf, np.inf, 0.0
            for j in range(size):
                g[j] += L[y[i], mine[j]]
                p = alpha[i, mine[j]]
                highest = max(highest, g[j])
                offered += p * g[j]
                if p > 0.0:
                    lowest = min(lowest, g[j])
            gap += upper[i] * highest - offered
            # lowest: the worst class that holds some dual; highest - lowest is the violation
            left = 0
            for j in range(size):
                z = mine[j]
                if alpha[i, z] > 0.0 or g[j] >= lowest - zone:
                    mine[j] = mine[left]
                    mine[left] = z
                    other = g[left]
                    g[left] = g[j]
                    g[j] = other
                    left += 1
            n_classes[i] = left
            if left == 1:
                continue
            kept[m] = i
            m += 1
            if highest - lowest <= 0.0:
                continue
            violation = max(violation, highest - lowest)
            norm = scale * norm2[i]
            q = norm + rate
            for j in range(left):
                # An empty row is linear in its duals: all goes to the highest.  Counted from there, what a
                # very short one makes too large for a number is -inf, which no dual goes to.
                away = (g[j] - highest) / q if q > 0.0 else 0.0
                v[j] = alpha[i, mine[j]] + away if q > 0.0 else upper[i] * (g[j] == highest)
            project_simplex(v, upper[i], left, work)
            moves = 0
            for j in range(left):
                z = mine[j]
                change = alpha[i, z] - v[j]
                if change != 0.0:
                    alpha[i, z] = v[j]
                    growth -= change * (g[j] + 0.5 * change * norm)
                    bias[z] += rate * change
                    changed[moves] = z
                    v[moves] = scale * change
                    moves += 1
            if 8 * moves <= K:
                add_row_some(X, i, v, changed, moves, W)
            else:
                full[:] = 0.0
                for j in range(moves):
                    full[changed[j]] = v[j]
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
