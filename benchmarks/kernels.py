"""KernelSVC beside scikit-learn's SVC: the table and figures of Yu & Joachims (2008), and what came after.

    python benchmarks/kernels.py table1   --data DIR     # Checkers, Adult, Covertype: error, seconds
    python benchmarks/kernels.py figure1                 # seconds against n
    python benchmarks/kernels.py samples  --data DIR     # Adult: error and seconds against the sample size
    python benchmarks/kernels.py mnist    --data DIR     # ten classes
    python benchmarks/kernels.py envelope --data DIR     # beside Nystroem and random features + LinearSVC

`--shrink 10` takes a tenth of the examples; `--sets`, `--methods`, `--seeds` run a part, `--skip-svc` leaves
SVC out.  The kernel is exp(-|a - b|^2 / sigma^2) with the paper's sigma^2; C is that of the paper for one
example.  SVC gets a cache of 2 GB.  Where it would take too long, its time is extrapolated from three smaller
sizes by a power law, and marked "~".
"""

import argparse
import bz2
import statistics
import time
import warnings

import numpy as np
from problems import _idx, add_options, data_folder, load
from sklearn.datasets import load_svmlight_file
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from oneslack import KernelSVC
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
METHODS = {
    "exact": {"method": "exact"},
    "linear": {"method": "linear", "sample_size": 400},
    "constant": {"method": "constant", "sample_size": 1000},
    "basis500": {"method": "basis", "n_basis": 500},
    "basis2000": {"method": "basis", "n_basis": 2000, "memory": 6e9},
}


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


def ours(name, method, seed=0, **more):
    if method == "exact":
        more = {"tol": 1e-2} | more
    return KernelSVC(**SETTINGS[name], **METHODS[method] | more, random_state=seed)


def svc(name):
    return SVC(**SETTINGS[name], cache_size=2000)


def svc_seconds(name, n, options, limit=1800.0):
    """(seconds, error or None, was it extrapolated): at n, or from three smaller sizes."""
    sizes, seconds = [], []
    for m in (n // 40, n // 20, n // 10, n):
        if m == n and seconds[-1] * (n / sizes[-1]) ** 2 > limit:
            break
        split = Split(name, options, n=m)
        _, taken, error = timed(svc(name), split)
        sizes.append(m)
        seconds.append(taken)
    else:
        return seconds[-1], error, False
    exponent, factor = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(np.exp(factor) * n**exponent), None, True


def told(values):
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f} ({spread:.2f})"


