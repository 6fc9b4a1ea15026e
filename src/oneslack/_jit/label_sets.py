"""Worst sets of labels: max_z loss(y, z) + <s, z> + sum_e J_e z_a z_b, over z in {0, 1}^L.

A row of scores holds s (L,) and J (E,), one for each edge (a, b).  The losses depend on how many labels are
missed (`missed`, z = 0 where y = 1) and how many are false (z = 1 where y = 0):

    HAMMING  missed + false          F1  1 - 2 hits / (|y| + |z|)          SUBSET  1 unless z = y

Without edges the best z with so many missed and false drops the missed of lowest and adds the false of
highest score, so that sorting finds it; on a tree max-product does, its messages split by the two counts
where the loss needs them; on other graphs all 2^L sets are gone through; what their pairs
add up to is the same for all examples.
"""

import numpy as np
from numba.extending import register_jitable

from .compiler import njit

HAMMING, F1, SUBSET, NOTHING = 0, 1, 2, 3
ALONE, TREE, ANY = 0, 1, 2


@register_jitable
def loss_of(kind, size, missed, false):
    """The loss of a set against a truth of `size` labels."""
    if kind == HAMMING:
        return float(missed + false)
    if kind == F1:
        hits = size - missed
        return 0.0 if size + hits + false == 0 else 1.0 - 2.0 * hits / (size + hits + false)
    return 1.0 if kind == SUBSET and missed + false > 0 else 0.0


@register_jitable
def _prefer_wrong(y, kind, off, on):
    """Add the Hamming loss, a sum over labels, to what they score."""
    if kind == HAMMING:
        for a in range(y.shape[0]):
            if y[a]:
                off[a] += 1.0
            else:
                on[a] += 1.0


@register_jitable
def _best_alone(s, y, kind, z):
    """Fill z where there are no edges."""
    L = y.shape[0]
    if kind in (HAMMING, NOTHING):
        for a in range(L):
            extra = 0.0 if kind == NOTHING else 1.0 - 2.0 * y[a]
            z[a] = s[a] + extra > 0.0
        return
    order = np.argsort(s[:L])
    present, absent = np.empty(L, np.int64), np.empty(L, np.int64)
    P = N = 0
    for j in range(L):
        if y[order[j]]:
            present[P] = order[j]  # the lowest first
            P += 1
        if not y[order[L - 1 - j]]:
            absent[N] = order[L - 1 - j]  # the highest first
            N += 1
    best, best_missed, best_false = -np.inf, 0, 0
    dropped = 0.0
    for missed in range(P + 1):
        if missed > 0:
            dropped -= s[present[missed - 1]]
        value = dropped
        for false in range(N + 1):
            if false > 0:
                value += s[absent[false - 1]]
            total = value + loss_of(kind, P, missed, false)
            if total > best:
                best, best_missed, best_false = total, missed, false
    for a in range(L):
        z[a] = y[a]
    for j in range(best_missed):
        z[present[j]] = 0
    for j in range(best_false):
        z[absent[j]] = 1


@register_jitable
def _merge(M, c, p, J, counts, A, B, low, of_child, of_parent):
    """Add the best of subtree c to each state of p: (label of p, missed, false), counts up to A and B."""
    width = B + 1
    a1, b1, a2, b2 = counts[p, 0], counts[p, 1], counts[c, 0], counts[c, 1]
    merged = np.full((2, A + 1, B + 1), -np.inf)
    for v in range(2):
        for i in range(a2 + 1):
            for j in range(b2 + 1):
                off, on = M[c, 0, i, j], M[c, 1, i, j] + (J if v else 0.0)
                low[c, v, i, j] = on > off
                child = max(on, off)
                if child == -np.inf:
                    continue
                for k in range(a1 + 1):
                    a = min(k + i, A)
                    for m in range(b1 + 1):
                        b = min(m + j, B)
                        value = M[p, v, k, m] + child
                        if value > merged[v, a, b]:
                            merged[v, a, b] = value
                            of_child[c, v, a, b] = i * width + j
                            of_parent[c, v, a, b] = k * width + m
    counts[p, 0], counts[p, 1] = min(a1 + a2, A), min(b1 + b2, B)
    for v in range(2):
        for a in range(A + 1):
            for b in range(B + 1):
                M[p, v, a, b] = merged[v, a, b]


