"""Label sequences, one label a token.

    score(z) = sum_t <W[:, z_t], x_t> + sum_t pair[z_(t-1), z_t] (+ triple) (+ start[z_1] + end[z_T])
    loss(y, z) = sum_t costs[y_t, z_t]

The worst sequence is found by Viterbi's algorithm, over all sentences of one length at once; with slack
rescaling, where costs are whole numbers, for each loss that a sequence may have.  Weights lie in the order
[features (d, L) | pairs (L, L) | triples (L, L, L) | start (L,) | end (L,)], where there are any.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import ProofError
from .sums import SAFE, adjoint, batches, gamma, product


class Chains(NamedTuple):
    """Tokens X (T, d) of all sentences, which end at ends (n + 1,); labels y (T,) of 0 .. L-1.

    blocks   {"features": slice of w, "pairs": ..., ...}, those that there are
    may      {"pairs": (L, L) of bool, "start": (L,), "end": (L,)}: which labels may follow, come first, last
    costs    (L, L)
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

    @property
    def reach(self):
        """Numbers of an output go from and to these."""
        return 0, len(self.costs) - 1

    def hinges(self, w, slack=False):
        """(n,) of max_z loss + score(z) - score(y), or max_z loss (1 + score(z) - score(y)); how far off."""
        L, T = len(self.costs), self.sizes
        if (self.costs < 0).any() or self.costs.diagonal().any() or (slack and np.any(self.costs % 1.0)):
            raise ProofError("the costs of labels are no costs, or no whole ones, as slack rescaling needs")
        F, E = product(self.X, w[self.blocks["features"]].reshape(-1, L))
        shapes = {"pairs": (L, L), "start": (L,), "end": (L,), "triples": (L, L, L)}
        of = {k: w[self.blocks[k]].reshape(m) if k in self.blocks else np.zeros(m) for k, m in shapes.items()}
        wide = np.abs(F).max(axis=1, initial=0.0) + sum(np.abs(part).max() for part in of.values())
        off = E.max(axis=1, initial=0.0) + gamma(8 * T.max(initial=1) + 16) * (wide + self.costs.max() + 1.0)
        owner = np.repeat(np.arange(len(T)), T)
        best, errors = np.zeros(len(T)), 2.0 * SAFE * np.bincount(owner, off, len(T))
        for name, may in self.may.items():
            of[name] = np.where(may, of[name], -np.inf)
        for some in batches(T, L**3):
            length = T[some[0]]
            at = self.ends[some][:, None] + np.arange(length)
            y, G = self.y[at], F[at]
            said = np.take_along_axis(G, y[:, :, None], 2).sum(axis=(1, 2))
            for name, labels, cut in _parts(y.ravel(), np.repeat(np.arange(len(some)), length)):
                said += np.bincount(cut, of[name][labels], len(some))
            if slack:
                V = self._viterbi(G, of, self.costs[y].astype(int))
                losses = np.arange(V.shape[1])
                best[some] = (losses[1:] * (1.0 + V[:, 1:] - said[:, None])).max(axis=1, initial=0.0)
                errors[some] *= SAFE * losses[-1]
            else:
                best[some] = self._viterbi(G + self.costs[y], of)[:, 0] - said
        return best, errors

    def _viterbi(self, G, of, losses=None):
        """(m, levels): the best scores of m sentences with scores G (m, T, L) of labels, for each loss where
        these are given, (m, T, L); V (m, levels, L) or (m, levels, L, L) is by the last label, or two."""
        order = 2 if "triples" in self.blocks else 1
        levels = 1 if losses is None else 1 + int(losses.max(axis=2).sum(axis=1).max())
        V = np.where(np.arange(levels)[:, None] == 0, of["start"], -np.inf)[None]
        for t in range(G.shape[1]):
            if t:
                V = V[..., None] + of["pairs"] + (of["triples"] if order == 2 and t > 1 else 0.0)
                V = V.max(axis=2) if order == 1 or t > 1 else V
            by_label = (len(G), 1, *[1] * (V.ndim - 3), -1)
            V = V + G[:, t].reshape(by_label)
            if losses is not None:  # what had a loss of r - losses[t] before has r now
                rise = np.arange(levels).reshape(1, -1, *[1] * (V.ndim - 2)) - losses[:, t].reshape(by_label)
                before = np.take_along_axis(V, np.broadcast_to(np.maximum(rise, 0), V.shape), axis=1)
                V = np.where(rise >= 0, before, -np.inf)
        return (V + of["end"]).max(axis=tuple(range(2, V.ndim)))

    def _tokens(self, of):
        """The tokens of the outputs of the examples `of`, and the number of the output of each."""
        T = self.sizes[of]
        first = np.repeat(self.ends[of] - np.cumsum(T) + T, T)
        return np.arange(T.sum()) + first, np.repeat(np.arange(len(of)), T)

    def losses(self, of, Z):
        """(m,): loss of the outputs; a ProofError where one is none."""
        at, cut = self._tokens(of)
        for name, labels, _ in _parts(Z, cut):
            if name in self.may and not self.may[name][labels].all():
                raise ProofError("an output of the proof has labels in an order that is not allowed")
        return np.bincount(cut, self.costs[self.y[at], Z], len(of))

    def features(self, of, Z, alpha):
        """(sum alpha (psi(y) - psi(z)), the sizes of its terms, how many)."""
        (at, cut), L = self._tokens(of), len(self.costs)
        v, sizes = np.zeros((2, max(block.stop for block in self.blocks.values())))
        for labels, sign in ((self.y[at], 1.0), (Z, -1.0)):
            given, block = alpha[cut], self.blocks["features"]
            terms = sp.csr_array((given, (at, labels)), shape=(len(self.y), L))
            V, size = adjoint(self.X, terms)
            v[block] += sign * V.T.ravel()
            sizes[block] += size.T.ravel()
            for name, where, cuts in _parts(labels, cut):
                if name in self.blocks:
                    block, place = self.blocks[name], np.ravel_multi_index(where, (L,) * len(where))
                    count = np.bincount(place, alpha[cuts], block.stop - block.start)
                    v[block] += sign * count
                    sizes[block] += count
        return v, sizes, 2 * len(Z) + len(self.y) + 8


def _parts(labels, owner):
    """Yield (block, labels that meet there, whose they are) of sequences, told by their owner."""
    same = np.append(np.zeros(min(len(owner), 1), bool), owner[1:] == owner[:-1])
    pairs, first = np.flatnonzero(same), np.flatnonzero(~same)
    last, triples = np.append(first[1:], len(labels))[: len(first)] - 1, pairs[same[pairs - 1]]
    yield "pairs", (labels[pairs - 1], labels[pairs]), owner[pairs]
    yield "triples", (labels[triples - 2], labels[triples - 1], labels[triples]), owner[triples]
    yield "start", (labels[first],), owner[first]
    yield "end", (labels[last],), owner[last]
