"""The example of SVM-light's own documentation, trained by us: do the same options give the same answers?

`reuters_acq` is the set that came with SVM-light as example1.  SVM-light's default C is 1 / mean |x|^2, which
is 1 here, and its answer was 586 of 600 right, precision 96.43 %, recall 99.00 %.

    python benchmarks/coming_from.py --data DIR
"""

import argparse

from problems import add_options, data_folder

from oneslack import LinearSVC, MetricSVC
from oneslack.formats import read_svmlight
from oneslack.metrics import precision_recall_break_even

#: What SVM-light prints for its example: right, precision and recall in percent.
SVM_LIGHT = (586, 96.43, 99.00)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    folder = data_folder(parser.parse_args().data) / "reuters_acq"
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


if __name__ == "__main__":
    main()
