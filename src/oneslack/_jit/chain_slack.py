"""The worst offender of slack rescaling, argmax_z loss(y, z) (1 - <w, delta(z)>), exactly.

Losses of labels are whole numbers, so that a sequence's loss is one of few: for each total e the best score
B_e comes from a Viterbi over (position, total so far, state), and the answer is the best e (1 - lead_e),
lead_e = score(y) - B_e.  A total of 0 has the product 0: the truth itself is the answer when nothing is
above that.
"""

import numpy as np

from .chain import enter, path_score, step, step_back, token_scores
from .compiler import njit, register_jitable
from .vectors import longest


@register_jitable
def _largest(losses):
    top = 0
    for loss in losses:
        top = max(top, loss)
    return top


@register_jitable
def _n_totals(losses, y):
    """How many totals a sentence can have: 0 .. the sum of the largest losses."""
    total = 1
    for label in y:
        total += _largest(losses[label])
    return total


@register_jitable
def _forward(lattice, E, losses, y, B):
    """B[t, e, s] = the best score of labels 0 .. t with total loss e that end in state s."""
    first, steps, start, _, stride = lattice
    P = start.shape[0]
    reached = np.empty(B.shape[2])
    B[0] = -np.inf
    enter(start, E[0], reached)
    for c in range(P):
        B[0, losses[y[0], c], c] = reached[c]
    top = _largest(losses[y[0]])
    for t in range(1, E.shape[0]):
        B[t] = -np.inf
        table = first if t == 1 else steps
        cost, scores = losses[y[t]], E[t]
        for e in range(top + 1):
            step(B[t - 1, e], stride, table, reached)
            for g in range(table.shape[0]):
                for c in range(P):
                    B[t, e + cost[c], g * P + c] = reached[g * P + c] + scores[c]
        top += _largest(cost)


@register_jitable
def _backward(lattice, losses, y, B, e, state, z):
    first, steps, start, _, stride = lattice
    P = start.shape[0]
    for t in range(z.shape[0] - 1, -1, -1):
        z[t] = state % P
        e -= losses[y[t], z[t]]
        if t > 0:
            state = step_back(B[t - 1, e], stride, first if t == 1 else steps, state)


@register_jitable
def _sentence(lattice, E, losses, y, truth, B, z):
    """Fill z; return its loss and lead."""
    T, P = E.shape
    end = lattice[3]
    score = path_score(lattice, truth)
    for t in range(T):
        score += E[t, truth[t]]
    _forward(lattice, E, losses, y, B)
    best, best_e, best_state, best_lead = 0.0, 0, 0, 0.0
    for e in range(1, B.shape[1]):
        for s in range(B.shape[2]):
            lead = score - (B[T - 1, e, s] + end[s % P])
            if e * (1.0 - lead) > best:
                best, best_e, best_state, best_lead = e * (1.0 - lead), e, s, lead
    if best_e == 0:
        for t in range(T):
            z[t] = truth[t]
    else:
        _backward(lattice, losses, y, B, best_e, best_state, z)
    return best_e, best_lead


@njit(nogil=True, cache=True)
def worst_slack(X, W, lattice, losses, y, truth, offsets, lo, hi, Z, out_losses, leads):
    """The worst offenders of sentences lo <= i < hi, with their losses and <w, delta>.

    losses (L + 1, P) whole numbers, 0 in the padding and in the last row, for tokens without a label.
    """
    P = lattice[2].shape[0]
    n_states = P * lattice[4]
    base, largest = offsets[lo], 0
    for i in range(lo, hi):
        a, b = offsets[i], offsets[i + 1]
        largest = max(largest, (b - a) * _n_totals(losses, y[a:b]))
    E, room = np.empty((longest(offsets, lo, hi), P)), np.empty(largest * n_states)
    for i in range(lo, hi):
        a, b = offsets[i], offsets[i + 1]
        out_losses[i - lo] = leads[i - lo] = 0.0
        if a == b:
            continue
        totals = _n_totals(losses, y[a:b])
        B = room[: (b - a) * totals * n_states].reshape((b - a, totals, n_states))
        token_scores(X, W, a, E[: b - a])
        z = Z[a - base : b - base]
        out_losses[i - lo], leads[i - lo] = _sentence(lattice, E[: b - a], losses, y[a:b], truth[a:b], B, z)
