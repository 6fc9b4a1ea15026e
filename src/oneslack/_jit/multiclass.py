"""Compiled loops of the multi-class hinge (Crammer & Singer) with any loss matrix.

y holds class numbers, L (K, K) the losses, S (n, K) the scores, s the sample weights, and
g_z = L[y_i, z] + S_iz is what class z offers against the truth: the hinge is max_z g_z - g_y.
"""

import numpy as np

from .compiler import njit, register_jitable
from .rows import row_nonzeros


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
def class_flow(y, s, P, F):
    """F[k] += sum of s_i p_i over the examples of class k."""
    for i in range(y.shape[0]):
        row = F[y[i]]
        for z in range(P.shape[1]):
            row[z] += s[i] * P[i, z]


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
