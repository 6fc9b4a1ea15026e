"""Some features of the examples, and quadratic models of the risk in them: what working sets are made of.

    m(d, b) = <g, d> + g_b b + 1/2 sum_i h_i (<x_i, d> + b)^2 + sum_j damp_j d_j^2 / 2 + sum_j r_j |w_j + d_j|

is minimised by coordinate descent: on the matrix sum_i h_i x_i x_i' (the Gram matrix) where it costs less
than the sweeps over columns that it saves, else column by column (Friedman, Hastie & Tibshirani 2010).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..data.rows import compiled_view

#: Features of a Gram matrix, at most.
LARGEST_GRAM = 4096
#: Sweeps over columns that a Gram matrix is reckoned to save, and what an operation of a sweep over the
#: matrix costs beside one on sparse columns.
SWEEPS, SWEEP = 10, 0.15
#: Likewise where examples with a curvature are at least TALL times the features, which more often are alike.
MANY, TALL = 150, 20
#: Rows of a matrix product at a time.
BLOCK = 4096
#: Sweeps over a Gram matrix between exact solutions on the weights that are not 0: at least, and more by what
#: a factorisation of their matrix costs beside a sweep.  How often, and with how many weights at most.
FEW, FACTOR, ROUNDS, LARGEST_FACTOR = 5, 24.0, 60, 300
#: What is added to their matrix, in terms of the mean of its diagonal: at least.
RIDGE = 1e-13


class Columns:
    """X (n, k), dense or CSR: the features `index` (k,) of all."""

    def __init__(self, X, index):
        self.X, self.index = X, index

    @cached_property
    def view(self):
        return compiled_view(self.X)

    @property
    def is_sparse(self) -> bool:
        return sp.issparse(self.X)

    @property
    def n_entries(self) -> int:
        """Numbers that X holds."""
        return self.X.nnz if self.is_sparse else self.X.size

    @cached_property
    def _counts(self):
        """(k,): the numbers of each column of a sparse matrix."""
        return np.bincount(self.X.indices, minlength=len(self.index))

    def part(self, places) -> Columns:
        """Those at `places`, in order; itself where that is all."""
        k = len(self.index)
        if len(places) == k:
            return self
        if not self.is_sparse:
            return Columns(np.take(self.X, places, axis=1), self.index[places])
        from .._jit.columns import pick_columns

        X, to = self.X, np.full(k, -1, np.int32)
        to[places] = np.arange(len(places), dtype=np.int32)
        size = int(self._counts[places].sum())
        data, indices = np.empty(size, X.dtype), np.empty(size, np.int32)
        indptr = np.empty(X.shape[0] + 1, np.int32 if size < 2**31 else np.int64)
        pick_columns(self.view, to, data, indices, indptr)
        found = sp.csr_array((data, indices, indptr), shape=(X.shape[0], len(places)))
        return Columns(found, self.index[places])

    def adjoint(self, c) -> np.ndarray:
        """(k,): sum_i c_i x_i."""
        from .._jit.rows import adjoint

        out = np.zeros(len(self.index))
        adjoint(self.view, c, 0, self.X.shape[0], out)
        return out

    def exact_adjoint(self, c) -> np.ndarray:
        """The same, with twice the digits before the result is rounded."""
        from .._jit.columns import add_dense_exactly, add_sparse_exactly

        high, low = np.zeros(len(self.index)), np.zeros(len(self.index))
        (add_sparse_exactly if self.is_sparse else add_dense_exactly)(self.view, c, high, low)
        return high + low

    def scores(self, d) -> np.ndarray:
        """(n,): X d."""
        from .._jit.rows import scores

        out = np.empty(self.X.shape[0])
        scores(self.view, d, 0.0, 0, self.X.shape[0], out)
        return out

    def squares(self, s, is_centred) -> np.ndarray:
        """(k,): sum_i s_i x_ij^2, of columns less their means where they are centred."""
        if self.is_sparse:
            from .._jit.columns import column_squares

            sums, squares = np.zeros(len(self.index)), np.zeros(len(self.index))
            column_squares(self.view, s, 0, self.X.shape[0], sums, squares)
        else:
            sums, squares = self.adjoint(s), np.einsum("i,ij,ij->j", s, self.X, self.X)
        if is_centred:
            squares = squares - sums * (sums / s.sum())
        return np.maximum(squares, 0.0)

    def model(self, h):
        """The quadratic model with curvatures h (n,) of the losses."""
        return (GramModel if self._gram_pays(h) else ColumnModel)(self, h)

    def _gram_pays(self, h):
        """Whether a Gram matrix and sweeps over it cost less than sweeps over the columns."""
        k = len(self.index)
        if not self.is_sparse:
            return True
        lengths = np.diff(self.X.indptr)[h != 0.0].astype(float)
        sweeps = MANY if len(lengths) >= TALL * k else SWEEPS
        work = 0.5 * float(lengths @ lengths) + SWEEP * sweeps * k * k
        return k <= LARGEST_GRAM and work < sweeps * 2.0 * float(lengths.sum())


class GramModel:
    """By the matrix sum_i h_i x_i x_i', less what the best b takes from it."""

    def __init__(self, columns, h):
        k = len(columns.index)
        H = np.zeros((k, k))
        if columns.is_sparse:
            from .._jit.columns import gram

            gram(columns.view, h, H)
            H += np.tril(H, -1).T
        else:
            _dense_gram(columns.X, h, H)
        self.H, self.h, self.columns = H, h, columns

    def descend(self, g, slope, w, r, held, damp, enough, most):
        """(d, b) near the least m, until no subgradient is further from 0 than `enough`; `slope` is g_b, or
        None without an intercept, and sweeps over columns are at most `most`."""
        from .._jit.columns import descend_gram

        H, total = self.H, float(self.h.sum())
        diagonal = np.arange(len(H))
        has_bias = slope is not None and total > 0.0
        H[diagonal, diagonal] += damp
        if has_bias:
            cross = self.columns.adjoint(self.h)
            H -= np.multiply.outer(cross / total, cross)
            g = g - cross * (slope / total)
        d, q = np.zeros(len(H)), g.copy()
        face, sweeps = Face(), FEW
        for _ in range(ROUNDS):
            if descend_gram(H, q, w, r, held, d, sweeps, enough) <= enough:
                break
            support = np.flatnonzero(w + d)
            sweeps = FEW + int(len(support) ** 2 / (FACTOR * len(H)))
            step = None
            if 0 < len(support) <= LARGEST_FACTOR:
                u = (w + d)[support]
                step = face.step(H[np.ix_(support, support)], q[support] + r[support] * np.sign(u), u)
            if step is None:
                sweeps *= 10
                continue
            d[support] = np.where(u + step == 0.0, -w[support], d[support] + step)
            q += H[:, support] @ step
        return d, -(slope + float(cross @ d)) / total if has_bias else 0.0


