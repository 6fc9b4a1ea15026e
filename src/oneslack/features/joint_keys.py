"""Several integer codes as one integer key, and the distinct keys as ranks.

Codes c_1, c_2, ... with c_p < size_p give the key (c_1 size_2 + c_2) size_3 + c_3 ...: distinct for
distinct codes, and ordered as the tuples are.  Where the next product would not fit in 63 bits, the
keys so far are replaced by their ranks among those that occur, a *level* that is kept.  Everywhere -1
means no value, and a key without one of its codes is -1.
"""

import numpy as np

LIMIT = 2**63 - 1


class Keys:
    """The distinct keys of one template: `levels`, a list of sorted int64 arrays; ranks count the last."""

    def __init__(self, sizes, levels=None):
        self.sizes = sizes
        self.levels = [] if levels is None else levels

    def __len__(self):
        return len(self.levels[-1])

    def learn(self, codes, n, min_count=1):
        """The ranks (n,) of the keys of `codes`, arrays (n,), among those that occur min_count times."""

        def rank(key, size):
            # What begins a key occurs at least as often, so that the rare can go at every level.
            keys, ranks = ranks_of(key, size, min_count)
            self.levels.append(keys)
            return ranks

        self.levels = []
        return self._fold(codes, n, rank)

    def find(self, codes, n):
        """The ranks (n,) of the keys of `codes`, -1 for a key that was not learned."""
        levels = iter(self.levels)
        return self._fold(codes, n, lambda key, size: find_ranks(next(levels), key, size))

    def codes(self):
        """The codes of all keys, one array for each of `sizes`: what learn was given, once each."""
        key, levels = None, self.levels[::-1]
        codes = []
        for size_p, _, is_level in list(self._steps())[::-1]:
            if size_p is not None:
                codes.append(key % size_p)
                key = key // size_p
            if is_level:
                key = levels[0] if key is None else levels[0][key]
                levels = levels[1:]
        return codes[::-1]

    def to_store(self, name):
        """The levels as named arrays."""
        return {f"{name}.{i}": level for i, level in enumerate(self.levels)}

    @classmethod
    def stored(cls, sizes, name, arrays):
        """What to_store was called on; a KeyError or ValueError where arrays are missing or damaged."""
        keys = cls(sizes, [])
        for _, size, is_level in keys._steps():
            if is_level:
                level = arrays[f"{name}.{len(keys.levels)}"]
                if level.ndim != 1 or level.dtype != np.int64 or (level[1:] <= level[:-1]).any():
                    raise ValueError(f"the keys {name} are not increasing integers")
                if len(level) and (level[0] < 0 or level[-1] >= size):
                    raise ValueError(f"the keys {name} do not fit the values")
                keys.levels.append(level)
        return keys

    def _fold(self, codes, n, rank):
        key = np.zeros(n, np.int64)
        for code, (size_p, size, is_level) in zip([*codes, None], self._steps(), strict=True):
            if is_level:
                key = rank(key, size)
            if size_p is not None:
                key = np.where((key < 0) | (code < 0), -1, key * size_p + code)
        return key

    def _steps(self):
        """(size of the next code or None at the end, keys so far at most, whether they become ranks)."""
        size, n_levels = 1, 0
        for size_p in self.sizes:
            is_level = size > LIMIT // size_p
            yield size_p, size, is_level
            if is_level:
                size = max(len(self.levels[n_levels]), 1)
                n_levels += 1
            size *= size_p
        yield None, size, True


def ranks_of(key, size, min_count=1):
    """The distinct keys >= 0 that occur min_count times, sorted, and the rank (n,) of each key or -1."""
    if _is_dense(key, size):
        keys = np.flatnonzero(np.bincount(key + 1, minlength=size + 1)[1:] >= min_count)
        return keys, find_ranks(keys, key, size)
    keys, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    kept = (keys >= 0) & (counts >= min_count)
    return keys[kept], np.where(kept, np.cumsum(kept) - 1, -1)[inverse]


def find_ranks(keys, key, size):
    """The rank (n,) of each key among the sorted `keys`, or -1."""
    if _is_dense(key, size):
        table = np.full(size + 1, -1)  # its last place is that of -1, which stands for no key
        table[keys] = np.arange(len(keys))
        return table[key]
    if len(keys) == 0:
        return np.full(len(key), -1)
    place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
    return np.where(keys[place] == key, place, -1)


def _is_dense(key, size):
    """Is a table of all possible keys about as small as the keys themselves?"""
    return size <= 4 * len(key) + 1024
