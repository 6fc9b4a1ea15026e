"""Where the weights of a chain lie in w, and the tables by which the compiled loops see them."""

from __future__ import annotations

import numpy as np


def padded(n_labels) -> int:
    """Labels as compiled loops count them: a multiple of 4 (see _jit/chain.py)."""
    return -(-n_labels // 4) * 4


def layout_of(model) -> tuple[int, int, int, int, int]:
    """(L, pairs, triples, start, end): where weights begin; -1 for those that the model does not have."""
    L = model.n_labels
    place = pairs = model.n_features * L
    place += L * L
    triples = start = end = -1
    if model.order == 2:
        triples, place = place, place + L**3
    if model.start:
        start, place = place, place + L
    if model.end:
        end, place = place, place + L
    return L, pairs, triples, start, end


def lattice_of(model, w) -> tuple:
    """(first, steps, start, end, stride) of _jit/chain.py at w."""
    L, pairs, triples, start, end = model.layout
    P = padded(L)
    step = np.array(w[pairs : pairs + L * L], dtype=np.float64).reshape(L, L)
    if model.allowed is not None:
        step[~model.allowed] = -np.inf
    ends = (_ends(w, start, model.allowed_start, L, P), _ends(w, end, model.allowed_end, L, P))
    if triples < 0:
        steps = np.full((1, P, P), -np.inf)
        steps[0, :L, :L] = step
        return steps, steps, *ends, 1
    # steps[g, a, c] holds the labels a, g, c in this order of the sentence.
    steps = np.full((L, P, P), -np.inf)
    steps[:, :L, :L] = w[triples : triples + L**3].reshape(L, L, L).transpose(1, 0, 2) + step[:, None, :]
    first = np.full((L, 4, P), -np.inf)
    first[:, 0, :L] = step
    return first, steps, *ends, P


def _ends(w, place, allowed, L, P):
    out = np.full(P, -np.inf)
    out[:L] = 0.0 if place < 0 else w[place : place + L]
    if allowed is not None:
        out[:L][~allowed] = -np.inf
    return out


def of_label(table) -> np.ndarray:
    """(L, L) as (L + 1, P): the last row, zeros, is for tokens without a label, which are numbered -1."""
    L = len(table)
    out = np.zeros((L + 1, padded(L)), dtype=table.dtype)
    out[:L, :L] = table
    return out
