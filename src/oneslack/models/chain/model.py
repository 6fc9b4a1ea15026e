"""Chain: one label a token, with weights for features of tokens and for the order of labels.

    <w, psi(x, y)> = sum_t <W[:, y_t], x_t> + sum_t pair[y_(t-1), y_t] (+ triple[y_(t-2), y_(t-1), y_t])
                     (+ start[y_1] + end[y_T])
    loss(y, z)     = sum_t label_losses[y_t, z_t]

Joachims, Finley & Yu (2009), equation 31.  The loss is a sum over tokens, as theirs, and is not divided by
the length: a long sentence can be more wrong than a short one.

Solvers and estimators ask for blocks of sentences, one compiled loop a call: a shard is a range of sentences,
labels Z of a shard are those of its tokens, in one flat array.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import pairwise, product

import numpy as np
import scipy.sparse as sp

from ...certificate.rounding import Sizes
from ...data.rows import Ragged, Shard
from .data import UNKNOWN, ChainData, pack_sentences, refuse_forbidden
from .lattice import lattice_of, layout_of, of_label

#: `outputs` lists no more sequences than this.
MAX_OUTPUTS = 1_000_000

_ONE = Shard(0, 1)


@dataclass(frozen=True, eq=False)
class Chain:
    """Sentences x (T, n_features), dense or CSR, with labels y (T,) in 0 .. n_labels-1; -1 is unknown.

    Weight (feature k, label a) is number k L + a, so that the L weights of a feature lie side by side; then
    pairs (a, b) at a L + b, triples (a, b, c) at (a L + b) L + c, start and end weights, where there are any.

    order          1: pairs of labels; 2: triples too
    start, end     weights for the first and the last label
    allowed        (L, L) of bool: whether label b may follow label a; decoders use no other
    allowed_start, allowed_end   (L,) of bool: labels that a sentence may start and end with
    label_losses   (L, L), >= 0 with a diagonal of 0; 1 for each wrong label by default

    Tokens with unknown labels cost nothing in the loss; `complete` finds their best labels.

    >>> import numpy as np
    >>> from oneslack.models.chain import Chain
    >>> stay = [0.0, 2.0, 1.0, 0.0, 3.0, 0.0, 0.0, 3.0]  # 2 features x 2 labels, then pairs
    >>> Chain(2, 2).decode(np.array(stay), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([1, 1], dtype=int32)
    """

    n_features: int
    n_labels: int
    _: KW_ONLY
    order: int = 1
    start: bool = False
    end: bool = False
    allowed: np.ndarray | None = None
    allowed_start: np.ndarray | None = None
    allowed_end: np.ndarray | None = None
    label_losses: np.ndarray | None = None

    def __post_init__(self):
        L = self.n_labels
        if self.order not in (1, 2):
            raise ValueError(f"order must be 1 or 2; got {self.order!r}")
        if self.n_features < 0 or L < 1:
            raise ValueError(f"a chain needs at least 1 label; got {L} labels and {self.n_features} features")
        losses = 1.0 - np.eye(L) if self.label_losses is None else np.array(self.label_losses, float)
        if (
            losses.shape != (L, L)
            or not np.isfinite(losses).all()
            or (losses < 0).any()
            or losses.diagonal().any()
        ):
            raise ValueError(
                f"label_losses must be ({L}, {L}), >= 0, with a diagonal of 0; got shape {losses.shape}"
            )
        object.__setattr__(self, "label_losses", losses)
        for name, shape in (("allowed", (L, L)), ("allowed_start", (L,)), ("allowed_end", (L,))):
            value = getattr(self, name)
            if value is not None:
                value = np.array(value, dtype=bool)
                if value.shape != shape:
                    raise ValueError(f"{name} must have shape {shape}; got {value.shape}")
                object.__setattr__(self, name, value)

    @cached_property
    def layout(self) -> tuple[int, int, int, int, int]:
        """Where in w the weights of the order begin (see lattice.py)."""
        return layout_of(self)

    @property
    def blocks(self) -> dict[str, slice]:
        """Names for the kinds of weights, those that the chain has."""
        L, pairs, triples, start, end = self.layout
        sizes = {"pairs": L * L, "triples": L**3, "start": L, "end": L}
        places = dict(zip(sizes, (pairs, triples, start, end), strict=True))
        order = {name: slice(at, at + sizes[name]) for name, at in places.items() if at >= 0}
        return {"features": slice(0, pairs), **order}

    @property
    def n_params(self) -> int:
        L = self.n_labels
        order = L * L + (L**3 if self.order == 2 else 0)
        return self.n_features * L + order + (self.start + self.end) * L

    # One sentence.

    def joint_feature(self, x, y):
        """psi(x, y) as one CSR row."""
        from ..._jit.chain_features import feature_row

        data = pack_sentences([x], [y], None, self.n_features, self.n_labels)
        z, size = data.known_truth(), data.feature_bounds(_ONE)[0]
        index, values = feature_row(data.view, self.layout, z, np.full_like(z, UNKNOWN), size)
        return sp.csr_array((values, index, [0, len(index)]), shape=(1, self.n_params))

    def loss(self, y, y_hat):
        y, y_hat = np.asarray(y, dtype=int), np.asarray(y_hat, dtype=int)
        if y.shape != y_hat.shape:
            raise ValueError(f"y has {len(y)} labels but y_hat has {len(y_hat)}")
        return float(self._losses[y, y_hat].sum())

    def decode(self, w, x, y=None):
        """The best labels, with the loss against y when it is given."""
        return self._decode(self._one(x, y), _ONE, w, self._nothing if y is None else self._losses)

    def decode_slack(self, w, x, y):
        """argmax_z loss(y, z) (1 - <w, delta(z)>), for label losses that are whole numbers."""
        return self.worst_batch(self._one(x, y), _ONE, w, "slack")[0]

    def complete(self, w, x, y):
        """The best labels that agree with y where it is known (y_t >= 0)."""
        return self.complete_batch(self._one(x, y), _ONE, w)

    def decode_topk(self, w, x, k):
        """(labels (m, T), scores (m,)) of the k best sequences, best first; fewer where there are fewer."""
        from ..._jit.chain import token_scores
        from ..._jit.chain_lists import best_sequences

        if k < 1:
            raise ValueError(f"k must be at least 1; got {k!r}")
        data, w = self._one(x), self._weights(w)
        T, lattice = len(data.y), lattice_of(self, w)
        Z, scores = np.empty((k, T), np.int32), np.zeros(k)
        if T == 0:
            return Z[:1], scores[:1]
        E = np.empty((T, len(lattice[2])))
        token_scores(data.view, self._emission_weights(w), 0, E)
        m = best_sequences(lattice, E, k, Z, scores)
        self._found(data, w, 0 if m == 0 else -1)
        return Z[:m], scores[:m]

    def max_marginals(self, w, x):
        """(T, L): the best score of a sequence that has this label at this token; -inf where none may."""
        return self.max_marginals_batch(self._one(x), _ONE, w)

    def margins(self, w, x):
        """(T,): by how much the predicted label beats the best sequence with another label at this token."""
        return self.margins_batch(self._one(x), _ONE, w)

    def outputs(self, x):
        """All allowed label sequences of a short sentence."""
        L, T = self.n_labels, x.shape[0]
        if L**T > MAX_OUTPUTS:
            raise ValueError(f"{L} labels on {T} tokens have {L**T} sequences: too many to list")
        for labels in product(range(L), repeat=T):
            if self._is_allowed(labels):
                yield np.array(labels, dtype=np.int32)

    def _is_allowed(self, z):
        if not len(z):
            return True
        starts = self.allowed_start is None or self.allowed_start[z[0]]
        ends = self.allowed_end is None or self.allowed_end[z[-1]]
        return bool(starts and ends) and (
            self.allowed is None or all(self.allowed[a, b] for a, b in pairwise(z))
        )

    def _one(self, x, y=None):
        return self.pack([x], None if y is None else [y])

    # Blocks of sentences (protocols.Batches).

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

    def predict_batch(self, data, shard, w):
        """Labels (tokens of the shard,) of the best outputs; data may be packed without labels."""
        return self._decode(data, shard, w, self._nothing)

    def complete_batch(self, data, shard, w):
        """The best labels that agree with those known."""
        return self._decode(data, shard, w, self._only)

    def worst_batch(self, data, shard, w, rescaling="margin"):
        """(Z, losses, leads): worst offenders, and for each sentence its loss and <w, delta(z)>.  With
        rescaling "slack" the loss is multiplied with the margin that is missed."""
        from ..._jit.chain import decode
        from ..._jit.chain_slack import worst_slack

        if rescaling not in ("margin", "slack"):
            raise ValueError(f'rescaling is "margin" or "slack"; got {rescaling!r}')
        losses, leads = np.empty((2, shard.hi - shard.lo))
        loop, table = (decode, self._losses) if rescaling == "margin" else (worst_slack, self._whole_losses)
        return self._run(loop, data, shard, w, table, data.known_truth(), losses, leads), losses, leads

    def _decode(self, data, shard, w, extra):
        from ..._jit.chain import decode

        return self._run(decode, data, shard, w, extra, data.y, *np.empty((2, 0)))

    def _run(self, loop, data, shard, w, table, truth, losses, leads):
        """Labels of the shard's tokens, by a compiled decoder."""
        w = self._weights(w)
        Z = np.empty(_size(data.tokens(shard)), np.int32)
        failed = loop(
            *(data.view, self._emission_weights(w), lattice_of(self, w), table, data.y, truth),
            *(data.offsets, shard.lo, shard.hi, Z, losses, leads),
        )
        self._found(data, w, failed)
        return Z

    def sizes(self, data) -> Sizes:
        """How large sentences are, for bounds that hold whatever rounding does (rounding.py)."""
        T = np.diff(data.offsets)
        lengths = 2.0 * (
            data.lengths + 2.0 * T + 2.0
        )  # of psi(x, y) and psi(x, z): rows, pairs, triples, ends
        return Sizes(lengths, float(self.label_losses.max()) * T, data.weights)

    def delta_sum(self, data, shard, Z, coefficients):
        """(n_params,): sum_i coefficients_i delta_i(z_i)."""
        from ..._jit.cut_rows import add_cuts

        out = np.zeros(self.n_params)
        used, starts = np.flatnonzero(coefficients), data.offsets[shard.lo : shard.hi]
        rows = self.cut_view(
            *(data, _labels(data, shard, Z).astype(self.output_type), starts - data.offsets[shard.lo]),
            *(np.arange(shard.lo, shard.hi), np.ones(len(starts))),
        )
        add_cuts(rows, used, np.asarray(coefficients, dtype=np.float64)[used], out)
        return out

    def delta_rows(self, data, shard, Z, factors=None):
        """factors_i delta_i(z_i) as a CSR matrix, one row a sentence of the shard; factors of 1 by default,
        rows with a factor of 0 cost nothing and are empty."""
        from ..._jit.chain_features import delta_rows

        lo, hi = shard.lo, shard.hi
        factors = np.ones(hi - lo) if factors is None else np.ascontiguousarray(factors, dtype=np.float64)
        Z, sizes = _labels(data, shard, Z), 2 * data.feature_bounds(shard)
        rows = delta_rows(data.view, self.layout, data.known_truth(), data.offsets, lo, hi, Z, factors, sizes)
        return sp.csr_array(rows, shape=(hi - lo, self.n_params))

    @property
    def output_type(self):
        """The smallest integers that hold labels."""
        return np.min_scalar_type(self.n_labels - 1)

    def cut_view(self, data, Z, starts, examples, factors):
        """factors_j delta(z_j) as rows for compiled loops; z_j begins at Z[starts_j] and belongs to sentence
        examples_j."""
        from ..._jit.chain_features import ChainCuts

        truth = data.known_truth()
        return ChainCuts(data.view, self.layout, truth, data.offsets, Z, starts, examples, factors)

    def run_view(self, data, *cuts):
        """Rows of outputs that are the truth but for some tokens; `cuts` as in RunCuts from Z on."""
        from ..._jit.chain_runs import RunCuts

        return RunCuts(data.view, self.layout, data.known_truth(), data.offsets, *cuts)

    def decode_work(self, data) -> float:
        """Multiplications and sums of decoding all sentences, as processors do them: four at a time."""
        return self.n_labels * (data.numbers_before[-1] + len(data.y) * self.n_labels**self.order) / 4.0

    @property
    def loss_table(self):
        """(L + 1, at least L): the loss of a token; the last row is for tokens whose label is not known."""
        return self._losses

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
