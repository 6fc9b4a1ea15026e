"""A model of three methods, and ways to break it at one example or at all."""

import numpy as np
import scipy.sparse as sp


class Classes:
    """Three classes by hand: x (4,), y in 0 .. 2; `at` is the first number of the x whose answers are bad,
    None for all."""

    n_params = 12

    def __init__(self, at=None):
        self.at = at

    def is_bad(self, x):
        return self.at is None or x[0] == self.at

    def joint_feature(self, x, y):
        psi = np.zeros((3, 4))
        psi[y] = x
        return psi.ravel()

    def loss(self, y, z):
        return float(y != z)

    def decode(self, w, x, y=None):
        scores = w.reshape(3, 4) @ x
        return int(np.argmax(scores if y is None else scores + (np.arange(3) != y)))

    def decode_slack(self, w, x, y):
        scores = w.reshape(3, 4) @ x
        return int(np.argmax((np.arange(3) != y) * (1.0 - scores[y] + scores)))


def classes(n=40, seed=0):
    """(X, Y): the first number of an x is its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = (X[:, 1:] @ rng.normal(size=(3, 3)) + 0.5 * rng.normal(size=(n, 3))).argmax(axis=1).tolist()
    X[:, 0] = 1e-3 * np.arange(n)
    return list(X), Y


def with_feature(change):
    """The model with change(psi) at its bad x."""

    class Changed(Classes):
        def joint_feature(self, x, y):
            psi = super().joint_feature(x, y)
            return change(psi) if self.is_bad(x) else psi

    return Changed


def with_loss(value):
    """The model with another loss of wrong answers, whatever x is."""

    class Changed(Classes):
        def loss(self, y, z):
            return value if y != z else 0.0

    return Changed


def put(value, place=5):
    """psi with one value changed."""

    def change(psi):
        psi = psi.copy()
        psi[place] = value
        return psi

    return change


BAD_FEATURES = {
    "nan": (put(np.nan), "has nan at feature 5"),
    "infinite": (put(np.inf), "has inf at feature 5"),
    "long": (lambda psi: np.append(psi, 1.0), r"has shape \(13,\), expected n_params = \(12,\)"),
    "flat": (lambda psi: psi[None], r"has shape \(1, 12\), expected n_params = \(12,\)"),
    "wide": (lambda psi: sp.csr_array((1, 13)), r"has shape \(1, 13\), expected n_params = \(12,\)"),
    "complex": (lambda psi: psi + 1j, "has entries of type complex128, expected real numbers"),
    "text": (lambda psi: psi.astype(str), "has entries of type <U32, expected real numbers"),
    "objects": (lambda psi: psi.astype(object), "has entries of type object, expected real numbers"),
    "sparse nan": (lambda psi: sp.csr_array(put(np.nan)(psi)[None]), "has nan at feature 5"),
    "ragged": (lambda psi: [1.0, [2.0]], r"is \[1.0, \[2.0\]\], expected n_params = 12 numbers"),
}
BAD_LOSSES = {
    "nan": (np.nan, "has loss nan, expected a finite number >= 0"),
    "infinite": (np.inf, "has loss inf, expected a finite number >= 0"),
    "negative": (-0.5, "has loss -0.5, expected a finite number >= 0"),
    "text": ("1.0", "has loss '1.0', expected one number"),
    "complex": (1.0 + 0j, r"has loss \(1\+0j\), expected one number"),
    "several": (np.ones(1), r"has loss array\(\[1.\]\), expected one number"),
    "none": (None, "has loss None, expected one number"),
}
