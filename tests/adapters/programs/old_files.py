"""Points for small files, and what a learning program prints."""

import re

import numpy as np


def bounds(out):
    """(P, D) as printed, in the program's own units."""
    return tuple(float(re.search(rf"{name}=([-\d.]+)", out)[1]) for name in ("pval", "dval"))


def points(n, d, seed=0, n_classes=2):
    """X (n, d) with some zeros, classes (n,) from 0 that a linear model gets mostly right."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    y = (X @ rng.normal(size=(d, n_classes)) + 0.5 * rng.normal(size=(n, n_classes))).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    X[:, -1] += 0.1  # the last column is in the file
    return X, y
