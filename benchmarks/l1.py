"""The L1 penalty beside LIBLINEAR: seconds until the objective is within 0.1 % of the best known optimum.

    python benchmarks/l1.py --data DIR
    python benchmarks/l1.py --data DIR --sets a9a spambase --C 0.1 1 --repeat 1 -o FILE

LIBLINEAR (scikit-learn's LinearSVC and LogisticRegression) is run from its loosest tolerance on, until it is
that close; ours must prove a gap of 0.1 %.  Then both take turns, --repeat times, and medians of processor
seconds of one thread are compared.  There is no intercept, which LIBLINEAR would penalise.  The time of ours
begins at the matrix, as that of `fit` does.
"""

import argparse
import bz2
import multiprocessing
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from problems import add_options, data_folder, load
from sklearn.base import clone
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

import oneslack
from oneslack.losses import Logistic, SquaredHinge
from oneslack.models.linear.scalar import Linear

CLOSE = 1e-3
FORK = multiprocessing.get_context("fork")
TOLERANCES = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
LOSSES = {"squared_hinge": SquaredHinge(), "logistic": Logistic()}


def cached(name, chosen=None):
    def read(options):
        X, y = load(name, options.data, options.cache)
        return X, y if chosen is None else np.where(chosen(y), 1.0, -1.0)

    return read


def svmlight(path, chosen=lambda y: y > 0, is_dense=False):
    def read(options):
        with bz2.open(data_folder(options.data) / path) as file:
            X, y = load_svmlight_file(file)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # as LIBLINEAR wants them
        return X.toarray() if is_dense else X, np.where(chosen(y), 1.0, -1.0)

    return read


def keel(name, chosen):
    """Columns of numbers, scaled to mean 0 and variance 1."""

    def read(options):
        with bz2.open(data_folder(options.data) / "uci_keel" / f"{name}.dat.bz2", "rt") as file:
            rows = [line.strip().split(",") for line in file if line.strip() and not line.startswith("@")]
        X = np.array([row[:-1] for row in rows], float)
        return standard(X), np.where([chosen(row[-1].strip()) for row in rows], 1.0, -1.0)

    return read


def arrays(path, X, y, chosen):
    def read(options):
        with np.load(data_folder(options.data) / path) as file:
            return np.ascontiguousarray(file[X], float), np.where(chosen(file[y]), 1.0, -1.0)

    return read


def standard(X):
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


SETS = {
    "a9a": cached("a9a"),
    "reuters_moneyfx": cached("reuters_moneyfx"),
    "reuters_acq": svmlight(Path("reuters_acq") / "acq_train.svm.bz2"),
    "rcv1_small": svmlight(Path("rcv1_small") / "rcv1_train.svm.bz2"),
    "news20_1": cached("news20_1"),
    "sector_half": cached("sector", lambda y: y < 52),
    "mnist_odd": cached("mnist", lambda y: y % 2 == 1),
    "usps_odd": arrays(Path("usps") / "usps.npz", "X_train", "y_train", lambda y: y % 2 == 1),
    "letter_half": svmlight(Path("letter") / "letter.scale.bz2", lambda y: y <= 13, is_dense=True),
    "pendigits_odd": svmlight(Path("pendigits") / "pendigits.bz2", lambda y: y % 2 == 1, is_dense=True),
    "spambase": keel("spambase", lambda y: y == "1"),
    "magic": keel("magic", lambda y: y == "g"),
    "satimage": keel("satimage", lambda y: y in ("1", "2", "3")),
    "rcv1_like": cached("rcv1_like"),
    "covtype1": cached("covtype1"),
}


