"""Every set of the data folder that a linear model of one score can be trained on, and generated ones.

A set is a function of the options --data and --cache that gives (X, y): X is CSR float64 with 32-bit indices,
or a dense array where most numbers are not 0; y is -1/+1 (TWO_CLASSES), 0 .. K-1 (MANY_CLASSES), or has
mean 0 and deviation 1 (NUMBERS).  In TWO_CLASSES many classes become two: odd against even, one half against
the other.

    python benchmarks/sets.py --data DIR            # their sizes
"""

import argparse
import bz2

import numpy as np
import problems
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

#: Above this share of numbers that are not 0 a matrix is dense.
DENSE = 0.5


def cached(name, positive=None):
    """One of problems.py."""

    def read(options):
        X, y = problems.load(name, options.data, options.cache)
        return X, y if positive is None else positive(y)

    return read


def svmlight(*names, positive=lambda y: y > 0, is_multilabel=False):
    def read(options):
        parts = []
        for name in names:
            with bz2.open(problems.data_folder(options.data) / name) as file:
                parts.append(load_svmlight_file(file, multilabel=is_multilabel))
        width = max(X.shape[1] for X, _ in parts)
        for X, _ in parts:
            X.resize((X.shape[0], width))
        y = [label for _, labels in parts for label in labels]
        return sp.vstack([X for X, _ in parts], format="csr"), positive(y if is_multilabel else np.array(y))

    return read


def keel(name, positive):
    """Columns of numbers, scaled to mean 0 and variance 1; words become one column a word."""

    def read(options):
        path = problems.data_folder(options.data) / "uci_keel" / f"{name}.dat.bz2"
        with bz2.open(path, "rt") as file:
            rows = [line.strip().split(",") for line in file if line.strip() and not line.startswith("@")]
        table = np.char.strip(np.array(rows))
        return columns(table[:, :-1].T), positive(table[:, -1])

    return read


def columns(table):
    try:
        return standard(np.array(table, float).T)
    except ValueError:
        return np.hstack([np.equal.outer(column, np.unique(column)).astype(float) for column in table])


