"""LinearSVR against LIBLINEAR's dual coordinate descent (-s 13): seconds to within 0.1 % of the optimum.

    P(w) = 1/2 |w|^2 + C sum_i max(0, |y_i - <w, x_i>| - 0.1)

No intercept; targets have mean 0 and deviation 1.  The best known optimum is the lowest primal value of all
runs; a tight run of LinearSVR, whose gap is certified, gives the first.  Each program is run from its
loosest setting to tighter ones until it is close; the settings found are timed in turn, and the medians
compared.  Reading and converting the data are left out, and so is compilation.

    python benchmarks/regress.py --data DIR --problems a9a wine --C 1
"""

import argparse
import bz2
import ctypes
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import problems
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

CLOSE = 1e-3
TUBE = 0.1
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


# Problems: (X, y) with X in CSR.


def covtype(args):
    """The elevation, from all other columns."""
    X, _ = problems.load("covtype7", args.data, args.cache)
    X = X.tocsc()
    return X[:, 1:], X[:, 0].toarray().ravel()


def a9a(args):
    """The label as a number."""
    return problems.load("a9a", args.data, args.cache)


def abalone(args):
    """Rings."""
    return _svmlight(problems.data_folder(args.data) / "ordinal_small" / "abalone.svm.bz2")


def wine(args):
    """Quality of white wines, columns scaled to [0, 1]."""
    path = problems.data_folder(args.data) / "ordinal_small" / "winequality-white.csv.bz2"
    with bz2.open(path, "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1)
    table = table[np.random.default_rng(0).permutation(len(table))]  # the file is sorted by quality
    X = table[:, :-1]
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)), table[:, -1]


def mq2008(args):
    """Relevance of documents."""
    folder = problems.data_folder(args.data) / "mq2008"
    parts = [_svmlight(folder / f"S{i}.txt.bz2", n_features=46) for i in range(1, 6)]
    return sp.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def rcv1_like(args):
    """200,000 made-up stories; the target is a sparse linear rule with noise."""
    X, _ = problems.load("rcv1_like", args.data, args.cache)
    rng = np.random.default_rng(7)
    rule = np.where(rng.random(X.shape[1]) < 0.1, rng.normal(size=X.shape[1]), 0.0)
    y = X @ rule
    return X, y / y.std() + 0.5 * rng.normal(size=len(y))


PROBLEMS = {f.__name__: f for f in (covtype, a9a, abalone, wine, mq2008, rcv1_like)}


def _svmlight(path, n_features=None):
    with bz2.open(path, "rb") as file:
        return load_svmlight_file(file, n_features=n_features)


def load(name, args):
    X, y = PROBLEMS[name](args)
    X = sp.csr_matrix(X, dtype=np.float64)
    X.sort_indices()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, (y - y.mean()) / y.std()


def primal(X, y, w, C):
    return 0.5 * w @ w + C * np.maximum(0, np.abs(y - X @ w) - TUBE).sum()


# Programs: train(C, setting) gives (seconds, w).


class Ours:
    settings = (0.1, 0.03, 0.01, 5e-3, 3e-3, 2e-3, 1e-3, 3e-4, 1e-4)

    def __init__(self, X, y, args):
        self.X, self.y, self.clock, self.solver = X, y, CLOCKS[args.clock], args.solver
        self.train(1e-3, 0.1)  # compiles

    def fit(self, C, tol):
        from oneslack import LinearSVR

        model = LinearSVR(C=C, epsilon=TUBE, tol=tol, fit_intercept=False, solver=self.solver)
        return model.fit(self.X, self.y)

    def train(self, C, setting):
        start = self.clock()
        model = self.fit(C, setting)
        return self.clock() - start, model.coef_


