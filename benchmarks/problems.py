"""The classification problems of the benchmarks, each as (X, y).

X is CSR float64 with 32-bit indices.  y is -1/+1 in the binary problems and 0..k-1 in the
multi-class ones.  Parsed matrices are kept as npz files in a cache folder, as parsing takes
longer than most of the programs need to train.

    python benchmarks/problems.py --data DIR            # fill the cache, print the sizes
"""

import argparse
import bz2
import gzip
import lzma
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import TfidfTransformer

RCV1_ROWS = 200_000
RCV1_FEATURES = 47_236
DEFAULT_CACHE = Path(tempfile.gettempdir()) / "oneslack-benchmarks"


def a9a(data):
    return _svmlight(data / "a9a" / "a9a.bz2", 123)


def covtype1(data):
    X, y = covtype7(data)
    return X, np.where(y == 0, 1.0, -1.0)


def covtype7(data):
    with bz2.open(data / "covtype" / "covtype.data.bz2", "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.int32)
    X, y = table[:, :-1].astype(float), table[:, -1] - 1
    low, high = X.min(axis=0), X.max(axis=0)
    X = (X - low) / np.maximum(high - low, 1)
    return sp.csr_matrix(X), y.astype(float)


def reuters_moneyfx(data):
    return _svmlight(data / "reuters_moneyfx" / "moneyfx_train.svm.bz2", 8_315)


def news20_1(data):
    X, y = news20(data)
    return X, np.where(y == 0, 1.0, -1.0)


def news20(data):
    counts, y = _svmlight(data / "news20" / "news20_train.svm.xz", 130_107)
    X = TfidfTransformer().fit_transform(counts)
    return _shuffled(X, y - 1)


def sector(data):
    X, y = _svmlight(data / "sector" / "sector.scale.bz2", 55_197)
    return _shuffled(X, y - 1)


def mnist(data):
    pixels = _idx(data / "mnist" / "train-images-idx3-ubyte.gz", header=16)
    labels = _idx(data / "mnist" / "train-labels-idx1-ubyte.gz", header=8)
    X = sp.csr_matrix(pixels.reshape(len(labels), -1) / 255.0)
    return X, labels.astype(float)


def rcv1_like(n=RCV1_ROWS, noise=0.07, seed=0):
    """n made-up news stories in the shape of RCV1: 47,236 words, about 75 in each story.

    Word popularity follows Zipf-Mandelbrot (stop words taken out), values are
    (1 + log count) * idf, rows have unit length.  The label is the sign of a sparse linear
    rule, flipped with probability `noise`.  Stories are made in blocks with seeds of their
    own, so the first rows of a large problem are the smaller problem.
    """
    rows, rng = 10_000, np.random.default_rng(seed)
    popularity = rng.permutation(1 / (np.arange(RCV1_FEATURES) + 60.0))
    popularity /= popularity.sum()
    rule = np.where(rng.random(RCV1_FEATURES) < 0.1, rng.normal(size=RCV1_FEATURES), 0.0)
    blocks = [_stories(rows, popularity, [seed, 2, b]) for b in range(-(-n // rows))]
    threshold = np.median(blocks[0] @ rule)
    X = sp.vstack(blocks, format="csr")[:n]
    y = np.where(X @ rule > threshold, 1.0, -1.0)
    flips = np.random.default_rng([seed, 1]).random(n) < noise
    return X, np.where(flips, -y, y)


def _stories(rows, popularity, seed):
    rng = np.random.default_rng(seed)
    lengths = np.maximum(rng.lognormal(np.log(64), 0.6, rows).astype(int), 5)
    words = np.searchsorted(np.cumsum(popularity), rng.random(lengths.sum()))
    words = np.minimum(words, len(popularity) - 1).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    X = sp.csr_matrix((np.ones(len(words)), words, starts), (rows, len(popularity)))
    X.sum_duplicates()
    idf = -np.log(-np.expm1(77 * np.log1p(-popularity)))  # 77 words in the mean story
    X.data = (1 + np.log(X.data)) * idf[X.indices]
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(norms, np.diff(X.indptr))
    return X


BINARY = ("a9a", "covtype1", "reuters_moneyfx", "news20_1", "rcv1_like")
MULTICLASS = ("covtype7", "news20", "sector", "mnist")
GENERATED = {"rcv1_like": rcv1_like}
LOADERS = {
    "a9a": a9a,
    "covtype1": covtype1,
    "reuters_moneyfx": reuters_moneyfx,
    "news20_1": news20_1,
    "covtype7": covtype7,
    "news20": news20,
    "sector": sector,
    "mnist": mnist,
}


def load(name, data=None, cache=DEFAULT_CACHE):
    """(X, y) of a problem, from the cache when it is there."""
    path = Path(cache) / f"{name}.npz"
    if path.exists():
        with np.load(path) as a:
            parts = (a["data"], a["indices"], a["indptr"])
            return sp.csr_matrix(parts, shape=tuple(a["shape"])), a["y"]
    X, y = GENERATED[name]() if name in GENERATED else LOADERS[name](data_folder(data))
    X = _tidy(X)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.npz")  # renamed when whole: others may read the cache
    np.savez(part, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    part.replace(path)
    return X, y


def primal(X, y, w, C):
    """The objective every program is judged by: C multiplies the sum of the hinge losses.

    w is (d,) for labels -1/+1, or (k, d) for labels 0..k-1 (Crammer and Singer).
    """
    scores = X @ w.T
    if w.ndim == 1:
        losses = np.maximum(0, 1 - y * scores)
    else:
        rows, labels = np.arange(len(y)), y.astype(int)
        own = scores[rows, labels]
        scores[rows, labels] -= 1
        losses = scores.max(axis=1) + 1 - own
    return 0.5 * np.vdot(w, w) + C * losses.sum()


def data_folder(data):
    folder = data or os.environ.get("ONESLACK_DATA")
    if not folder:
        sys.exit("Where is the data? Give --data DIR or set the variable ONESLACK_DATA.")
    if not Path(folder).is_dir():
        sys.exit(f"The data folder {folder} does not exist.")
    return Path(folder)


def add_options(parser):
    """The two options that every benchmark script shares."""
    parser.add_argument("--data", help="folder with the data sets (or ONESLACK_DATA)")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="for parsed data")


def _tidy(X):
    X = sp.csr_matrix(X, dtype=np.float64)
    X.sort_indices()
    X.eliminate_zeros()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _shuffled(X, y):
    order = np.random.default_rng(0).permutation(len(y))  # the files are sorted by class
    return X[order], y[order]


def _svmlight(path, n_features):
    opener = bz2.open if path.suffix == ".bz2" else lzma.open
    with opener(path, "rb") as file:
        return load_svmlight_file(file, n_features=n_features, zero_based=False)


def _idx(path, header):
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problems", nargs="*", default=BINARY + MULTICLASS)
    add_options(parser)
    args = parser.parse_args()
    for name in args.problems:
        X, y = load(name, args.data, args.cache)
        labels, counts = np.unique(y, return_counts=True)
        print(
            f"{name:16} {X.shape[0]:>8,} x {X.shape[1]:>7,}  {X.nnz / X.shape[0]:6.1f} a row"
            f"  {len(labels)} classes, smallest {counts.min():,}",
            flush=True,
        )


if __name__ == "__main__":
    main()
