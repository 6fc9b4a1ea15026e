"""The chain on blocks of sentences: what solvers and estimators call, one compiled loop a call.

A shard is a range of sentences; labels Z of a shard are those of its tokens, in one flat array.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import Sizes
from ...data.rows import Ragged, Shard
from .data import ChainData, pack_sentences, refuse_forbidden
from .lattice import lattice_of, of_label


class ChainBlocks:
    """Methods on packed sentences; the fields are Chain's."""

    def pack(self, X, Y, weights=None) -> ChainData:
        """X: a list of (T, d) arrays or sparse matrices, or a Ragged of stacked rows; Y: a list of labels, a
        Ragged, or None for what is only to be predicted."""
        data = pack_sentences(X, Y, weights, self.n_features, self.n_labels)
        refuse_forbidden(data, self)
        if Y is not None and data.truth is None and self._restricted:
            self._refuse_hopeless(data)
        return data

    def _refuse_hopeless(self, data):
        """Raise where no completion is allowed; features do not matter."""
        bare = replace(self, n_features=0)
        no_features = Ragged(np.empty((len(data.y), 0)), data.offsets)
        bare.complete_batch(replace(data, X=no_features), Shard(0, data.n), np.zeros(bare.n_params))

    def emission_scores(self, data, shard, w, out):
        """Fill out (tokens of the shard, L) with the scores of labels of tokens, X W."""
        from ..._jit.chain import emissions

        tokens = data.tokens(shard)
        emissions(data.view, self._emission_weights(self._weights(w)), tokens.start, tokens.stop, out)

    def decode_batch(self, data, shard, w, augmented=True, rescaling="margin"):
        """Labels (tokens of the shard,) of the worst offenders, or of the best outputs without the loss.
        With rescaling "slack" the loss is multiplied with the margin that is missed."""
        if rescaling == "slack" and augmented:
            return self.worst_batch(data, shard, w, rescaling)[0]
        _check_rescaling(rescaling)
        return self._decode(data, shard, w, self._losses if augmented else self._nothing)

    def predict_batch(self, data, shard, w):
        """Labels (tokens of the shard,) of the best outputs; data may be packed without labels."""
        return self._decode(data, shard, w, self._nothing)

    def complete_batch(self, data, shard, w):
        """The best labels that agree with those known."""
        return self._decode(data, shard, w, self._only)

    def worst_batch(self, data, shard, w, rescaling="margin"):
        """(Z, losses, leads): worst offenders, and for each sentence its loss and <w, delta(z)>."""
        from ..._jit.chain import worst
        from ..._jit.chain_slack import worst_slack

        _check_rescaling(rescaling)
        w = self._weights(w)
        Z = np.empty(_size(data.tokens(shard)), np.int32)
        losses, leads = np.empty((2, shard.hi - shard.lo))
        kernel, table = (worst, self._losses) if rescaling == "margin" else (worst_slack, self._whole_losses)
        failed = kernel(
            *(data.view, self._emission_weights(w), lattice_of(self, w), table, data.y, data.known_truth()),
            *(data.offsets, shard.lo, shard.hi, Z, losses, leads),
        )
        self._found(data, w, failed)
        return Z, losses, leads

    def sizes(self, data) -> Sizes:
        """How large sentences are, for bounds that hold whatever rounding does (rounding.py)."""
        T = np.diff(data.offsets)
        lengths = 2.0 * (
            data.lengths + 2.0 * T + 2.0
        )  # of psi(x, y) and psi(x, z): rows, pairs, triples, ends
        return Sizes(lengths, float(self.label_losses.max()) * T, data.weights)

    def loss_batch(self, data, shard, Z):
        """(sentences of the shard,): their losses."""
        from ..._jit.chain_features import loss_sums

        out = np.empty(shard.hi - shard.lo)
        loss_sums(self._losses, data.y, data.offsets, shard.lo, shard.hi, _labels(data, shard, Z), out)
        return out

    def delta_dot(self, data, shard, w, Z):
        """(sentences of the shard,): <w, delta_i(z_i)>."""
        from ..._jit.chain_features import delta_dots

        out = np.empty(shard.hi - shard.lo)
        delta_dots(
            *(data.view, self._weights(w), self.layout, data.known_truth(), data.offsets, shard.lo, shard.hi),
            *(_labels(data, shard, Z), out),
        )
        return out

    def delta_sum(self, data, shard, Z, coefficients, out=None):
        """(n_params,): out, or zeros, plus sum_i coefficients_i delta_i(z_i)."""
        from ..._jit.chain_features import delta_sum

        out = np.zeros(self.n_params) if out is None else out
        delta_sum(
            *(data.view, self.layout, data.known_truth(), data.offsets, shard.lo, shard.hi),
            *(_labels(data, shard, Z), np.ascontiguousarray(coefficients, dtype=np.float64), out),
        )
        return out

    def delta_rows(self, data, shard, Z, factors=None):
        """factors_i delta_i(z_i) as a CSR matrix, one row a sentence of the shard; factors of 1 by default,
        rows with a factor of 0 cost nothing and are empty."""
        return sp.csr_array(
            self._delta_rows(data, shard, Z, factors), shape=(shard.hi - shard.lo, self.n_params)
        )

    def delta_row(self, data, i, z):
        """delta_i(z) as sorted (indices, values), z (T,)."""
        values, indices, _ = self._delta_rows(data, Shard(i, i + 1), z, None)
        return indices, values

    def _delta_rows(self, data, shard, Z, factors):
        from ..._jit.chain_features import delta_rows

        lo, hi = shard.lo, shard.hi
        factors = np.ones(hi - lo) if factors is None else np.ascontiguousarray(factors, dtype=np.float64)
        Z, sizes = _labels(data, shard, Z), 2 * data.feature_bounds(shard)
        return delta_rows(data.view, self.layout, data.known_truth(), data.offsets, lo, hi, Z, factors, sizes)

    @property
    def output_type(self):
        """The smallest integers that hold labels."""
        return np.min_scalar_type(self.n_labels - 1)

    def cut_view(self, data, Z, starts, examples, factors):
        """factors_j delta(z_j) as rows for compiled loops; z_j begins at Z[starts_j] and belongs to sentence
        examples_j."""
        from ..._jit.chain_cuts import ChainCuts

        truth = data.known_truth()
        return ChainCuts(data.view, self.layout, truth, data.offsets, Z, starts, examples, factors)

    def max_marginals_batch(self, data, shard, w):
        """(tokens of the shard, L): see max_marginals."""
        from ..._jit.chain_lists import max_marginals

        w = self._weights(w)
        out = np.empty((_size(data.tokens(shard)), self.n_labels))
        W = self._emission_weights(w)
        max_marginals(data.view, W, lattice_of(self, w), data.offsets, shard.lo, shard.hi, out)
        hopeless = np.flatnonzero(out.max(axis=1) == -np.inf)
        if len(hopeless):
            token = hopeless[0] + data.offsets[shard.lo]
            self._found(data, w, int(np.searchsorted(data.offsets, token, side="right")) - 1)
        return out

    def margins_batch(self, data, shard, w):
        """(tokens of the shard,): see margins."""
        marginals = self.max_marginals_batch(data, shard, w)
        if self.n_labels == 1:
            return np.full(len(marginals), np.inf)
        second, best = np.partition(marginals, self.n_labels - 2, axis=1)[:, -2:].T
        return best - second

    def _decode(self, data, shard, w, extra):
        from ..._jit.chain import decode

        w = self._weights(w)
        Z = np.empty(_size(data.tokens(shard)), np.int32)
        W, lattice = self._emission_weights(w), lattice_of(self, w)
        failed = decode(data.view, W, lattice, extra, data.y, data.offsets, shard.lo, shard.hi, Z)
        self._found(data, w, failed)
        return Z

    def _found(self, data, w, failed):
        """Raise where a sentence has no sequence at all."""
        if failed is not None and failed >= 0:
            if not np.isfinite(w).all():
                raise ValueError("w holds numbers that are not finite")
            T = data.offsets[failed + 1] - data.offsets[failed]
            raise ValueError(f"sentence {failed}: no sequence of {T} labels is allowed")

    def _weights(self, w):
        w = np.ascontiguousarray(w)
        if w.dtype not in (np.float32, np.float64):
            w = w.astype(np.float64)
        if w.shape != (self.n_params,):
            raise ValueError(f"w has shape {w.shape}, expected ({self.n_params},)")
        return w

    def _emission_weights(self, w):
        return w[: self.n_features * self.n_labels].reshape(self.n_features, self.n_labels)

    @property
    def _restricted(self):
        return any(each is not None for each in (self.allowed, self.allowed_start, self.allowed_end))

    # What decoders add to the scores of a token by its label: (L + 1, P), see of_label.

    @cached_property
    def _losses(self):
        return of_label(self.label_losses)

    @cached_property
    def _nothing(self):
        return np.zeros_like(self._losses)

    @cached_property
    def _only(self):
        return of_label(np.where(np.eye(self.n_labels, dtype=bool), 0.0, -np.inf))

    @cached_property
    def _whole_losses(self):
        if (self.label_losses != np.floor(self.label_losses)).any():
            raise ValueError("slack rescaling needs label_losses that are whole numbers; scale them")
        return of_label(self.label_losses.astype(np.int64))


def _labels(data, shard, Z):
    Z = np.ascontiguousarray(Z, dtype=np.int32)
    expected = (_size(data.tokens(shard)),)
    if Z.shape != expected:
        raise ValueError(f"Z has shape {Z.shape}, expected {expected}: one label a token of the shard")
    return Z


def _size(tokens):
    return tokens.stop - tokens.start


def _check_rescaling(rescaling):
    if rescaling not in ("margin", "slack"):
        raise ValueError(f'rescaling is "margin" or "slack"; got {rescaling!r}')
