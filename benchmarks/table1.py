"""Table 1 of Joachims, Finley & Yu (2009) on data that are at hand: time, oracle calls, support vectors, gap.

Four ways to the same optimum, one thread, processor seconds, in turn.  All stop by the paper's rule (no
constraint violated by more than epsilon) or at --limit; what they have reached is in the last two columns:
the certified relative gap, and the gap in the paper's unit, (P - D) / (C n), which is about epsilon or less
for those that have finished.  `covtype/58` is one example in 58, drawn at random, with the same C.

    python benchmarks/table1.py --data DIR
    python benchmarks/table1.py --data DIR --tasks covtype/58 --limit 600
"""

import argparse
import statistics
import sys
from dataclasses import replace

from problems import add_options, data_folder
from structured import SOLVERS, TASKS, measure, warm_up

DEFAULT_TASKS = ("covtype", "covtype/58", "chunking", "pos")


def load_task(name, args):
    name, _, share = name.partition("/")
    task = TASKS[name](data_folder(args.data), args.cache)
    task = replace(task, C=args.C or task.C)
    return task.part(task.n // int(share), keep_total=False) if share else task


def run_all(task, args):
    """The runs of each solver, in turn."""
    warm_up(task)
    runs = {name: [] for name in args.solvers}
    for _ in range(args.repeat):
        for name in args.solvers:
            run = measure(task, SOLVERS[name], args.limit, **({} if args.tol is None else {"tol": args.tol}))
            runs[name].append(run)
            print(f"  {name}: {run}", file=sys.stderr, flush=True)
    return {name: _middle(each) for name, each in runs.items()}


def _middle(runs):
    """The last run with the median of the seconds."""
    seconds = [
        statistics.median(getattr(run, name) for run in runs) for name in ("seconds", "oracle_seconds")
    ]
    return replace(runs[-1], seconds=seconds[0], oracle_seconds=seconds[1])


def row(name, task, solver, run):
    seconds = f"{run.seconds:.1f}" if run.done else f"stopped at {run.seconds:.0f}"
    return " | ".join(
        [
            f"| {name}", f"{task.n:,}", solver, seconds, f"{run.iterations:,}", f"{run.oracle_calls:,}",
            f"{run.oracle_calls / task.n:,.1f}", f"{run.support:,}", f"{run.gap:.2g}",
            f"{run.violation:.2g} |",
        ]
    )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--tasks", nargs="+", default=DEFAULT_TASKS, help="names, or NAME/k for one in k")
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=list(SOLVERS))
    parser.add_argument("--limit", type=float, default=45.0, help="processor seconds of a run")
    parser.add_argument("--C", type=float, help="of the sum over examples; the paper's if left out")
    parser.add_argument("--tol", type=float, help="stop at this relative gap, not by the paper's rule")
    parser.add_argument("--repeat", type=int, default=1)
    args = parser.parse_args()
    print("| problem | n | solver | seconds | rounds | oracle calls | calls / n | supports | gap | epsilon |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in args.tasks:
        task = load_task(name, args)
        for solver, run in run_all(task, args).items():
            print(row(name, task, solver, run), flush=True)


if __name__ == "__main__":
    main()
