"""More than one answer for a sentence: the k best sequences, and the best score with each label."""

import numpy as np

from .chain import enter, forward, scratch, token_scores
from .compiler import njit, register_jitable


@register_jitable
def _best_arrivals(before, stride, table, state, places, values, sources):
    """values[:k], sources[:k]: the k best ways into `state`; before (states, k) is sorted in each state.

    A merge of sorted lists, one a predecessor: places[a] is how many of a's have been taken.  A source is
    state * k + rank; -1 where there are fewer than k ways.
    """
    P, k = table.shape[2], values.shape[0]
    g, c = state // P, state % P
    places[:] = 0
    for j in range(k):
        best, best_a = -np.inf, -1
        for a in range(table.shape[1]):
            if places[a] < k:
                u = before[a * stride + g, places[a]] + table[g, a, c]
                if u > best:
                    best, best_a = u, a
        values[j] = best
        sources[j] = -1 if best_a < 0 else (best_a * stride + g) * k + places[best_a]
        if best_a >= 0:
            places[best_a] += 1


@njit(nogil=True, cache=True)
def best_sequences(lattice, E, k, Z, scores):
    """Fill the rows of Z (k, T) and scores (k,) with the best sequences, best first; return their number."""
    first, steps, start, end, stride = lattice
    T, P = E.shape
    n_states = P * stride
    values = np.full((T, n_states, k), -np.inf)
    sources = np.full((T, n_states, k), -1)
    places = np.empty(P, np.int64)
    enter(start, E[0], values[0, :, 0])
    for t in range(1, T):
        table = first if t == 1 else steps
        for g in range(table.shape[0]):
            for c in range(P):
                s = g * P + c
                _best_arrivals(values[t - 1], stride, table, s, places, values[t, s], sources[t, s])
                for j in range(k):
                    values[t, s, j] += E[t, c]
    places = np.zeros(n_states, np.int64)
    for j in range(k):
        best, state = -np.inf, -1
        for s in range(n_states):
            if places[s] < k and values[T - 1, s, places[s]] + end[s % P] > best:
                best, state = values[T - 1, s, places[s]] + end[s % P], s
        if state < 0:
            return j
        scores[j] = best
        rank = places[state]
        places[state] += 1
        for t in range(T - 1, -1, -1):
            Z[j, t] = state % P
            source = sources[t, state, rank]
            state, rank = source // k, source % k
    return k


@register_jitable
def _retreat(after, stride, table, scores, before):
    """before[a stride + g] = max_c table[g, a, c] + scores[c] + after[g P + c]."""
    P = table.shape[2]
    for g in range(table.shape[0]):
        for a in range(table.shape[1]):
            best = -np.inf
            for c in range(P):
                best = max(best, table[g, a, c] + scores[c] + after[g * P + c])
            before[a * stride + g] = best


@njit(nogil=True, cache=True)
def max_marginals(X, W, lattice, offsets, lo, hi, out):
    """out[t, c] = the best score of a whole sequence that has label c at token t; -inf where none may."""
    first, steps, start, end, stride = lattice
    P, L = start.shape[0], out.shape[1]
    n_states = P * stride
    E, V = scratch(lattice, offsets, lo, hi)
    after, before = np.full(n_states, -np.inf), np.full(n_states, -np.inf)
    for i in range(lo, hi):
        a, b = offsets[i], offsets[i + 1]
        if a == b:
            continue
        scores = E[: b - a]
        token_scores(X, W, a, scores)
        forward(lattice, scores, V)
        for s in range(n_states):
            after[s] = end[s % P]
        for t in range(b - a - 1, -1, -1):
            row = out[a + t - offsets[lo]]
            row[:] = -np.inf
            for s in range(n_states):
                if s % P < L:
                    row[s % P] = max(row[s % P], V[t, s] + after[s])
            if t > 0:
                before[:] = -np.inf
                _retreat(after, stride, first if t == 1 else steps, scores[t], before)
                before, after = after, before
