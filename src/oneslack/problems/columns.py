"""Some features of the examples: their sums, and what working sets are made of."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ..data.rows import compiled_view
from .quadratic import Aims, Known, Penalty, minimum

#: The share of examples up to which they are taken out for sweeps over features.
AMONG = 0.4


class Turned:
    """The features of X (n, d), dense or CSR, each with its numbers side by side; made when asked for."""

    def __init__(self, X):
        self.X = X

    @property
    def is_made(self) -> bool:
        return "matrix" in vars(self)

    @cached_property
    def matrix(self):
        """(d, n), as X is."""
        X = self.X
        if not sp.issparse(X):
            return np.ascontiguousarray(X.T)
        from .._jit.columns import turn

        n, d = X.shape
        starts = np.zeros(d + 1, X.indptr.dtype)
        np.cumsum(np.bincount(X.indices, minlength=d), out=starts[1:])
        data, indices = np.empty(X.nnz, X.dtype), np.empty(X.nnz, np.int32 if n < 2**31 else np.int64)
        turn(compiled_view(X), starts[:-1].copy(), data, indices)
        return sp.csr_array((data, indices, starts), shape=(d, n))

    @cached_property
    def view(self):
        return compiled_view(self.matrix)


class Columns:
    """The features `index` (k,) of X (n, d), dense or CSR."""

    def __init__(self, X, index, turned=None):
        self.X, self.index = X, index
        self.turned = turned or Turned(X)

    @cached_property
    def view(self):
        """All rows, as loops see them."""
        return compiled_view(self.X)

    @property
    def is_sparse(self) -> bool:
        return sp.issparse(self.X)

    @property
    def is_all(self) -> bool:
        return len(self.index) == self.X.shape[1]

    def part(self, places) -> Columns:
        """Those at `places`, in order; itself where that is all."""
        return self if len(places) == len(self.index) else Columns(self.X, self.index[places], self.turned)

    def adjoint(self, c) -> np.ndarray:
        """(k,): sum_i c_i x_i."""
        if self.is_all and not self.turned.is_made:
            from .._jit.rows import adjoint

            out = np.zeros(len(self.index))
            adjoint(self.view, c, 0, self.X.shape[0], out)
            return out
        from .._jit.columns import feature_sums

        out = np.empty(len(self.index))
        feature_sums(self.turned.view, self.index, c, out)
        return out

    def exact_adjoint(self, c) -> np.ndarray:
        """The same of all features, with twice the digits before the result is rounded."""
        from .._jit.exact_sums import add_dense_exactly, add_sparse_exactly

        high, low = np.zeros(self.X.shape[1]), np.zeros(self.X.shape[1])
        (add_sparse_exactly if self.is_sparse else add_dense_exactly)(self.view, c, high, low)
        return high + low

    def scores(self, d) -> np.ndarray:
        """(n,): X d."""
        if self.is_all and not self.turned.is_made:
            from .._jit.rows import scores

            out = np.empty(self.X.shape[0])
            scores(self.view, d, 0.0, 0, self.X.shape[0], out)
            return out
        from .._jit.columns import add_features

        out = np.zeros(self.X.shape[0])
        add_features(self.turned.view, self.index, d, out)
        return out

    def squares(self, s, is_centred) -> np.ndarray:
        """(k,): sum_i s_i x_ij^2, of columns less their means where they are centred."""
        if self.is_all and not self.is_sparse and not self.turned.is_made:
            sums, squares = self.adjoint(s), np.einsum("i,ij,ij->j", s, self.X, self.X)
        else:
            from .._jit.columns import feature_squares

            sums, squares = np.empty(len(self.index)), np.empty(len(self.index))
            feature_squares(self.turned.view, self.index, s, sums, squares)
        if is_centred:
            squares = squares - sums * (sums / s.sum())
        return np.maximum(squares, 0.0)

    def among(self, h):
        """(a turned matrix as loops see it, places of the features there): it may lack the examples whose h
        is 0, where they are many."""
        if not self.is_sparse or np.count_nonzero(h) > AMONG * len(h):
            return self.turned.view, self.index
        from .._jit.columns import pick_examples

        X, k = self.turned.matrix, len(self.index)
        size = int((X.indptr[self.index + 1] - X.indptr[self.index]).sum())
        data, indices = np.empty(size, X.dtype), np.empty(size, X.indices.dtype)
        indptr = np.empty(k + 1, X.indptr.dtype)
        size = pick_examples(self.turned.view, self.index, h, data, indices, indptr)
        found = sp.csr_array((data[:size], indices[:size], indptr), shape=(k, len(h)))
        return compiled_view(found), np.arange(k)

    def rows(self, index, h):
        """(X, h) of the features `index` of all and the examples whose h is not 0."""
        is_active = h != 0.0
        if not self.is_sparse:
            X = self.X if len(index) == self.X.shape[1] else np.take(self.X, index, axis=1)
            return (X, h) if is_active.all() else (X[is_active], h[is_active])
        from .._jit.columns import pick_columns

        X, to = self.X, np.full(self.X.shape[1], -1, np.int32)
        to[index] = np.arange(len(index), dtype=np.int32)
        starts = self.turned.matrix.indptr
        size, n = int((starts[index + 1] - starts[index]).sum()), int(is_active.sum())
        data, indices = np.empty(size, X.dtype), np.empty(size, np.int32)
        indptr = np.empty(n + 1, np.int32 if size < 2**31 else np.int64)
        size, _ = pick_columns(self.view, to, h, data, indices, indptr)
        return sp.csr_array((data[:size], indices[:size], indptr), shape=(n, len(index))), h[is_active]

    def known(self, start=None) -> Known:
        """What is kept from one minimum to the next; `start` is that of an earlier one."""
        return Known(start)

    def minimum(self, a, h, penalty, damp, has_bias, known, **aims):
        """Near the least of the quadratic model with duals a (n,) and curvatures h (n,) of the losses, as of
        quadratic.py."""
        return minimum(self, a, h, Penalty(*penalty), damp, has_bias, Aims(**aims), known)
