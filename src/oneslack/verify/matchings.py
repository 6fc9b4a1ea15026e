"""Assignments of rows to columns, by features of pairs.

    score(z) = sum_(a matched) <w, x[a, z_a]> + u (rows without a column)         loss = rows with z_a != y_a

Whatever prices p_b >= 0 of columns are, no assignment that uses a column at most once is better than

    sum_a max(loss_a(none) + u, max_b loss_a(b) + <w, x[a, b]> - p_b) + sum_b p_b

whoever found them: so P is bounded from above.
"""

from typing import Any, NamedTuple

import numpy as np

from ..errors import ProofError
from .sums import SAFE, gamma, product


class Matchings(NamedTuple):
    """Pairs F (N, d), row by row of each example; rows, columns (n,); y (all rows,), -1 for none; whether
    rows `may_stay` without a column; prices, one array of each example's columns."""

    F: Any
    rows: np.ndarray
    columns: np.ndarray
    y: np.ndarray
    may_stay: bool
    prices: list

    @property
    def sizes(self):
        """(n,): numbers of an output."""
        return self.rows

    @property
    def reach(self):
        """Numbers of an output go from and to these."""
        return -1 if self.may_stay else 0, int(self.columns.max(initial=1)) - 1

    @property
    def ends(self):
        """Where the rows, and where the pairs of each example begin."""
        return np.append(0, np.cumsum(self.rows)), np.append(0, np.cumsum(self.rows * self.columns))

    def hinges(self, w, slack=False):
        """(n,) from above of max_z loss + score(z) - score(y); how far off."""
        d, (rows, pairs) = self.F.shape[1], self.ends
        (scores, E), none = product(self.F, w[:d, None]), float(w[d]) if self.may_stay else -np.inf
        best, errors = np.zeros((2, len(self.rows)))
        for i, p in enumerate(self.prices):
            if not (p >= 0.0).all() or p.shape != (self.columns[i],):
                raise ProofError(f"the prices of example {i} are no prices")
            S, y = scores[pairs[i] : pairs[i + 1]], self.y[rows[i] : rows[i + 1]]
            S = S.reshape(self.rows[i], self.columns[i])
            told = np.column_stack([S, np.full(len(S), none)])  # column -1 is none
            at = np.arange(len(S))
            said, loss = told[at, y], np.ones(told.shape)
            loss[at, y] = 0.0
            each = (told + loss - np.append(p, 0.0)).max(axis=1) - said
            best[i] = each.sum() + p.sum()
            wide = np.abs(told[np.isfinite(told)]).max(initial=1.0) + p.max(initial=0.0) + 1.0
            off = E[pairs[i] : pairs[i + 1]].max(initial=0.0)
            errors[i] = SAFE * len(S) * (2.0 * off + gamma(4 * (len(S) + len(p)) + 16) * 4.0 * wide)
        return best, errors

    def losses(self, of, Z):
        """(m,): loss of the outputs; a ProofError where one is no assignment."""
        (ends, _), begin = self.ends, 0
        found = np.zeros(len(of))
        for k, i in enumerate(of.tolist()):
            z, begin = Z[begin : begin + self.rows[i]], begin + self.rows[i]
            used = z[z >= 0]
            if len(np.unique(used)) < len(used) or (used >= self.columns[i]).any():
                raise ProofError(f"an output of example {i} is no assignment")
            found[k] = np.count_nonzero(z != self.y[ends[i] : ends[i + 1]])
        return found

    def features(self, of, Z, alpha):
        """(sum alpha (psi(y) - psi(z)), the sizes of its terms, how many)."""
        d, (ends, pairs) = self.F.shape[1], self.ends
        row = np.concatenate([np.zeros(0, int), *(np.arange(*ends[i : i + 2]) for i in of)])
        owner = np.repeat(of, self.rows[of])
        given, base = (
            np.repeat(alpha, self.rows[of]),
            pairs[owner] + (row - ends[owner]) * self.columns[owner],
        )
        v, sizes = np.zeros((2, d + self.may_stay))
        for z, sign in ((self.y[row], 1.0), (Z, -1.0)):
            has = z >= 0
            rows = self.F[(base + z)[has]]
            v[:d] += sign * (given[has] @ rows)
            sizes[:d] += given[has] @ np.abs(rows)
            v[d:] += sign * given[~has].sum()
            sizes[d:] += given[~has].sum()
        return v, sizes, 2 * len(Z) + 8
