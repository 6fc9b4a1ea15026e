"""ConstraintProblem beside the binary model's own dual passes: CPU seconds of DualCD to a gap of 1e-3.

Both see the same rows, y_i x_i with margin 1 against x_i with label y_i, and take the same steps.

    python benchmarks/constraints.py --data DIR --problems a9a news20_1 --C 1
"""

import argparse
import statistics
import time

import numpy as np
import problems

from oneslack import Binary, ConstraintProblem, DualCD, Problem, solve


def timed(problem, tol):
    start = time.process_time()
    result = solve(problem, DualCD(), tol=tol)
    return time.process_time() - start, result


def compare(name, C, args):
    """(seconds of the binary passes, of the general ones, steps of both)."""
    X, y = problems.load(name, args.data, args.cache)
    rows = X.copy()
    rows.data *= np.repeat(y, np.diff(X.indptr))
    special = Problem(Binary(X.shape[1]), X, y, C)
    general = ConstraintProblem(rows, np.ones(len(y)), C=C)
    timed(special, 0.5), timed(general, 0.5)  # compiles, and measures the rows
    runs = [(timed(special, args.tol), timed(general, args.tol)) for _ in range(args.repeat)]
    seconds = [statistics.median(run[k][0] for run in runs) for k in range(2)]
    return *seconds, [run[1].n_iter for run in runs[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", nargs="+", default=["a9a", "reuters_moneyfx", "news20_1", "rcv1_like"])
    parser.add_argument("--C", nargs="+", type=float, default=[0.1, 1.0])
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=5)
    problems.add_options(parser)
    args = parser.parse_args()
    ratios = []
    print("| problem | C | binary | general | steps | general / binary |\n|---|---|---|---|---|---|")
    for name in args.problems:
        for C in args.C:
            special, general, steps = compare(name, C, args)
            ratios.append(general / special)
            cells = [name, f"{C:g}", f"{special:.3g} s", f"{general:.3g} s", f"{steps[0]}, {steps[1]}"]
            print("| " + " | ".join([*cells, f"{ratios[-1]:.2f}"]) + " |", flush=True)
    print(f"\ngeometric mean {statistics.geometric_mean(ratios):.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
