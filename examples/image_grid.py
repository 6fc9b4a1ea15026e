"""Clean a noisy black-and-white picture: neighbouring pixels help each other, by a minimum cut.

python examples/image_grid.py

One weight counts unlike neighbours in a row, one those in a column.  Where such a weight is negative,
neighbours like to differ; turning over the labels of every second column (or row) makes them like to agree.
So a minimum cut finds the best labelling at any weights, and the certificate holds.
"""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

import oneslack


@dataclass(frozen=True)
class Grid:
    """Labels of a grid: x (height, width, d) features, y (height, width) of 0/1, Hamming loss."""

    n_features: int

    @property
    def n_params(self):
        return self.n_features + 2

    def joint_feature(self, x, y):
        in_rows, in_columns = np.sum(y[:, 1:] != y[:, :-1]), np.sum(y[1:] != y[:-1])
        return np.append(np.einsum("ijk,ij->k", x, y), [-in_rows, -in_columns])

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def decode(self, w, x, y=None):
        gain = x @ w[:-2]  # of the label 1 over the label 0
        if y is not None:
            gain = gain + 1 - 2 * y
        row, column = np.indices(gain.shape)
        turned = (column * (w[-2] < 0) + row * (w[-1] < 0)) % 2
        return minimum_cut(np.where(turned, -gain, gain), *abs(w[-2:])) ^ turned


def minimum_cut(gain, in_rows, in_columns):
    """The 0/1 labels with the highest sum of the gains of the ones, less the price of unlike neighbours.

    maximum_flow counts in whole numbers of 32 bits: rounding costs a part in 2^30 of all capacities for each
    edge, far below the gap that training stops at.
    """
    node = np.arange(gain.size).reshape(gain.shape)
    source, sink = gain.size, gain.size + 1
    one, zero = node[gain > 0], node[gain <= 0]
    # (from, to, capacity): paid where `from` is labelled 1 and `to` 0
    edges = [(np.full(one.size, source), one, gain[gain > 0])]
    edges += [(zero, np.full(zero.size, sink), -gain[gain <= 0])]
    for a, b, price in ((node[:, 1:], node[:, :-1], in_rows), (node[1:], node[:-1], in_columns)):
        prices = np.full(a.size, price)
        edges += [(a.ravel(), b.ravel(), prices), (b.ravel(), a.ravel(), prices)]
    start, end, capacity = (np.concatenate(part) for part in zip(*edges, strict=True))
    whole = np.rint(capacity / (capacity.sum() or 1.0) * 2**30).astype(np.int32)
    network = csr_matrix((whole, (start, end)), shape=(sink + 1, sink + 1))
    left = (network - maximum_flow(network, source, sink).flow) > 0
    labels = np.zeros(sink + 1, int)
    labels[breadth_first_order(left, source, return_predecessors=False)] = 1
    return labels[:-2].reshape(gain.shape)


def noisy_pictures(n, size=14, noise=1.0, seed=0):
    """Blobs, wider than high, under noise; the features of a pixel are its value and a constant."""
    rng = np.random.default_rng(seed)
    Y = [(gaussian_filter(rng.normal(size=(size, size)), (1.2, 3.0)) > 0).astype(int) for _ in range(n)]
    X = [np.dstack([2.0 * y - 1.0 + noise * rng.normal(size=y.shape), np.ones(y.shape)]) for y in Y]
    return X, Y


def pixel_by_pixel(X, Y, X_test, C):
    """Labels of the test pictures where every pixel is an example of its own."""
    d = X[0].shape[2]
    svc = oneslack.LinearSVC(C=C).fit(np.reshape(X, (-1, d)), np.ravel(Y))
    return svc.predict(np.reshape(X_test, (-1, d))).reshape(np.shape(X_test)[:3])


def main(n_train=20, n_test=50, C=0.01, tol=1e-2):
    X, Y = noisy_pictures(n_train, seed=0)
    X_test, Y_test = noisy_pictures(n_test, seed=1)

    svm = oneslack.StructuralSVM(Grid(X[0].shape[2]), C=C, tol=tol, n_jobs=1).fit(X, Y)
    print(svm.result_)
    print("weights (value, constant, unlike in a row, in a column):", np.round(svm.coef_, 2))
    together = float(np.mean(np.array(svm.predict(X_test)) != Y_test))
    alone = float(np.mean(pixel_by_pixel(X, Y, X_test, C) != Y_test))
    print(f"wrong pixels in {n_test} other pictures: {together:.1%}; each pixel by itself {alone:.1%}")
    return svm, together, alone


if __name__ == "__main__":
    main()
