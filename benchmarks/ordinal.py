"""Ordered classes: thresholds fitted after the ranking, or together with it?

Six ways to predict an ordered class by a linear model, on random halves of small data sets:

    ranking, absolute   OrdinalSVC: weights of a ranking, then the cuts of the least absolute error
    ranking, zero-one   the same weights, the cuts of the fewest errors
    joint               weights and thresholds t at once (below), solved by oneslack to a gap of 1e-3
    joint, absolute     the weights of "joint", then the cuts of the least absolute error
    multi-class         LinearSVC, which knows no order
    ridge, rounded      regression on the class numbers

"Joint" compares every example with every threshold (Shashua & Levin 2003; Chu & Keerthi 2007):

    min_{w, t}  1/2 |w|^2 + C sum_i sum_k max(0, 1 - s_ik (<w, x_i> - t_k))     s_ik = +1 if y_i > k else -1

Features are standardised on the training half, C is chosen there by three folds for each method alone, by
the mean absolute error (or --choose accuracy).  The tables give means over the splits on the other half,
and how much "ranking, absolute" differs from the others, in standard errors of the paired differences.

    python benchmarks/ordinal.py --data DIR
    python benchmarks/ordinal.py --data DIR --sets swd esl --splits 20 --choose accuracy
"""

import argparse
import bz2
import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.preprocessing import StandardScaler

import oneslack
from oneslack.estimators._shared.thresholds import best_thresholds

CS = np.logspace(-3, 2, 6)
#: Of abalone's 28 numbers of rings, the frequent ones; the others join their neighbour.
RINGS = (5, 15)


# Data.


def load(folder, name):
    """X, codes 0 .. K-1."""
    if name == "abalone":
        with bz2.open(folder / "abalone.svm.bz2") as file:
            X, y = load_svmlight_file(file)
        X, y = X.toarray(), np.clip(y, *RINGS)
    elif name.startswith("wine"):
        colour = name.removeprefix("wine_")
        with bz2.open(folder / f"winequality-{colour}.csv.bz2", "rt") as file:
            table = np.loadtxt(file, delimiter=",", skiprows=1)
        X, y = table[:, :-1], table[:, -1]
    else:
        table = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
        X, y = table[:, :-1], table[:, -1]
    return X, np.unique(y, return_inverse=True)[1]


SETS = ("swd", "era", "lev", "esl", "balance_scale", "wine_red", "wine_white", "abalone")


#: The proved relative gaps of all joint problems.
GAPS = []

# Joint training, as a binary problem: an example for each x_i and threshold t_k, with the features
# (x_i, -e_k), whose score is <w, x_i> - t_k.


@dataclass(frozen=True)
class AllThresholds(oneslack.Binary):
    """The last weights are thresholds, which are not penalised."""

    n_thresholds: int = 0

    @property
    def free(self):
        return np.arange(self.n_features - self.n_thresholds, self.n_features)


def fit_joint(X, y, K, C):
    d = X.shape[1]
    rows, k = np.repeat(np.arange(len(y)), K - 1), np.tile(np.arange(K - 1), len(y))
    each = np.hstack([X[rows], -np.eye(K - 1)[k]])
    sides = np.where(y[rows] > k, 1, -1)
    problem = oneslack.Problem(AllThresholds(d + K - 1, n_thresholds=K - 1), each, sides, C)
    result = oneslack.solve(problem, oneslack.OneSlack(), tol=1e-3)
    assert result.certified
    GAPS.append(result.gap)
    w, own = result.w[:d], np.sort(result.w[d:])
    after = best_thresholds(X @ w, y, K)
    return [lambda Z: np.searchsorted(own, Z @ w), lambda Z: np.searchsorted(after, Z @ w)]


# The others.


def fit_ranking(X, y, K, C):
    model = oneslack.OrdinalSVC(C=C, n_jobs=1).fit(X, y)
    cuts = fewest_errors(model.rank_scores(X), y, K)
    return [model.predict, lambda Z: np.searchsorted(cuts, model.rank_scores(Z))]


def fewest_errors(scores, y, K):
    """(K - 1,) rising thresholds with the fewest errors.

    right[k, p] is how many of the p lowest scores can be right when they are classes 0 .. k:
    right[k, p] = max_{q <= p} right[k - 1, q] + (examples of class k among q .. p).
    """
    order = np.argsort(scores, kind="stable")
    f, y = scores[order], y[order]
    places = np.concatenate([[0], 1 + np.flatnonzero(f[1:] > f[:-1]), [len(f)]])
    cuts = np.concatenate([[f[0] - 1], (f[places[1:-1] - 1] + f[places[1:-1]]) / 2, [f[-1] + 1]])
    below = np.array([np.append(0, np.cumsum(y == k))[places] for k in range(K)])
    right, came_from = below[0], []
    for k in range(1, K):
        lead = right - below[k]
        best = np.maximum.accumulate(lead)
        came_from.append(np.maximum.accumulate(np.where(lead == best, np.arange(len(lead)), 0)))
        right = best + below[k]
    p, thresholds = len(cuts) - 1, []
    for origin in reversed(came_from):
        p = origin[p]
        thresholds.append(cuts[p])
    return np.array(thresholds[::-1])


