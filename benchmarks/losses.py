"""All losses beside LIBLINEAR, ReHLine (dense data) and skglm (L1): seconds to within 0.1 % of the optimum.

No intercept.  The best known optimum is the lowest primal value of all runs; a tight run of ours, whose gap
is certified, gives the first.  Each program runs from its loosest setting to tighter ones until its
objective, computed here, is close; the settings found are timed in turn, and medians compared: "close".
Where LIBLINEAR has two solvers for a loss, the quicker one counts.  A peer that never comes close counts
with its longest run, which its true time is above: the ratio is then a bound from above.  Ours is timed at
tol=1e-3 too, where it has proven that it is close, which no peer does: "proven".  Reading and converting the
data are left out, and so is compilation.  Sets are all of the data folder that fit, and generated ones.

    python benchmarks/losses.py --data DIR       # pip install rehline skglm for these peers
    python benchmarks/losses.py --data DIR --losses squared_hinge --sets a9a covtype1 --C 0.01 1 100
"""

import argparse
import ctypes
import math
import statistics
import sys
import time
import warnings
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
import problems
import scipy.sparse as sp
import sets

CLOSE = 1e-3
TUBE, QUANTILE, DELTA = 0.1, 0.9, 1.0
#: The solvers of LIBLINEAR that minimise the same; none for the others.
SOLVERS = {
    "hinge": (3,), "squared_hinge": (1, 2), "logistic": (0, 7), "epsilon_insensitive": (13,),
    "squared_epsilon_insensitive": (11, 12), "pinball": (), "huber": (),
    "l1_squared_hinge": (5,), "l1_logistic": (6,),
}  # fmt: skip
REHLINE = {
    "hinge": {"name": "svm"},
    "squared_hinge": {"name": "squared SVM"},
    "pinball": {"name": "QR", "qt": QUANTILE},
    "huber": {"name": "huber", "tau": DELTA},
    "epsilon_insensitive": {"name": "SVR", "epsilon": TUBE},
}
CLASSES = ("hinge", "squared_hinge", "logistic", "l1_squared_hinge", "l1_logistic")
PEERS = ("LIBLINEAR", "ReHLine", "skglm")
TIGHTER = (1, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6)
#: Seconds of a peer from which on calls in Python matter little.
LONG = 5e-3
#: Seconds of a run from which on it is not repeated.
ONCE = 2.0
#: What tells the seconds: --clock.
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}
CLOCK = [time.perf_counter]
#: Numbers of a dense set up to which ReHLine is run: it copies them several times.
REHLINE_SIZE = 3_000_000


def value(loss, y, z):
    """sum_i phi(y_i, z_i)."""
    r, u = y - z, np.maximum(0.0, 1.0 - y * z)
    tube = np.maximum(0.0, np.abs(r) - TUBE)
    far = np.maximum(np.abs(r) - DELTA, 0.0)
    each = {
        "hinge": lambda: u,
        "squared_hinge": lambda: u**2,
        "logistic": lambda: np.logaddexp(0.0, -y * z),
        "epsilon_insensitive": lambda: tube,
        "squared_epsilon_insensitive": lambda: tube**2,
        "pinball": lambda: np.maximum(QUANTILE * r, (QUANTILE - 1.0) * r),
        "huber": lambda: 0.5 * (np.abs(r) - far) ** 2 + DELTA * far,
    }
    return each[loss.removeprefix("l1_")]().sum()


def penalty(loss, w):
    return np.abs(w).sum() if loss.startswith("l1_") else 0.5 * w @ w


class Ours:
    """LinearSVC or LinearSVR."""

    settings = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)

    def __init__(self, loss, X, y):
        self.loss, self.X, self.y = loss, X, y
        self.train(1e-4, 0.1)  # compiles
        self.train(1.0, 1e-2)

    def train(self, C, tol):
        from oneslack import LinearSVC, LinearSVR

        name = self.loss.removeprefix("l1_")
        shared = {"loss": name, "fit_intercept": False, "tol": tol, "time_limit": 120}
        more = {} if self.loss in CLASSES else {"epsilon": TUBE, "quantile": QUANTILE, "delta": DELTA}
        more |= {} if name == self.loss else {"penalty": "l1"}
        model = (LinearSVC if self.loss in CLASSES else LinearSVR)(C, **shared, **more)
        start = CLOCK[0]()
        model.fit(self.X, self.y)
        seconds = CLOCK[0]() - start
        self.last = model.result_
        return seconds, np.ravel(model.coef_)


