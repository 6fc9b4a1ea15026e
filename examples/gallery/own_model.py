"""Your own model: where does the event begin and end?

The output is an interval of a signal, the loss is 1 - overlap, and a model of it is three methods. Nothing
of the training knows what an interval is, and yet the gap is proven.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import oneslack


@dataclass(frozen=True)
class Interval:
    """x (length, d) and y = (start, stop): the steps inside score <w[:d], x_t> each, the edges w[d:] more."""

    d: int = 2

    @property
    def n_params(self):
        return 2 * self.d

    def joint_feature(self, x, y):
        start, stop = y
        return np.concatenate([x[start:stop].sum(axis=0), x[start] - x[stop - 1]]) / 10

    def loss(self, y, y_hat):
        both = max(0, min(y[1], y_hat[1]) - max(y[0], y_hat[0]))
        return 1 - both / (y[1] - y[0] + y_hat[1] - y_hat[0] - both)

    def decode(self, w, x, y=None):
        """The best interval of all: a table with the score of each start and each end."""
        total = np.concatenate([[0.0], np.cumsum(x @ w[: self.d])])
        edge = x @ w[self.d :]
        scores = (total[1:] - total[:-1, None] + edge[:, None] - edge) / 10
        if y is not None:
            scores += self._losses(y, len(x))
        scores[np.tril_indices(len(x), -1)] = -np.inf  # an end before its start
        start, last = np.unravel_index(scores.argmax(), scores.shape)
        return int(start), int(last) + 1

    def _losses(self, y, length):
        start, stop = np.arange(length)[:, None], np.arange(1, length + 1)
        both = np.maximum(0, np.minimum(y[1], stop) - np.maximum(y[0], start))
        return 1 - both / np.maximum(y[1] - y[0] + stop - start - both, 1)


def signals(n, length=60, seed=0):
    """Two channels of noise: the first is higher inside the interval, the second jumps at its edges."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, length, 2)), []
    for x in X:
        start, size = rng.integers(2, 30), rng.integers(8, 25)
        x[:, 0] -= 0.5
        x[start : start + size, 0] += 1.2
        x[start, 1] += 3
        x[start + size - 1, 1] -= 3
        Y.append((int(start), int(start + size)))
    return X, Y


def main():
    X, Y = signals(60)
    X_test, Y_test = signals(100, seed=1)
    model = Interval()
    print(oneslack.check_model(model, X[:5], Y[:5]))
    svm = oneslack.StructuralSVM(model, C=10.0, n_jobs=1).fit(X, Y)
    plain = [model.decode(np.array([1.0, 0, 0, 0]), x) for x in X_test]
    told = {
        "learned": svm.score(X_test, Y_test),
        "plain": 1 - np.mean([model.loss(y, z) for y, z in zip(Y_test, plain)]),
        "gap": svm.duality_gap_,
    }
    print("mean overlap {learned:.2f}, {plain:.2f} without learning; gap {gap:.1e}".format(**told))

    figure, axes = plt.subplots(3, 1, figsize=(8.0, 4.6), sharex=True, layout="constrained")
    for ax, x, y, z in zip(axes, X_test, Y_test, svm.predict(X_test)):
        ax.plot(x[:, 0], color="0.4", linewidth=1)
        ax.plot(x[:, 1], color="0.6", linewidth=0.8, linestyle=":")
        ax.axvspan(y[0] - 0.5, y[1] - 0.5, color="#0072b2", alpha=0.2, label="true")
        ax.hlines(x.max() + 0.5, z[0] - 0.5, z[1] - 0.5, color="#d55e00", linewidth=4, label="found")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, loc="upper right", ncols=2)
    axes[-1].set_xlabel("time")
    return figure, told


if __name__ == "__main__":
    main()[0].savefig("own_model.png")
