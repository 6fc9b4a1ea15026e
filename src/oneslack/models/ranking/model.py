"""Ranking: an item should score above every item of its group with a lower target, by a margin of one.

    R(w) = sum_P s_i s_j max(0, 1 - (f_i - f_j)) / sum_P s_i s_j          f = X w
    P = { (i, j): same group, target_i > target_j }

Joachims (2006), OP 5.  With two ranks this is the convex bound of 1 - ROC area; targets may as well be
grades or real numbers.  There are up to n^2 / 2 pairs, but a plane under R needs only how many active
pairs each item has below and above it, which _jit/ranking.py finds in O(n log n).

The risk is no sum over examples, so there is no `joint_feature`, `loss` or `decode`; the model offers
scores alone.  `Problem` divides by the sum of the weights and multiplies by C times it: what is
returned here is the mean over pairs times the sum of the weights, and C means what it means elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...certificate.rounding import Sizes
from ..linear.binary import Binary
from ..linear.rows import pack_rows
from .ranked import RankedData, rank


@dataclass(frozen=True)
class Grouped:
    """Targets (n,) of items, and the groups (n,) inside which they are compared: numbers or strings.

    >>> import numpy as np, oneslack
    >>> X, targets = np.array([[2.0], [1.0], [3.0]]), oneslack.Grouped([1, 0, 1], ["a", "a", "b"])
    >>> oneslack.solve(oneslack.Problem(oneslack.Ranking(1), X, targets, C=10.0), tol=1e-6).w.round(2)
    array([1.])
    """

    targets: Any
    groups: Any = None

    def __len__(self):
        return len(self.targets)


@dataclass(frozen=True)
class Ranking:
    """Scores <w, x> that put items in the order of their targets.  Y is (n,) targets or `Grouped`.

    An intercept would cancel in every pair, so there is none.

    >>> from oneslack import OneSlack, Problem, solve
    >>> from oneslack.models import Grouped, Ranking
    >>> X = [[2.0, 0.0], [1.0, 1.0], [0.0, 3.0], [0.0, 1.0]]
    >>> problem = Problem(Ranking(2), X, Grouped([3, 1, 5, 2], ["a", "a", "b", "b"]))
    >>> bool(solve(problem, OneSlack()).w[0] > 0)
    True
    """

    n_features: int
    intercept = False

    n_params = Binary.n_params
    new_scores, scores, adjoint = Binary.new_scores, Binary.scores, Binary.adjoint

    def pack(self, X, Y, weights=None) -> RankedData:
        if not isinstance(Y, Grouped):
            Y = Grouped(Y, None)
        targets = _numbers(Y.targets)
        codes = np.zeros(len(targets), np.int64) if Y.groups is None else _codes(Y.groups, len(targets))
        return rank(pack_rows(X, targets, weights), codes)

    def sizes(self, data) -> Sizes:
        return Sizes(data.lengths, 1.0, data.slopes)

    # Shards of scores are positions in the order of groups and targets.

    def risk(self, data, shard, S):
        return self._look(data, shard, S)[1]

    def cut(self, data, shard, S, coefficients):
        return self._look(data, shard, S, coefficients=coefficients)[0]

    def cut_along(self, data, shard, S, dS, t, coefficients):
        return self._look(data, shard, S, dS, t, coefficients)

    def _look(self, data, shard, S, dS=None, t=0.0, coefficients=None):
        """(loss, risk, slope) at S + t dS; fills the coefficients of the cut where there is room for them."""
        from ..._jit.ranking import spread, weighted_sum

        if data.two_ranks and (found := data.two_ranks.look(shard.map, S, dS, t, coefficients)):
            return found
        with data.active_pairs(shard, S, dS, t) as pairs:
            if coefficients is not None:
                spread(pairs.rows, pairs.c, pairs.s, data.scale, coefficients)
            slope = 0.0 if dS is None else -weighted_sum(pairs.rows, pairs.c, pairs.s, dS)
            return data.scale * pairs.loss, data.scale * pairs.hinge, data.scale * slope


def _numbers(targets):
    targets = np.asarray(targets)
    if targets.dtype.kind not in "biuf":
        targets = targets.astype(np.float64)
    if targets.ndim != 1:
        raise ValueError(f"targets have shape {targets.shape}, expected one number for each row of X")
    bad = np.flatnonzero(targets != targets)
    if len(bad):
        raise ValueError(f"example {bad[0]}: the target is nan, expected a number")
    return targets


def _codes(groups, n):
    """Groups, whatever they are, as numbers 0, 1, ..."""
    groups = np.asarray(groups)
    if groups.shape != (n,):
        raise ValueError(f"groups have shape {groups.shape}, expected ({n},): one for each target")
    return np.unique(groups, return_inverse=True)[1]
