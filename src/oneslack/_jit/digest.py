"""A digest of memory, as fast as it is read.

Of a block of words w_k, with keys r_k that are fixed random numbers,

    sum_k low(w_k + r_k) high(w_k + r_k)   and   sum_k w_k      mod 2^64

low and high being halves of 32 bits: NH, the universal hash of UMAC (Black, Halevi, Krawczyk, Krovetz &
Rogaway 1999), whose sums the compiler turns into vector instructions.  The second sum sees any change of one
word, whatever the keys.  The sums of all blocks are mixed in their order, as in xxHash64 (Collet 2012).
"""

import numpy as np

from .compiler import njit, register_jitable

FIRST, SECOND, THIRD = (np.uint64(n) for n in (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
#: Words of a block.
BLOCK = 256


def _keys():
    """(BLOCK,): the numbers 1, 2, .. scattered."""
    keys = np.arange(1, BLOCK + 1, dtype=np.uint64) * FIRST
    keys = (keys ^ (keys >> np.uint64(31))) * SECOND
    return keys ^ (keys >> np.uint64(29))


KEYS = _keys()


@register_jitable
def _mixed(before, word):
    before += word * SECOND
    return ((before << np.uint64(31)) | (before >> np.uint64(33))) * FIRST


@njit(nogil=True, cache=True)
def digest(words, seed):
    """A uint64 of all words (n,) uint64 in their order; `seed` is the digest of what came before."""
    out = seed
    for lo in range(0, len(words), BLOCK):
        block = words[lo : lo + BLOCK]
        product = total = np.uint64(0)
        for k in range(len(block)):
            word = block[k] + KEYS[k]
            product += (word & LOW) * (word >> HALF)
            total += block[k]
        out = _mixed(_mixed(out, product), total)
    out = (out ^ (out >> np.uint64(33))) * SECOND
    out = (out ^ (out >> np.uint64(29))) * THIRD
    return out ^ (out >> HALF)