@register_jitable
def _best_on_tree(off, on, s, y, kind, tree, z):
    """Fill z on a tree: `tree` (L, 3) lists labels as (label, parent, edge or -1), children before parents;
    returns the best value."""
    L = y.shape[0]
    P = 0
    for a in range(L):
        P += y[a]
    # How far missed and false labels are counted: not at all where the loss is a sum over labels.
    A = P if kind == F1 else (1 if kind == SUBSET else 0)
    B = L - P if kind == F1 else (1 if kind == SUBSET else 0)
    M = np.full((L, 2, A + 1, B + 1), -np.inf)
    counts = np.zeros((L, 2), np.int64)
    low = np.zeros((L, 2, A + 1, B + 1), np.uint8)
    of_child, of_parent = np.zeros((2, L, 2, A + 1, B + 1), np.int32)
    for a in range(L):
        counts[a, 0], counts[a, 1] = min(y[a], A), min(1 - y[a], B)
        M[a, 0, counts[a, 0], 0] = off[a]
        M[a, 1, 0, counts[a, 1]] = on[a]
    for t in range(L - 1):
        c, p, e = tree[t]
        _merge(M, c, p, 0.0 if e < 0 else s[L + e], counts, A, B, low, of_child, of_parent)
    root = tree[L - 1, 0]
    best, missed, false = -np.inf, np.zeros(L, np.int64), np.zeros(L, np.int64)
    extra = NOTHING if kind == HAMMING else kind
    for v in range(2):
        for a in range(A + 1):
            for b in range(B + 1):
                value = M[root, v, a, b] + loss_of(extra, P, a, b)
                if value > best:
                    best, z[root], missed[root], false[root] = value, v, a, b
    width = B + 1
    for t in range(L - 2, -1, -1):
        c, p, e = tree[t]
        v, a, b = z[p], missed[p], false[p]
        mine, rest = of_child[c, v, a, b], of_parent[c, v, a, b]
        missed[c], false[c] = mine // width, mine % width
        missed[p], false[p] = rest // width, rest % width
        z[c] = low[c, v, missed[c], false[c]]
    return best


@register_jitable
def _fill_pair_sums(s, L, edges, room):
    """Room = (Q (2^L,), J (E,)): what the pairs of each set add up to, made anew where the weights are others
    than at the last example."""
    Q, last = room
    is_known = True
    for e in range(edges.shape[0]):
        is_known &= last[e] == s[L + e]
        last[e] = s[L + e]
    if is_known:
        return
    J = np.zeros((L, L))
    for e in range(edges.shape[0]):
        J[edges[e, 0], edges[e, 1]] = J[edges[e, 1], edges[e, 0]] = s[L + e]
    Q[0] = 0.0
    for number in range(1, 1 << L):
        a = 0
        while not (number >> a) & 1:
            a += 1
        total = Q[number & (number - 1)]
        for b in range(a + 1, L):
            if (number >> b) & 1:
                total += J[a, b]
        Q[number] = total


@register_jitable
def _half(on, y, first, count):
    """Of all sets of labels first, ..., first + count - 1: score, hits, false labels."""
    value, hits, false = np.zeros(1 << count), np.zeros(1 << count, np.int64), np.zeros(1 << count, np.int64)
    for number in range(1, 1 << count):
        a = 0
        while not (number >> a) & 1:
            a += 1
        rest = number & (number - 1)
        value[number] = value[rest] + on[first + a]
        hits[number], false[number] = hits[rest] + y[first + a], false[rest] + 1 - y[first + a]
    return value, hits, false


@register_jitable
def _best_of_all(s, y, kind, edges, room, z):
    """Fill z from all 2^L sets, as a lower and an upper half of the labels."""
    L = y.shape[0]
    off, on = np.zeros(L), s[:L].copy()
    _prefer_wrong(y, kind, off, on)
    for a in range(L):
        on[a] -= off[a]
    _fill_pair_sums(s, L, edges, room)
    Q, low = room[0], L // 2
    size = 1 << low
    P = 0
    for a in range(L):
        P += y[a]
    value1, hits1, false1 = _half(on, y, 0, low)
    value2, hits2, false2 = _half(on, y, low, L - low)
    counts = kind in (F1, SUBSET)
    best, where, totals = -np.inf, 0, np.empty(size)
    for upper in range(1 << (L - low)):
        top = -np.inf
        for k in range(size):
            totals[k] = Q[upper * size + k] + value2[upper] + value1[k]
        if counts:
            for k in range(size):
                missed, false = P - hits1[k] - hits2[upper], false1[k] + false2[upper]
                totals[k] += loss_of(kind, P, missed, false)
        for k in range(size):
            top = max(top, totals[k])
        if top > best:
            best = top
            for k in range(size):
                if totals[k] == top:
                    where = upper * size + k
    for a in range(L):
        z[a] = (where >> a) & 1


@register_jitable
def new_room(L, n_edges, shape):
    """For `_fill_pair_sums`; next to nothing where sets are not gone through."""
    return np.empty(1 << L if shape == ANY else 1), np.full(n_edges, np.nan)


@register_jitable
def best_set(s, y, kind, shape, edges, tree, room, z):
    """Fill z with argmax_z of loss and score; `kind` NOTHING leaves the loss out."""
    if shape == ALONE:
        _best_alone(s, y, kind, z)
    elif shape == TREE:
        off, on = np.zeros(y.shape[0]), s[: y.shape[0]].copy()
        _prefer_wrong(y, kind, off, on)
        _best_on_tree(off, on, s, y, kind, tree, z)
    else:
        _best_of_all(s, y, kind, edges, room, z)


