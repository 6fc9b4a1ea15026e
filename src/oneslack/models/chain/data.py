"""Packed sentences: one matrix with a row a token, offsets, labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import gamma, upper_lengths
from ...data.rows import (
    LARGEST,
    SMALL,
    Ragged,
    Shard,
    as_rows,
    check_finite,
    compiled_view,
    cut_into_shards,
    longest_row,
    small_norms,
    weights_of,
)

#: The label of a token whose label is not known.
UNKNOWN = -1


@dataclass(frozen=True, eq=False)
class ChainData:
    """n sentences.

    X : Ragged, rows are tokens (N, d), dense or CSR
    y : (N,) labels that the loss counts; -1 where unknown
    truth : (N,) labels that psi(x, y) is taken at: y itself, or a completion of it; None until completed
    weights : (n,)
    n_labels : L
    """

    X: Ragged
    y: np.ndarray
    truth: np.ndarray | None
    weights: np.ndarray
    n_labels: int

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def offsets(self) -> np.ndarray:
        return self.X.offsets

    @cached_property
    def view(self):
        return compiled_view(self.X.values)

    @cached_property
    def shards(self) -> list[Shard]:
        """Sentences lo <= i < hi, with about as many tokens in each shard; by the data only."""
        matrix, N = self.X.values, int(self.offsets[-1])
        numbers = matrix.nnz if sp.issparse(matrix) else matrix.size
        # A number is multiplied with L weights, a token has L x L steps.
        count = len(cut_into_shards(self.n, self.n_labels * (numbers + N * self.n_labels)))
        inner = np.searchsorted(self.offsets, [N * k // count for k in range(1, count)])
        bounds = [0, *(int(bound) for bound in inner), self.n]
        return [Shard(lo, hi) for lo, hi in pairwise(bounds) if lo < hi] or [Shard(0, self.n)]

    def tokens(self, shard) -> slice:
        """The tokens of a shard's sentences."""
        return slice(int(self.offsets[shard.lo]), int(self.offsets[shard.hi]))

    def feature_bounds(self, shard) -> np.ndarray:
        """(sentences of the shard,): no psi has more non-zeros than this."""
        offsets, matrix = self.offsets[shard.lo : shard.hi + 1], self.X.values
        places = matrix.indptr[offsets] if sp.issparse(matrix) else offsets * matrix.shape[1]
        return np.diff(places).astype(np.int64) + 2 * np.diff(offsets) + 2

    @cached_property
    def numbers_before(self) -> np.ndarray:
        """(N + 1,): numbers in the rows of the tokens before each."""
        matrix = self.X.values
        if sp.issparse(matrix):
            return matrix.indptr.astype(np.int64)
        return matrix.shape[1] * np.arange(matrix.shape[0] + 1)

    @cached_property
    def depth(self) -> int:
        """No psi has more numbers to sum up than this."""
        return int(self.feature_bounds(Shard(0, self.n)).max(initial=0))

    @cached_property
    def token_norm2(self) -> np.ndarray:
        """(N,): |x_t|^2."""
        if self.X.values.shape[0] * self.X.values.shape[1] <= SMALL:
            return small_norms(self.X.values)
        from ..._jit.rows import squared_norms

        out = np.empty(len(self.y))
        squared_norms(self.view, 0, len(out), out)
        return out

    def check_finite(self):
        """Raise where X holds a number that is not finite, or too large to be squared."""
        if not self.token_norm2.max(initial=0.0) <= LARGEST:
            check_finite(self.X.values, lambda t: place(self.offsets, t))

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n,): the lengths of the rows of each sentence's tokens, summed up."""
        norm2 = self.token_norm2
        before = np.append(0.0, np.cumsum(upper_lengths(norm2, longest_row(self.X.values))))
        return (1.0 + gamma(len(norm2) + 8)) * np.diff(before[self.offsets]) + gamma(len(norm2) + 8) * before[
            -1
        ]

    def known_truth(self) -> np.ndarray:
        """truth, or an error where a label is missing."""
        if self.truth is None:
            i = np.searchsorted(self.offsets, np.flatnonzero(self.y == UNKNOWN)[0], side="right") - 1
            raise ValueError(f"sentence {i} has tokens without a label: complete them first (complete_batch)")
        return self.truth

    def completed(self, labels) -> ChainData:
        """The same with psi(x, y) at `labels` (N,), which agree with y where it is known; the loss still
        counts only what y knows."""
        labels = np.ascontiguousarray(labels, dtype=np.int32)
        if labels.shape != self.y.shape or (labels < 0).any() or (labels >= self.n_labels).any():
            raise ValueError(f"a completion has {len(self.y)} labels, 0 .. {self.n_labels - 1}")
        wrong = np.flatnonzero((self.y != UNKNOWN) & (labels != self.y))
        if len(wrong):
            raise ValueError(f"{place(self.offsets, wrong[0])}: a completion keeps the labels that are known")
        return replace(self, truth=labels)

    def take(self, index) -> ChainData:
        """The sentences `index`, as a copy."""
        index = np.arange(self.n)[index]
        places = self.X.places(index)
        truth = None if self.truth is None else self.truth[places]
        return ChainData(self.X.take(index), self.y[places], truth, self.weights[index], self.n_labels)