class Contest:
    """Both programs on one set, loss and C."""

    def __init__(self, X, y, loss, C):
        self.X, self.y, self.loss, self.C = X, y, loss, C
        self.optimum = self.ours(1e-5)[1]

    def ours(self, tol):
        """(seconds, P, the Result)."""
        begin = time.process_time()
        problem = oneslack.L1Problem(Linear(self.X.shape[1], LOSSES[self.loss]), self.X, self.y, C=self.C)
        result = oneslack.solve(problem, tol=tol, max_iter=500)
        seconds = time.process_time() - begin
        return seconds, self.primal(result.w), result

    def theirs(self, tol, limit):
        """(seconds, P), P None where the limit came first: for that it runs in a process of its own."""
        here, there = FORK.Pipe(duplex=False)
        process = FORK.Process(target=self._fit, args=(tol, there))
        process.start()
        found = here.recv() if here.poll(3 * limit) else (limit, None)
        process.kill()
        process.join()
        return found

    def _fit(self, tol, pipe):
        options = {"C": self.C, "tol": tol, "fit_intercept": False, "random_state": 0, "max_iter": 100_000}
        if self.loss == "logistic":
            model = LogisticRegression(l1_ratio=1.0, solver="liblinear", **options)
        else:
            model = LinearSVC(penalty="l1", dual=False, **options)
        clone(model).set_params(max_iter=1, tol=1e3).fit(self.X, self.y)  # its pages are then at hand
        begin = time.process_time()
        model.fit(self.X, self.y)
        pipe.send((time.process_time() - begin, self.primal(model.coef_.ravel())))

    def primal(self, w):
        margins = self.y * (self.X @ w)
        is_log = self.loss == "logistic"
        losses = np.logaddexp(0, -margins) if is_log else np.maximum(0, 1 - margins) ** 2
        return np.abs(w).sum() + self.C * losses.sum()

    def measure(self, repeat, limit):
        """{...} of medians, or of what was not reached."""
        tol, first = self._loosest(limit)
        ours, theirs = [], [] if tol is None else [first]
        for turn in range(repeat):
            ours.append(self.ours(CLOSE))
            if tol is not None and turn and first < limit / 4:
                theirs.append(self.theirs(tol, limit)[0])
        last = ours[-1]
        return {
            "optimum": self.optimum, "ours": statistics.median(run[0] for run in ours),
            "theirs": statistics.median(theirs) if theirs else None, "tol": tol,
            "off": last[1] / self.optimum - 1, "gap": last[2].gap, "steps": last[2].n_iter,
            "kept": int(np.count_nonzero(last[2].w)), "ok": last[2].certified and last[2].gap <= CLOSE,
        }  # fmt: skip

    def _loosest(self, limit):
        """(the loosest tolerance that comes close, its seconds); (None, seconds) where none did in time."""
        seconds = 0.0
        for tol in TOLERANCES:
            seconds, primal = self.theirs(tol, limit)
            if primal is None or seconds > limit:
                break
            self.optimum = min(self.optimum, primal)
            if primal <= (1 + CLOSE) * self.optimum:
                return tol, seconds
        return None, seconds


def line(name, loss, C, found):
    theirs = "not reached" if found["theirs"] is None else f"{found['theirs']:.3g} s (tol {found['tol']:g})"
    share = "" if found["theirs"] is None else f"{ratio(found):.2f}"
    proof = "" if found["ok"] else " NOT PROVEN"
    return (
        f"| {name} | {loss} | {C:g} | {found['optimum']:.6g} | {found['kept']} | {theirs} | "
        f"{found['ours']:.3g} s ({found['steps']} steps, {found['off']:+.0e}{proof}) | {share} |"
    )


def ratio(found):
    return found["ours"] / found["theirs"]


def summary(rows):
    """Geometric means, shares above 1 and the worst five, of all and of each loss."""
    lines = []
    for loss in (*LOSSES, None):
        chosen = [row for row in rows if loss in (None, row[1])]
        reached = [row for row in chosen if row[3]["theirs"] is not None]
        if not reached:
            continue
        ratios = np.array([ratio(row[3]) for row in reached])
        worst = [(reached[i], ratios[i]) for i in np.argsort(-ratios)[:5]]
        told = ", ".join(f"{row[0]} {row[1]} C={row[2]:g} {value:.2f}" for row, value in worst)
        lines.append(
            f"{loss or 'all'}: ours / LIBLINEAR {np.exp(np.log(ratios).mean()):.2f} (geometric mean of "
            f"{len(reached)} cases; {len(chosen) - len(reached)} more that LIBLINEAR did not reach), "
            f"{np.mean(ratios > 1):.0%} above 1; worst: {told}"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--losses", nargs="+", default=list(LOSSES), choices=LOSSES)
    parser.add_argument("--C", type=float, nargs="+", default=[0.01, 0.1, 1.0, 10.0, 100.0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one run of LIBLINEAR")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    threadpool_limits(1)  # idle threads of a BLAS spin, and their seconds would count
    rows, text = (
        [],
        ["| set | loss | C | optimum | weights | LIBLINEAR | ours | ratio |", "|---|" + "---|" * 7],
    )
    print("\n".join(text), flush=True)
    for name in options.sets:
        X, y = SETS[name](options)
        for loss in options.losses:
            for C in options.C:
                found = Contest(X, y, loss, C).measure(options.repeat, options.limit)
                rows.append((name, loss, C, found))
                text.append(line(name, loss, C, found))
                print(text[-1], flush=True)
    text += ["", summary(rows)]
    print(text[-1])
    if options.output:
        options.output.write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    sys.exit(main())