class Liblinear:
    settings = (3, 1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)

    def __init__(self, X, y, args):
        from liblinear.liblinearutil import problem

        self.problem, self.clock = problem(y, X), CLOCKS[args.clock]

    def train(self, C, setting):
        from liblinear.liblinearutil import parameter, train

        options = parameter(f"-s 13 -p {TUBE} -c {C} -B -1 -q -e {setting}")
        ctypes.CDLL(None).srand(1)  # as in a new process: its order of examples is random
        start = self.clock()
        model = train(self.problem, options)
        return self.clock() - start, np.ctypeslib.as_array(model.w, (model.nr_feature,)).copy()


class Contest:
    """Both programs on one problem and one C."""

    def __init__(self, name, C, X, y, programs, args):
        self.name, self.C, self.X, self.y, self.programs = name, C, X, y, programs
        tight = programs["ours"].fit(C, args.tight)
        self.best, self.bound = primal(X, y, tight.coef_, C), tight.dual_objective_
        self.how = tight.result_.solver

    def run(self, program, setting):
        seconds, w = self.programs[program].train(self.C, setting)
        value = primal(self.X, self.y, w, self.C)
        self.best = min(self.best, value)
        note(f"{self.name} C={self.C:g} {program} {setting:g}: {seconds:.4g} s, {value / self.best - 1:.1e}")
        return seconds, value

    def search(self, program):
        """The loosest setting that comes close, or None."""
        for setting in self.programs[program].settings:
            if self.run(program, setting)[1] <= (1 + CLOSE) * self.best:
                return setting
        return None

    def measure(self, repeat):
        """{program: (setting, median seconds)} of those that come close."""
        found = {p: s for p in self.programs if (s := self.search(p)) is not None}
        runs = {p: [] for p in found}
        for _ in range(repeat):
            for p, setting in found.items():
                runs[p].append(self.run(p, setting)[0])
        return {p: (found[p], statistics.median(times)) for p, times in runs.items()}


def row(contest, found):
    cells = [contest.name, f"{contest.C:g}", f"{contest.best:.8g}", f"{1 - contest.bound / contest.best:.0e}"]
    for program, option in (("ours", "tol"), ("liblinear", "-e")):
        text = "not reached"
        if program in found:
            setting, seconds = found[program]
            text = f"{seconds:.3g} s ({option} {setting:g})"
        cells.append(text)
    ratio = found["ours"][1] / found["liblinear"][1] if len(found) == 2 else None
    return [*cells, f"{ratio:.2f}" if ratio else "–", contest.how], ratio


def note(text):
    print(text, file=sys.stderr, flush=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--C", nargs="+", type=float, default=[0.1, 1, 10])
    parser.add_argument("--repeat", type=int, default=3, help="timed runs of a program")
    parser.add_argument("--tight", type=float, default=1e-4, help="gap of the run that gives the optimum")
    parser.add_argument("--solver", default="auto", help="of LinearSVR")
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall", help="cpu counts all threads")
    parser.add_argument("-o", "--output", type=Path, help="write the table to a file, too")
    problems.add_options(parser)
    return parser.parse_args()


def main():
    args = options()
    heads = ["problem", "C", "optimum", "proved to", "ours", "LIBLINEAR", "ours / LIBLINEAR", "solver"]
    lines, ratios = [heads, ["---"] * len(heads)], []
    for name in args.problems:
        X, y = load(name, args)
        programs = {"ours": Ours(X, y, args), "liblinear": Liblinear(X, y, args)}
        for C in args.C:
            contest = Contest(name, C, X, y, programs, args)
            cells, ratio = row(contest, contest.measure(args.repeat))
            lines.append(cells)
            ratios += [ratio] if ratio else []
            note(" | ".join(cells))
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"
    if ratios:
        text += f"\nours / LIBLINEAR: geometric mean {statistics.geometric_mean(ratios):.2f}, "
        text += f"largest {max(ratios):.2f}, {len(ratios)} cases.\n"
    print(text)
    if args.output:
        args.output.write_text(text)


if __name__ == "__main__":
    main()
