"""Handwritten words (OCR letters), ten folds: a chain over the letters beside a multi-class SVM.

Both see the same letter images, 128 pixels of 0 and 1 and a constant; the chain also sees which letters are
neighbours.  "small": train on one fold, test on the other nine; "large": the reverse.  C is chosen from a
small grid for each fold by accuracy on a held-out fifth of the training words, after training on at most
1,250 of the others; then all of them are used.

    python benchmarks/ocr.py --data DIR
"""

import argparse
import statistics
import time
import warnings

import numpy as np
from problems import add_options, data_folder
from sklearn.exceptions import ConvergenceWarning

import oneslack
from oneslack.data.rows import Ragged

GRID = {"chain": (0.03, 0.1, 0.3), "multi-class": (0.03, 0.1, 0.3, 1.0)}
#: Words that C is chosen on, at most: one grid is then affordable for nine folds, too.
CHOOSE_ON = 1250


def read_words(data):
    """(X, Y, folds): Ragged pixels and letters, and the fold of each word."""
    with np.load(data / "ocr_letters" / "ocr_letters.npz") as file:
        pixels = np.unpackbits(file["pixels"], axis=1).astype(float)
        lengths, folds, labels = file["word_lengths"], file["folds"], file["labels"].astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    folds = folds if len(folds) == len(lengths) else folds[offsets[:-1]]
    return Ragged(pixels, offsets), Ragged(labels, offsets), folds


class ChainOfLetters:
    def __init__(self, C):
        self.svm = oneslack.SequenceTagger(C=C, tol=0.01, random_state=0)

    def fit(self, X, Y):
        self.svm.fit(X, Y)
        return self

    def accuracy(self, X, Y):
        return float(np.mean(self.svm.predict_codes(X).values == Y.values))


class SingleLetters:
    def __init__(self, C):
        self.svm = oneslack.LinearSVC(
            C=C, multi_class="crammer_singer", fit_intercept=False, tol=0.01, random_state=0
        )

    def fit(self, X, Y):
        self.svm.fit(X.values, Y.values)
        return self

    def accuracy(self, X, Y):
        return float(self.svm.score(X.values, Y.values))


MAKERS = {"chain": ChainOfLetters, "multi-class": SingleLetters}


def choose_C(maker, grid, X, Y, seed):
    """The C of the grid with the best accuracy on a fifth of the words, trained on others."""
    held, kept = np.split(np.random.default_rng(seed).permutation(len(X)), [len(X) // 5])
    held, kept = held[:CHOOSE_ON], kept[:CHOOSE_ON]
    train, test = (X.take(kept), Y.take(kept)), (X.take(held), Y.take(held))
    return max(grid, key=lambda C: maker(C).fit(*train).accuracy(*test))


def run(protocol, grids, X, Y, folds):
    """Accuracies, chosen C and seconds of the last fit, a list a method."""
    found = {name: [] for name in MAKERS}
    for fold in np.unique(folds):
        inside = (folds == fold) == (protocol == "small")
        train, test = np.flatnonzero(inside), np.flatnonzero(~inside)
        for name, maker in MAKERS.items():
            C = choose_C(maker, grids[name], X.take(train), Y.take(train), int(fold))
            start = time.perf_counter()
            fitted = maker(C).fit(X.take(train), Y.take(train))
            seconds = time.perf_counter() - start
            found[name].append((fitted.accuracy(X.take(test), Y.take(test)), C, seconds))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--protocols", nargs="+", choices=["small", "large"], default=["small", "large"])
    args = parser.parse_args()
    warnings.simplefilter("error", ConvergenceWarning)
    X, Y, folds = read_words(data_folder(args.data))
    X = Ragged(np.hstack([X.values, np.ones((len(X.values), 1))]), X.offsets)
    print("| training | method | letters right | worst, best fold | C chosen (times) | seconds a fit |")
    print("| --- | --- | ---: | ---: | --- | ---: |")
    for protocol in args.protocols:
        for name, rows in run(protocol, GRID, X, Y, folds).items():
            accuracies, chosen, seconds = zip(*rows, strict=True)
            mean, spread = 100 * np.mean(accuracies), 100 * np.std(accuracies, ddof=1)
            times = ", ".join(f"{C:g} ({chosen.count(C)})" for C in sorted(set(chosen)))
            cells = [
                "one fold" if protocol == "small" else "nine folds", name, f"{mean:.2f} ± {spread:.2f} %",
                f"{100 * min(accuracies):.2f}, {100 * max(accuracies):.2f}", times,
                f"{statistics.median(seconds):.1f}",
            ]  # fmt: skip
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
