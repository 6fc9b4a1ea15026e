"""Chain: one label a token, with weights for features of tokens and for the order of labels.

    <w, psi(x, y)> = sum_t <W[:, y_t], x_t> + sum_t pair[y_(t-1), y_t] (+ triple[y_(t-2), y_(t-1), y_t])
                     (+ start[y_1] + end[y_T])
    loss(y, z)     = sum_t label_losses[y_t, z_t]

Joachims, Finley & Yu (2009), equation 31.  The loss is a sum over tokens, as theirs, and is not divided by
the length: a long sentence can be more wrong than a short one.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import pairwise, product

import numpy as np
import scipy.sparse as sp

from ...data.rows import Shard
from .blocks import ChainBlocks
from .data import UNKNOWN, pack_sentences
from .lattice import lattice_of, layout_of

#: `outputs` lists no more sequences than this.
MAX_OUTPUTS = 1_000_000

_ONE = Shard(0, 1)


@dataclass(frozen=True, eq=False)
class Chain(ChainBlocks):
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
        return self.decode_batch(self._one(x, y), _ONE, w, augmented=y is not None)

    def decode_slack(self, w, x, y):
        """argmax_z loss(y, z) (1 - <w, delta(z)>), for label losses that are whole numbers."""
        return self.decode_batch(self._one(x, y), _ONE, w, rescaling="slack")

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
