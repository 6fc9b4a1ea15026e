"""Two Ray workers beside two threads, and what the cost models forecast for them.

Loading the data and starting the cluster are not counted.  For each solver: seconds, rounds, bytes a round,
and two forecasts: from trainings of as many steps with as many workers on an eighth and a quarter of the
examples; and, for cutting planes, by the formula of `oneslack plan`, which is told the steps, the rounds, and
what a message costs.

    python benchmarks/ray_workers.py --rows 800000
    python benchmarks/ray_workers.py --problem conll2000 --data DIR
    python benchmarks/ray_workers.py --layouts 2 1x2 --solvers dual_cd      # two workers; one of two threads
"""

import argparse
import statistics
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import ray
from problems import add_options, data_folder, rcv1_like

from oneslack import Binary, Chain, DistributedDual, DualCD, OneSlack, Problem, Ray, SplitProblem, solve
from oneslack.engines.ray import LocalCluster
from oneslack.scaling import Size, calibrate, forecast, measure_messages, measure_steps

#: Bytes a second through the memory that Ray's processes share.
BANDWIDTH = 2e9


def rcv1(args):
    X, y = rcv1_like(args.rows)
    size = Size(X.shape[0], X.shape[1], X.nnz)
    return Binary(X.shape[1]), X, y, args.C or 1.0, 1e-3, size


def conll2000(args):
    from oneslack.features import FeatureIndex
    from oneslack.formats import read_conll
    from oneslack.ragged import Ragged

    train = read_conll(data_folder(args.data) / "conll2000" / "train.txt.xz", columns=["w", "pos", "tag"])
    X = Ragged(FeatureIndex("chunking").fit_transform(train), train.offsets)[: args.rows]
    labels, codes = np.unique(train.columns["tag"].strings(), return_inverse=True)
    Y = Ragged(codes, train.offsets)[: args.rows]
    return Chain(X.values.shape[1], len(labels)), X, Y, args.C or 0.1, 1e-2, None


PROBLEMS = {"rcv1_like": rcv1, "conll2000": conll2000}
SOLVERS = {solver.name: solver for solver in (OneSlack(), DualCD())}


class Timing(NamedTuple):
    """Of a training, or the medians of several."""

    seconds: float
    steps: int
    gap: float
    rounds: int
    moved: float
    message: float


def timed(problem, solver, tol) -> Timing:
    message = measure_messages(problem) if hasattr(problem, "parts") else 0.0
    before = getattr(problem.engine, "rounds", 0), getattr(problem.engine, "bytes_moved", 0)
    result = solve(problem, solver, tol=tol, keep_state=False)
    rounds, moved = (
        getattr(problem.engine, name, 0) - start
        for name, start in zip(("rounds", "bytes_moved"), before, strict=True)
    )
    return Timing(result.seconds, result.n_iter, result.gap, rounds, moved, message)


def medians(timings) -> Timing:
    return Timing(*map(statistics.median, zip(*timings, strict=True)))


def ray_of(layout) -> Ray:
    count, _, each = layout.partition("x")
    return Ray(int(count), threads=int(each or 1))


def by_formula(size, costs, count, timing):
    """What `oneslack plan` would have said."""
    known = replace(costs, latency=timing.message, send=0.0, bandwidth=BANDWIDTH)
    calls = timing.rounds / timing.steps
    return forecast(size, known, count, timing.steps, per_machine=count, looks=calls - 1, calls=calls).seconds


def compared(told, measured):
    return f"{told:.2f} ({told / measured - 1:+.0%})"


def row(where, name, timing, threads, *forecasts):
    moved = f"{timing.moved / timing.rounds / 1e6:.2f} MB" if timing.rounds else ""
    ratio = f"{timing.seconds / threads:.2f}"
    cells = (
        where, name, f"{timing.seconds:.2f}", ratio, timing.steps, f"{timing.rounds:.0f}", moved,
        f"{timing.gap:.1e}", *forecasts,
    )  # fmt: skip
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--problem", choices=list(PROBLEMS), default="rcv1_like")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--C", type=float)
    parser.add_argument(
        "--layouts", nargs="+", default=["1", "2", "1x2"], help="workers, or workers x threads"
    )
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    if args.rows is None and args.problem == "rcv1_like":
        args.rows = 800_000
    model, X, Y, C, tol, size = PROBLEMS[args.problem](args)
    costs = calibrate(size, X[:30_000]) if size else None
    n = len(Y)
    titles = (
        "where",
        "solver",
        "seconds",
        "of threads",
        "steps",
        "rounds",
        "a round",
        "gap",
        "samples",
        "plan",
    )
    print("| " + " | ".join(titles) + " |")
    print("| --- | --- |" + " ---: |" * (len(titles) - 2))
    rays = {layout: ray_of(layout) for layout in args.layouts}
    cluster = LocalCluster(ray, sum(each.n_workers * each.threads for each in rays.values()))
    for solver in (SOLVERS[name] for name in args.solvers):
        other = DistributedDual() if isinstance(solver, DualCD) else solver
        with ExitStack() as open_problems:
            problems = {"threads": Problem(model, X, Y, C, n_jobs=2)}
            problems |= {layout: SplitProblem(model, X, Y, C, engine=each) for layout, each in rays.items()}
            for problem in problems.values():
                open_problems.enter_context(problem.engine)
            taken = {layout: [] for layout in problems}
            for _ in range(1 + args.repeat):  # they take turns; the first ones compile and load
                for layout, problem in problems.items():
                    how = solver if layout == "threads" else other
                    taken[layout].append(timed(problem, how, tol))
        taken = {layout: medians(timings[1:]) for layout, timings in taken.items()}
        threads = taken["threads"]
        row("2 threads", solver.name, threads, threads.seconds, "", "")
        for layout, each in rays.items():
            found = taken[layout]
            sizes, steps = (n // 8, n // 4), int(found.steps)
            samples = measure_steps(model, X, Y, C, other, sizes, steps, engine=each)
            told = samples.seconds(n, each.n_workers, steps)
            planned = ""
            if costs and isinstance(other, OneSlack):
                cpus = each.n_workers * each.threads
                planned = compared(by_formula(size, costs, cpus, found), found.seconds)
            row(f"Ray, {layout}", other.name, found, threads.seconds, compared(told, found.seconds), planned)
    cluster.stop()


if __name__ == "__main__":
    main()
