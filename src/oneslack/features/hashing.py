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


#: The hashes of BOS and EOS, made from numbers so that no string has them on purpose.
OUTSIDE = mix(np.array([1, 2], np.uint64), np.array([3, 4], np.uint64))


def hashed_columns(templates, codes, n, hash_bits):
    """For each template the column (n,) of its value at each token, -1 where it has none."""
    tables = {}
    for template in templates:
        hashed = np.full(n, hash_text(str(template)), np.uint64)
        is_missing = np.zeros(n, bool)
        for part in template.parts:
            source = (part.column, part.functions)
            if source not in tables:
                tables[source] = _tables(codes.values(part))
            hashes, absent = tables[source]
            hashed = mix(hashed, codes.look_up(part, hashes))
            is_missing |= codes.look_up(part, absent)
        yield np.where(is_missing, -1, to_columns(hashed, hash_bits))


def _tables(values):
    """The hash of BOS, EOS and each value; and whether it is absent."""
    known = {value: hash_text(value) for value in set(values) if value is not None}
    hashes = np.array([known.get(value, 0) for value in values], np.uint64)
    absent = np.array([False, False, *(value is None for value in values)])
    return np.concatenate([OUTSIDE, hashes]), absent