class Liblinear:
    """One of its solvers."""

    settings = TIGHTER

    def __init__(self, number, X, y):
        from liblinear.liblinearutil import problem

        self.number, self.problem = number, problem(y, sp.csr_matrix(X))
        self.n_features = X.shape[1]

    def train(self, C, setting):
        from liblinear.liblinearutil import parameter, train

        options = parameter(f"-s {self.number} -p {TUBE} -c {C} -B -1 -q -e {setting}")
        ctypes.CDLL(None).srand(1)  # as in a new process: its order of examples is random
        start = CLOCK[0]()
        model = train(self.problem, options)
        seconds = CLOCK[0]() - start
        w = np.zeros(self.n_features)
        w[: model.nr_feature] = np.ctypeslib.as_array(model.w, (model.nr_feature,))
        return seconds, w


class Rehline:
    """plqERM_Ridge of ReHLine, for dense data."""

    settings = TIGHTER

    def __init__(self, loss, X, y):
        self.loss, self.X, self.y = loss, X, y

    def train(self, C, setting):
        from rehline import plqERM_Ridge

        model = plqERM_Ridge(loss=REHLINE[self.loss], C=C, tol=setting, max_iter=5_000)
        start = CLOCK[0]()
        model.fit(X=self.X, y=self.y)
        return CLOCK[0]() - start, model.coef_


class Skglm:
    """Sparse logistic regression."""

    settings = TIGHTER

    def __init__(self, X, y):
        self.X, self.y = sp.csc_matrix(X) if sp.issparse(X) else np.asfortranarray(X), y
        self.train(1e-4, 1.0)  # compiles

    def train(self, C, setting):
        from skglm import SparseLogisticRegression

        alpha = 1.0 / (C * len(self.y))
        model = SparseLogisticRegression(alpha, fit_intercept=False, tol=setting, max_iter=100)
        start = CLOCK[0]()
        model.fit(self.X, self.y)
        return CLOCK[0]() - start, np.ravel(model.coef_)


class Contest:
    """All programs on one set, loss and C."""

    def __init__(self, loss, C, X, y, programs, limit):
        self.loss, self.C, self.X, self.y, self.programs = loss, C, X, y, programs
        self.limit, self.best, self.vain, self.first = limit, np.inf, {}, {}
        self.run("ours", 1e-5)

    def run(self, name, setting):
        seconds, w = self.programs[name].train(self.C, setting)
        at = penalty(self.loss, w) + self.C * value(self.loss, self.y, self.X @ w)
        self.best = min(self.best, at)
        return seconds, at

    def loosest(self, name):
        """The loosest setting that comes close, or None; then the longest run is kept."""
        longest = 0.0
        for setting in self.programs[name].settings:
            seconds, at = self.run(name, setting)
            if at <= (1.0 + CLOSE) * self.best:
                self.first[name] = seconds
                return setting
            longest = max(longest, seconds)
            if seconds > self.limit:
                break
        self.vain[name] = longest
        return None

    def medians(self, repeat):
        """{program: median seconds}, "proven" among them; None where one never came close."""
        found = {name: self.loosest(name) for name in self.programs}
        turns = {name: (name, setting) for name, setting in found.items() if setting is not None}
        turns["proven"] = ("ours", CLOSE)
        times = {name: [] for name in turns}
        for turn in range(repeat):
            for name, (program, setting) in turns.items():
                if self.first.get(name, 0.0) <= ONCE:
                    times[name].append(self.run(program, setting)[0])
                elif turn == 0:
                    times[name].append(self.first[name])
        last = self.programs["ours"].last
        self.how = f"{last.solver}{'' if last.gap <= CLOSE else f' gap {last.gap:.0e}'}"
        return dict.fromkeys(found) | {name: statistics.median(each) for name, each in times.items()}


