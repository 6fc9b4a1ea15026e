"""RankSVM against a classifier of explicit pairs: quality on test queries, seconds of training.

Both minimise the same function of w,

    P(w) = 1/2 |w|^2 + C n (mean over pairs of max(0, 1 - <w, x_i - x_j>))

over the pairs of a query with y_i > y_j.  RankSVM never forms them; the others classify the m
differences x_i - x_j, every second one turned round, with C n / m in place of C.  In each of the five
folds that the data give, C is chosen on the validation queries by NDCG@10 (gain 2^y - 1), for all
methods from the same grid; then the fits at the chosen C take turns.  Seconds are of the processor, on
one thread, and include the making of the pairs.

    python benchmarks/rank.py --data DIR
    python benchmarks/rank.py --data DIR --sets mq2008 --folds 1 --methods ours sklearn
"""

import argparse
import sys
import time
import warnings
from typing import NamedTuple

import numpy as np
from problems import data_folder
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

import oneslack
from oneslack.formats import read_data
from oneslack.metrics import ndcg, ordered_pairs

GRID = tuple(10.0**e for e in range(-4, 2))
K = 10


class Part(NamedTuple):
    """Documents of some queries: X (n, d), grades y (n,), queries (n,)."""

    X: np.ndarray
    y: np.ndarray
    queries: np.ndarray


def mq2008(data, i):
    return _read(data / "mq2008" / f"S{i}.txt.bz2", 46)


def mq2007_agg(data, i):
    """The features are places in 21 rankings, and missing where a document is in none."""
    part = _read(data / "mq2007_agg" / f"A{i}.txt.bz2", 21)
    places = np.where(part.X > 0, part.X, np.inf)
    return part._replace(X=1.0 / np.log2(1.0 + places))


SETS = {"mq2008": mq2008, "mq2007_agg": mq2007_agg}


def _read(path, n_features):
    table = read_data(path, kind="svmlight", n_features=n_features, zero_based=False)
    return Part(table.X.toarray(), table.y, table.qid)


def fold(parts, f):
    """(train, validation, test) of fold f = 0 .. 4: three parts, the next one, the one after."""
    turn = [parts[(f + i) % 5] for i in range(5)]
    return Part(*map(np.concatenate, zip(*turn[:3], strict=True))), turn[3], turn[4]


def pairs(part):
    """(differences (m, d), labels (m,)), one for each pair of a query with different grades."""
    better, worse = [], []
    for rows in np.split(np.arange(len(part.y)), np.flatnonzero(np.diff(part.queries)) + 1):
        y = part.y[rows]
        i, j = np.nonzero(y[:, None] > y[None, :])
        better.append(rows[i])
        worse.append(rows[j])
    D = part.X[np.concatenate(better)] - part.X[np.concatenate(worse)]
    labels = np.where(np.arange(len(D)) % 2 == 0, 1.0, -1.0)  # a classifier wants two classes
    D *= labels[:, None]
    return D, labels


def rank_svm(train, C):
    return oneslack.RankSVM(C, n_jobs=1).fit(train.X, train.y, groups=train.queries).coef_


def pairwise(classifier):
    def fit(train, C):
        D, labels = pairs(train)
        return classifier(C * len(train.y) / len(D)).fit(D, labels).coef_[0]

    return fit


METHODS = {
    "ours": ("`oneslack.RankSVM`", rank_svm),
    "sklearn": (
        "pairs, `sklearn.svm.LinearSVC`",
        pairwise(lambda C: LinearSVC(loss="hinge", C=C, fit_intercept=False, random_state=0)),
    ),
    "sklearn_loose": (
        "pairs, `sklearn.svm.LinearSVC(tol=0.1)`",
        pairwise(lambda C: LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=0.1, random_state=0)),
    ),
    "pairs": (
        "pairs, `oneslack.LinearSVC`",
        pairwise(lambda C: oneslack.LinearSVC(C=C, fit_intercept=False, n_jobs=1, random_state=0)),
    ),
}


class Outcome(NamedTuple):
    """A method in one fold, with the C it chose; `excess` is P / (smallest known P) - 1."""

    C: float
    ndcg: float
    ndcg_all: float
    in_order: float
    seconds: float
    excess: float
    late: bool


