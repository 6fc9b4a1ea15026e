"""Examples of any kind, one at a time: how a model of three methods is driven."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from .rows import Shard


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


@dataclass(frozen=True)
class ExampleShards:
    """Lists of examples, cut into ranges."""

    X: object
    Y: object
    weights: np.ndarray

    @staticmethod
    def pack(X, Y, weights=None) -> ExampleShards:
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        m = Y.shape[0] if hasattr(Y, "shape") else len(Y)
        if n != m:
            raise ValueError(f"X has {n} examples but Y has {m}")
        return ExampleShards(X, Y, np.ones(n) if weights is None else np.asarray(weights, float))

    @property
    def n(self) -> int:
        return len(self.weights)

    @property
    def shards(self) -> list[Shard]:
        return [Shard(0, self.n)]

    def cut_sum(self, model, shard, w):
        """sum_i s_i (delta_i, loss_i) at the worst outputs of the shard."""
        g, b = np.zeros(model.n_params), 0.0
        for i in range(shard.lo, shard.hi):
            x, y = self.X[i], self.Y[i]
            z = model.decode(w, x, y)
            delta = joint_row(model, x, y) - joint_row(model, x, z)
            loss = model.loss(y, z)
            # The truth itself is a candidate: an answer worse than it is replaced by it.
            if loss - float((delta @ w).sum()) <= 0.0:
                continue
            s = self.weights[i]
            if sp.issparse(delta):
                g[delta.indices] += s * delta.data
            else:
                g += s * delta
            b += s * loss
        return g, b
