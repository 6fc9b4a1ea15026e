"""What one read of the data gives, and how many certify it, with several budgets of memory; against DualCD.

The problems are packed first (float32); a budget is told by the share of the rows that it holds.  "all" reads
the folder once and trains in memory.  The optimum is known to 1e-4 from the problem in memory.

    python benchmarks/streaming.py --data DIR --folder DIR
    python benchmarks/streaming.py --folder DIR --problems rcv1_like --rows 100000

Text, as counts and as tf-idf, with and without an intercept, at several C; beside the same folder read once
and trained on in memory, in turns; the worst come first:

    python benchmarks/streaming.py --data DIR --folder DIR --text
"""

import argparse
import time
from itertools import product
from pathlib import Path

import numpy as np
from problems import _shuffled, _svmlight, add_options, load, rcv1_like
from sklearn.feature_extraction.text import TfidfTransformer

import oneslack
from oneslack.formats import ShardWriter, open_shards
from oneslack.objective import relative_gap
from oneslack.solvers.streaming.reader import Reader, Streaming, source_of

SHARES = (None, 0.25, 0.1)
#: Of text: budgets, and C.
TEXT_SHARES, TEXT_C = (0.1, 0.25, 0.5), (0.001, 0.03, 1.0)
#: Two classes of each set: a half of the classes against the other, or one against the rest.
TEXT = {
    "news20, half": ("news20", lambda y: y <= 10),
    "news20, one": ("news20", lambda y: y == 1),
    "sector, half": ("sector", lambda y: y <= 52),
    "sector, one": ("sector", lambda y: y == 2),
    "reuters, earn": ("reuters", lambda y: y[:, 21]),
    "reuters, acq": ("reuters", lambda y: y[:, 0]),
    "reuters, moneyfx": ("moneyfx", lambda y: y > 0),
}
KINDS = {
    "news20": ("counts", "tf-idf"),
    "sector": ("scaled",),
    "reuters": ("counts", "tf-idf"),
    "moneyfx": ("scaled",),
}


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


def text(folder, data):
    """(counts or scaled values, labels) of a set; Reuters has a column for each topic."""
    if folder == "reuters":
        X, topics = oneslack.formats.read_multilabel(
            data / "reuters21578" / "r90_train.svm.xz", zero_based=True
        )
        return X, np.array([[k in labels for k in range(90)] for labels in map(set, topics)])
    names = {
        "news20": ("news20/news20_train.svm.xz", 130_107),
        "sector": ("sector/sector.scale.bz2", 55_197),
        "moneyfx": ("reuters_moneyfx/moneyfx_train.svm.bz2", 8_315),
    }
    return _svmlight(data / names[folder][0], names[folder][1])


def packed_text(name, kind, args):
    """The shards of two classes of text, rows in a random order, packed once."""
    folder = args.folder / f"text-{name.replace(', ', '-')}-{kind}"
    if not folder.exists():
        source, is_first = TEXT[name]
        X, y = text(source, Path(args.data))
        X = TfidfTransformer().fit_transform(X) if kind == "tf-idf" else X
        X, y = _shuffled(X, np.where(is_first(y), 1, -1))
        with ShardWriter(folder.with_suffix(".part")) as writer:
            writer.append(X, y)
        folder.with_suffix(".part").rename(folder)
    return open_shards(folder)


def text_row(name, kind, share, intercept, C, args):
    """(name, kind, share, intercept, C, reads, gap, seconds, seconds in memory): medians, in turns."""
    shards = packed_text(name, kind, args)

    def new():
        return oneslack.ShardedProblem(oneslack.Binary(shards.n_features, intercept), shards, C)

    in_memory(new(), 0.5)  # compiles, and checks the shards
    whole, some = [], []
    for _ in range(args.repeat):
        whole.append(in_memory(new(), args.tol)[1])
        some.append(some_in_memory(new(), share, args.tol, args.patience)[1:])
    reads, gap, _ = some[0]
    return (
        name,
        kind,
        share,
        intercept,
        C,
        reads,
        gap,
        np.median([each[2] for each in some]),
        np.median(whole),
    )


def print_text(args):
    sets = [(name, kind) for name, (source, _) in TEXT.items() for kind in KINDS[source]]
    runs = product(sets, args.shares or TEXT_SHARES, (False, True), args.Cs)
    rows = [text_row(*given, share, intercept, C, args) for given, share, intercept, C in runs]
    rows.sort(key=lambda row: (-row[5], -row[7] / row[8]))
    print(
        "| text | values | C | intercept | rows in memory | reads | gap | CPU seconds | in memory | of it |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, kind, share, intercept, C, reads, gap, taken, whole in rows:
        print(f"| {name} | {kind} | {C:g} | {'yes' if intercept else 'no'} | {100 * share:.0f} % | {reads} "
              f"| {100 * gap:.2f} % | {taken:.2f} | {whole:.3f} | {taken / whole:.1f} |")  # fmt: skip
    few = 100 * np.mean([row[5] <= 5 and row[6] <= args.tol for row in rows])
    quick = 100 * np.mean([row[7] <= 10 * row[8] and row[6] <= args.tol for row in rows])
    print(f"\n{len(rows)} runs: at most 5 reads {few:.0f} %, at most 10 times the seconds {quick:.0f} %.")


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


def some_in_memory(problem, share, tol, patience=np.inf):
    """(P after one read, reads until certified or out of patience, gap, seconds)."""
    plan = Streaming(budget(problem, share)).plan(problem)
    clock, spent = time.process_time(), 0.0
    reader = Reader(problem, source_of(problem), plan, 0, tol)
    after_one, best, certificates = None, np.inf, 0
    for step in reader.steps(None):
        if reader.read_over and after_one is None and patience == np.inf:
            spent += time.process_time() - clock
            after_one = problem.primal(step.w)  # for the table alone
            clock = time.process_time()
        if step.primal is not None:
            certificates += not reader.read_over  # else the objective was told by a read that went on
            best = min(best, step.primal)
        if relative_gap(best, step.dual) <= tol or spent + time.process_time() - clock > patience:
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
    parser.add_argument("--shares", nargs="+", type=float)
    parser.add_argument("--text", action="store_true", help="text, worst first, in place of the problems")
    parser.add_argument("--Cs", nargs="+", type=float, default=TEXT_C, help="of text")
    parser.add_argument("--patience", type=float, default=10.0, help="CPU seconds of a run on text")
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--intercept", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.text:
        return print_text(args)
    args.shares = args.shares or SHARES
    print("| problem | rows in memory | above the optimum after one read | reads to a certificate | its gap "
          "| CPU seconds | of DualCD's |\n|---|---|---|---|---|---|---|")  # fmt: skip
    for name in args.problems:
        for problem, rows, above, reads, gap, taken, ratio in rows_of(name, args):
            print(f"| {problem} | {rows} | {100 * above:.2f} % | {reads} | {100 * gap:.3f} % | {taken:.2f} "
                  f"| {ratio:.2f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
