"""A slow decoder written in Python: what worker processes and the cache of cuts save.

The model reads words letter by letter (OCR letters, one label for each letter image, weights for pairs of
neighbours) and its decoder is busy for --cost seconds of processor time on every word, as a parser in pure
Python may be.  First table: the same training with one process and with two, in turn; the efficiency is
T1 / (2 T2), and the results must be equal to the last bit.  Second table: questions to the decoder until the
certified relative gap is at most --tol, for every solver, with and without the cache.

    python benchmarks/python_oracle.py --data DIR
"""

import argparse
import statistics
import time
import warnings
from dataclasses import dataclass

import numpy as np
from ocr import read_words
from problems import add_options, data_folder
from sklearn.exceptions import ConvergenceWarning

import oneslack
from oneslack.solvers.one_slack import OneSlack


@dataclass(frozen=True)
class SlowWords:
    """Words of letter images: x (T, d), y (T,) in 0 .. L-1; decoding takes `cost` seconds of a processor."""

    n_features: int
    n_labels: int
    cost: float

    @property
    def n_params(self):
        return self.n_features * self.n_labels + self.n_labels**2

    def joint_feature(self, x, y):
        letters = np.zeros((self.n_labels, self.n_features))
        np.add.at(letters, y, x)
        pairs = np.zeros((self.n_labels, self.n_labels))
        np.add.at(pairs, (y[:-1], y[1:]), 1.0)
        return np.concatenate([letters.ravel(), pairs.ravel()])

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def decode(self, w, x, y=None):
        until = time.process_time() + self.cost
        letters, pairs = np.split(w, [self.n_features * self.n_labels])
        scores = x @ letters.reshape(self.n_labels, -1).T
        if y is not None:
            scores += np.arange(self.n_labels) != y[:, None]
        labels = viterbi(scores, pairs.reshape(self.n_labels, -1))
        while time.process_time() < until:
            pass
        return labels


def viterbi(scores, pairs):
    """The best path through scores (T, L) with scores (L, L) of neighbours."""
    best, back = scores[0], np.empty(scores.shape, int)
    for t in range(1, len(scores)):
        reach = best[:, None] + pairs
        back[t] = reach.argmax(axis=0)
        best = reach.max(axis=0) + scores[t]
    path = [int(best.argmax())]
    for t in range(len(scores) - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return np.array(path[::-1])


def train(args, words, n_jobs, **options):
    """(estimator, wall seconds of fit)."""
    X, Y = words
    model = SlowWords(X[0].shape[1], 26, args.cost)
    svm = oneslack.StructuralSVM(model, args.C, n_jobs=n_jobs, tol=args.tol, random_state=0, **options)
    start = time.perf_counter()
    svm.fit(X, Y)
    return svm, time.perf_counter() - start


def efficiency(args, words):
    """One process against two, in turn."""
    seconds, results = {1: [], 2: []}, {}
    options = {"solver": "one_slack", "cache_size": 0, "max_iter": args.steps}
    for _ in range(args.repeat):
        for n_jobs, runs in seconds.items():
            svm, wall = train(args, words, n_jobs, **options)
            runs.append(wall)
            results[n_jobs] = svm
    equal = np.array_equal(results[1].coef_, results[2].coef_)
    T1, T2 = (statistics.median(runs) for runs in seconds.values())
    calls = results[1].result_.trace[-1].oracle_calls
    print("| questions | one process | two processes | efficiency | same weights |")
    print("| ---: | ---: | ---: | ---: | --- |")
    print(f"| {calls:,} | {T1:.1f} s | {T2:.1f} s | {T1 / (2 * T2):.2f} | {'yes' if equal else 'NO'} |\n")


def questions(args, words):
    """What each solver asks on its way to the same gap."""
    runs = {
        "one_slack, no cache": {"solver": OneSlack()},
        "one_slack, cache of 5": {"solver": "one_slack", "cache_size": 5},
        "one_slack, cache of 10": {"solver": "one_slack", "cache_size": 10},
        "n_slack": {"solver": "n_slack"},
        "dual_cd": {"solver": "dual_cd"},
        "auto": {},
    }
    print(
        "| solver | seconds, two processes | questions | for each example | objective | lower bound | gap |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    n = len(words[0])
    for name, options in runs.items():
        svm, wall = train(args, words, 2, **options)
        calls = svm.result_.trace[-1].oracle_calls
        cells = [
            f"{wall:.1f}", f"{calls:,}", f"{calls / n:.1f}", f"{svm.objective_:.4f}",
            f"{svm.dual_objective_:.4f}", f"{svm.duality_gap_:.1e}",
        ]  # fmt: skip
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--cost", type=float, default=0.005, help="seconds of the decoder for a word")
    parser.add_argument("--C", type=float, default=0.1)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--steps", type=int, default=20, help="of the runs that compare processes")
    parser.add_argument("--repeat", type=int, default=2)
    args = parser.parse_args()
    X, Y, _ = read_words(data_folder(args.data))
    chosen = np.random.default_rng(0).permutation(len(X))[: args.words]
    words = [X[i] for i in chosen], [Y[i] for i in chosen]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped after --steps on purpose
        efficiency(args, words)
    questions(args, words)


if __name__ == "__main__":
    main()
