"""Matching: assignments between two sets, by features of pairs.

    <w, psi(x, y)> = sum_(a matched) <w, x[a, y_a]> + u #(a without a partner)     loss = #(a with y_a != z_a)

The loss is a sum over rows, so that loss-augmented inference is an assignment, too (_jit/assignment.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import Sizes
from ...data.rows import Shard
from .data import MatchingData, pack_matchings

#: `outputs` lists no more matchings than those of so many rows and columns.
MAX_PLACES = 9

_ONE = Shard(0, 1)


@dataclass(frozen=True, eq=False)
class Matching:
    """x (n1, n2, d): features of each pair of a row and a column; y (n1,): the column of each row, or -1.

    unmatched   whether rows may have no partner; the last weight, minus its price, is what such a row scores

    >>> import numpy as np
    >>> from oneslack.models.matching import Matching
    >>> x = np.array([[[3.0], [2.0]], [[2.5], [0.0]]])
    >>> Matching(1).decode(np.array([1.0]), x), Matching(1, True).decode(np.array([1.0, 2.4]), x)
    (array([1, 0], dtype=int32), array([ 0, -1], dtype=int32))
    """

    n_features: int
    unmatched: bool = False

    @property
    def n_params(self) -> int:
        return self.n_features + bool(self.unmatched)

    @property
    def blocks(self) -> dict[str, slice]:
        """Names for the kinds of weights."""
        d = self.n_features
        return {"features": slice(0, d)} | ({"unmatched": slice(d, d + 1)} if self.unmatched else {})

    # One example.

    def joint_feature(self, x, y):
        x, y = np.asarray(x, float), np.asarray(y, dtype=int)
        rows = np.flatnonzero(y >= 0)
        psi = x[rows, y[rows]].sum(axis=0)
        return np.append(psi, float(len(y) - len(rows))) if self.unmatched else psi

    def loss(self, y, y_hat):
        return float(np.sum(np.asarray(y) != np.asarray(y_hat)))

    def decode(self, w, x, y=None):
        """(n1,): the best partners, with the loss against y when it is given."""
        data = self.pack([x], None if y is None else [y])
        if y is None:
            return self.predict_batch(data, _ONE, w)
        return self.worst_batch(data, _ONE, w, "margin")[0]

    def outputs(self, x):
        n, m = np.shape(x)[:2]
        places = m + n if self.unmatched else m
        if places > MAX_PLACES:
            raise ValueError(f"{n} rows and {m} columns have too many matchings to list")
        found = {tuple(b if b < m else -1 for b in some) for some in permutations(range(places), n)}
        return (np.array(z, dtype=np.int32) for z in sorted(found))

    # Blocks of examples (protocols.Batches).

    def pack(self, X, Y, weights=None) -> MatchingData:
        return pack_matchings(X, Y, weights, self.n_features, bool(self.unmatched))

    def predict_batch(self, data, shard, w):
        """Partners (rows of the shard,)."""
        return self._match(data, shard, w, 0.0)[0]

    def worst_batch(self, data, shard, w, rescaling):
        if rescaling != "margin":
            raise ValueError("a matching has rescaling 'margin' only")
        return self._match(data, shard, w, 1.0)

    def _match(self, data, shard, w, extra):
        from ..._jit.assignment import match_batch

        lo, hi = shard.lo, shard.hi
        w = np.asarray(w, dtype=float)
        d = self.n_features
        S = data.F[data.starts[lo] : data.starts[hi]] @ w[:d]
        nobody = float(w[d]) if self.unmatched else 0.0
        if not (np.isfinite(S).all() and np.isfinite(nobody)):
            raise ValueError("scores are not finite; are w and the features?")
        Z = np.empty(data.offsets[hi] - data.offsets[lo], np.int32)
        losses, leads = np.empty((2, hi - lo))
        match_batch(
            S, data.rows, data.columns, data.starts, data.offsets, nobody, bool(self.unmatched), data.y,
            extra, lo, hi, Z, losses, leads,
        )  # fmt: skip
        return Z, losses, leads

    def delta_sum(self, data, shard, Z, coefficients):
        return self._deltas(data, shard, Z, coefficients, 1)[0]

    def delta_rows(self, data, shard, Z, factors):
        # A shard of one row is summed up into one.
        return sp.csr_array(self._deltas(data, shard, Z, factors, shard.hi - shard.lo))

    def _deltas(self, data, shard, Z, factors, count):
        from ..._jit.assignment import match_deltas

        out = np.zeros((count, self.n_features + 1))
        match_deltas(
            data.F, data.columns, data.starts, data.offsets, data.y, shard.lo, shard.hi,
            np.asarray(Z, np.int32), np.ascontiguousarray(factors, dtype=float), out,
        )  # fmt: skip
        return out[:, : self.n_params]

    def sizes(self, data) -> Sizes:
        """How large examples are, for bounds that hold whatever rounding does (rounding.py)."""
        return Sizes(2.0 * data.lengths, data.rows.astype(float), data.weights)
