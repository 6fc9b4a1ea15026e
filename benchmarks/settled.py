"""How many predictions a gap settles: the share of the rows for which `certain` says that the exact optimum
predicts the same, and whether a model of a far smaller gap agrees.

    python benchmarks/settled.py --data DIR
    python benchmarks/settled.py --data DIR --problems a9a --C 0.01 1 --gaps 1e-2 1e-6

Rows are those of the training: new ones of the same kind differ little.  `truly the same` is the share of
predictions that the reference (--reference, a gap of 1e-10) makes, too: what a bound could at most settle.
`contradicted` counts settled predictions that the reference does not make, and must be 0.
"""

import argparse
import time
import warnings

import numpy as np
from problems import add_options, load
from sklearn.exceptions import ConvergenceWarning

from oneslack import LinearSVC

#: C, and what else is told, for each problem.
RUNS = {
    "a9a": [{"C": C} for C in (0.0001, 0.01, 1.0)],
    "covtype1": [{"C": C} for C in (0.0001, 0.01, 1.0)],
    "news20": [
        {"C": C, **given}
        for C in (0.1, 1.0)
        for given in ({}, {"fit_intercept": False}, {"multi_class": "ovr"})
    ],
}


def clock(work):
    start = time.process_time()
    return work(), time.process_time() - start


def measure(X, y, given, gap, reference):
    model, fit = clock(lambda: LinearSVC(tol=gap, n_jobs=1, **given).fit(X, y))
    _, bounds = clock(lambda: model.bound_intercept(X, y))
    settled, certain = clock(lambda: model.certain(X))
    same = model.predict(X) == reference
    return {
        "gap": f"{gap:.0e}",
        "reached": f"{model.duality_gap_:.1e}",
        "settled": f"{100 * settled.mean():.1f} %",
        "truly the same": f"{100 * same.mean():.2f} %",
        "contradicted": int((settled & ~same).sum()),
        "fit": f"{fit:.2f} s",
        "bounds": f"{bounds:.2f} s",
        "certain": f"{certain:.2f} s",
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add_options(parser)
    parser.add_argument("--problems", nargs="+", default=list(RUNS), choices=RUNS)
    parser.add_argument("--C", nargs="+", type=float)
    parser.add_argument("--gaps", nargs="+", type=float, default=[1e-2, 1e-3, 1e-4])
    parser.add_argument("--reference", type=float, default=1e-10, help="gap of the model to compare with")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    heads = None
    for name in options.problems:
        X, y = load(name, options.data, options.cache)
        for given in RUNS[name]:
            if options.C and given["C"] not in options.C:
                continue
            best = LinearSVC(tol=options.reference, n_jobs=1, time_limit=120, **given).fit(X, y)
            reference = best.predict(X)
            words = ", ".join(f"{key}={value}" for key, value in given.items())
            for gap in options.gaps:
                row = {"problem": f"{name}, {words}"} | measure(X, y, given, gap, reference)
                if heads is None:
                    heads = list(row)
                    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
                print("| " + " | ".join(str(value) for value in row.values()) + " |", flush=True)
            print(f"<!-- reference {name}, {words}: gap {best.duality_gap_:.1e} -->", flush=True)


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    main()
