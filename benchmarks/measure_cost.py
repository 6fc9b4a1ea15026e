"""What it costs to train for a measure instead of the error rate, with the same solver.

Covertype class 1 at the cutting-plane papers' C = 10^6 (times the mean loss) to their epsilon = 0.001,
all by one-slack cutting planes without an intercept, in turn.

    python benchmarks/measure_cost.py --data DIR
"""

import argparse
import statistics
import time

from problems import add_options, load

from oneslack import OneSlack, Problem, solve
from oneslack.models import measure_model

MEASURES = ("error", "roc_auc", "f1", "prbep", "average_precision")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--problem", default="covtype1")
    parser.add_argument("--measures", nargs="+", default=MEASURES)
    parser.add_argument("--C", type=float, default=1e6, help="times the mean loss")
    parser.add_argument("--epsilon", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    X, y = load(args.problem, args.data, args.cache)
    n, d = X.shape
    seconds = {measure: [] for measure in args.measures}
    results = {}
    for turn in range(args.repeat + 1):
        for measure in args.measures:
            model = measure_model(measure, d, intercept=False)
            problem = Problem(model, X, y, args.C / n, n_jobs=None)
            with problem.engine:
                start = time.perf_counter()
                results[measure] = solve(problem, OneSlack(), epsilon=args.epsilon)
                if turn:  # the first one compiles
                    seconds[measure].append(time.perf_counter() - start)
    print("| measure | seconds | ratio to error | rounds | objective / C | relative gap |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    base = statistics.median(seconds[args.measures[0]])
    for measure, result in results.items():
        median = statistics.median(seconds[measure])
        print(
            f"| {measure} | {median:.2f} | {median / base:.2f} | {result.n_iter} | "
            f"{result.primal / args.C:.5f} | {result.gap:.1e} |"
        )


if __name__ == "__main__":
    main()
