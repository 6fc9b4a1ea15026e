"""What one read of the data gives, and how many certify it, with several budgets of memory; against DualCD.

The problems are packed first (float32); a budget is told by the share of the rows that it holds.  "all" reads
the folder once and trains in memory.  The optimum is known to 1e-4 from the problem in memory.

    python benchmarks/streaming.py --data DIR --folder DIR
    python benchmarks/streaming.py --folder DIR --problems rcv1_like --rows 100000
"""

import argparse
import time
from pathlib import Path

import numpy as np
from problems import add_options, load, rcv1_like

import oneslack
from oneslack.formats import ShardWriter, open_shards
from oneslack.objective import relative_gap
from oneslack.solvers.streaming.reader import Reader, Streaming, source_of

SHARES = (None, 0.25, 0.1)


def packed(name, args):
    """The shards of a problem, packed once."""
    folder = args.folder / f"{name}-{args.rows}"
    if not folder.exists():
        X, y = rcv1_like(args.rows) if name == "rcv1_like" else load(name, args.data, args.cache)
        if X.shape[1] < 100:
            X = X.toarray()
        part = folder.with_suffix(".part")
        with ShardWriter(part, shard_size="16MB") as writer:
            for lo in range(0, X.shape[0], 10_000):
                writer.append(X[lo : lo + 10_000], y[lo : lo + 10_000].astype(int))
        part.rename(folder)
    return open_shards(folder)


def problem_on(shards, args):
    return oneslack.ShardedProblem(oneslack.Binary(shards.n_features, args.intercept), shards, args.C)


def budget(problem, share):
    """Bytes that hold this share of the rows, found by halving."""
    low, high = 1000, Streaming("1TB").bytes_in_memory(problem)
    while high - low > 0.001 * high:
        middle = (low + high) // 2
        try:
            enough = Streaming(middle).plan(problem).rows >= share * problem.n
        except ValueError:
            enough = False
        low, high = (low, middle) if enough else (middle, high)
    return high


def in_memory(problem, tol):
    """(Result, seconds) of the default budget: one read, then as in memory."""
    clock = time.process_time()
    result = oneslack.solve(problem, Streaming("100GB"), tol=tol)
    return result, time.process_time() - clock


def some_in_memory(problem, share, tol):
    """(P after one read, reads until certified, gap, seconds)."""
    plan = Streaming(budget(problem, share)).plan(problem)
    clock, spent = time.process_time(), 0.0
    reader = Reader(problem, source_of(problem), plan, 0, tol)
    after_one, best, certificates = None, np.inf, 0
    for step in reader.steps(None):
        if reader.read_over and after_one is None:
            spent += time.process_time() - clock
            after_one = problem.primal(step.w)  # for the table alone
            clock = time.process_time()
        if step.primal is not None:
            certificates += not reader.read_over  # else the objective was told by a read that went on
            best = min(best, step.primal)
        if relative_gap(best, step.dual) <= tol:
            break
    seconds = spent + time.process_time() - clock
    return after_one, reader.read + certificates, relative_gap(best, step.dual), seconds


def rows_of(name, args):
    shards = packed(name, args)
    problem = problem_on(shards, args)
    whole = problem.in_memory()
    seconds = []
    for _ in range(args.repeat):
        clock = time.process_time()
        oneslack.solve(whole, oneslack.DualCD(), tol=args.tol)
        seconds.append(time.process_time() - clock)
    peer = float(np.median(seconds))
    optimum = oneslack.solve(whole, tol=1e-4).dual
    del whole
    for share in args.shares:
        if share is None:
            runs = [in_memory(problem_on(shards, args), args.tol) for _ in range(args.repeat)]
            result, taken = runs[0][0], float(np.median([each for _, each in runs]))
            yield name, "all", result.primal / optimum - 1, 1, result.gap, taken, taken / peer
        else:
            primal, reads, gap, taken = some_in_memory(problem_on(shards, args), share, args.tol)
            yield name, f"{100 * share:.0f} %", primal / optimum - 1, reads, gap, taken, taken / peer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--folder", type=Path, required=True, help="for the packed data, which stay there")
    parser.add_argument("--problems", nargs="+", default=["covtype1", "rcv1_like"])
    parser.add_argument("--rows", type=int, default=800_000, help="of rcv1_like")
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--intercept", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    print("| problem | rows in memory | above the optimum after one read | reads to a certificate | its gap "
          "| CPU seconds | of DualCD's |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for name in args.problems:
        for problem, rows, above, reads, gap, taken, ratio in rows_of(name, args):
            print(f"| {problem} | {rows} | {100 * above:.2f} % | {reads} | {100 * gap:.3f} % | {taken:.2f} "
                  f"| {ratio:.2f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
