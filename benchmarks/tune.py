"""What choosing C among ten values costs, in trainings from scratch with the largest of them.

For each problem, in turn: `oneslack.tune` with five folds and the final training; one `LinearSVC.fit` with
the largest C; a grid search from scratch, for its best C.  Medians of several rounds.

    python benchmarks/tune.py --data DIR --repeat 5
"""

import argparse
import statistics
import time

import numpy as np
from problems import add_options, load
from sklearn.model_selection import GridSearchCV

import oneslack

GRID = np.logspace(-3, 2, 10)


def seconds(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", nargs="+", default=["a9a", "reuters_moneyfx"])
    parser.add_argument("--repeat", type=int, default=5)
    add_options(parser)
    args = parser.parse_args()
    print("| problem | tune | largest C | tune / largest C | grid search | best C | grid's best C |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in args.problems:
        X, y = load(name, args.data, args.cache)
        oneslack.tune(oneslack.LinearSVC(), X, y, GRID)
        tuned, cold = [], []
        for _ in range(args.repeat):
            took, found = seconds(lambda X=X, y=y: oneslack.tune(oneslack.LinearSVC(), X, y, GRID))
            tuned.append(took)
            cold.append(seconds(lambda X=X, y=y: oneslack.LinearSVC(C=GRID[-1]).fit(X, y))[0])
        search = GridSearchCV(oneslack.LinearSVC(), {"C": GRID}, cv=5)
        grid, search = seconds(lambda X=X, y=y, s=search: s.fit(X, y))
        tuned, cold = statistics.median(tuned), statistics.median(cold)
        best = f"{found.best_C:.3g} | {search.best_params_['C']:.3g}"
        print(f"| {name} | {tuned:.3f} s | {cold:.3f} s | {tuned / cold:.1f} | {grid:.2f} s | {best} |")


if __name__ == "__main__":
    main()
