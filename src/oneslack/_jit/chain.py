"""Viterbi over blocks of sentences, for chains of order 1 and 2 in one way.

A state is what the next step must know: the label (order 1), or the last two labels (order 2).  With P
labels after padding, the state of labels (g, c) is number g P + c; order 1 has g = 0 only.  One step is

    after[g P + c] = max_a  before[a stride + g] + table[g, a, c]  +  scores[c]

with stride 1 for order 1 and P for order 2: for each middle label g an order-1 step of its own.

A lattice is a tuple (first, steps, start, end, stride): the tables of the step to the second token, which
has no label before its predecessor, and of all later ones; start (P,) and end (P,); there are P stride
states.  What is forbidden, and what is only padding, costs -inf.  P is a multiple of 4: loops over labels
have no rest, and take four predecessors at a time.  No back pointers are kept: the best predecessor is
found again along the way back.
"""

import numpy as np

from .compiler import njit, register_jitable
from .prefetch import ask_for_row
from .rows import row_scores
from .vectors import longest


@register_jitable
def step(before, stride, table, after):
    """after[g P + c] = max_a before[a stride + g] + table[g, a, c]."""
    P = table.shape[2]
    for g in range(table.shape[0]):
        best = after[g * P : (g + 1) * P]
        best[:] = -np.inf
        for a in range(0, table.shape[1], 4):
            source = a * stride + g
            v0, v1 = before[source], before[source + stride]
            v2, v3 = before[source + 2 * stride], before[source + 3 * stride]
            r0, r1, r2, r3 = table[g, a], table[g, a + 1], table[g, a + 2], table[g, a + 3]
            for c in range(P):
                top = best[c]
                u0, u1, u2, u3 = v0 + r0[c], v1 + r1[c], v2 + r2[c], v3 + r3[c]
                top = u0 if u0 > top else top
                top = u1 if u1 > top else top
                top = u2 if u2 > top else top
                best[c] = u3 if u3 > top else top


@register_jitable
def step_back(before, stride, table, state):
    """The state from which `step` came to `state`; the lowest label of equals."""
    P = table.shape[2]
    g, c = state // P, state % P
    best, best_source = -np.inf, g
    for a in range(table.shape[1]):
        u = before[a * stride + g] + table[g, a, c]
        if u > best:
            best, best_source = u, a * stride + g
    return best_source


@register_jitable
def enter(start, scores, states):
    """The first token: its states have no label before them and are numbered as if that were 0."""
    P = start.shape[0]
    states[P:] = -np.inf
    for c in range(P):
        states[c] = start[c] + scores[c]


@register_jitable
def forward(lattice, E, V):
    """V[t, s] = the best score of the labels 0 .. t that end in state s.  E (T, P) scores of tokens."""
    first, steps, start, _, stride = lattice
    P = start.shape[0]
    enter(start, E[0], V[0])
    for t in range(1, E.shape[0]):
        table = first if t == 1 else steps
        step(V[t - 1], stride, table, V[t])
        scores = E[t]
        for g in range(table.shape[0]):
            states = V[t, g * P : (g + 1) * P]
            for c in range(P):
                states[c] += scores[c]


@register_jitable
def finish(states, end):
    """The best last state, and its score with the end's."""
    P = end.shape[0]
    best, best_state = -np.inf, 0
    for s in range(states.shape[0]):
        u = states[s] + end[s % P]
        if u > best:
            best, best_state = u, s
    return best_state, best


@register_jitable
def viterbi(lattice, E, V, z):
    """Fill z with the best labels; return their score, -inf where all are forbidden."""
    first, steps, start, end, stride = lattice
    P = start.shape[0]
    forward(lattice, E, V)
    T = E.shape[0]
    state, best = finish(V[T - 1], end)
    z[T - 1] = state % P
    for t in range(T - 1, 0, -1):
        state = step_back(V[t - 1], stride, first if t == 1 else steps, state)
        z[t - 1] = state % P
    return best


@register_jitable
def path_score(lattice, z):
    """The part of a sequence's score that comes from its order: start, steps and end."""
    first, steps, start, end, stride = lattice
    T = z.shape[0]
    total = start[z[0]] + end[z[T - 1]]
    for t in range(1, T):
        if stride == 1:
            total += steps[0, z[t - 1], z[t]]
        elif t == 1:
            total += first[z[0], 0, z[1]]
        else:
            total += steps[z[t - 1], z[t - 2], z[t]]
    return total


@njit(nogil=True, cache=True)
def token_scores(X, W, token, E):
    """E[t, :L] = W' x of the tokens from `token` on; the padding becomes 0."""
    L = W.shape[1]
    for t in range(E.shape[0]):
        row = E[t]
        row[:] = 0.0
        ask_for_row(X, token + t + 1, W)
        row_scores(X, token + t, W, row[:L])


@register_jitable
def add_of_label(extra, y, E):
    """E[t] += extra[y_t]; the last row of `extra` belongs to tokens without a label, y_t = -1."""
    for t in range(E.shape[0]):
        row, more = E[t], extra[y[t]]
        for c in range(row.shape[0]):
            row[c] += more[c]


@register_jitable
def scratch(lattice, offsets, lo, hi):
    """Room for the scores and states of the longest sentence; states never reached stay at -inf."""
    T, P = longest(offsets, lo, hi), lattice[2].shape[0]
    return np.empty((T, P)), np.full((T, P * lattice[4]), -np.inf)


@register_jitable
def loss_and_lead(lattice, E, extra, y, truth, z):
    """Loss of z, and the score of the truth minus that of z, from scores E that hold the loss already."""
    loss, lead = 0.0, 0.0
    differ = False
    for t in range(E.shape[0]):
        if z[t] != truth[t]:
            differ = True
            more = extra[y[t], z[t]]
            loss += more
            lead += E[t, truth[t]] - (E[t, z[t]] - more)
    if differ:
        lead += path_score(lattice, truth) - path_score(lattice, z)
    return loss, lead


@njit(nogil=True, cache=True)
def decode(X, W, lattice, extra, y, truth, offsets, lo, hi, Z, losses, leads):
    """The best labels, with extra[y_t] added to the scores of a token, of sentences lo <= i < hi.

    `extra` is a loss (worst offenders), -inf off the label (completions) or nothing (predictions).  Where
    there is room for them, also the loss and <w, delta> of what is found: they need no second look at the
    features.  Returns the first sentence of which all labels are forbidden, or -1.
    """
    E, V = scratch(lattice, offsets, lo, hi)
    base = offsets[lo]
    for i in range(lo, hi):
        a, b = offsets[i], offsets[i + 1]
        if losses.shape[0]:
            losses[i - lo] = leads[i - lo] = 0.0
        if a == b:
            continue
        scores, z = E[: b - a], Z[a - base : b - base]
        token_scores(X, W, a, scores)
        add_of_label(extra, y[a:b], scores)
        if viterbi(lattice, scores, V, z) == -np.inf:
            return i
        if losses.shape[0]:
            losses[i - lo], leads[i - lo] = loss_and_lead(lattice, scores, extra, y[a:b], truth[a:b], z)
    return -1
