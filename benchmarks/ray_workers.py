"""Two Ray workers beside two threads, and what the cost models forecast for them.

Loading the data and starting the cluster are not counted.  For each solver: seconds, rounds, bytes a round,
and two forecasts: from trainings of as many steps with as many workers on an eighth and a quarter of the
examples; and, for cutting planes, by the formula of `oneslack plan`, which is told the steps, the rounds, and
what a message costs.

    python benchmarks/ray_workers.py --rows 800000
    python benchmarks/ray_workers.py --problem conll2000 --data DIR
    python benchmarks/ray_workers.py --layouts 2 1x2 --solvers dual_cd      # two workers; one of two threads
    python benchmarks/ray_workers.py --problem dense --layouts 1x2 --solvers dual_cd     # many short steps
    python benchmarks/ray_workers.py --fits             # of an estimator, which starts new workers for each

One worker takes the steps of one machine (split/whole.py), which is what estimators do with two workers too
where a cluster is one machine; two of them with one thread each do what workers of several machines do.
"""

import argparse
import statistics
import time
from contextlib import ExitStack
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import ray
from problems import add_options, data_folder, rcv1_like

from oneslack import Binary, Chain, DistributedDual, DualCD, LinearSVC, OneSlack, Problem, Ray, solve
from oneslack.engines.ray import LocalCluster
from oneslack.problems.new import new_problem
from oneslack.problems.parts.parts import neighbours
from oneslack.selection.scaling import SAMPLE, Size, calibrate, forecast, step_costs

#: Bytes a second through the memory that Ray's processes share.
BANDWIDTH = 2e9
TITLES = "| where | solver | seconds | of threads | steps | rounds | a round | gap | samples | plan |"
#: Forecasts rest on such parts of the examples.
SAMPLES = 8, 4


def rcv1(args):
    X, y = rcv1_like(args.rows)
    size = Size(X.shape[0], X.shape[1], X.nnz)
    return Binary(X.shape[1]), X, y, args.C or 1.0, 1e-3, size


def conll2000(args):
    from oneslack.data.rows import Ragged
    from oneslack.features import FeatureIndex
    from oneslack.formats import read_conll

    train = read_conll(data_folder(args.data) / "conll2000" / "train.txt.xz", columns=["w", "pos", "tag"])
    X = Ragged(FeatureIndex("chunking").fit_transform(train), train.offsets)[: args.rows]
    labels, codes = np.unique(train.columns["tag"].strings(), return_inverse=True)
    Y = Ragged(codes, train.offsets)[: args.rows]
    return Chain(X.values.shape[1], len(labels)), X, Y, args.C or 0.1, 1e-2, None


