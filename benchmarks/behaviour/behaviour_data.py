"""Small data made by seeds, and models of three methods, for the cases of behaviour.py."""

import time
from functools import cache
from itertools import product

import numpy as np
import scipy.sparse as sp

from oneslack.formats import Sentences

WORDS = {
    "D": ["the", "a"],
    "J": ["old", "red"],
    "N": ["cat", "dog", "star"],
    "V": ["saw", "ran"],
    "P": ["on"],
}
CHUNKS = {"D": "B-NP", "J": "I-NP", "N": "I-NP", "V": "B-VP", "P": "O"}


@cache
def points(n_classes=2, n=120, d=8):
    """(X, y): a table with zeros, and texts as labels."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, d)) < 0.6, rng.normal(size=(n, d)).round(3), 0.0)
    scores = X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))
    return X, np.array(["no", "perhaps", "yes"])[:: 4 - n_classes][scores.argmax(axis=1)]


@cache
def tall(n=60_000):
    """(X, y): many short rows."""
    rng = np.random.default_rng(10)
    X = rng.normal(size=(n, 3)).round(3)
    return X, X @ [1.0, -1.0, 0.5] + rng.normal(size=n) > 0


@cache
def sparse(n=60, d=120_000):
    """(X, y): a few numbers in each of many columns."""
    rng = np.random.default_rng(11)
    X = sp.csr_matrix(
        (rng.normal(size=10 * n), (np.arange(10 * n) // 10, rng.integers(0, d, 10 * n))), (n, d)
    )
    return X, np.arange(n) % 2


def signs():
    return points()[0], np.where(points()[1] == "yes", 1.0, -1.0)


def codes():
    return points(3)[0], np.unique(points(3)[1], return_inverse=True)[1]


@cache
def numbers(offset=0.0, n=100, d=6):
    """(X, y): numbers to predict, some of them far out."""
    rng = np.random.default_rng(1)
    X = np.where(rng.random((n, d)) < 0.7, rng.normal(size=(n, d)).round(3), 0.0)
    return X, X @ rng.normal(size=d) + rng.standard_t(2, n).round(3) + offset


@cache
def queries(n=90, d=5):
    """(X, grades, groups)."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, d)).round(3)
    grades = np.clip(np.round(X @ rng.normal(size=d) + rng.normal(size=n)), 0, 3).astype(int)
    return X, grades, np.arange(n) // 13


@cache
def weights(n=120):
    return np.random.default_rng(3).integers(0, 4, n) / 2.0


@cache
def board(n=100):
    """(X, y): classes that no plane parts."""
    X = np.random.default_rng(4).uniform(-1.5, 1.5, (n, 2)).round(3)
    return X, np.where(np.floor(X).sum(axis=1) % 2 == 0, 1, -1)


@cache
def chains(n=20):
    """(X, Y): sequences of rows, and a label 0, 1 or 2 a row."""
    rng = np.random.default_rng(5)
    X = [rng.normal(size=(length, 3)).round(3) for length in rng.integers(1, 6, n)]
    return X, [np.argmax(x + rng.normal(size=x.shape), axis=1) for x in X]


@cache
def tagged(n=25):
    """(words, tags, chunks) of made-up sentences."""
    rng, words, tags = np.random.default_rng(6), [], []
    for _ in range(n):
        phrases = [["D", *["J"] * int(rng.integers(0, 2)), "N"] for _ in range(2)]
        tags.append([*phrases[0], "V", *["P"] * int(rng.integers(0, 2)), *phrases[1]])
        words.append([str(rng.choice(WORDS[tag])) for tag in tags[-1]])
    return words, tags, [[CHUNKS[tag] for tag in sentence] for sentence in tags]


def sentences():
    return Sentences.from_lists(**dict(zip(("w", "pos", "chunk"), tagged())))


def dicts():
    return [[{"w": word, "end": word[-1], "size": len(word) / 4} for word in s] for s in tagged()[0]]


def conll():
    return "".join("".join(map("{} {} {}\n".format, *columns)) + "\n" for columns in zip(*tagged()))


