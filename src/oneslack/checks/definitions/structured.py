"""P of structured models by definition: the worst output among all that can be listed, or the best path.

P(w) = 1/2 |r (w - prior)|^2 + sum_i c_i max_z loss(y_i, z) - <w, psi(x_i, y_i) - psi(x_i, z)>
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from .objective import Penalised, like, rational, weighted

#: Outputs of an example that are listed at most; of more the model's own decoder is asked.
LISTED = 2000


def number(w, value):
    """A float in the numbers of w."""
    return Fraction(float(value)) if w.dtype == object else float(value)


def psi_of(model, x, y) -> np.ndarray:
    """(n_params,) the joint features."""
    row = model.joint_feature(x, y)
    return np.asarray(row.toarray() if sp.issparse(row) else row, dtype=float).ravel()


class ModelExamples:
    """Examples of any model: each has its outputs as rows of psi and losses, where they can be listed."""

    def __init__(self, model, X, Y, slack):
        self.model, self.X, self.Y, self.slack = model, X, Y, slack
        self.truths = [psi_of(model, x, y) for x, y in zip(X, Y, strict=True)]
        self.listed = [self._list(x, y) for x, y in zip(X, Y, strict=True)]

    def _list(self, x, y):
        """(psi (outputs, n_params), losses (outputs,)), or None."""
        if not hasattr(self.model, "outputs"):
            return None
        try:
            outputs = list(islice(iter(self.model.outputs(x)), LISTED + 1))
        except ValueError:  # a built-in model says that they are too many
            return None
        if len(outputs) > LISTED:
            return None
        return self.rows(x, y, outputs)

    def rows(self, x, y, outputs):
        features = np.array([psi_of(self.model, x, z) for z in outputs])
        return features, np.array([float(self.model.loss(y, z)) for z in outputs])

    def __len__(self):
        return len(self.truths)

    @property
    def size(self):
        """Numbers that P is computed from."""
        return sum(
            t.size if rows is None else rows[0].size for t, rows in zip(self.truths, self.listed, strict=True)
        )

    def worst(self, w, i):
        """(hinge, delta of the worst output, times its loss where the slack is rescaled)."""
        rows = self.listed[i]
        if rows is None:
            decode = self.model.decode_slack if self.slack else self.model.decode
            z = decode(np.asarray(w, dtype=float), self.X[i], self.Y[i])
            rows = self.rows(self.X[i], self.Y[i], [self.Y[i], z])
        features, losses = (like(w, part) for part in rows)
        leads = (like(w, self.truths[i]) - features) @ w
        hinges = losses * (1 - leads) if self.slack else losses - leads
        worst = int(np.argmax(hinges))
        delta = self.truths[i] - rows[0][worst]
        return hinges[worst], delta * rows[1][worst] if self.slack else delta

    def sizes(self, w):
        """(n,): sum of |w| |psi| of the truths."""
        return np.array([np.abs(psi) @ np.abs(w) for psi in self.truths])

    def best_score(self, w, i):
        """The score of the best output of x_i."""
        rows = self.listed[i]
        if rows is None:
            return float(psi_of(self.model, self.X[i], self.model.decode(w, self.X[i])) @ w)
        return float((rows[0] @ w).max())

    def score(self, w, i, z):
        return float(psi_of(self.model, self.X[i], z) @ w)


class ChainExamples:
    """Sentences of a Chain, by Viterbi's algorithm over pairs of neighbouring labels."""

    slack = False

    def __init__(self, model, X, Y):
        self.model, self.Y = model, [np.asarray(y, dtype=int) for y in Y]
        self.X = [x.toarray() if sp.issparse(x) else np.asarray(x, dtype=float) for x in X]

    def __len__(self):
        return len(self.X)

    @property
    def size(self):
        L = self.model.n_labels
        return sum(len(x) * (x.shape[1] * L + L**3) for x in self.X)

    def worst(self, w, i):
        x, y = self.X[i], self.Y[i]
        losses = like(w, self.model.label_losses)[y]
        best, z = self._path(w, x, losses)
        delta = self._psi(x, y) - self._psi(x, z)
        return best - self._score(w, x, y), delta

    def sizes(self, w):
        return np.array([np.abs(self._psi(x, y)) @ np.abs(w) for x, y in zip(self.X, self.Y, strict=True)])

    def best_score(self, w, i):
        return float(self._path(w, self.X[i], np.zeros((len(self.X[i]), self.model.n_labels)))[0])

    def score(self, w, i, z):
        return float(self._score(w, self.X[i], np.asarray(z, dtype=int)))

    def _score(self, w, x, y):
        """<w, psi(x, y)>, added up token by token."""
        E, pair, triple, start, end = self._tables(w, x)
        total = (
            E[np.arange(len(y)), y].sum() + pair[y[:-1], y[1:]].sum() + triple[y[:-2], y[1:-1], y[2:]].sum()
        )
        return total + start[y[0]] + end[y[-1]] if len(y) else total

    def _tables(self, w, x):
        """Scores of labels at tokens, of pairs, triples, first and last labels."""
        model, L = self.model, self.model.n_labels
        blocks, zero = model.blocks, w[:1][0] * 0

        def of(name, shape):
            return w[blocks[name]].reshape(shape) if name in blocks else np.full(shape, zero, dtype=w.dtype)

        E = like(w, x) @ w[blocks["features"]].reshape(-1, L) if x.shape[1] else np.full((len(x), L), zero)
        return E, of("pairs", (L, L)), of("triples", (L, L, L)), of("start", (L,)), of("end", (L,))

    def _path(self, w, x, bonus):
        """(score, labels) of the best allowed sequence, with a bonus (T, L) for labels."""
        T, L = len(x), self.model.n_labels
        if T == 0:
            return number(w, 0.0), np.empty(0, int)
        E, pair, triple, start, end = self._tables(w, x)
        E = E + bonus
        never = np.array(-np.inf)
        first = E[0] + start
        if self.model.allowed_start is not None:
            first = np.where(self.model.allowed_start, first, never)
        if self.model.allowed_end is not None:
            end = np.where(self.model.allowed_end, end, never)
        if self.model.allowed is not None:
            pair = np.where(self.model.allowed, pair, never)
        if T == 1:
            scores = first + end
            return scores.max(), np.array([int(np.argmax(scores))])
        V, back = first[:, None] + pair + E[1], []  # V[a, b]: the best that ends with a, b
        for t in range(2, T):
            options = V[:, :, None] + pair + triple + E[t]
            back.append(options.argmax(axis=0))
            V = options.max(axis=0)
        V = V + end
        a, b = np.unravel_index(int(np.argmax(V)), (L, L))
        z = [int(b), int(a)]
        for table in reversed(back):
            z.append(int(table[z[-1], z[-2]]))
        return V[a, b], np.array(z[::-1])

    def _psi(self, x, y):
        model, L = self.model, self.model.n_labels
        psi, blocks = np.zeros(model.n_params), model.blocks
        features = np.zeros((x.shape[1], L))
        np.add.at(features.T, y, x)
        psi[blocks["features"]] = features.ravel()
        np.add.at(psi[blocks["pairs"]], y[:-1] * L + y[1:], 1.0)
        if "triples" in blocks:
            np.add.at(psi[blocks["triples"]], (y[:-2] * L + y[1:-1]) * L + y[2:], 1.0)
        for name, label in (("start", y[:1]), ("end", y[-1:])):
            if name in blocks:
                psi[blocks[name]][label] += 1.0
        return psi


@dataclass(frozen=True)
class StructuredObjective(Penalised):
    """P of examples at w (n_params,); s (n,) are their weights."""

    examples: Any
    C: float
    s: np.ndarray
    w: np.ndarray
    prior: np.ndarray | None = None
    scale: np.ndarray | None = None
    held: np.ndarray | None = None

    is_rounded: bool = False

    @property
    def size(self) -> int:
        return self.examples.size

    def exactly(self):
        return self.at(rational(self.w))

    def at(self, v):
        return replace(self, w=v)

    def linear(self):
        return self

    def _worst(self):
        return [self.examples.worst(self.w, i) for i in range(len(self.examples))]

    def value(self):
        hinges = zip(weighted(self.w, self.C, self.s), self._worst(), strict=True)
        return self.penalty() + sum(c * hinge for c, (hinge, _) in hinges)

    def slope(self):
        deltas = zip(self.C * self.s, self._worst(), strict=True)
        return -sum(c * delta for c, (_, delta) in deltas)