def standard(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def text(name, target, skip=1, delimiter=","):
    """A table of numbers; column `target` is y, the others are scaled to [0, 1]."""

    def read(options):
        path = problems.data_folder(options.data) / name
        with bz2.open(path, "rt") if path.suffix == ".bz2" else open(path) as file:
            table = np.loadtxt(file, delimiter=delimiter, skiprows=skip)
        table = table[np.random.default_rng(0).permutation(len(table))]  # some are sorted by y
        X = np.delete(table, target, axis=1)
        return (X - X.min(axis=0)) / np.maximum(X.max(axis=0) - X.min(axis=0), 1e-300), table[:, target]

    return read


def arrays(name, X, y, positive):
    def read(options):
        with np.load(problems.data_folder(options.data) / name) as file:
            return np.asarray(file[X], float), positive(file[y])

    return read


def connections(options):
    """KDD-99: what is normal; words become columns, numbers their logarithms."""
    path = problems.data_folder(options.data) / "kddcup99_10pct" / "kddcup.data_10_percent.gz"
    table = np.loadtxt(path, delimiter=",", dtype="U16", max_rows=100_000)
    words = [1, 2, 3]
    numbers = standard(np.log1p(np.delete(table[:, :-1], words, axis=1).astype(float)))
    known = [sp.csr_matrix(np.equal.outer(table[:, k], np.unique(table[:, k])).astype(float)) for k in words]
    return sp.hstack([sp.csr_matrix(numbers), *known], format="csr"), side(table[:, -1] == "normal.")


def dozen(n=40_000, d=300, entries=12, seed=5):
    """Sparse rows of a dozen entries; a tenth of the labels are wrong."""

    def make(options):
        rng = np.random.default_rng(seed)
        places = np.argsort(rng.random((n, d)), axis=1)[:, :entries].astype(np.int32)
        parts = rng.normal(size=n * entries), places.ravel(), np.arange(0, n * entries + 1, entries)
        X = sp.csr_matrix(parts, (n, d))
        wrong = np.where(rng.random(n) < 0.1, -1.0, 1.0)
        return X, wrong * side(X @ rng.normal(size=d) > 0)

    return make


def clouds(n, d, seed, distance=2.0):
    """Two dense normal clouds whose directions have very different lengths."""

    def make(options):
        rng = np.random.default_rng(seed)
        y = side(rng.random(n) < 0.5)
        lengths = np.geomspace(1.0, 0.01, d)
        return (
            rng.normal(size=(n, d)) + np.outer(y, rng.normal(size=d)) * distance / np.sqrt(d)
        ) * lengths, y

    return make


def side(is_positive):
    return np.where(is_positive, 1.0, -1.0)


def numbered(y):
    """Classes as 0 .. K-1."""
    return np.unique(y, return_inverse=True)[1].astype(float)


def odd(y):
    return side(y.astype(int) % 2 == 1)


def is_one_of(*names):
    return lambda y: side(np.isin(y, names))


TWO_CLASSES = {
    "a9a": cached("a9a"),
    "moneyfx": cached("reuters_moneyfx"),
    "acq": svmlight("reuters_acq/acq_train.svm.bz2", positive=lambda y: side(y > 0)),
    "rcv1_small": svmlight("rcv1_small/rcv1_train.svm.bz2", positive=lambda y: side(y > 0)),
    "news20_1": cached("news20_1"),
    "sector_half": cached("sector", lambda y: side(y < 52)),
    "mnist_odd": cached("mnist", odd),
    "usps_odd": arrays("usps/usps.npz", "X_train", "y_train", odd),
    "letter_half": svmlight("letter/letter.scale.bz2", positive=lambda y: side(y <= 13)),
    "pendigits_odd": svmlight("pendigits/pendigits.bz2", positive=odd),
    "yeast_1": svmlight(
        "yeast_multilabel/yeast_train.svm.bz2", is_multilabel=True,
        positive=lambda sets: side([0 in labels for labels in sets]),
    ),
    "spambase": keel("spambase", is_one_of("1")),
    "magic": keel("magic", is_one_of("g")),
    "satimage": keel("satimage", is_one_of("1", "2", "3")),
    "mushroom": keel("mushroom", is_one_of("p")),
    "optdigits_0": keel("optdigits", is_one_of("0")),
    "phoneme": keel("phoneme", is_one_of("1")),
    "segment": keel("segment", is_one_of("1", "2", "3")),
    "splice": keel("splice", is_one_of("N")),
    "vehicle": keel("vehicle", is_one_of("van", "bus")),
    "vowel": keel("vowel", is_one_of("0", "1", "2", "3", "4")),
    "kdd99": connections,
    "covtype1": cached("covtype1"),
    "rcv1_like": cached("rcv1_like"),
    "dozen": dozen(),
    "clouds_wide": clouds(2_000, 400, 1),
    "clouds_tall": clouds(50_000, 20, 2),
}  # fmt: skip

MANY_CLASSES = {
    "usps": arrays("usps/usps.npz", "X_train", "y_train", numbered),
    "mnist": cached("mnist"),
    "letter": svmlight("letter/letter.scale.bz2", positive=numbered),
    "pendigits": svmlight("pendigits/pendigits.bz2", positive=numbered),
    "optdigits": keel("optdigits", numbered),
    "satimage": keel("satimage", numbered),
    "segment": keel("segment", numbered),
    "vowel": keel("vowel", numbered),
    "vehicle": keel("vehicle", numbered),
    "news20": cached("news20"),
    "sector": cached("sector"),
    "covtype7": cached("covtype7"),
}

NUMBERS = {
    "abalone": svmlight("ordinal_small/abalone.svm.bz2", positive=lambda y: y),
    "wine_white": text("ordinal_small/winequality-white.csv.bz2", -1),
    "wine_red": text("ordinal_small/winequality-red.csv.bz2", -1),
    "era": text("ordinal_small/era.csv", -1),
    "lev": text("ordinal_small/lev.csv", -1),
    "mq2008": svmlight(*(f"mq2008/S{i}.txt.bz2" for i in range(1, 6)), positive=lambda y: y),
    "a9a": cached("a9a"),
    "elevation": lambda options: _elevation(options),
    "news20_number": cached("news20", lambda y: y),
    "rcv1_rule": lambda options: _rule(options),
}


def _elevation(options):
    """Covertype: the elevation from all other columns."""
    X = problems.load("covtype7", options.data, options.cache)[0].tocsc()
    return X[:, 1:], X[:, 0].toarray().ravel()


def _rule(options):
    """Made-up stories; the target is a sparse linear rule with noise."""
    X, _ = problems.load("rcv1_like", options.data, options.cache)
    rng = np.random.default_rng(7)
    y = X @ np.where(rng.random(X.shape[1]) < 0.1, rng.normal(size=X.shape[1]), 0.0)
    return X, y / y.std() + 0.5 * rng.normal(size=len(y))


def load(name, options, is_number=False, known=None):
    """(X, y) of a set, one of `known` where that is given."""
    X, y = (known or (NUMBERS if is_number else TWO_CLASSES))[name](options)
    entries = X.nnz if sp.issparse(X) else np.count_nonzero(X)
    if entries > DENSE * X.shape[0] * X.shape[1]:
        X = np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, float)
    else:
        X = sp.csr_matrix(X, dtype=np.float64)
        X.sort_indices()
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, (y - y.mean()) / y.std() if is_number else np.asarray(y, float)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    problems.add_options(parser)
    options = parser.parse_args()
    for sets in (TWO_CLASSES, MANY_CLASSES, NUMBERS):
        for name in sets:
            X, y = load(name, options, sets is NUMBERS, sets)
            entries = X.nnz if sp.issparse(X) else X.size
            told = f"{np.mean(y > 0):5.1%} positive" if sets is TWO_CLASSES else "numbers"
            told = f"{len(np.unique(y))} classes" if sets is MANY_CLASSES else told
            print(
                f"{name:14s} {X.shape[0]:8,} x {X.shape[1]:7,} {entries / X.shape[0]:8.1f} a row  {told}",
                flush=True,
            )


if __name__ == "__main__":
    main()
