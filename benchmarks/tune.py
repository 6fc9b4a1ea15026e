"""What choosing C among ten values costs, in trainings from scratch with the largest of them.

For each problem, in turn: `oneslack.tune` with five folds and the final training; one `LinearSVC.fit` with
the largest C.  Medians of several rounds.  Then a cold grid search: every C trained from scratch on the same
folds to a gap of 1e-5.  Its best C by the rule of `tune` (docs/tune.md) must be the same one; that with the
highest mean score is shown beside it, and how far that score is above the one of the chosen C.

    python benchmarks/tune.py --data DIR --repeat 5
"""

import argparse
import statistics
import time

import numpy as np
from problems import add_options, load
from sklearn.model_selection import StratifiedKFold

import oneslack
from oneslack.selection.rule import best_of

GRID = np.logspace(-3, 2, 10)
FOLDS = 5


def seconds(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def cold_search(X, y, tol):
    """(best, mean scores (10,)) of a search that trains every model from scratch."""
    right, losses = np.empty((len(GRID), len(y))), np.empty((len(GRID), len(y)))
    for train, test in StratifiedKFold(FOLDS).split(X, y):
        for k, C in enumerate(GRID):
            model = oneslack.LinearSVC(C=C, tol=tol).fit(X[train], y[train])
            right[k, test] = model.predict(X[test]) == y[test]
            losses[k, test] = hinges(
                model.decision_function(X[test]), np.searchsorted(model.classes_, y[test])
            )
    return best_of(right, losses), right.mean(axis=1)


def hinges(scores, codes):
    """(n,) hinge of each example, of two classes or more."""
    if scores.ndim == 1:
        return np.maximum(0.0, 1.0 - np.where(codes == 1, 1.0, -1.0) * scores)
    own = scores[np.arange(len(codes)), codes]
    return (scores + 1.0 - np.eye(scores.shape[1])[codes]).max(axis=1) - own


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", nargs="+", default=["a9a", "reuters_moneyfx"])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--cold-tol", type=float, default=1e-5, help="gap of the cold search")
    add_options(parser)
    args = parser.parse_args()
    print("| problem | tune | largest C | tune / largest C | cold search | best C | cold best: rule, score |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in args.problems:
        X, y = load(name, args.data, args.cache)
        oneslack.tune(oneslack.LinearSVC(), X, y, GRID, cv=FOLDS)
        tuned, cold = [], []
        for _ in range(args.repeat):
            took, found = seconds(lambda X=X, y=y: oneslack.tune(oneslack.LinearSVC(), X, y, GRID, cv=FOLDS))
            tuned.append(took)
            cold.append(seconds(lambda X=X, y=y: oneslack.LinearSVC(C=GRID[-1]).fit(X, y))[0])
        search, (best, scores) = seconds(lambda X=X, y=y: cold_search(X, y, args.cold_tol))
        tuned, cold = statistics.median(tuned), statistics.median(cold)
        top = scores.argmax()
        others = f"{GRID[best]:.3g}, {GRID[top]:.3g} (+{scores[top] - scores[best]:.4f})"
        print(
            f"| {name} | {tuned:.3f} s | {cold:.3f} s | {tuned / cold:.1f} | {search:.2f} s "
            f"| {found.best_C:.3g} | {others} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