def compare(train, validation, test, methods, repeat):
    """{method: Outcome}."""
    chosen = {name: choose(METHODS[name][1], train, validation) for name in methods}
    seconds, late = {name: [] for name in methods}, dict.fromkeys(methods, False)
    w = {}
    for _ in range(repeat):
        for name in methods:
            w[name], spent, stopped = timed(METHODS[name][1], train, chosen[name])
            seconds[name].append(spent)
            late[name] |= stopped
    excess = excesses(w, chosen, train)
    return {
        name: Outcome(
            chosen[name], *quality(w[name], test), float(np.median(seconds[name])), excess[name], late[name]
        )
        for name in methods
    }


def choose(fit, train, validation):
    """The C of the best NDCG on the validation queries; of equals the smallest."""
    return max(GRID, key=lambda C: (quality(timed(fit, train, C)[0], validation)[0], -C))


def timed(fit, train, C):
    """(w, processor's seconds, whether the program gave up before its own tolerance)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        start = time.process_time()
        w = fit(train, C)
        spent = time.process_time() - start
    return w, spent, any(issubclass(c.category, ConvergenceWarning) for c in caught)


def quality(w, part):
    """(NDCG over queries with a relevant document, the same with 0 for the others, pairs in order)."""
    scores = part.X @ w
    value = ndcg(part.y, scores, part.queries, k=K, exponential=True)
    relevant = len(np.unique(part.queries[part.y > 0])) / len(np.unique(part.queries))
    return value, value * relevant, ordered_pairs(part.y, scores, part.queries)


def excesses(w, chosen, train):
    """How far above the best of all P is at w, for the C that each method chose.

    The best is of all methods with that C, and of a tight run.
    """
    D, labels = pairs(train)

    def P(v, C):
        return 0.5 * v @ v + C * len(train.y) * np.maximum(0, 1 - labels * (D @ v)).mean()

    best = {}
    for C in set(chosen.values()):
        tight = oneslack.RankSVM(C, tol=1e-5, n_jobs=1).fit(train.X, train.y, groups=train.queries)
        best[C] = min(P(v, C) for v in [tight.coef_, *(w[m] for m in w if chosen[m] == C)])
    return {name: P(v, chosen[name]) / best[chosen[name]] - 1 for name, v in w.items()}


def table(title, outcomes):
    """Markdown; outcomes is a list over folds of {method: Outcome}."""
    print(f"\n{title}\n")
    heads = ["method", "NDCG@10", "empty queries as 0", "pairs in order", "seconds", "ours / this"]
    heads += ["above optimum", "C"]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for name in outcomes[0]:
        mine = [o[name] for o in outcomes]
        spent = np.mean([o.seconds for o in mine])
        ratio = np.mean([o["ours"].seconds for o in outcomes]) / spent if "ours" in outcomes[0] else np.nan
        means = [np.mean([getattr(o, field) for o in mine]) for field in ("ndcg", "ndcg_all", "in_order")]
        gave_up = sum(o.late for o in mine)
        note = f", gave up in {gave_up} of {len(mine)}" if gave_up else ""
        cells = [
            METHODS[name][0], *(f"{v:.4f}" for v in means), f"{spent:.3f}", f"{ratio:.2f}",
            f"{max(o.excess for o in mine):.1e}{note}", " ".join(f"{o.C:g}" for o in mine),
        ]  # fmt: skip
        print("| " + " | ".join(cells) + " |")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder with the data sets (or ONESLACK_DATA)")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--folds", nargs="+", type=int, default=range(1, 6), help="1 to 5")
    parser.add_argument("--repeat", type=int, default=3, help="timed fits of a method in a fold")
    args = parser.parse_args()
    data = data_folder(args.data)
    for name in args.sets:
        parts = [SETS[name](data, i) for i in range(1, 6)]
        outcomes = []
        for f in args.folds:
            train, validation, test = fold(parts, f - 1)
            outcomes.append(compare(train, validation, test, args.methods, args.repeat))
            print(f"{name} fold {f}: {outcomes[-1]}", file=sys.stderr, flush=True)
        table(title(name, parts, len(args.folds)), outcomes)


def title(name, parts, n_folds):
    documents = sum(len(p.y) for p in parts)
    queries = sum(len(np.unique(p.queries)) for p in parts)
    m = sum(len(pairs(p)[0]) for p in parts)
    return (
        f"`{name}`: {documents:,} documents x {parts[0].X.shape[1]}, {queries:,} queries, {m:,} pairs; "
        f"means over {n_folds} folds (training takes 3/5 of the data), largest excess"
    )


if __name__ == "__main__":
    main()
