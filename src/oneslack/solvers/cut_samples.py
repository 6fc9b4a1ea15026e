"""Which examples stand for a cut: a few of those that lack margin, scaled up to all of them.

random  each drawn by itself, as in the paper.
spread  The examples are put once into an order where neighbours have the same target and are near each other:
        halves of halves, each time along the direction in which a part is widest.  A sample is every k-th of
        the lacking ones in that order, from a random first one.  It has the same mean, and far less noise
        where scores change slowly from neighbour to neighbour, as they do with a kernel: on Checkers planes
        of 400 such examples need a third of the rounds.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

#: Parts into which the examples are divided for each one in a sample.
PARTS = 4
#: Directions that are looked at, and rows by which they are found.
DIRECTIONS, LOOKED_AT = 8, 2000


def random_sample(rng, lacking, c, size):
    """(support, coefficients): `size` of the examples `lacking`, so that the mean is that of the cut c.

    Where examples have weights, the heavy ones are drawn more often, and all that are drawn count the same.
    """
    if len(lacking) <= size:
        return lacking, c[lacking]
    heft = np.abs(c[lacking]).sum(axis=1)
    if heft.max() <= heft.min() * (1 + 1e-9):
        support = np.sort(rng.choice(lacking, size, replace=False))
        return support, c[support] * (len(lacking) / size)
    share = heft / heft.sum()
    drawn = np.sort(rng.choice(len(lacking), size, p=share))
    return lacking[drawn], c[lacking[drawn]] / (size * share[drawn])[:, None]


class SpreadSample:
    """The same signature, for the examples of one problem; `place` (n,) is where each one stands."""

    def __init__(self, place):
        self.place = place

    def __call__(self, rng, lacking, c, size):
        if len(lacking) <= size:
            return lacking, c[lacking]
        lacking = lacking[np.argsort(self.place[lacking])]
        heft = np.abs(c[lacking]).sum(axis=1)
        reached = np.cumsum(heft)
        marks = (np.arange(size) + rng.random()) * (reached[-1] / size)
        drawn, times = np.unique(np.searchsorted(reached, marks, side="right"), return_counts=True)
        drawn = np.minimum(drawn, len(lacking) - 1)
        factor = times * reached[-1] / (size * heft[drawn])
        return lacking[drawn], c[lacking[drawn]] * factor[:, None]


def sampler_of(problem, size, spread):
    """How to draw samples of `size`: spread where the kernel has rows of numbers and it is asked for."""
    has_rows = not callable(problem.kernel.name) and not problem.kernel.is_precomputed
    if not spread or not has_rows or problem.n_nodes <= size:
        return random_sample
    order = near_order(_coordinates(problem), PARTS * size)
    order = order[np.argsort(problem.data.y[order], kind="stable")]
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    return SpreadSample(place)


def _coordinates(problem):
    """A few coordinates of each row, those along which the rows differ most."""
    rows = problem.kernel.plain_rows(problem.inputs)
    rng = np.random.default_rng(0)
    some = rows[np.sort(rng.choice(len(problem.inputs), min(LOOKED_AT, problem.n_nodes), replace=False))]
    some = some.toarray() if sp.issparse(some) else some
    if some.shape[1] <= DIRECTIONS:
        return rows.toarray() if sp.issparse(rows) else rows
    directions = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)[2][:DIRECTIONS]
    return np.asarray(rows @ directions.T)


def near_order(Z, parts):
    """(n,): the rows of Z (n, d) in an order where neighbours are near, halved until there are `parts`."""
    order, spans = np.arange(len(Z)), [(0, len(Z))]
    while len(spans) < parts and spans[0][1] > 2:
        halves = []
        for lo, hi in spans:
            part = order[lo:hi]
            widest = int(np.argmax(Z[part[:: max(len(part) // 256, 1)]].var(axis=0)))
            middle = (hi - lo) // 2
            order[lo:hi] = part[np.argpartition(Z[part, widest], middle)]
            halves += [(lo, lo + middle), (lo + middle, hi)]
        spans = halves
    return order
