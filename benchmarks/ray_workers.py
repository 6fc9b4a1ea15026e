"""Two Ray workers beside two threads, and what the cost model of `oneslack plan` forecasts for them.

Loading the data and starting the cluster are not counted.  For each solver: seconds, rounds, bytes a round,
and for cutting planes the forecast, made from the rounds that were taken and the costs measured before.

    python benchmarks/ray_workers.py --rows 800000
    python benchmarks/ray_workers.py --problem conll2000 --data DIR
"""

import argparse
import statistics
from dataclasses import replace

import numpy as np
from problems import add_options, data_folder, rcv1_like

from oneslack import Binary, Chain, DistributedDual, DualCD, OneSlack, Problem, Ray, SplitProblem, solve
from oneslack.scaling import Size, calibrate, forecast, measure_messages


def rcv1(args):
    X, y = rcv1_like(args.rows)
    size = Size(X.shape[0], X.shape[1], X.nnz)
    return Binary(X.shape[1]), X, y, args.C or 1.0, 1e-3, size, [OneSlack(), DualCD()]


def conll2000(args):
    from oneslack.features import FeatureIndex
    from oneslack.formats import read_conll
    from oneslack.ragged import Ragged

    train = read_conll(data_folder(args.data) / "conll2000" / "train.txt.xz", columns=["w", "pos", "tag"])
    X = Ragged(FeatureIndex("chunking").fit_transform(train), train.offsets)[: args.rows]
    labels, codes = np.unique(train.columns["tag"].strings(), return_inverse=True)
    Y = Ragged(codes, train.offsets)[: args.rows]
    return Chain(X.values.shape[1], len(labels)), X, Y, args.C or 0.1, 1e-2, None, [DualCD()]


PROBLEMS = {"rcv1_like": rcv1, "conll2000": conll2000}


def timed(make, solver, tol, repeat):
    """(median seconds, last result, problem facts) of several trainings on one problem."""
    problem = make()
    with problem.engine:
        messages = measure_messages(problem) if hasattr(problem, "parts") else 0.0
        solve(problem, solver, tol=tol, max_iter=2)  # compiles, and workers load their parts
        before = getattr(problem.engine, "rounds", 0), getattr(problem.engine, "bytes_moved", 0)
        results = [solve(problem, solver, tol=tol) for _ in range(repeat)]
        rounds, moved = (
            (getattr(problem.engine, name, 0) - start) / repeat
            for name, start in zip(("rounds", "bytes_moved"), before, strict=True)
        )
    return statistics.median(result.seconds for result in results), results[-1], rounds, moved, messages


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--problem", choices=list(PROBLEMS), default="rcv1_like")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--C", type=float)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    if args.rows is None and args.problem == "rcv1_like":
        args.rows = 800_000
    model, X, Y, C, tol, size, solvers = PROBLEMS[args.problem](args)
    costs = calibrate(size, X[:30_000]) if size else None
    print("| where | solver | seconds | steps | rounds | bytes a round | gap | forecast |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for solver in solvers:
        seconds, result, *_ = timed(lambda: Problem(model, X, Y, C, n_jobs=2), solver, tol, args.repeat)
        print(f"| 2 threads | {solver.name} | {seconds:.2f} | {result.n_iter} | | | {result.gap:.1e} | |")
        other = DistributedDual() if isinstance(solver, DualCD) else solver
        for count in args.workers:
            seconds, result, rounds, moved, messages = timed(
                lambda count=count: SplitProblem(model, X, Y, C, engine=Ray(count)), other, tol, args.repeat
            )
            words = ""
            if costs and isinstance(other, OneSlack):
                known = replace(costs, latency=messages, send=0.0, bandwidth=2e9)
                calls = rounds / result.n_iter
                told = forecast(
                    size, known, count, result.n_iter, per_machine=count, looks=calls - 1, calls=calls
                )
                words = f"{told.seconds:.2f} ({told.seconds / seconds - 1:+.0%})"
            print(
                f"| Ray, {count} | {other.name} | {seconds:.2f} | {result.n_iter} | {rounds:.0f} | "
                f"{moved / rounds / 1e6:.2f} MB | {result.gap:.1e} | {words} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
