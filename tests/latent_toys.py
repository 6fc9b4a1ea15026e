"""Small models with latent values."""

import numpy as np


class Peak:
    """The highest of several numbers; its place is latent."""

    n_params = 2

    def feature(self, x, h):
        return np.array([x[h], 1.0])

    def best(self, w, x):
        return int(np.argmax(w[0] * x))


class Halves:
    """A class is two half-lines; which one an x belongs to is latent."""

    n_params = 8

    def joint_feature(self, x, y, h):
        psi = np.zeros((2, 2, 2))
        psi[y, h] = x, 1.0
        return psi.ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def decode(self, w, x, y=None):
        scores = w.reshape(4, 2) @ [x, 1.0]
        if y is not None:
            scores[2 * (1 - y) : 2 * (1 - y) + 2] += 1.0
        return divmod(int(scores.argmax()), 2)

    def complete(self, w, x, y):
        return int((w.reshape(2, 2, 2)[y] @ [x, 1.0]).argmax())
