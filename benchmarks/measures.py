"""Training for F1 against training for errors, on the topics of Reuters-21578: F1 on the test part.

Rows are tf-idf (fitted on the training part), of unit length; each topic is a problem of its own.  All
methods search the same values of C.  A missed positive costs LinearSVC a hinge of about 1; it costs
MetricSVC("f1") about n / P, with P of n training examples positive, as its loss is counted n times and
shared by P.  Multiplying a loss by s and C by s gives s times the same w, and so the same predictions:
MetricSVC is given C n / P, and then one number means the same to all methods.

C is chosen by F1 of the pooled predictions for the three parts of the training data that take turns to be
left out (two parts where two are positive); of equals the middle one.  With so few positives that choice
is a lottery, so a second table chooses one C for the whole group, by the mean over its topics.  A topic
with a single positive has nothing left to learn from when it is left out: it always takes the C of all
topics with 2 to 10.

Seconds are of the processor, on one thread: `fit` is the mean of one fit on all training data at the
chosen C, `search` the sum of all fits of the search.  `--limit` bounds a fit of ours; what it ends is
counted as not to tolerance.

    python benchmarks/measures.py --data DIR
    python benchmarks/measures.py --data DIR --groups largest --C 0.1 0.3 1 3 10 --limit 3
"""

import argparse
import lzma
import time
import warnings
from functools import cache
from typing import NamedTuple

import numpy as np
from problems import data_folder
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

import oneslack
from oneslack.metrics import f_beta

GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
FOLDS = 3
FEATURES = 26_377


def metric_svc(C, y):
    return oneslack.MetricSVC("f1", C=C * len(y) / y.sum(), n_jobs=1)


def error_svc(C, y):
    return oneslack.LinearSVC(C=C, n_jobs=1, random_state=0)


def balanced_svc(C, y):
    """The positives weigh 1 each, and the negatives together as much as they."""
    weights = {0: y.sum() / (len(y) - y.sum()), 1: 1.0}
    return oneslack.LinearSVC(C=C, class_weight=weights, n_jobs=1, random_state=0)


def sklearn_svc(C, y):
    return LinearSVC(loss="hinge", C=C, random_state=0, max_iter=10_000)


METHODS = {
    "ours": ('`MetricSVC("f1")`', metric_svc),
    "error": ("`LinearSVC`", error_svc),
    "sklearn": ("scikit-learn `LinearSVC`", sklearn_svc),
    "balanced": ("`LinearSVC`, balanced", balanced_svc),
}


class Corpus(NamedTuple):
    """X (n, d) and labels (n, topics) of 0 and 1, for training and for testing."""

    X: object
    Y: np.ndarray
    X_test: object
    Y_test: np.ndarray
    names: list


def load(data):
    folder = data / "reuters21578"
    names = [line.split()[1] for line in (folder / "categories.txt").read_text().splitlines()]
    counts, Y = _read(folder / "r90_train.svm.xz", len(names))
    counts_test, Y_test = _read(folder / "r90_test.svm.xz", len(names))
    weighting = TfidfTransformer().fit(counts)
    return Corpus(weighting.transform(counts), Y, weighting.transform(counts_test), Y_test, names)


def _read(path, n_topics):
    with lzma.open(path, "rb") as file:
        X, labels = load_svmlight_file(file, n_features=FEATURES, multilabel=True, zero_based=False)
    Y = np.zeros((X.shape[0], n_topics), int)
    for row, topics in enumerate(labels):
        Y[row, np.array(topics, int)] = 1
    return X, Y


def groups(corpus):
    """{group: (topics, what they are)}; topics of equal size with more test positives come first."""
    P, Q = corpus.Y.sum(axis=0), corpus.Y_test.sum(axis=0)
    order = [int(k) for k in np.lexsort((np.arange(len(P)), -Q, P)) if Q[k] > 0]
    least = [k for k in order if P[k] <= P[order[4]]]
    return {
        "smallest": (least, f"The five smallest topics, with those that tie with them: {len(least)}"),
        "three": ([k for k in order if P[k] >= FOLDS][:5], "The five smallest with three positives or more"),
        "rare": ([k for k in order if P[k] <= 10], "All topics with 1 to 10 positives"),
        "largest": (order[:-11:-1], "The ten largest topics"),
    }


