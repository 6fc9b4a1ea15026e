"""The model of multilabel.py made fast: four more methods answer for a block of examples at once.

python examples/multilabel_fast.py
"""

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from multilabel import MultiLabel
from sklearn.datasets import load_digits

import oneslack
from oneslack.data.rows import equal_shards


@dataclass(frozen=True)
class Packed:
    """Examples as the methods below read them: X (n, d), Y (n, k), weights (n,)."""

    X: np.ndarray
    Y: np.ndarray
    weights: np.ndarray

    @property
    def n(self):
        return len(self.X)

    @property
    def offsets(self):  # where the output of each example begins in a flat array of outputs
        return self.Y.shape[1] * np.arange(self.n + 1)

    @property
    def shards(self):
        return equal_shards(0, self.n, 4)

    def take(self, index):
        return Packed(self.X[index], self.Y[index], self.weights[index])


@dataclass(frozen=True)
class FastMultiLabel(MultiLabel):
    """The same model for blocks: lo <= i < hi of a shard."""

    def pack(self, X, Y, weights=None):
        X, Y = np.asarray(X, float), np.asarray(Y, int)
        return Packed(X, Y, np.ones(len(X)) if weights is None else np.asarray(weights, float))

    def worst_batch(self, data, shard, w, rescaling):
        """The worst outputs, flat; their losses; and by how much the truth leads them."""
        X, Y = data.X[shard.lo : shard.hi], data.Y[shard.lo : shard.hi]
        scores = X @ w.reshape(self.n_labels, self.n_features).T
        Z = (scores + 1 - 2 * Y > 0).astype(int)
        return Z.ravel(), np.sum(Y != Z, axis=1).astype(float), np.sum((Y - Z) * scores, axis=1)

    def delta_sum(self, data, shard, Z, coefficients):
        """The sum of psi(x, y) - psi(x, z), each times its coefficient."""
        difference = data.Y[shard.lo : shard.hi] - Z.reshape(-1, self.n_labels)
        return ((coefficients[:, None] * difference).T @ data.X[shard.lo : shard.hi]).ravel()

    def delta_rows(self, data, shard, Z, factors):
        """The same, a sparse row an example."""
        difference = factors[:, None] * (data.Y[shard.lo : shard.hi] - Z.reshape(-1, self.n_labels))
        X = data.X[shard.lo : shard.hi]
        return sp.csr_array((difference[:, :, None] * X[:, None, :]).reshape(len(X), -1))


def main(n_train=600, tol=1e-2):
    digits = load_digits()
    X = np.column_stack([digits.data / 16, np.ones(len(digits.data))])[:n_train]
    digit = digits.target[:n_train]
    Y = np.column_stack([digit % 2 == 0, digit >= 5, np.isin(digit, (0, 6, 8, 9))]).astype(int)
    fast = FastMultiLabel(X.shape[1], Y.shape[1])
    print(oneslack.check_model(fast, X[:20], Y[:20]))
    found = {}
    for model in (MultiLabel(X.shape[1], Y.shape[1]), fast):
        start = time.perf_counter()
        problem = oneslack.Problem(model, X, Y, C=0.1, n_jobs=1)
        result = oneslack.solve(problem, oneslack.OneSlack(), tol=tol)
        name = type(model).__name__
        print(f"{name:15} {time.perf_counter() - start:6.2f} s  {result.n_iter} steps  {result.primal:.6g}")
        found[name] = result
    return found


if __name__ == "__main__":
    main()
