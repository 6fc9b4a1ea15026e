"""Where is the digit?  Learn to find one when nobody has marked the places.

python examples/locate_digits.py [FOLDER WITH mnist'S FILES]

Pictures show pieces of digits, and somewhere a whole one: in half of them a 3.  A picture says only whether
there is a 3; its place is latent.  Rounds of training complete the places by the model of the last round.
The comparison is a classifier trained on the middle of the same pictures and scanned over them afterwards.
"""

import gzip
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import oneslack

WANTED = 3


@dataclass(frozen=True)
class Window:
    """x: a picture; h: the row and column of a window's corner; features are its pixels, and a constant."""

    size: int

    @property
    def n_params(self):
        return self.size**2 + 1

    def feature(self, x, h):
        row, column = h
        pixels = x[row : row + self.size, column : column + self.size]
        return np.append(pixels.ravel(), 1.0)

    def best(self, w, x):
        windows = np.lib.stride_tricks.sliding_window_view(x, (self.size, self.size))
        scores = np.tensordot(windows, w[:-1].reshape(self.size, self.size))
        return tuple(map(int, np.unravel_index(scores.argmax(), scores.shape)))


def digits(folder=None):
    """(images (n, size, size) in [0, 1], labels): mnist at half its size, or scikit-learn's small ones."""
    if folder is None:
        images, labels = load_digits(return_X_y=True)
        return images.reshape(-1, 8, 8) / 16.0, labels
    pixels, labels = (
        np.frombuffer(gzip.decompress((Path(folder) / name).read_bytes()), np.uint8, offset=offset)
        for name, offset in (("t10k-images-idx3-ubyte.gz", 16), ("t10k-labels-idx1-ubyte.gz", 8))
    )
    return pixels.reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)) / 255.0, labels


def picture(rng, images, labels, wanted):
    """(x, h): pieces of digits, and a wanted one at h, or another digit where there is none."""
    size = images.shape[1]
    x, half = np.zeros((2 * size, 2 * size)), size // 2
    for _ in range(12):
        source = images[rng.integers(len(images))]
        row, column = rng.integers(0, 2 * size - half, 2)
        a, b = rng.integers(0, size - half + 1, 2)
        part = x[row : row + half, column : column + half]
        np.maximum(part, source[a : a + half, b : b + half], out=part)
    h = tuple(map(int, rng.integers(0, size + 1, 2)))
    kinds = np.flatnonzero((labels == WANTED) == wanted)
    x[h[0] : h[0] + size, h[1] : h[1] + size] = images[rng.choice(kinds)]
    return x + 0.1 * rng.normal(size=x.shape), h


def pictures(n, images, labels, seed=0):
    """(X, y, H): every second picture has a wanted digit, at h."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    pairs = [picture(rng, images, labels, wanted) for wanted in y == 1]
    return [x for x, _ in pairs], y, [h for _, h in pairs]


def found(H, H_hat, y, size):
    """The share of the wanted digits of whose window and the one found, taken together, half is in both."""
    common = np.maximum(size - np.abs(np.array(H) - np.array(H_hat)), 0).prod(axis=1)
    return float(np.mean((common / (2 * size**2 - common))[y == 1] >= 0.5))


def fixed_window(model, X, y, C):
    """Weights learned from the middle of the pictures."""
    middle = (X[0].shape[0] - model.size) // 2
    rows = [model.feature(x, (middle, middle)) for x in X]
    return oneslack.LinearSVC(C=C, fit_intercept=False, tol=1e-2).fit(rows, y).coef_.ravel()


def main(folder=None, n_train=800, n_test=200, C=0.1, n_starts=3, tol=1e-2):
    images, labels = digits(folder)
    half = len(images) // 2
    X, y, _ = pictures(n_train, images[:half], labels[:half], seed=0)
    X_test, y_test, H_test = pictures(n_test, images[half:], labels[half:], seed=1)
    model = Window(images.shape[1])
    svm = oneslack.LatentSVM(model, C=C, n_starts=n_starts, tol=tol).fit(X, y)
    best = min(svm.rounds_, key=lambda entry: entry.convex).start
    path = [round(entry.convex, 2) for entry in svm.rounds_ if entry.start == best]
    print("objective after each round of the best start:", *path)
    learned = found(H_test, svm.predict_latent(X_test), y_test, model.size)
    w = fixed_window(model, X, y, C)
    fixed = found(H_test, [model.best(w, x) for x in X_test], y_test, model.size)
    print(f"{WANTED}s found: {learned:.1%}; by a window trained on the middle {fixed:.1%}")
    print(f"pictures with and without a {WANTED} told apart: {svm.score(X_test, y_test):.1%}")
    return svm, learned, fixed


if __name__ == "__main__":
    main(*sys.argv[1:2])