class Contest:
    """All methods on all topics; what was fitted once is remembered."""

    def __init__(self, corpus, grid, limit):
        self.corpus, self.grid, self.limit = corpus, grid, limit
        self.seconds = dict.fromkeys(METHODS, 0.0)
        self.unfinished = dict.fromkeys(METHODS, 0)
        self.curve = cache(self.curve)
        self.tested = cache(self.tested)

    def fit(self, method, C, X, y):
        """(model, seconds)."""
        model = METHODS[method][1](C, y)
        if "time_limit" in model.get_params():
            model.set_params(time_limit=self.limit)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            start = time.process_time()
            model.fit(X, y)
            spent = time.process_time() - start
        self.unfinished[method] += any(issubclass(c.category, ConvergenceWarning) for c in caught)
        return model, spent

    def curve(self, method, topic):
        """F1 of pooled predictions for what was left out, for each C; None without a second positive."""
        X, y = self.corpus.X, self.corpus.Y[:, topic]
        if y.sum() < 2:
            return None
        parts = StratifiedKFold(min(FOLDS, int(y.sum())), shuffle=True, random_state=0)
        values = []
        for C in self.grid:
            predicted = np.empty_like(y)
            for inside, outside in parts.split(X, y):
                model, spent = self.fit(method, C, X[inside], y[inside])
                self.seconds[method] += spent
                predicted[outside] = model.predict(X[outside])
            values.append(f_beta(y, predicted))
        return np.array(values)

    def tested(self, method, topic, c):
        """(F1 on the test part, seconds of the fit) at grid[c]."""
        corpus = self.corpus
        model, spent = self.fit(method, self.grid[c], corpus.X, corpus.Y[:, topic])
        return f_beta(corpus.Y_test[:, topic], model.predict(corpus.X_test)), spent

    def shared(self, method, topics):
        """Index of the C that is best for the mean over topics, or None where no topic has a say."""
        curves = [v for k in topics if (v := self.curve(method, k)) is not None]
        return middle_best(np.mean(curves, axis=0)) if curves else None


def middle_best(values):
    """Index of the largest value; of equals the middle one."""
    best = np.flatnonzero(values == values.max())
    return int(best[(len(best) - 1) // 2])


def table(contest, methods, title, topics, chosen):
    """Print a line for each topic; chosen(method, topic) is an index of the grid.

    Returns mean F1 (methods,), mean seconds (methods,) and the first method's lead (topics, methods).
    """
    corpus = contest.corpus
    print(f"\n{title}\n\n| topic | train + | test + | " + " | ".join(METHODS[m][0] for m in methods) + " |")
    print("|---|---|---|" + "---|" * len(methods))
    F1, seconds = np.zeros((len(topics), len(methods))), np.zeros((len(topics), len(methods)))
    for i, k in enumerate(topics):
        at = [chosen(m, k) for m in methods]
        for j, method in enumerate(methods):
            F1[i, j], seconds[i, j] = contest.tested(method, k, at[j])
        cells = [corpus.names[k], f"{corpus.Y[:, k].sum()}", f"{corpus.Y_test[:, k].sum()}"]
        cells += [f"{value:.3f} (C {contest.grid[c]:g})" for value, c in zip(F1[i], at, strict=True)]
        print("| " + " | ".join(cells) + " |", flush=True)
    return F1.mean(axis=0), seconds.mean(axis=0), F1[:, :1] - F1


def summary(methods, rows):
    """Print a line for each table: mean F1 of the methods, the lead of the first, seconds of a fit."""
    heads = ["mean F1", *(METHODS[m][0] for m in methods)]
    heads += ["lead of the first ± standard error, wins : losses", "fit, s"]
    print("\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for title, (F1, seconds, lead) in rows:
        versus = "; ".join(verdict(d) for d in lead.T[1:])
        cells = [title, *(f"{value:.4f}" for value in F1), versus, " / ".join(f"{s:.2f}" for s in seconds)]
        print("| " + " | ".join(cells) + " |")


def verdict(lead):
    error = lead.std(ddof=1) / np.sqrt(len(lead))
    wins, losses = int(np.sum(lead > 1e-9)), int(np.sum(lead < -1e-9))
    return f"{lead.mean():+.3f} ± {error:.3f}, {wins} : {losses}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder with the data sets (or ONESLACK_DATA)")
    names = ("smallest", "three", "rare", "largest")
    parser.add_argument("--groups", nargs="+", default=names, choices=names)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--C", nargs="+", type=float, default=GRID)
    parser.add_argument("--limit", type=float, help="seconds a fit of ours may take")
    args = parser.parse_args()
    contest = Contest(load(data_folder(args.data)), args.C, args.limit)
    for method in args.methods:  # compile, before anything is timed
        contest.fit(method, 1.0, contest.corpus.X[:200], contest.corpus.Y[:200, 0])
    members = groups(contest.corpus)
    several = [k for k in members["rare"][0] if contest.corpus.Y[:, k].sum() > 1]
    rows = []
    for group in args.groups:
        topics, title = members[group]

        def by_group(method, topic, topics=topics):
            c = contest.shared(method, topics)
            return contest.shared(method, several) if c is None else c

        def by_topic(method, topic):
            own = contest.curve(method, topic)
            return contest.shared(method, several) if own is None else middle_best(own)

        for rule, chosen in (("C by topic", by_topic), ("one C for the group", by_group)):
            heading = f"{title}; {rule}"
            rows.append((heading, table(contest, args.methods, heading, topics, chosen)))
    summary(args.methods, rows)
    for method in args.methods:
        late = contest.unfinished[method]
        print(f"\n{METHODS[method][0]}: search {contest.seconds[method]:.0f} s, {late} fits not to tolerance")


if __name__ == "__main__":
    main()
