"""Sets of many labels with weights for pairs of them: good sets, with bounds, as graphs with two labels."""

import numpy as np

from .compiler import njit
from .graph_bound import UNIT
from .graph_decode import AUTO, infer
from .graph_scores import score_of


@njit(nogil=True, cache=True)
def bound_sets(S, T, edges, starts, arcs, Y, price, passes, precision, lo, hi, Z, losses, leads, uppers):
    """Good sets Z (hi - lo, L) of the examples lo <= i < hi, `price` added to each label that is not as in Y.

    S (hi - lo, L) scores of labels; T (E, 2, 2) those of pairs, 0 but where both are on.  losses and leads of
    what is found, <w, delta>; uppers: at least the hinge, or, without a price, the best score.
    """
    L = S.shape[1]
    theta, z, truth = np.zeros((L, 2)), np.zeros(L, np.int32), np.zeros(L, np.int32)
    delta = np.empty((edges.shape[0], 2, 2))
    for i in range(lo, hi):
        for a in range(L):
            on = Y[i, a]
            truth[a] = on
            theta[a, 0] = price * on
            theta[a, 1] = S[i - lo, a] + price * (1 - on)
        score, size = 0.0, 0.0
        if price > 0.0:
            score, size = score_of(theta, edges, T, truth)
        share = precision if price > 0.0 else 0.0
        upper = infer(theta, edges, T, starts, arcs, False, AUTO, passes, share, score, delta, z)
        loss = 0.0
        for a in range(L):
            Z[i - lo, a] = z[a]
            loss += price * (z[a] != truth[a])
        losses[i - lo] = loss
        leads[i - lo] = score - (score_of(theta, edges, T, z)[0] - loss)
        uppers[i - lo] = upper - score + UNIT * (L + edges.shape[0] + 4) * (size + abs(upper))
