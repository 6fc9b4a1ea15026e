"""A small random generator for shuffles inside compiled loops.

State is one uint64 in an array, so that a run is repeatable and can be stopped and resumed.
"""

import numpy as np

from .compiler import register_jitable


@register_jitable
def below(state, k):
    """A pseudo-random integer in [0, k): xorshift64 (Marsaglia 2003)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64((x >> np.uint64(33)) % np.uint64(k))


@register_jitable
def shuffle(values, lo, hi, state):
    """Shuffle values[lo:hi] in place (Fisher-Yates)."""
    for a in range(hi - 1, lo, -1):
        b = lo + below(state, a - lo + 1)
        values[a], values[b] = values[b], values[a]
