"""Which examples stand for a cut: a few of those that lack margin, scaled up to all of them.

random  each drawn by itself, as in the paper.
spread  The examples are put once into an order where neighbours have the same target and are near each other
        (near_rows.py).  A sample is every k-th of the lacking ones in that order, from a random first one.
        It has the same mean, and far less noise where scores change slowly from neighbour to neighbour, as
        they do with a kernel: on Checkers planes of 400 such examples need a third of the rounds.
"""

from __future__ import annotations

import numpy as np

#: Parts into which the examples are divided for each one in a sample.
PARTS = 4


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
    """How to draw samples of `size`: spread where it is asked for and the problem knows who is near."""
    order = problem.near_order(PARTS * size) if spread and problem.n_nodes > size else None
    if order is None:
        return random_sample
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    return SpreadSample(place)
