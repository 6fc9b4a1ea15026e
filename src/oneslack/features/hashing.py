"""Columns by hashing: the same in every process and on every machine, with nothing to keep."""

from hashlib import blake2b

import numpy as np

from ..errors import OneslackError

MOST_BITS = 30  # columns are int32


def check_bits(hash_bits):
    """Refuse what is no number of bits."""
    is_number = isinstance(hash_bits, int | np.integer) and not isinstance(hash_bits, bool)
    if hash_bits is not None and not (is_number and 1 <= hash_bits <= MOST_BITS):
        raise OneslackError(f"hash_bits must be from 1 to {MOST_BITS} or None, got {hash_bits!r}.")


def hash_text(text):
    """64 bits of a string."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def mix(a, b):
    """One hash (n,) uint64 from two; not symmetric.  The finaliser is that of splitmix64."""
    z = a * np.uint64(0x9E3779B97F4A7C15) + b
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def to_columns(hashes, hash_bits):
    """The upper bits of hashes (n,) uint64 as columns (n,) int64."""
    return (hashes >> np.uint64(64 - hash_bits)).astype(np.int64)
