"""Data sets of the kernel benchmarks, with their kernel widths and C, and how a fit is measured."""

import bz2
import time

import numpy as np
from problems import _idx, data_folder, load
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

from oneslack.datasets import make_checkers

#: sigma^2 and C of the paper's Table 1; mnist, letter and usps: usual widths.
SETTINGS = {
    "checkers": {"gamma": 1 / 0.05, "C": 1.0},
    "adult": {"gamma": 1 / 20, "C": 100.0},
    "covertype": {"gamma": 1 / 1.7, "C": 1.0},
    "mnist": {"gamma": 0.02, "C": 10.0},
    "letter": {"gamma": 5.0, "C": 10.0},
    "usps": {"gamma": 0.02, "C": 10.0},
}
#: From the paper: SVM-light's test error, constant (r = 1000) and linear (r = 400).  For Adult one random
#: split here gave about the paper's error in training (7.5 %) but 17.5 % held out (SVC: 17.6 %); over all
#: examples, training ones included, that is 10.5 %.  The paper does not say how its test set was made.
PAPER = {"checkers": (2.94, 3.14, 2.99), "adult": (10.37, 10.29, 10.19), "covertype": (18.09, 18.55, 18.28)}


class Split:
    """Training and test part of a set."""

    def __init__(self, name, options, seed=0, n=None):
        self.name = name
        X, y, X_test, y_test = LOADERS[name](options, seed)
        n = n or max(len(y) // options.shrink, 100)
        self.X, self.y, self.X_test, self.y_test = X[:n], y[:n], X_test, y_test


def checkers(options, seed):
    X, y = make_checkers(1_000_000, random_state=seed)
    return X, y, *make_checkers(20_000, random_state=1000 + seed)


def adult(options, seed):
    with bz2.open(data_folder(options.data) / "a9a" / "a9a.bz2") as file:
        X, y = load_svmlight_file(file, n_features=123)
    return _cut(X.toarray(), y, 22_697, seed)


def covertype(options, seed):
    X, y = load("covtype7", options.data, options.cache)
    return _cut(X.toarray().astype(np.float32), np.where(y == 1, 1, -1), 522_910, seed)


def mnist(options, seed):
    X, y = load("mnist", options.data, options.cache)
    folder = data_folder(options.data) / "mnist"
    pixels = _idx(folder / "t10k-images-idx3-ubyte.gz", header=16)
    labels = _idx(folder / "t10k-labels-idx1-ubyte.gz", header=8)
    order = np.random.default_rng(seed).permutation(len(y))
    X_test = pixels.reshape(len(labels), -1).astype(np.float32) / 255
    return X.toarray().astype(np.float32)[order], y[order], X_test, labels.astype(float)


def usps(options, seed):
    with np.load(data_folder(options.data) / "usps" / "usps.npz") as arrays:
        parts = {name: arrays[name] for name in arrays.files}
    X, y = np.vstack([parts["X_train"], parts["X_test"]]), np.append(parts["y_train"], parts["y_test"])
    return _cut(X, y, len(parts["y_train"]), seed)


def letter(options, seed):
    folder = data_folder(options.data) / "letter"
    parts = []
    for name in ("letter.scale.bz2", "letter.scale.t.bz2"):
        with bz2.open(folder / name) as file:
            parts.append(load_svmlight_file(file, n_features=16))
    return _cut(
        np.vstack([X.toarray() for X, _ in parts]), np.concatenate([y for _, y in parts]), 15_000, seed
    )


LOADERS = {
    "checkers": checkers,
    "adult": adult,
    "covertype": covertype,
    "mnist": mnist,
    "usps": usps,
    "letter": letter,
}


def _cut(X, y, n, seed):
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[:n], order[n:]
    return X[train], y[train], X[test], y[test]


def timed(model, split):
    """(fitted model, seconds of fit, test error in per cent); `model.cpu` are the seconds of all threads."""
    start, cpu = time.perf_counter(), time.process_time()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - start
    model.cpu = time.process_time() - cpu
    return model, seconds, 100 * (1 - model.score(split.X_test, split.y_test))


def svc(name):
    return SVC(**SETTINGS[name], cache_size=2000)


def svc_course(name, n, options, limit=1800.0):
    """[(n, seconds, test error)] of SVC at a fortieth, a twentieth and a tenth of n, and at n where that
    should end within `limit`."""
    course = []
    for m in (n // 40, n // 20, n // 10, n):
        if m == n and course[-1][1] * 10**2 > limit:
            break
        _, taken, error = timed(svc(name), Split(name, options, n=m))
        course.append((m, taken, error))
    return course


def seconds_at(course, n):
    """(seconds, were they extrapolated): a power law through the runs, unless one is of n."""
    if course[-1][0] == n:
        return course[-1][1], False
    sizes, seconds, _ = zip(*course, strict=True)
    exponent, factor = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(np.exp(factor) * n**exponent), True