class Face:
    """Exact steps over the weights that are not 0, as far as they keep their signs; where their matrix is
    singular, or nearly, those of a proximal point method (Rockafellar 1976)."""

    def __init__(self):
        self.ridge = RIDGE

    def step(self, H, slope, u):
        """From weights u, of a model with this slope and matrix; None where there is none."""
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        diagonal = np.arange(len(H))
        ridged = H.copy()
        ridged[diagonal, diagonal] += self.ridge * H[diagonal, diagonal].mean()
        try:
            factor = cho_factor(ridged, overwrite_a=True, check_finite=False)
        except LinAlgError:
            self.ridge *= 100.0
            return None
        step = -cho_solve(factor, slope, check_finite=False)
        crosses = u * (u + step) < 0.0
        if not crosses.any():
            self.ridge = max(0.1 * self.ridge, RIDGE)
            return step
        cut = np.where(crosses, -u, step)
        if slope @ cut + 0.5 * (cut @ (H @ cut)) < 0.0:
            return cut
        ratio = u[crosses] / -step[crosses]
        step = step * ratio.min()
        first = np.flatnonzero(crosses)[ratio.argmin()]
        step[first] = -u[first]
        self.ridge *= 100.0 if ratio.min() < 0.1 else 1.0
        return step


def _dense_gram(X, h, H):
    """H += X' diag(h) X, by blocks of rows whose h is not 0."""
    rows = np.flatnonzero(h)
    root = np.sqrt(h[rows])
    is_all = len(rows) == len(h)
    for lo in range(0, len(rows), BLOCK):
        block = X[lo : lo + BLOCK] if is_all else X[rows[lo : lo + BLOCK]]
        block = block * root[lo : lo + BLOCK, None].astype(X.dtype)
        H += block.T @ block


class ColumnModel:
    """By the columns of the rows whose h is not 0, times the roots of h."""

    def __init__(self, columns, h):
        from .._jit.columns import column_counts, turn
        from .._jit.rows import squared_norms

        k, rows = len(columns.index), np.flatnonzero(h)
        self.root = np.sqrt(h[rows])
        starts = np.zeros(k + 1, np.int64)
        column_counts(columns.view, rows, starts)
        np.cumsum(starts, out=starts)
        data, indices = np.empty(starts[-1]), np.empty(starts[-1], np.int32)
        turn(columns.view, rows, self.root, starts[:-1].copy(), data, indices)
        self.X = sp.csr_array((data, indices, starts), shape=(k, len(rows)))
        self.view = compiled_view(self.X)
        self.curve = np.empty(k)
        squared_norms(self.view, 0, k, self.curve)

    def descend(self, g, slope, w, r, held, damp, enough, most):
        """As of GramModel."""
        from .._jit.columns import descend_columns

        d, u = np.zeros(len(g)), np.zeros(len(self.root))
        root = np.zeros(0) if slope is None else self.root
        b = descend_columns(
            self.view, g, self.curve + damp, damp, root, slope or 0.0, w, r, held, d, u, most, enough
        )
        return d, b
