"""The columns of templates by hashing their values."""

import numpy as np

from .hashing import hash_text, mix, to_columns

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
