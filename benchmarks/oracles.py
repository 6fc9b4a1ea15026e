"""What one call of an oracle costs, beside a sort of the same scores.

An oracle turns n scores into the coefficients of a plane under the risk.  The scores are drawn from a
normal distribution and the targets independently of them.  The programs take turns, so that a noisy
moment hits all of them; the table gives medians of the processor's time, on one thread.  The exponent
a says that seconds grow like (n log n)^a.

    python benchmarks/oracles.py
    python benchmarks/oracles.py --sizes 10000 100000 --repeat 5
"""

import argparse
import time

import numpy as np

from oneslack import Problem
from oneslack.models import Grouped, Ranking, measure_model

SIZES = (10_000, 100_000, 1_000_000)
GROUP = 20


def cut_of(problem, S):
    """A call: the coefficients at S."""
    coefficients = np.empty_like(S)
    return lambda: problem.scores.map_scores(problem.model.cut, S, coefficients)


def slope_of(problem, S, rng):
    dS = rng.normal(size=len(S))
    return lambda: problem.scores.along(S, dS, 0.5)


def ranking(S, rng):
    """{name: call} of the ranking model."""
    n = len(S)
    X = np.zeros((n, 1))

    def problem(targets, groups=None, weights=None):
        return Problem(Ranking(1), X, Grouped(targets, groups), sample_weight=weights)

    real, two = rng.normal(size=n), rng.integers(0, 2, n)
    return {
        "real targets": cut_of(problem(real), S),
        "real, weighted": cut_of(problem(real, weights=rng.uniform(0.5, 1.5, n)), S),
        "5 ranks": cut_of(problem(rng.integers(0, 5, n)), S),
        "2 ranks": cut_of(problem(two), S),
        "2 ranks, slope": slope_of(problem(two), S, rng),
        f"groups of {GROUP}": cut_of(problem(real, rng.permutation(n) % (n // GROUP)), S),
    }


def measures(S, rng):
    """{name: call} of the measures of the whole sample, with many and with few positives."""
    n = len(S)
    X = np.zeros((n, 1))
    calls = {}
    for share in (0.5, 0.01):
        y = np.where(rng.random(n) < share, 1.0, -1.0)
        for metric in ("f1", "prbep", "average_precision"):
            model = measure_model(metric, 1, intercept=False)
            calls[f"{metric}, {100 * share:g} % positive"] = cut_of(Problem(model, X, y), S)
    return calls


#: One function a family of models: (S, rng) -> {name: call}.
ORACLES = (ranking, measures)


def measure(n, repeat):
    """{name: median seconds}, the sort first."""
    rng = np.random.default_rng(0)
    S = rng.normal(size=n)
    calls = {"argsort": lambda: np.argsort(S)}
    for family in ORACLES:
        calls |= family(S, rng)
    seconds = {name: [] for name in calls}
    for turn in range(repeat + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            if turn:  # the first one compiles
                seconds[name].append(time.process_time() - start)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def exponent(sizes, seconds):
    sizes = np.asarray(sizes, float)
    return float(np.polyfit(np.log(sizes * np.log(sizes)), np.log(seconds), 1)[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--repeat", type=int, default=9)
    args = parser.parse_args()
    rows = [measure(n, args.repeat) for n in args.sizes]
    print("| milliseconds (ratio to argsort) |", *(f"n = {n:,} |" for n in args.sizes), "a |")
    print("|---|" + " ---: |" * (len(rows) + 1))
    for name in rows[0]:
        cells = [f"{1e3 * row[name]:.2f} ({row[name] / row['argsort']:.2f}) |" for row in rows]
        a = exponent(args.sizes, [row[name] for row in rows]) if len(rows) > 1 else float("nan")
        print(f"| {name} |", *cells, f"{a:.2f} |")


if __name__ == "__main__":
    main()
