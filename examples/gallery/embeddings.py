"""Embeddings: new classes from a few labels, on top of a network that has never seen them.

A small network learns the digits 0 to 4, somewhere on an empty picture. What its hidden layer makes of a
picture is an embedding, and a linear model on it learns 5 to 9 from a few examples a class: better than
from pixels, as the network has seen that a digit may lie anywhere.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

import oneslack
from oneslack.viz.look import tidy

LABELS = (1, 2, 5, 10, 20, 50)


def moved(pictures, seed, size=11):
    """Each 8 x 8 picture somewhere on an empty one, as rows."""
    rng = np.random.default_rng(seed)
    canvas = np.zeros((len(pictures), size, size), np.float32)
    for into, picture in zip(canvas, pictures):
        top, left = rng.integers(0, size - 7, 2)
        into[top : top + 8, left : left + 8] = picture.reshape(8, 8) / 16
    return canvas.reshape(len(pictures), -1)


def embedded():
    """Pixels of the digits 5 to 9, their embeddings as rows of length 1, and which digit each is."""
    X, y = load_digits(return_X_y=True)
    network = MLPClassifier((256,), max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(moved(np.tile(X[y < 5], (6, 1)), seed=0), np.tile(y[y < 5], 6))
    pixels = moved(X[y >= 5], seed=1)
    hidden = np.maximum(pixels @ network.coefs_[0] + network.intercepts_[0], 0)
    return pixels, hidden / np.linalg.norm(hidden, axis=1, keepdims=True), y[y >= 5]


def few_labels(X, digit, k, seed):
    """The share right of all others, learned from k examples a class."""
    order = np.random.default_rng(seed).permutation(len(digit))
    chosen = np.concatenate([order[digit[order] == one][:k] for one in range(5, 10)])
    rest = np.setdiff1d(order, chosen)
    model = oneslack.LinearSVC(C=10.0).fit(X[chosen], digit[chosen])
    return model.score(X[rest], digit[rest])


def main(repeat=5):
    pixels, embedding, digit = embedded()
    _, ax = plt.subplots(figsize=(6.5, 4.0), layout="constrained")
    told = {}
    for name, X, style in (("embedding", embedding, "o-"), ("pixels", pixels, "s--")):
        right = np.array([[few_labels(X, digit, k, seed) for seed in range(repeat)] for k in LABELS])
        told[name] = dict(zip(LABELS, right.mean(axis=1)))
        ax.errorbar(LABELS, right.mean(axis=1), right.std(axis=1), fmt=style, capsize=3, label=name)
        print(f"{name}: {told[name][5]:.1%} right from 5 labels a class, {told[name][50]:.1%} from 50")
    ax.set(xscale="log", xlabel="labels a class", ylabel="share right of all others")
    ax.set_xticks(LABELS, LABELS, minor=False)
    ax.minorticks_off()
    ax.legend(frameon=False)
    return tidy(ax).figure, told


if __name__ == "__main__":
    main()[0].savefig("embeddings.png")