def dense(args):
    """Made up, so that dual passes are many and short."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(args.rows or 50_000, 100))
    y = np.where(X[:, :10].sum(axis=1) + 3.0 * rng.normal(size=len(X)) > 0, 1.0, -1.0)
    return Binary(100, intercept=True), X, y, args.C or 1.0, 1e-2, None


PROBLEMS = {"rcv1_like": rcv1, "conll2000": conll2000, "dense": dense}
SOLVERS = {solver.name: solver for solver in (OneSlack(), DualCD())}


class Timing(NamedTuple):
    """Of a training, or the medians of several."""

    seconds: float
    steps: int
    gap: float
    rounds: int
    moved: float
    message: float


def measure_messages(problem, repeats=20):
    """Seconds of a message to all workers of a SplitProblem and back."""
    problem.engine.ask("about")
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        problem.engine.ask("about")
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def timed(problem, solver, tol, max_iter=100_000) -> Timing:
    message = measure_messages(problem) if hasattr(problem.engine, "rounds") else 0.0
    before = getattr(problem.engine, "rounds", 0), getattr(problem.engine, "bytes_moved", 0)
    result = solve(problem, solver, tol=tol, max_iter=max_iter, keep_state=False)
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
    parser.add_argument("--fits", action="store_true", help="LinearSVC by default, on rcv1_like")
    args = parser.parse_args()
    if args.rows is None and args.problem == "rcv1_like":
        args.rows = 800_000
    if args.fits:
        return fits(args)
    model, X, Y, C, tol, size = PROBLEMS[args.problem](args)
    costs = calibrate(size, X[: SAMPLE * size.rows // size.entries], threads=2) if size else None
    print(TITLES)
    print("| --- | --- |" + " ---: |" * (TITLES.count("|") - 3))
    rays = {layout: ray_of(layout) for layout in args.layouts}
    sizes = tuple(len(Y) // parts for parts in SAMPLES)
    cluster = LocalCluster(ray, 3 * sum(each.n_workers * each.threads for each in rays.values()))
    for solver in (SOLVERS[name] for name in args.solvers):
        teams = DistributedDual() if isinstance(solver, DualCD) else solver
        how = {layout: teams if each.n_workers > 1 else solver for layout, each in rays.items()}
        with ExitStack() as stack:
            problems = {("threads", len(Y)): Problem(model, X, Y, C, n_jobs=2)}
            for layout, each in rays.items():
                for n in (len(Y), *sizes):
                    examples = neighbours(X, 0, n), neighbours(Y, 0, n)
                    problem = new_problem(model, *examples, C, engine=each, solver=how[layout])
                    stack.enter_context(problem.engine)
                    problems[layout, n] = problem
            taken = in_turns(problems, {"threads": solver, **how}, tol, args.repeat, sizes)
        threads = taken["threads", len(Y)]
        row("2 threads", solver.name, threads, threads.seconds, "", "")
        for layout, each in rays.items():
            found = taken[layout, len(Y)]
            steps = [taken[layout, n].seconds / taken[layout, n].steps for n in sizes]
            told = step_costs(sizes, steps, each.n_workers).seconds(len(Y), each.n_workers, found.steps)
            planned = ""
            if costs and each.n_workers > 1 and isinstance(solver, OneSlack):
                planned = compared(by_formula(size, costs, each.n_workers, found), found.seconds)
            name, samples = how[layout].name, compared(told, found.seconds)
            row(f"Ray, {layout}", name, found, threads.seconds, samples, planned)
    cluster.stop()


def fits(args):
    """LinearSVC as it is: each fit on Ray has a new worker, which loads compiled code."""
    _, X, y, C, tol, _ = rcv1(args)
    cluster = LocalCluster(ray, 2)
    print("| intercept | 2 threads | Ray, n_jobs=2 | of threads |\n| --- | ---: | ---: | ---: |")
    for has_intercept in (True, False):
        seconds = {"threads": [], "ray": []}
        for _ in range(1 + args.repeat):
            for engine, taken in seconds.items():
                model = LinearSVC(C, tol=tol, fit_intercept=has_intercept, engine=engine, n_jobs=2)
                taken.append(model.fit(X, y).result_.seconds)
        here, there = (statistics.median(taken[1:]) for taken in seconds.values())
        print(f"| {has_intercept} | {here:.2f} s | {there:.2f} s | {there / here:.2f} |", flush=True)
    cluster.stop()


def in_turns(problems, how, tol, repeat, sizes):
    """Medians of trainings by (layout, examples); those on samples take as many steps as the one on all, but
    for those that come to a tenth of its gap before."""
    taken = {key: [] for key in problems}
    for _ in range(1 + repeat):  # the first ones compile and load
        for (layout, n), problem in problems.items():
            if n in sizes:
                steps = taken[layout, max(m for where, m in problems if where == layout)][-1].steps
                found = timed(problem, how[layout], 0.1 * tol, steps)
            else:
                found = timed(problem, how[layout], tol)
            taken[layout, n].append(found)
    return {key: medians(timings[1:]) for key, timings in taken.items()}


if __name__ == "__main__":
    main()
