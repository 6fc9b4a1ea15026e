"""What the gap means for predictions: which of them the exact optimum would make, too.

    radius      |r (w - w*)| <= radius, known when a fit ends (objective.ball_of); w is the model's, or
                halfway to the dual point's, where that is nearer.  The model's scores are among those bounded
    intercepts  bounded_intercept.py
    scores      differ from those of the optimum by at most radius |(x - c) / r|, and what the intercept may

Two classes that one problem has both weights of (Crammer and Singer) are compared with each other: the
difference of their scores moves by radius sqrt(|x / r_j|^2 + |x / r_k|^2), less than both do.

Everything is rounded outward: computed scores by gamma(k) of the sizes that went into them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ...certificate.rounding import SAFE, UNDERFLOW, gamma, norm_up
from ...data.rows import longest_row
from .bounded_intercept import BoundsIntercept, NotSettled
from .described import described
from .given import is_shards
from .scoring import BLOCK, products


class Widths(NamedTuple):
    """Scores (n, rows) in the middle of what the optimum's may be, how far these move with the weights, and
    how far in all."""

    scores: np.ndarray
    reach: np.ndarray
    half: np.ndarray


@described
class BoundedScores:
    """What is known of the scores of the optimum; `_widths(X)` tells it."""

    _radii = None

    def decision_bounds(self, X: Any) -> Any:
        """Scores between which those of the exact optimum lie.

        They are as far apart as the certified gap allows, at rows far from all examples farther than near
        them.  docs/settled.md tells how they are found.

        Returns
        -------
        lower, upper : ndarray of shape (n,), or (n, K) where there are as many scores
            Rounded outward: they hold whatever rounding does.

        Examples
        --------
        >>> import oneslack
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> rough, fine = (oneslack.LinearSVC(tol=tol).fit(X, y) for tol in (1e-2, 1e-9))
        >>> lower, upper = rough.decision_bounds(X)
        >>> bool(((lower <= fine.decision_function(X)) & (fine.decision_function(X) <= upper)).all())
        True
        """
        widths = self._widths(X)
        bounds = [
            np.nextafter(widths.scores - widths.half, -np.inf),
            np.nextafter(widths.scores + widths.half, np.inf),
        ]
        return tuple(scores[:, 0] if self._has_one_score else scores for scores in bounds)

    # Refusals.

    def _why_unsettled(self) -> str | None:
        """Why nothing is known of the optimum, whatever examples there are; None where something is."""
        if getattr(self, "penalty", "l2") == "l1":
            return (
                "penalty='l1' is not strongly convex: a small gap does not say how far the weights are from "
                "those of the optimum, so no prediction can be called settled; use penalty='l2'"
            )
        if not self._is_certified():
            return (
                "the gap of this model is an estimate, or of examples that are partly forgotten, so nothing "
                "is proven of the optimum; fit with a solver that certifies"
            )
        if self._radii is None or not np.isfinite(self._radii).all():
            return (
                "the model file is of an older oneslack, which kept no distance to the optimum; train again"
            )
        return None

    def _refuse_unsettled(self):
        why = self._why_unsettled()
        if why is not None:
            raise NotSettled(why)


class BoundsScores(BoundedScores, BoundsIntercept):
    """Those of a linear model."""

    @property
    def _has_one_score(self) -> bool:
        return len(np.atleast_2d(self.coef_)) == 1

    def _widths(self, X) -> Widths:
        check_is_fitted(self)
        self._refuse_unsettled()
        if is_shards(X):
            parts = [self._widths(shard.X) for shard in X]
            return Widths(*map(np.concatenate, zip(*parts, strict=True)))
        known = self._known_intercepts()
        X = self._inputs(X)
        coef, intercept = self._around()
        scores = products(X, coef.T) + intercept
        constant = float(self.intercept_scaling) if self._penalises_intercept else 0.0
        centre = None if known is None else known.centre
        lengths, plain = row_lengths(X, centre, self._scale_rows, constant)
        reach = SAFE * np.array(self._radii) * lengths
        if reach.shape[1] < len(coef):
            reach = np.broadcast_to(reach, scores.shape)
        sizes = np.outer(plain, [norm_up(w) for w in coef]) + np.abs(intercept)
        moved = reach + 4.0 * gamma(longest_row(X) + 32) * sizes  # and of the model's own scores
        if known is None:
            return Widths(scores, reach, SAFE * moved)
        shift, half = _centred(known.below, known.above)
        return Widths(scores + shift, reach, SAFE * (moved + half + gamma(8) * np.abs(scores)))


def _centred(below, above):
    """(shift, half): from -below to above is shift - half to shift + half, and a little more."""
    is_known = np.isfinite(below) & np.isfinite(above)
    half = np.where(is_known, 0.5 * (below + above), np.inf)
    shift = np.zeros_like(half)
    np.subtract(0.5 * above, 0.5 * below, out=shift, where=is_known)
    slack = gamma(8) * (np.where(is_known, np.abs(below) + np.abs(above), 0.0))
    return shift, np.maximum(half, 0.0) + slack


def row_lengths(X, centre=None, scale=None, constant=0.0):
    """((n, columns) of |(x - centre) / scale|, (n,) of |x|), rounded up; there is a column for each row of
    `centre` and `scale`, and each x may have a constant more, that has no centre."""
    n, d = X.shape
    q = np.ones((1, d)) if scale is None else 1.0 / scale**2
    c = np.zeros((1, d)) if centre is None else centre
    weighted, own = (c * q).T, (c * c * q).sum(axis=1)
    lengths, plain = np.empty((n, weighted.shape[1])), np.empty(n)
    share = gamma(2 * d + 64)
    for low in range(0, n, BLOCK):
        rows = X[low : low + BLOCK].astype(np.float64)
        squares = rows.multiply(rows).tocsr() if sp.issparse(rows) else rows * rows
        ones = np.asarray(squares.sum(axis=1)).ravel()
        norms = ones[:, None] if scale is None else np.asarray(squares @ q.T)
        found = norms + own + constant * constant
        if centre is not None:
            found = found - 2.0 * np.asarray(rows @ weighted)
        found += share * 2.0 * (norms + own + constant * constant) + d * UNDERFLOW
        lengths[low : low + BLOCK] = SAFE * np.sqrt(np.maximum(found, 0.0))
        plain[low : low + BLOCK] = SAFE * np.sqrt((1.0 + share) * ones + d * UNDERFLOW)
    return lengths, plain


@described
class SettlesClasses:
    """Which classes the optimum would predict, too."""

    def certain(self, X: Any) -> np.ndarray:
        """Which predictions are settled: the exact optimum would predict the same.

        It says nothing about whether a prediction is right: only that no more training would change it.
        Where it is False, more training (a smaller `tol`) may or may not.

        Returns
        -------
        settled : ndarray of shape (n,) of bool
            Of labels that an example may have several of, whether all of them are.

        Examples
        --------
        >>> import oneslack
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> model = oneslack.LinearSVC(tol=1e-6).fit(X, y)
        >>> model.certain([[0.0], [1.5], [3.0]]).tolist()
        [True, False, True]
        """
        widths = self._widths(X)
        if widths.scores.shape[1] == 1 or getattr(self, "multilabel_", False):
            return _sides_hold(widths).all(axis=1)
        return _lead_holds(widths, len(self._radii) == 1)


def _sides_hold(widths):
    """(n, rows): whether the score of the optimum is on the same side of 0."""
    return np.abs(widths.scores) > widths.half


def _lead_holds(widths, is_one_problem):
    """(n,): whether the score that is highest is so for the optimum."""
    scores, reach, half = widths
    rows, top = np.arange(len(scores)), scores.argmax(axis=1)
    lead = scores[rows, top][:, None] - scores
    needed = half[rows, top][:, None] + half
    if is_one_problem:
        # Both are weights of one vector: they move by the length of what they move along.
        own = reach[rows, top][:, None]
        needed = needed - own - reach + SAFE * np.hypot(own, reach)
    settled = lead > SAFE * SAFE * needed
    settled[rows, top] = True
    return settled.all(axis=1)