@cache
def trees(n=16):
    """Texts of trees over the made-up sentences."""
    return [_tree(words, tags, k % 2) for k, (words, tags, _) in enumerate(zip(*tagged()))][:n]


def _tree(words, tags, is_deep):
    leaves, v = [f"({tag} {word})" for word, tag in zip(words, tags)], tags.index("V")
    rest = f"(NP {' '.join(leaves[v + 1 + ('P' in tags) :])})"
    rest = f"(PP {leaves[v + 1]} {rest})" if "P" in tags else rest
    return f"(S (NP {' '.join(leaves[:v])}) (VP {f'(VP {leaves[v]})' if is_deep else leaves[v]} {rest}))"


class Flags:
    """Several yes or no at once: x (d,), y (k,) of 0 and 1, Hamming loss."""

    def __init__(self, d=4, k=3):
        self.d, self.k, self.n_params = d, k, d * k
        self.blocks = {"first": slice(0, d), "others": slice(d, None)}

    def outputs(self, x):
        return [np.array(z) for z in product((0, 1), repeat=self.k)]

    def joint_feature(self, x, y):
        return np.outer(y, x).ravel()

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def decode(self, w, x, y=None):
        scores = w.reshape(self.k, self.d) @ x
        return (scores + (0 if y is None else 1 - 2 * y) > 0).astype(int)

    def decode_slack(self, w, x, y):
        def value(z):
            return self.loss(y, z) * (1.0 - w @ (self.joint_feature(x, y) - self.joint_feature(x, z)))

        return max(self.outputs(x), key=value)


class SparseFlags(Flags):
    def joint_feature(self, x, y):
        return sp.csr_matrix(super().joint_feature(x, y)[None])


class FreeFlags(Flags):
    """The last column of each label is not penalised."""

    @property
    def free(self):
        return np.arange(self.d - 1, self.n_params, self.d)


class RoughFlags(Flags):
    exact = False


class ForgetfulFlags(Flags):
    def decode(self, w, x, y=None):
        return super().decode(w, x)


class FailingFlags(Flags):
    def decode(self, w, x, y=None):
        return 1 / 0


class SlowFlags(Flags):
    """So slow that processes are started for it."""

    def decode(self, w, x, y=None):
        time.sleep(0.004)
        return super().decode(w, x, y)


@cache
def flags(n=40):
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.normal(size=(n, 3)).round(3), np.ones(n)])
    return X, (X @ rng.normal(size=(4, 3)) + rng.normal(size=(n, 3)) > 0).astype(int)


class Bump:
    """A yes has a bump somewhere; its place is latent."""

    n_params = 4

    def feature(self, x, h):
        return np.append(x[h : h + 3], 1.0)

    def best(self, w, x):
        return int((np.lib.stride_tricks.sliding_window_view(x, 3) @ w[:-1]).argmax())


@cache
def signals(n=30):
    """(X, y, H): H are the places of bumps."""
    rng = np.random.default_rng(8)
    X, y, H = rng.normal(size=(n, 10)).round(3), np.arange(n) % 2, rng.integers(0, 8, n)
    for x, label, h in zip(X, y, H):
        x[h : h + 3] += 2 * label * np.array([1, -1, 1])
    return list(X), y, H.tolist()


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
        scores = w.reshape(2, 2, 2) @ [x, 1.0] + (0.0 if y is None else np.arange(2)[:, None] != y)
        return divmod(int(scores.argmax()), 2)

    def complete(self, w, x, y):
        return int((w.reshape(2, 2, 2)[y] @ [x, 1.0]).argmax())


@cache
def halves(n=30):
    x = np.random.default_rng(9).uniform(-2, 2, n).round(3)
    return x.tolist(), (np.abs(x) > 1).astype(int).tolist()


def costs(tp, fp, fn, tn):
    """A loss of counts, concave in fp."""
    return (5 * fn + np.minimum(fp, 20)) / (tp + fp + fn + tn)


def intersection(A, B):
    """A kernel that is a function."""
    return np.minimum(np.abs(A)[:, None, :], np.abs(B)[None, :, :]).sum(axis=2)


def wave(A, B):
    """A function that is no kernel."""
    return np.tanh(A @ B.T - 1)
