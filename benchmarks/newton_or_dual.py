"""Newton steps beside dual passes where an example has many weights: what `solver="auto"` rests on there.

    python benchmarks/newton_or_dual.py --data DIR
    python benchmarks/newton_or_dual.py --data DIR --intercept

A Newton step costs the square of the weights that an example has, a dual pass as many; but passes crawl where
C |x|^2 is large, and sooner where there are intercepts.  Processor seconds of one thread, medians of --repeat
runs that take turns, --limit seconds at most.
"""

import argparse
import statistics
import time
import warnings

import numpy as np
from kernel_sets import Split
from problems import add_options
from sklearn.kernel_approximation import RBFSampler

from oneslack import LinearSVC, LinearSVR
from oneslack.datasets import make_checkers

SOLVERS = ("newton", "dual_cd")


def fourier(X, gamma, k):
    return RBFSampler(gamma=gamma, n_components=k, random_state=0).fit_transform(X)


def sets(options):
    """(name, estimator, X, y) of each set."""
    X, y = make_checkers(10_000, random_state=0)
    for k in (100, 200, 500):
        yield f"checkers, {k} random features", LinearSVC, fourier(X, 20.0, k), y
    yield "checkers, numbers", LinearSVR, fourier(X, 20.0, 200), np.sin(X @ [3.0, 5.0])
    split = Split("covertype", options, n=20_000)
    yield "covertype, 200 random features", LinearSVC, fourier(split.X, 1 / 1.7, 200), split.y
    split = Split("usps", options)
    X = np.asarray(split.X.toarray() if hasattr(split.X, "toarray") else split.X, dtype=float)
    yield "usps, even or odd", LinearSVC, X, np.where(split.y % 2 == 0, 1, -1)
    yield "usps, ten classes, 100 random features", LinearSVC, fourier(X, 0.02, 100), split.y
    split = Split("letter", options)
    yield "letter, 26 classes", LinearSVC, np.asarray(split.X, dtype=float), split.y
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 150)) * 10.0 ** rng.uniform(-2, 2, 150)
    noisy = X @ rng.normal(size=150) + 20.0 * rng.normal(size=10_000)
    yield "columns of many sizes", LinearSVC, X, np.where(noisy > 0, 1, -1)


def timed(model, X, y):
    begin = time.process_time()
    model.fit(X, y)
    return time.process_time() - begin, model.duality_gap_ <= model.tol


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--C", type=float, nargs="+", default=[0.1, 1.0, 10.0, 100.0])
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--intercept", action="store_true")
    parser.add_argument("--shrink", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| set | n, d | C | C mean x^2 | Newton | dual passes | Newton / dual |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name, estimator, X, y in sets(options):
        for C in options.C:
            models = {
                solver: estimator(
                    C,
                    tol=options.tol,
                    n_jobs=1,
                    solver=solver,
                    fit_intercept=options.intercept,
                    time_limit=options.limit,
                )
                for solver in SOLVERS
            }
            taken = {solver: [] for solver in SOLVERS}
            for _ in range(1 + options.repeat):
                for solver, model in models.items():
                    taken[solver].append(timed(model, X, y))
            newton, dual = (statistics.median(seconds for seconds, _ in taken[s][1:]) for s in SOLVERS)
            cells = [
                f"{s:.3f}{'' if taken[k][-1][1] else ', not there'}"
                for k, s in zip(SOLVERS, (newton, dual), strict=True)
            ]
            stiff = C * float((X**2).sum(axis=1).mean())
            print(
                f"| {name} | {X.shape[0]:,}, {X.shape[1]} | {C:g} | {stiff:.3g} | {' | '.join(cells)} | "
                f"{newton / dual:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
