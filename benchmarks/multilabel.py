"""Sets of labels on scene and yeast: dependencies against independent labels, in folds.

python benchmarks/multilabel.py --data FOLDER [--sets scene,yeast] [--folds 5] [--repeats 1]

C is chosen for each method inside the training part, on a fifth that is held out, by the measure that the
method trains for.  Each line tells mean and standard deviation over the folds, and in how many
folds a method is better than independent labels.  `reuters` times many labels in one pass over X.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import oneslack
from oneslack.formats import read_multilabel
from oneslack.metrics import label_set_scores

METHODS = [("none", "hamming"), ("tree", "hamming"), ("full", "hamming"), ("none", "f1"), ("full", "f1")]
MEASURES = ("hamming_loss", "example_f1", "micro_f1", "macro_f1", "subset_accuracy")
CS = (0.1, 1.0, 10.0)


def scene(folder):
    with np.load(os.path.join(folder, "scene", "scene.npz")) as file:
        X, Y = (np.vstack([file[f"{name}_train"], file[f"{name}_test"]]) for name in "Xy")
    return X.astype(float), Y.astype(int)


def yeast(folder):
    parts = [
        read_multilabel(os.path.join(folder, "yeast_multilabel", f"yeast_{part}.svm.bz2"), n_features=103)
        for part in ("train", "test")
    ]
    X = np.vstack([X.toarray() for X, _ in parts])
    Y = np.zeros((len(X), 14), int)
    for i, labels in enumerate(parts[0][1] + parts[1][1]):
        Y[i, list(labels)] = 1
    return X, Y


def fitted(X, Y, dependencies, loss, C):
    svm = oneslack.MultiLabelSVC(C=C, dependencies=dependencies, loss=loss, tol=1e-2, time_limit=120)
    return svm.fit(X, Y)


def best_C(X, Y, dependencies, loss):
    """By a fifth that is held out."""
    cut = len(X) * 4 // 5
    measure = "example_f1" if loss == "f1" else "label_accuracy"

    def quality(C):
        Z = fitted(X[:cut], Y[:cut], dependencies, loss, C).predict(X[cut:])
        return label_set_scores(Y[cut:], Z)[measure]

    return max(CS, key=quality)


def compare(name, X, Y, n_folds, repeats):
    found = {method: [] for method in METHODS}
    for repeat in range(repeats):
        order = np.random.default_rng(repeat).permutation(len(X))
        for fold in range(n_folds):
            test = order[fold::n_folds]
            train = np.setdiff1d(order, test, assume_unique=True)
            for dependencies, loss in METHODS:
                start = time.process_time()
                C = best_C(X[train], Y[train], dependencies, loss)
                svm = fitted(X[train], Y[train], dependencies, loss, C)
                scores = label_set_scores(Y[test], svm.predict(X[test]))
                seconds = time.process_time() - start
                found[dependencies, loss].append([scores[measure] for measure in MEASURES])
                print(
                    f"  {name} fold {fold} {dependencies:5} {loss:8} C={C:<5g} {seconds:6.1f} s CPU",
                    flush=True,
                )
    alone = np.array(found["none", "hamming"])
    print(f"{name}: {len(X)} x {X.shape[1]}, {Y.shape[1]} labels, {len(alone)} folds")
    print(f"{'dependencies':13}{'loss':9}" + "".join(f"{measure:>22}" for measure in MEASURES))
    for (dependencies, loss), values in found.items():
        values = np.array(values)
        better = [values[:, 0] < alone[:, 0], *(values[:, k] > alone[:, k] for k in range(1, len(MEASURES)))]
        cells = (
            f"{values[:, k].mean():9.4f} ± {values[:, k].std():.4f} {int(better[k].sum()):2d}"
            for k in range(len(MEASURES))
        )
        print(f"{dependencies:13}{loss:9}" + "".join(f"{cell:>22}" for cell in cells))


def reuters(folder):
    """90 topics in one pass over X, and one problem a topic; CPU seconds after a first fit that compiles."""
    from sklearn.feature_extraction.text import TfidfTransformer

    X, labels = read_multilabel(os.path.join(folder, "reuters21578", "r90_train.svm.xz"), zero_based=True)
    X = TfidfTransformer(sublinear_tf=True).fit_transform(X)
    Y = np.zeros((X.shape[0], 90), int)
    for i, own in enumerate(labels):
        Y[i, list(own)] = 1

    def together():
        return oneslack.MultiLabelSVC(dependencies="none", n_jobs=1).fit(X, Y).objective_

    def alone():
        X1 = oneslack.estimators._shared.like_liblinear.with_constant(X)
        problems = (oneslack.Problem(oneslack.Binary(X1.shape[1]), X1, 2 * y - 1) for y in Y.T)
        return sum(oneslack.solve(problem, "dual_cd", tol=1e-3).primal for problem in problems)

    for name, way in [("warm", together), ("in one pass", together), ("one by one", alone)]:
        start = time.process_time()
        print(
            f"reuters, 90 topics, {name:12} {way():.4f} {time.process_time() - start:6.1f} s CPU", flush=True
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("ONESLACK_DATA"))
    parser.add_argument("--sets", default="scene,yeast")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args()
    if given.data is None:
        parser.error("name the folder of the data with --data or ONESLACK_DATA")
    for name in given.sets.split(","):
        if name == "reuters":
            reuters(given.data)
        else:
            compare(name, *{"scene": scene, "yeast": yeast}[name](given.data), given.folds, given.repeats)


if __name__ == "__main__":
    main()
