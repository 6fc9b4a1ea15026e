"""Scores that stay with the workers: a solver holds names of them, and may add, subtract and scale.

Scores are linear in w, so a name carries the w it belongs to.  A worker keeps the scores asked for last;
those it does not have it makes of others by a few vector operations, or, when it was started anew, from w by
a pass over its data.
"""

from __future__ import annotations

from itertools import count
from typing import NamedTuple

import numpy as np

#: Scores that a worker keeps.
KEPT = 8

_names = count()


class Slot(NamedTuple):
    """A place in a message for a vector that goes out beside it."""

    number: int


class Recipe(NamedTuple):
    """What a worker is told: the name, (factor, Recipe) of the scores it is the sum of, or its w."""

    name: int
    terms: tuple
    w: object


class SplitScores:
    """S(w) of all examples, held by the workers."""

    #: So that NumPy's numbers leave the arithmetic to this class.
    __array_ufunc__ = None

    def __init__(self, w, terms=()):
        self.w, self.terms, self.name = w, terms, next(_names)
        self.is_known = False

    def _plus(self, other, factor):
        if not isinstance(other, SplitScores):
            if other != 0.0:
                raise TypeError("scores held by workers add up with scores only")
            return self
        return SplitScores(self.w + factor * other.w, ((1.0, self), (factor, other)))

    def __add__(self, other):
        return self._plus(other, 1.0)

    def __sub__(self, other):
        return self._plus(other, -1.0)

    def __mul__(self, factor):
        return SplitScores(factor * self.w, ((float(factor), self),))

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return -1.0 * self

    def recipe(self, needs_w=False) -> Recipe:
        """By name for workers that know it; otherwise by what it is the sum of, or by w."""
        if needs_w or not (self.is_known or self.terms):
            return Recipe(self.name, (), self.w)
        return Recipe(self.name, tuple((factor, scores.recipe()) for factor, scores in self.terms), None)

    def is_told(self):
        """The workers know it by its name now; what it was made of need not live on."""
        self.is_known, self.terms = True, ()


class ScoreShelf:
    """The scores that a worker keeps, by name."""

    def __init__(self, problem):
        self.problem, self.kept = problem, {}

    def get(self, recipe):
        """The scores, or None where they are not known and w is not told."""
        S = self.kept.pop(recipe.name, None)
        if S is None:
            S = self._made(recipe)
        if S is not None:
            self.kept[recipe.name] = S  # the newest lies last
            while len(self.kept) > KEPT:
                del self.kept[next(iter(self.kept))]
        return S

    def _made(self, recipe):
        if recipe.w is not None:
            return self.problem.scores(np.asarray(recipe.w))
        S = None
        for factor, part in recipe.terms:
            other = self.get(part)
            if other is None:
                return None
            if S is None:
                S = factor * other
            elif factor == 1.0:
                S += other
            else:
                S += factor * other
        return S
