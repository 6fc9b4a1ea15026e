"""Groups of linear constraints that share a slack: the general form of all large-margin problems.

    H_i(w) = max(0, max_j l_ij - <w, x_ij>)          j over the rows of group i

Ramanan (2013), eq. 1 and 2.  The rows are given, not found by a decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import Extent, Sizes, upper_lengths
from ...data.rows import Shard, as_rows, check_finite, compiled_view, cut_into_shards, longest_row
from ..linear.binary import Binary


class Margins(NamedTuple):
    """What belongs to the rows: margins (m,) and groups (m,) of whole numbers 0 .. G-1, or None for a group
    a row."""

    margins: np.ndarray
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class ConstraintData:
    """Packed constraints, sorted by group.

    X (m, d) dense or CSR; margins (m,); starts (G + 1,), where the rows of a group begin; weights (G,);
    order (m,): the row as it was given, or None where it is the same
    """

    X: object
    margins: np.ndarray
    starts: np.ndarray
    weights: np.ndarray
    order: np.ndarray | None

    @property
    def n(self) -> int:
        """The number of rows: what a pass over the data costs."""
        return len(self.margins)

    @property
    def n_groups(self) -> int:
        return len(self.weights)

    @cached_property
    def view(self):
        return compiled_view(self.X)

    @cached_property
    def shards(self) -> list[Shard]:
        """Of rows."""
        return cut_into_shards(self.n, self.X.nnz if sp.issparse(self.X) else self.X.size)

    def score_shards(self, S) -> list[Shard]:
        """Of groups, which are never cut."""
        return cut_into_shards(self.n_groups, S.size)

    @cached_property
    def row_norm2(self) -> np.ndarray:
        """(m,): |x_j|^2."""
        from ..._jit.rows import squared_norms

        out = np.empty(self.n)
        squared_norms(self.view, 0, self.n, out)
        return out

    @property
    def depth(self) -> int:
        return longest_row(self.X)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(m,): |x_j|, rounded up."""
        return upper_lengths(self.row_norm2, self.depth)

    @cached_property
    def norm2(self) -> np.ndarray:
        """(G,): the largest |x_j|^2 of each group, 0 where it is empty."""
        out = np.zeros(self.n_groups)
        groups = np.flatnonzero(np.diff(self.starts))
        out[groups] = np.maximum.reduceat(self.row_norm2, self.starts[groups])
        return out

    @cached_property
    def row_weights(self) -> np.ndarray:
        """(m,): the weight of each row's group."""
        return np.repeat(self.weights, np.diff(self.starts))

    def as_given(self, values) -> np.ndarray:
        """(m,) values of the packed rows in the order in which the rows were given."""
        if self.order is None:
            return values.copy()
        out = np.empty_like(values)
        out[self.order] = values
        return out


@dataclass(frozen=True)
class Constraints:
    """Rows of d numbers; scores are <w, x_ij>, one a row."""

    n_params: int
    intercept = False

    new_scores, scores, adjoint = Binary.new_scores, Binary.scores, Binary.adjoint

    def pack(self, X, Y, weights=None) -> ConstraintData:
        X = as_rows(X)
        margins = np.ascontiguousarray(Y.margins, dtype=np.float64)
        if margins.shape != (X.shape[0],):
            raise ValueError(f"there are {X.shape[0]} rows, but margins have shape {margins.shape}")
        check_finite(X)
        _check_margins(margins)
        groups = _checked_groups(Y.groups, len(margins))
        n_groups = int(groups.max(initial=-1)) + 1 if groups is not None else len(margins)
        if weights is None:
            weights = np.ones(n_groups)
        weights = _checked_weights(weights, n_groups)
        order = None
        if groups is None:
            starts = np.arange(len(margins) + 1)
        else:
            starts = np.append(0, np.cumsum(np.bincount(groups, minlength=len(weights))))
            if (groups[1:] < groups[:-1]).any():
                order = np.argsort(groups, kind="stable")
                X, margins = X[order], margins[order]
        return ConstraintData(X, margins, starts, weights, order)

    def sizes(self, data) -> Sizes:
        return Sizes(data.lengths, np.abs(data.margins), data.row_weights)

    def extent(self, data) -> Extent:
        """Of the rows of a group one counts."""
        groups = np.flatnonzero(np.diff(data.starts))
        longest, largest = (
            np.maximum.reduceat(values, data.starts[groups]) if len(groups) else np.zeros(0)
            for values in (data.lengths, np.abs(data.margins))
        )
        reach, losses = Sizes(longest, largest, data.weights[groups]).totals()
        return Extent(data.depth + 1, data.n, reach, losses)

    # Shards of scores are groups.

    def risk(self, data, shard, S):
        return self.along(data, shard, S, S, 0.0)[1]

    def cut(self, data, shard, S, coefficients):
        from ..._jit.constraints import group_cut

        return group_cut(data.starts, data.margins, data.weights, S, shard.lo, shard.hi, coefficients)

    def along(self, data, shard, S, dS, t):
        from ..._jit.constraints import group_along

        return group_along(data.starts, data.margins, data.weights, S, dS, t, shard.lo, shard.hi)

    # Duals: p (m,) >= 0 with a sum of at most 1 in each group.

    def coefficients(self, data, p):
        return data.row_weights * p

    def dual_loss(self, data, p):
        return float(np.einsum("i,i,i", data.row_weights, p, data.margins))

    def balance(self, data, p):
        return p

    def dual_passes(self, data, C, seed, regulariser=None):
        from .dual import ConstraintsDual

        return ConstraintsDual(self, data, C, seed, regulariser)


def _check_margins(margins):
    bad = np.flatnonzero(~np.isfinite(margins))
    if len(bad):
        raise ValueError(f"row {bad[0]}: the margin is {margins[bad[0]]}, expected a finite number")


def _checked_groups(groups, m):
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (m,):
        raise ValueError(f"groups have shape {groups.shape}, expected ({m},): one for each row")
    if groups.dtype.kind not in "iu":
        raise ValueError(f"groups hold {groups.dtype}, expected whole numbers 0, 1, ... (see np.unique)")
    if groups.min(initial=0) < 0:
        bad = int(np.flatnonzero(groups < 0)[0])
        raise ValueError(f"row {bad}: the group is {groups[bad]}, expected a number from 0 on")
    return groups.astype(np.int64)


def _checked_weights(weights, n_groups):
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.ndim != 1 or len(weights) < n_groups:
        raise ValueError(f"weights have shape {weights.shape}, expected ({n_groups},): one for each group")
    bad = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(bad):
        raise ValueError(f"group {bad[0]}: the weight is {weights[bad[0]]}, expected a number >= 0")
    return weights
