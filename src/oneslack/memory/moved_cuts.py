"""Remembered cuts of a problem whose truths have moved: where the next round of a latent problem begins.

A cut of example i is the row psi(truth) - psi(z) with the margin loss(y, z).  When the truth's latent value
is another, z is an output as before, so that the row of the same cut is the old one plus the difference of
the truths' features, and its margin is the same.  The duals keep their sums: they are feasible for the new
problem, and their value is a bound of it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

#: What of a store's state (remembered.py) says where the cuts of an example are.
_PLACES = ("base", "counts", "slots", "gram_base")


def move_cuts(state, examples, moves, metric):
    """The state of a store with the rows of all cuts of `examples` moved; None where it holds no rows.

    Parameters
    ----------
    state : of `Remembered`
    examples : (k,) numbers, each once
    moves : (k, n_params) CSR: what is added to their rows
    metric : (n_params,) 1 / r^2, or None for ones
    """
    arena = state["arena"]
    if "values" not in arena:
        return None
    m, d = len(arena["b"]), moves.shape[1]
    base, counts, slots, gram_base = (state[name] for name in _PLACES)
    mine = [slots[base[i] : base[i] + counts[i]] for i in examples]
    which = np.repeat(np.arange(len(examples)), [len(rows) for rows in mine])
    touched = np.concatenate([np.empty(0, np.int64), *mine])
    indptr = np.append(0, arena["ends"])
    rows = sp.csr_array((arena["values"], arena["indices"].astype(np.int64), indptr), shape=(m, d))
    chosen = sp.csr_array((np.ones(len(touched)), (touched, which)), shape=(m, len(examples)))
    rows = sp.csr_array(rows + chosen @ sp.csr_array(moves))
    rows.sum_duplicates()
    rows.eliminate_zeros()
    gram = state["gram"].copy()
    for i, numbers in zip(examples, mine, strict=True):
        part = rows[numbers]
        scaled = part if metric is None else part.multiply(metric).tocsr()
        lower = np.tril_indices(len(numbers))
        gram[gram_base[i] : gram_base[i] + len(lower[0])] = (scaled @ part.T).toarray()[lower]
    arena = arena | {
        "values": rows.data.astype(np.float64),
        "indices": rows.indices.astype(arena["indices"].dtype),
        "ends": rows.indptr[1:].astype(np.int64),
    }
    return state | {"gram": gram, "arena": arena}
