"""What it costs to prove bounds with their rounding: the share of a training that its final check takes.

    python benchmarks/rigour.py --data DIR

Every fit is timed as a whole; the time inside `Run.prove` is that of the check, wherever it falls.  The check
needs the lengths of all rows: one pass before the training, which also refuses numbers that are not finite or
too large.  Its time stands beside.
"""

import argparse
import statistics
import time
import warnings
from contextlib import contextmanager

import numpy as np
import problems

import oneslack
from oneslack.memory.run import Run
from oneslack.models.linear.rows import LinearData

#: (name of a problem, or how to make one; parameters of the estimator)
LINEAR = [
    (name, {"C": C, **more})
    for name in ("a9a", "covtype1", "reuters_moneyfx", "news20_1", "rcv1_like")
    for C in (0.1, 10.0)
    for more in ({}, {"fit_intercept": False})
] + [(name, {"C": 1.0}) for name in ("news20", "sector", "covtype7", "mnist")]
SMALL = [(n, d) for n in (100, 1000, 10_000) for d in (4, 50)]


class Clock:
    """Seconds inside of what it watches."""

    def __init__(self):
        self.seconds, self.inside = 0.0, False

    @contextmanager
    def running(self):
        if self.inside:  # what is inside of another watched call counts once
            yield
            return
        begin, self.inside = time.perf_counter(), True
        try:
            yield
        finally:
            self.seconds, self.inside = self.seconds + time.perf_counter() - begin, False


def watched(clock, function):
    def timed(*arguments, **named):
        with clock.running():
            return function(*arguments, **named)

    return timed


PLACES = [(Run, "prove"), (LinearData, "check_finite")]


def measure(fit, repeat):
    """Medians of the seconds of the fit, of the check, and of the lengths of rows."""
    clocks, rows = [Clock() for _ in PLACES], []
    before = [getattr(owner, name) for owner, name in PLACES]
    for (owner, name), function, clock in zip(PLACES, before, clocks, strict=True):
        setattr(owner, name, watched(clock, function))
    try:
        for _ in range(repeat):
            for clock in clocks:
                clock.seconds = 0.0
            begin = time.perf_counter()
            fit()
            rows.append((time.perf_counter() - begin, *(clock.seconds for clock in clocks)))
    finally:
        for (owner, name), function in zip(PLACES, before, strict=True):
            setattr(owner, name, function)
    return tuple(statistics.median(column) for column in zip(*rows, strict=True))


def report(name, fit, repeat):
    fit()  # compiles
    total, check, lengths = measure(fit, repeat)
    limit = "<= 2 %" if total >= 1.0 else "<= 1 ms"
    kept = check <= 0.02 * total if total >= 1.0 else check <= 1e-3
    print(
        f"| {name} | {total:.3f} s | {1e3 * check:.2f} ms | {100 * check / total:.1f} % | {limit} | "
        f"{'yes' if kept else 'no'} | {1e3 * lengths:.2f} ms |",
        flush=True,
    )
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    problems.add_options(parser)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(
        "| training | seconds | check | share | aim | kept | lengths of rows |\n|---|---|---|---|---|---|---|"
    )
    for n, d in SMALL:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, d))
        y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
        for solver in ("auto", "dual_cd", "one_slack"):
            model = oneslack.LinearSVC(solver=solver)
            report(f"made up {n} x {d}, {solver}", lambda: model.fit(X, y), options.repeat)  # noqa: B023
    for name, parameters in LINEAR:
        X, y = problems.load(name, options.data, options.cache)
        model = oneslack.LinearSVC(**parameters)
        words = ", ".join(f"{key}={value}" for key, value in parameters.items())
        report(f"{name}, {words}", lambda: model.fit(X, y), options.repeat)  # noqa: B023


if __name__ == "__main__":
    main()