@register_jitable
def _cut_row(s, y, kind, shape, edges, tree, room, z, c):
    """(loss, lead) of the worst set; c gets what delta is made of: y - z, and the same of pairs."""
    best_set(s, y, kind, shape, edges, tree, room, z)
    L = y.shape[0]
    size = missed = false = 0
    lead = 0.0
    for a in range(L):
        size += y[a]
        missed += y[a] & (1 - z[a])
        false += z[a] & (1 - y[a])
        c[a] = float(y[a]) - float(z[a])
        if c[a] != 0.0:
            lead += c[a] * s[a]
    for e in range(edges.shape[0]):
        a, b = edges[e]
        c[L + e] = float(y[a] & y[b]) - float(z[a] & z[b])
        if c[L + e] != 0.0:
            lead += c[L + e] * s[L + e]
    return loss_of(kind, size, missed, false), lead


@njit(nogil=True, cache=True)
def decode_sets(S, Y, kind, shape, edges, tree, lo, hi, Z):
    """The worst sets Z (n, L) of the examples lo <= i < hi; without the loss for `kind` NOTHING."""
    room = new_room(Y.shape[1], edges.shape[0], shape)
    for i in range(lo, hi):
        best_set(S[i], Y[i], kind, shape, edges, tree, room, Z[i])


@njit(nogil=True, cache=True)
def hinges(S, Y, weights, kind, shape, edges, tree, lo, hi, coefficients):
    """(sum of s_i loss_i, sum of s_i H_i); coefficients (n, L + E) are filled where they are not empty."""
    L = Y.shape[1]
    z, c = np.empty(L, np.uint8), np.empty(S.shape[1])
    losses, values = 0.0, 0.0
    room = new_room(L, edges.shape[0], shape)
    for i in range(lo, hi):
        loss, lead = _cut_row(S[i], Y[i], kind, shape, edges, tree, room, z, c)
        is_wrong = loss - lead > 0.0
        if is_wrong:
            losses += weights[i] * loss
            values += weights[i] * (loss - lead)
        if coefficients.shape[0]:
            for k in range(c.shape[0]):
                coefficients[i, k] = weights[i] * c[k] if is_wrong else 0.0
    return losses, values


@njit(nogil=True, cache=True)
def hinges_along(S, dS, t, Y, weights, kind, shape, edges, tree, lo, hi):
    """At S + t dS: (sum of s_i loss_i, sum of s_i H_i, its slope in t)."""
    L = Y.shape[1]
    z, c, s = np.empty(L, np.uint8), np.empty(S.shape[1]), np.empty(S.shape[1])
    losses, values, slope = 0.0, 0.0, 0.0
    room = new_room(L, edges.shape[0], shape)
    for i in range(lo, hi):
        for k in range(s.shape[0]):
            s[k] = S[i, k] + t * dS[i, k]
        loss, lead = _cut_row(s, Y[i], kind, shape, edges, tree, room, z, c)
        if loss - lead > 0.0:
            losses += weights[i] * loss
            values += weights[i] * (loss - lead)
            for k in range(c.shape[0]):
                slope -= weights[i] * c[k] * dS[i, k]
    return losses, values, slope


@register_jitable
def _margins_of_all(s, edges, room, out):
    """The margins of an example from all 2^L sets."""
    L = out.shape[0]
    _fill_pair_sums(s, L, edges, room)
    value, _, _ = _half(s, np.zeros(L, np.uint8), 0, L)
    tops = np.full((L, 2), -np.inf)
    for number in range(1 << L):
        total = room[0][number] + value[number]
        for a in range(L):
            v = (number >> a) & 1
            tops[a, v] = max(tops[a, v], total)
    for a in range(L):
        out[a] = tops[a, 1] - tops[a, 0]


@njit(nogil=True, cache=True)
def set_margins(S, shape, edges, tree, out):
    """(n, L): the best score of a set with a label, less that of one without: its max-marginals' margin."""
    n, L = out.shape
    y, z = np.zeros(L, np.uint8), np.empty(L, np.uint8)
    room = new_room(L, edges.shape[0], shape)
    for i in range(n):
        if shape == ANY:
            _margins_of_all(S[i], edges, room, out[i])
            continue
        for a in range(L):
            if shape == ALONE:
                out[i, a] = S[i, a]
                continue
            off, on = np.zeros(L), S[i, :L].copy()
            off[a] = -np.inf
            with_it = _best_on_tree(off, on, S[i], y, NOTHING, tree, z)
            off[a], on[a] = 0.0, -np.inf
            out[i, a] = with_it - _best_on_tree(off, on, S[i], y, NOTHING, tree, z)