def pack_sentences(X, Y, weights, n_features, n_labels) -> ChainData:
    """Checked and packed.  X: a list of (T, d) arrays or sparse matrices, or a Ragged of stacked rows.
    Y: a list of (T,) labels, a Ragged, or None when no label is known."""
    X = X if isinstance(X, Ragged) else _stack(X, n_features)
    values = as_rows(X.values)
    if values.ndim != 2 or values.shape[1] != n_features:
        raise ValueError(f"tokens have shape {values.shape[1:]}, expected ({n_features},) features")
    X = Ragged(values, X.offsets)
    y = np.full(values.shape[0], UNKNOWN, np.int32) if Y is None else _labels(Y, X, n_labels)
    truth = None if (y == UNKNOWN).any() else y
    return ChainData(X, y, truth, weights_of(weights, len(X)), n_labels)


def _stack(X, n_features):
    X = [x if sp.issparse(x) else np.asarray(x) for x in X]
    for i, x in enumerate(X):
        if x.ndim != 2 or x.shape[1] != n_features:
            raise ValueError(f"sentence {i}: x has shape {x.shape}, expected (tokens, {n_features})")
    if not X:
        return Ragged(np.empty((0, n_features)), [0])
    return Ragged(X[0], [0, X[0].shape[0]]) if len(X) == 1 else Ragged.from_list(X)


def _labels(Y, X, n_labels):
    Y = Y if isinstance(Y, Ragged) else Ragged.from_list(Y)
    if len(Y) != len(X):
        raise ValueError(f"X has {len(X)} sentences but Y has {len(Y)}")
    bad = np.flatnonzero(Y.lengths != X.lengths)
    if len(bad):
        i = bad[0]
        raise ValueError(f"sentence {i} has {X.lengths[i]} tokens but {Y.lengths[i]} labels")
    values = np.asarray(Y.values)
    if values.ndim != 1 or (len(values) and values.dtype.kind not in "biuf"):
        raise ValueError(
            f"labels must be whole numbers, one a token; got {values.dtype} of shape {values.shape}"
        )
    wrong = (values < UNKNOWN) | (values >= n_labels) | (np.floor(values) != values)
    if wrong.any():
        where, what = place(X.offsets, np.flatnonzero(wrong)[0]), values[wrong][0]
        raise ValueError(f"{where}: y is {what}, expected 0 .. {n_labels - 1}, or -1 where it is not known")
    return np.ascontiguousarray(values, dtype=np.int32)


def place(offsets, token) -> str:
    """Where a token is, in words; both count from 0."""
    i = int(np.searchsorted(offsets, token, side="right")) - 1
    return f"sentence {i}, position {token - offsets[i]}"


def refuse_forbidden(data, model):
    """Raise where known labels use a transition, a start or an end that is not allowed."""
    y, offsets = data.y, data.offsets
    filled = offsets[:-1] < offsets[1:]
    heads, tails = offsets[:-1][filled], offsets[1:][filled] - 1
    if model.allowed is not None and len(y):
        follows = np.ones(len(y), bool)
        follows[heads] = False
        t = np.flatnonzero(follows)
        t = t[(y[t] != UNKNOWN) & (y[t - 1] != UNKNOWN)]
        bad = t[~model.allowed[y[t - 1], y[t]]]
        if len(bad):
            t = bad[0]
            raise ValueError(f"{place(offsets, t)}: label {y[t]} may not follow label {y[t - 1]}")
    for where, allowed, verb in (
        (heads, model.allowed_start, "start"),
        (tails, model.allowed_end, "end"),
    ):
        if allowed is not None:
            known = where[y[where] != UNKNOWN]
            bad = known[~allowed[y[known]]]
            if len(bad):
                raise ValueError(f"{place(offsets, bad[0])}: label {y[bad[0]]} may not {verb} a sentence")
