"""Examples of any kind, one at a time: how a model of three methods is driven."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .errors import OneslackError

#: Examples are handed out in so many parts, whatever the number of workers: sums keep their order.
PARTS = 8


def count_of(examples) -> int:
    """How many there are: items of a sequence, or rows of a matrix."""
    return examples.shape[0] if hasattr(examples, "shape") else len(examples)


def common_count(X, Y) -> int:
    """How many examples there are, once X and Y agree on it."""
    n, m = count_of(X), count_of(Y)
    if n != m:
        raise ValueError(f"X has {n} examples but Y has {m}")
    return n


def joint_row(model, x, y):
    """psi(x, y) as a flat array or one CSR row, checked for its size."""
    psi = model.joint_feature(x, y)
    if sp.issparse(psi):
        psi = sp.csr_array(psi)
        size = psi.shape[-1]
    else:
        psi = np.asarray(psi, dtype=np.float64).ravel()
        size = psi.size
    if size != model.n_params:
        raise ValueError(f"joint_feature returned {size} features, expected n_params = {model.n_params}")
    return psi


def stack_rows(rows, n_params):
    """Rows as one matrix, CSR when all of them are sparse."""
    if not rows:
        return np.empty((0, n_params))
    if all(sp.issparse(row) for row in rows):
        return sp.vstack(rows, format="csr")
    return np.array([_dense(row) for row in rows])


def _dense(row):
    return row.toarray().ravel() if sp.issparse(row) else row


def worst_cut(model, w, x, y, rescaling="margin"):
    """(row, loss, output) of the most violated cut of one example, or None where that is the truth.

    H(w) >= loss - <row, w>:  row = delta, or loss delta where the slack is rescaled.
    """
    z = model.decode_slack(w, x, y) if rescaling == "slack" else model.decode(w, x, y)
    row = joint_row(model, x, y) - joint_row(model, x, z)
    loss = float(model.loss(y, z))
    if rescaling == "slack":
        row = row * loss
    # The truth itself is a candidate: an answer worse than it is replaced by it.
    return (row, loss, z) if loss - float((row @ w).sum()) > 0.0 else None


@dataclass(frozen=True)
class Examples:
    """Lists of examples with their weights."""

    X: object
    Y: object
    weights: np.ndarray

    @staticmethod
    def pack(X, Y, weights=None) -> Examples:
        n = common_count(X, Y)
        return Examples(X, Y, np.ones(n) if weights is None else np.asarray(weights, float))

    @property
    def n(self) -> int:
        return len(self.weights)


def failure(i, error):
    """What went wrong in the model, and at which example."""
    if isinstance(error, ValueError):
        return ValueError(f"example {i}: {error}")
    return OneslackError(f"example {i}: the model raised {type(error).__name__}: {error}")


@dataclass(frozen=True)
class Oracle:
    """Finds worst cuts; whole in itself, so that it can be sent to another process once."""

    model: object
    examples: Examples
    rescaling: str
    #: What the first example is called in errors.
    first: int = 0

    def __call__(self, task):
        """(kind, w, index): the summed cut ("sum": normal, offset) or the cuts ("rows": a list)."""
        kind, w, index = task
        found = self._sum if kind == "sum" else self._rows
        return found(w, index)

    def _cut(self, w, i):
        try:
            return worst_cut(self.model, w, self.examples.X[i], self.examples.Y[i], self.rescaling)
        except Exception as error:
            raise failure(self.first + i, error) from error

    def _rows(self, w, index):
        return [self._cut(w, i) for i in index]

    def _sum(self, w, index):
        g, b = np.zeros(self.model.n_params), 0.0
        for i in index:
            cut = self._cut(w, i)
            if cut is None:
                continue
            row, loss, _ = cut
            s = self.examples.weights[i]
            if sp.issparse(row):
                g[row.indices] += s * row.data
            else:
                g += s * row
            b += s * loss
        return g, b


def parts_of(index):
    """The index cut into PARTS neighbouring pieces, fewer where it is short."""
    return [part for part in np.array_split(index, PARTS) if len(part)]
