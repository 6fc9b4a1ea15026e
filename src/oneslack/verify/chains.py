"""Label sequences, one label a token.

    score(z) = sum_t <W[:, z_t], x_t> + sum_t pair[z_(t-1), z_t] (+ triple) (+ start[z_1] + end[z_T])
    loss(y, z) = sum_t losses[y_t, z_t]

The worst sequence is found by Viterbi's algorithm, over all sentences of one length at once.  Weights lie in
the order [features (d, L) | pairs (L, L) | triples (L, L, L) | start (L,) | end (L,)], where there are any.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import ProofError
from .sums import SAFE, adjoint, gamma, product


class Chains(NamedTuple):
    """Tokens X (T, d) of all sentences, which end at ends (n + 1,); labels y (T,) of 0 .. L-1.

    blocks   {"features": slice of w, "pairs": ..., ...}, those that there are
    may      {"pairs": (L, L) of bool, "start": (L,), "end": (L,)}: which labels may follow, come first, last
    costs    (L, L) losses
    """

    X: Any
    ends: np.ndarray
    y: np.ndarray
    blocks: dict
    may: dict
    costs: np.ndarray

    @property
    def sizes(self):
        """(n,): labels of an output."""
        return np.diff(self.ends)

    def hinges(self, w):
        """(n,) of max_z loss + score(z) - score(y), and how far off."""
        L, T = len(self.costs), self.sizes
        F, E = product(self.X, w[self.blocks["features"]].reshape(-1, L))
        shapes = {"pairs": (L, L), "start": (L,), "end": (L,), "triples": (L, L, L)}
        of = {k: w[self.blocks[k]].reshape(m) if k in self.blocks else np.zeros(m) for k, m in shapes.items()}
        wide = (
            np.abs(F).max(axis=1, initial=0.0)
            + self.costs.max()
            + sum(np.abs(part).max() for part in of.values())
        )
        token = 2.0 * SAFE * (E.max(axis=1, initial=0.0) + gamma(8 * int(T.max(initial=1)) + 16) * wide)
        for name, may in self.may.items():
            of[name] = np.where(may, of[name], -np.inf)
        best, errors = np.zeros(len(T)), np.bincount(np.repeat(np.arange(len(T)), T), token, len(T))
        for length in np.unique(T[T > 0]):
            some = np.flatnonzero(length == T)
            at = self.ends[some][:, None] + np.arange(length)
            y, G = self.y[at], F[at]
            said = np.take_along_axis(G, y[:, :, None], 2)[:, :, 0].sum(axis=1) + of["start"][y[:, 0]]
            said += of["pairs"][y[:, :-1], y[:, 1:]].sum(axis=1) + of["end"][y[:, -1]]
            said += of["triples"][y[:, :-2], y[:, 1:-1], y[:, 2:]].sum(axis=1)
            best[some] = self._viterbi(G + self.costs[y], of) - said
        return best, errors

    def _viterbi(self, G, of):
        """(m,): the best scores of m sentences with scores G (m, T, L) of labels."""
        V = G[:, 0] + of["start"]
        if "triples" not in self.blocks:
            for t in range(1, G.shape[1]):
                V = (V[:, :, None] + of["pairs"]).max(axis=1) + G[:, t]
            return (V + of["end"]).max(axis=1)
        if G.shape[1] == 1:
            return (V + of["end"]).max(axis=1)
        V = V[:, :, None] + of["pairs"] + G[:, 1][:, None]  # of the last two labels
        for t in range(2, G.shape[1]):
            V = (V[:, :, :, None] + of["triples"]).max(axis=1) + of["pairs"] + G[:, t][:, None]
        return (V + of["end"]).max(axis=(1, 2))

    def _tokens(self, of):
        """The tokens of the outputs of the examples `of`, and the number of the output of each."""
        T = self.sizes[of]
        return np.arange(T.sum()) + np.repeat(self.ends[of] - np.cumsum(T) + T, T), np.repeat(
            np.arange(len(of)), T
        )

    def losses(self, of, Z):
        """(m,): loss of the outputs; a ProofError where one is none."""
        at, cut = self._tokens(of)
        if len(Z) and not 0 <= Z.min() <= Z.max() < len(self.costs):
            raise ProofError("the proof has a label that there is not")
        for name, labels, _ in _parts(Z, cut):
            if name in self.may and not self.may[name][labels].all():
                raise ProofError("an output of the proof has labels in an order that is not allowed")
        return np.bincount(cut, self.costs[self.y[at], Z], len(of))

    def features(self, given, of, Z, alpha):
        """(sum_i given_i psi(y_i) - sum alpha psi(z), the sizes of its terms, how many)."""
        (first, own), (at, cut) = self._tokens(np.arange(len(given))), self._tokens(of)
        at, labels = np.append(first, at), np.append(self.y, Z)
        owner, weights = np.append(own, cut + len(given)), np.append(given[own], -alpha[cut])
        v, size = np.zeros((2, self.blocks["features"].stop + sum(
            part.stop - part.start for name, part in self.blocks.items() if name != "features")))  # fmt: skip
        M, N = (sp.csr_array((part, (at, labels)), shape=(len(self.y), len(self.costs)))
                for part in (weights, np.abs(weights)))  # fmt: skip
        block = self.blocks["features"]
        v[block], size[block] = adjoint(self.X, M)[0].T.ravel(), adjoint(abs(self.X), N)[0].T.ravel()
        for name, where, tokens in _parts(labels, owner):
            if name in self.blocks:
                block = self.blocks[name]
                place = np.ravel_multi_index(where, (len(self.costs),) * len(where))
                v[block] = np.bincount(place, weights[tokens], block.stop - block.start)
                size[block] = np.bincount(place, np.abs(weights[tokens]), block.stop - block.start)
        return v, size, len(labels) + 8


def _parts(labels, owner):
    """Yield (block, labels that meet there, their last tokens) of sequences, told by their owner."""
    same = np.append(np.zeros(min(len(owner), 1), bool), owner[1:] == owner[:-1])
    pairs, first = np.flatnonzero(same), np.flatnonzero(~same)
    last, triples = np.append(first[1:], len(labels))[: len(first)] - 1, pairs[same[pairs - 1]]
    yield "pairs", (labels[pairs - 1], labels[pairs]), pairs
    yield "triples", (labels[triples - 2], labels[triples - 1], labels[triples]), triples
    yield "start", (labels[first],), first
    yield "end", (labels[last],), last