def fit_multiclass(X, y, K, C):
    return [oneslack.LinearSVC(C=C, n_jobs=1).fit(X, y).predict]


def fit_ridge(X, y, K, C):
    model = Ridge(alpha=1 / C).fit(X, y)
    return [lambda Z: np.clip(np.rint(model.predict(Z)), 0, K - 1)]


#: What one fit gives: (X, y, K, C) -> a function to predict for each name.
FAMILIES = {
    ("ranking, absolute", "ranking, zero-one"): fit_ranking,
    ("joint", "joint, absolute"): fit_joint,
    ("multi-class",): fit_multiclass,
    ("ridge, rounded",): fit_ridge,
}
METHODS = [name for names in FAMILIES for name in names]


# Runs.


def absolute_error(y, predicted):
    return float(np.mean(np.abs(y - predicted)))


def accuracy(y, predicted):
    return float(np.mean(y == predicted))


LOSSES = {"absolute": absolute_error, "accuracy": lambda y, predicted: 1 - accuracy(y, predicted)}


def choose_C(fit, X, y, K, loss):
    """The C of the least loss over three folds, for each of the family."""
    losses = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        fits = [fit(X[train], y[train], K, C) for C in CS]
        losses.append([[loss(y[test], predict(X[test])) for predict in family] for family in fits])
    return CS[np.mean(losses, axis=0).argmin(axis=0)]


def run(X, y, splits, loss):
    """{method: (splits, 3)}: absolute error, accuracy, seconds to choose C and train (of its family)."""
    K = int(y.max()) + 1
    values = {name: [] for name in METHODS}
    for train, test in ShuffleSplit(splits, test_size=0.5, random_state=0).split(X):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        for names, fit in FAMILIES.items():
            start = time.process_time()
            chosen = choose_C(fit, A, y[train], K, loss)
            fits = {C: fit(A, y[train], K, C) for C in set(chosen)}
            seconds = time.process_time() - start
            for place, (name, C) in enumerate(zip(names, chosen, strict=True)):
                predicted = fits[C][place](B)
                row = absolute_error(y[test], predicted), accuracy(y[test], predicted), seconds
                values[name].append(row)
    return {name: np.array(rows) for name, rows in values.items()}


def distance(ours, theirs):
    """Mean difference in its standard errors; splits of the same data overlap, so these are a bit small."""
    difference = theirs - ours
    if len(difference) < 2:
        return 0.0
    spread = difference.std(ddof=1) / np.sqrt(len(difference))
    return difference.mean() / spread if spread > 0 else 0.0


def print_table(title, outcomes, column, digits=3):
    print(f"\n{title}\n")
    print("| set (n, d, K) |", *(f"{name} |" for name in METHODS))
    print("|---|" + " ---: |" * len(METHODS))
    for label, values in outcomes.items():
        first, *_ = values.values()
        cells = []
        for rows in values.values():
            text = f"{rows[:, column].mean():.{digits}f}"
            if column < 2 and rows is not first:
                text += f" ({distance(first[:, column], rows[:, column]):+.1f})"
            cells.append(f"{text} |")
        print(f"| {label} |", *cells)
    means = [np.mean([values[name][:, column].mean() for values in outcomes.values()]) for name in METHODS]
    print("| mean |", *(f"{mean:.{digits}f} |" for mean in means))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", default=os.environ.get("ONESLACK_DATA"), help="folder with ordinal_small")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--choose", choices=LOSSES, default="absolute")
    args = parser.parse_args()
    if not args.data:
        parser.error("give --data DIR or set ONESLACK_DATA")
    outcomes = {}
    for name in args.sets:
        X, y = load(Path(args.data) / "ordinal_small", name)
        label = f"{name} ({len(y):,}, {X.shape[1]}, {y.max() + 1})"
        outcomes[label] = run(X, y, args.splits, LOSSES[args.choose])
    print_table("Mean absolute error (standard errors from the first column)", outcomes, 0)
    print_table("Accuracy (standard errors from the first column)", outcomes, 1)
    print_table("Seconds to choose C and train, one split", outcomes, 2, digits=2)
    print(f"\njoint: {np.mean(np.array(GAPS) <= 1e-3):.1%} of {len(GAPS)} problems reached a gap of 1e-3")


if __name__ == "__main__":
    main()