def told(name, loss, C, how, medians, vain):
    each = "  ".join(
        f"{who} {f'never, {vain[who]:.1f} s' if seconds is None else f'{1e3 * seconds:.2f} ms'}"
        for who, seconds in medians.items()
    )
    return f"{name:14s} {loss:27s} C={C:<5g} {how:12s} {each}"


class Ratio(NamedTuple):
    """Ours / the quickest of one kind of peer, that took `theirs`, or more where it never came close."""

    value: float
    name: str
    C: float
    theirs: float
    is_close: bool


def ratios_of(rows, loss, kind, mine):
    """One a case; ours never fails to come close."""
    found = []
    for name, of, C, medians, vain in rows:
        peers = [who for who in medians if kind in who]
        if of != loss or not peers:
            continue
        close = [medians[who] for who in peers if medians[who] is not None]
        theirs = min(close) if close else min(vain[who] for who in peers)
        found.append(Ratio((medians[mine] or vain[mine]) / theirs, name, C, theirs, bool(close)))
    return sorted(found, reverse=True)


def summary(rows):
    """Geometric means, shares above 1 and the worst five, of each loss beside each kind of peer."""
    yield "| loss | peer | ours | ours / peer | where it is close | of these 5 ms or more | above 1 | worst |"
    yield "|---|---|---|---|---|---|---|---|"
    for loss in dict.fromkeys(row[1] for row in rows):
        for kind in PEERS:
            for mine, title in (("ours", "close"), ("proven", "proven")):
                ratios = ratios_of(rows, loss, kind, mine)
                if not ratios:
                    continue
                close = [ratio for ratio in ratios if ratio.is_close]
                long = [ratio for ratio in close if ratio.theirs >= LONG]
                above = f"{sum(ratio.value > 1 for ratio in ratios)} of {len(ratios)}"
                worst = ", ".join(f"{ratio.value:.2f} ({ratio.name}, C={ratio.C:g})" for ratio in ratios[:5])
                means = [f"{mean(some)} ({len(some)})" for some in (ratios, close, long)]
                yield f"| {' | '.join([loss, kind, title, *means, above, worst])} |"


def mean(ratios):
    """The geometric mean."""
    return f"{math.exp(statistics.fmean(math.log(ratio.value) for ratio in ratios)):.2f}" if ratios else "–"


def programs_of(loss, X, y, peers=PEERS):
    programs = {"ours": Ours(loss, X, y)}
    programs |= {f"LIBLINEAR -s {number}": Liblinear(number, X, y) for number in SOLVERS[loss]}
    is_small = isinstance(X, np.ndarray) and X.size <= REHLINE_SIZE
    if "ReHLine" in peers and is_small and loss in REHLINE and find_spec("rehline"):
        programs["ReHLine"] = Rehline(loss, X, y)
    if "skglm" in peers and loss == "l1_logistic" and find_spec("skglm"):
        programs["skglm"] = Skglm(X, y)
    return programs


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    problems.add_options(parser)
    parser.add_argument("--losses", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--C", nargs="+", type=float, default=[0.01, 0.1, 1, 10, 100])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument(
        "--limit", type=float, default=10.0, help="seconds after which a peer is not asked again"
    )
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: processor time, where others use the machine"
    )
    args = parser.parse_args()
    CLOCK[0] = CLOCKS[args.clock]
    warnings.filterwarnings("ignore")
    rows = []
    for loss in args.losses:
        is_number = loss not in CLASSES
        known = sets.NUMBERS if is_number else sets.TWO_CLASSES
        for name in [name for name in args.sets or known if name in known]:
            X, y = sets.load(name, args, is_number)
            programs = programs_of(loss, X, y)
            for C in args.C:
                contest = Contest(loss, C, X, y, programs, args.limit)
                medians = contest.medians(args.repeat)
                rows.append((name, loss, C, medians, contest.vain))
                print(told(name, loss, C, contest.how, medians, contest.vain), flush=True)
    print("\n" + "\n".join(summary(rows)))


if __name__ == "__main__":
    sys.exit(main())