def table1(options):
    print("| set | n | method | train error % | test error % | seconds | CPU | vectors | certified gap |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in options.sets or ("checkers", "adult", "covertype"):
        for method in options.methods or ("constant", "linear", "exact"):
            rows = []
            for seed in range(options.seeds):
                split = Split(name, options, seed)
                model, seconds, error = timed(ours(name, method, seed), split)
                gap = f"{model.duality_gap_:.3f}" if model.certified_ else "no"
                part = slice(0, 20_000)
                train = 100 * (1 - model.score(split.X[part], split.y[part]))
                rows.append((train, error, seconds, model.cpu, len(model.support_), gap))
            *figures, sizes, gaps = zip(*rows, strict=True)
            size = int(statistics.mean(sizes))
            cells = (name, f"{len(split.y):,}", method, *map(told, figures), f"{size:,}", gaps[-1])
            print(f"| {' | '.join(cells)} |", flush=True)
        if not options.skip_svc:
            seconds, error, guessed = svc_seconds(name, len(split.y), options)
            shown = "" if error is None else f"{error:.2f}"
            taken = f"{'~' * guessed}{seconds:.1f}"
            print(f"| {name} | {len(split.y):,} | SVC | | {shown} | {taken} | | | |", flush=True)
        print(f"| {name} | | paper: SVM-light, constant, linear | | {PAPER[name]} | | | | |", flush=True)


def figure1(options):
    name = (options.sets or ["checkers"])[0]
    print("| n | " + " | ".join(options.methods or ("constant", "linear")) + " | SVC |")
    sizes = [n // options.shrink for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)]
    taken = {method: [] for method in options.methods or ("constant", "linear")}
    for n in sizes:
        cells = [f"{n:,}"]
        split = Split(name, options, n=n)
        for method, seconds in taken.items():
            model, spent, error = timed(ours(name, method), split)
            seconds.append(spent)
            cells.append(f"{spent:.1f} s, CPU {model.cpu:.1f} s, {model.n_iter_} rounds, {error:.2f} %")
        if n <= 100_000 // options.shrink and not options.skip_svc:
            _, spent, error = timed(svc(name), split)
            cells.append(f"{spent:.1f} s {error:.2f} %")
        print(f"| {' | '.join(cells)} |", flush=True)
    for method, seconds in taken.items():
        exponent = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        print(f"{method}: seconds grow as n^{exponent:.2f}; last / first {seconds[-1] / seconds[0]:.2f}")


def samples(options):
    print("| method | r | C | rounds | seconds | test error % |")
    split = Split("adult", options)
    for method in ("constant", "linear"):
        for r in (100, 400, 1000, 4000):
            for C in (0.1, 1.0, 10.0):
                model = ours("adult", method, sample_size=r).set_params(C=C, time_limit=300)
                model, seconds, error = timed(model, split)
                print(
                    f"| {method} | {r} | {C:g} | {model.n_iter_} | {seconds:.1f} | {error:.2f} |", flush=True
                )


def mnist_table(options):
    print("| method | test error % | seconds | CPU | support vectors |")
    split = Split("mnist", options)
    for method in options.methods or ("linear", "exact", "basis2000"):
        more = {"memory": 6e9} if method == "exact" else {}
        model, seconds, error = timed(ours("mnist", method, **more), split)
        print(
            f"| {method} | {error:.2f} | {seconds:.1f} | {model.cpu:.1f} | {len(model.support_):,} |",
            flush=True,
        )
    if not options.skip_svc:
        model, seconds, error = timed(svc("mnist"), split)
        print(
            f"| SVC | {error:.2f} | {seconds:.1f} | {model.cpu:.1f} | {len(model.support_):,} |", flush=True
        )


def envelope(options):
    print("| set | method | test error % | seconds |")
    for name in options.sets or ("checkers", "adult", "covertype", "letter", "usps"):
        split = Split(name, options)
        gamma, C = SETTINGS[name]["gamma"], SETTINGS[name]["C"]
        rivals = {}
        for k in (200, 500, 1000, 2000):
            nystroem = Nystroem(gamma=gamma, n_components=k, random_state=0)
            rivals[f"Nystroem({k}) + LinearSVC"] = make_pipeline(nystroem, LinearSVC(C=C))
            fourier = RBFSampler(gamma=gamma, n_components=k, random_state=0)
            rivals[f"random features({k}) + LinearSVC"] = make_pipeline(fourier, LinearSVC(C=C))
            rivals[f"ours: basis({k})"] = ours(name, "basis500", n_basis=k, memory=6e9, tol=1e-2)
        for method in ("constant", "linear", "exact"):
            if method != "exact" or len(split.y) <= 30_000:
                rivals[f"ours: {method}"] = ours(name, method)
        for label, model in rivals.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _, seconds, error = timed(model, split)
            print(f"| {name} | {label} | {error:.2f} | {seconds:.1f} |", flush=True)


TABLES = {
    "table1": table1, "figure1": figure1, "samples": samples, "mnist": mnist_table, "envelope": envelope,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", choices=TABLES)
    add_options(parser)
    parser.add_argument("--shrink", type=int, default=1, help="take one example in so many")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="*", choices=LOADERS)
    parser.add_argument("--methods", nargs="*", choices=METHODS)
    parser.add_argument("--skip-svc", action="store_true")
    options = parser.parse_args()
    X, y = make_checkers(300, random_state=0)
    for method in METHODS:  # compile first
        KernelSVC(method=METHODS[method]["method"], max_iter=50, time_limit=5).fit(X, y)
    TABLES[options.table](options)


if __name__ == "__main__":
    main()
