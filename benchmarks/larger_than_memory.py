"""Training on more than fits into memory: reads, time and memory against a plain read of the same files.

Makes two packed sets by seed, block by block, straight into shards: 28 million dense rows of 54 float32
numbers (6 GB), and made-up news stories (sparse) of the same size. Each is then trained on to a certified
gap of 1 % in a process of its own whose RLIMIT_DATA is 1 GB: whoever loads it all, fails. A third set is
made when it is named: 10^8 rows of hashed words, as of clicks (31 GB).

    python benchmarks/larger_than_memory.py --folder DIR                     # 12 GB on disk
    python benchmarks/larger_than_memory.py --folder DIR --sets clicks --limit 2GB --memory 1GB
    python benchmarks/larger_than_memory.py --folder DIR --share 0.05 --limit 500MB --memory 60MB
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from problems import RCV1_FEATURES, _stories

from oneslack.data.bytes import in_bytes, in_words
from oneslack.formats import ShardWriter, open_shards

DENSE_ROWS, DENSE_FEATURES = 28_000_000, 54
SPARSE_ROWS = 10_000_000
CLICK_ROWS, CLICK_COLUMNS, CLICK_WEIGHTS = 100_000_000, 39, 1 << 20
BLOCK = 100_000


def make_dense(folder, share):
    """Rows of numbers on different scales that depend on each other; a rule with noise tells the class."""
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(DENSE_FEATURES, DENSE_FEATURES)) / DENSE_FEATURES**0.5
    mix += np.diag(rng.uniform(0.2, 1.0, DENSE_FEATURES))
    mix, rule = mix.astype(np.float32), rng.normal(size=DENSE_FEATURES).astype(np.float32)
    with ShardWriter(folder, shard_size="64MB") as writer:
        for k in range(max(1, int(share * DENSE_ROWS) // BLOCK)):
            block = np.random.default_rng([1, k])
            X = block.standard_normal((BLOCK, DENSE_FEATURES), dtype=np.float32) @ mix
            score = X @ rule / 7.0 + 0.5 * block.standard_normal(BLOCK, dtype=np.float32)
            flip = block.random(BLOCK) < 0.05
            writer.append(X, np.where((score > 0.4) ^ flip, 1, -1))


def make_sparse(folder, share):
    """The stories of problems.rcv1_like, in float32."""
    rng, rows = np.random.default_rng(0), 10_000
    popularity = rng.permutation(1 / (np.arange(RCV1_FEATURES) + 60.0))
    popularity /= popularity.sum()
    rule = np.where(rng.random(RCV1_FEATURES) < 0.1, rng.normal(size=RCV1_FEATURES), 0.0)
    threshold = None
    with ShardWriter(folder, shard_size="64MB") as writer:
        for k in range(max(1, int(share * SPARSE_ROWS) // rows)):
            X = _stories(rows, popularity, [0, 2, k])
            threshold = np.median(X @ rule) if threshold is None else threshold
            flip = np.random.default_rng([0, 1, k]).random(rows) < 0.07
            writer.append(X, np.where((X @ rule > threshold) ^ flip, 1, -1))


def make_clicks(folder, share):
    """Shown advertisements, clicked or not: 39 columns of words with long tails, each hashed into its own
    part of 2^20 weights; the logistic rule knows 13 of them, and one in seven is a click."""
    width, rows = CLICK_WEIGHTS // CLICK_COLUMNS, BLOCK
    rng = np.random.default_rng(0)
    words = np.exp(np.linspace(np.log(4), np.log(10_000_000), CLICK_COLUMNS)).astype(np.float32)
    rule = rng.normal(size=CLICK_WEIGHTS).astype(np.float32) * 0.6
    starts = np.arange(CLICK_COLUMNS, dtype=np.int64) * width
    indptr = np.arange(rows + 1, dtype=np.int32) * CLICK_COLUMNS
    with ShardWriter(folder, shard_size="64MB") as writer:
        for k in range(max(1, int(share * CLICK_ROWS) // rows)):
            block = np.random.default_rng([3, k])
            word = np.power(words, block.random((rows, CLICK_COLUMNS), dtype=np.float32)).astype(np.int64)
            index = (starts + word * 2_654_435_761 % width).astype(np.int32)
            score = rule[index[:, ::3]].sum(axis=1) + block.logistic(size=rows)
            X = sp.csr_array((np.ones(index.size, np.float32), index.ravel(), indptr), (rows, CLICK_WEIGHTS))
            writer.append(X, np.where(score > 2.2, 1, -1))


MAKERS = {"dense": make_dense, "sparse": make_sparse, "clicks": make_clicks}


def plain_read(folder, cold):
    """Seconds to read all files into one buffer."""
    buffer = bytearray(1 << 22)
    paths = sorted(Path(folder).iterdir())
    if cold:
        forget_pages(paths)
    clock = time.perf_counter()
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.readinto(buffer):
                pass
    return time.perf_counter() - clock


def forget_pages(paths):
    """Ask the system to drop the files from its cache."""
    for path in paths:
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


class Peak(threading.Thread):
    """The largest anonymous memory and data segment of this process, looked at again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.anonymous = self.data = 0

    def run(self):
        while True:
            found = status()
            self.anonymous = max(self.anonymous, found["RssAnon"])
            self.data = max(self.data, found["VmData"])
            time.sleep(0.01)


def status():
    lines = Path("/proc/self/status").read_text().splitlines()
    wanted = [line.split() for line in lines if line.startswith(("RssAnon", "VmData"))]
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in wanted}


def train(args):
    """In this process, under the limit; what is there to know, as JSON."""
    import oneslack

    limit = in_bytes(args.limit)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    solver = oneslack.Streaming(args.memory)
    warm_up(oneslack)
    shards = open_shards(args.folder)
    model = oneslack.Binary(shards.n_features, args.intercept)
    problem = oneslack.ShardedProblem(model, shards, args.C, n_jobs=args.jobs)
    if args.cold:
        forget_pages(sorted(Path(args.folder).iterdir()))
    before = status()["RssAnon"]
    estimate = solver.estimate(problem)
    peak = Peak()
    peak.start()
    problem.data.n_read = 0
    clock, processor = time.perf_counter(), time.process_time()
    result = oneslack.solve(problem, solver, tol=args.tol, callbacks=[show] if args.verbose else [])
    seconds, processor = time.perf_counter() - clock, time.process_time() - processor
    return {
        "processor": processor,
        "rows": shards.n_rows, "bytes": shards.n_bytes, "gap": result.gap, "status": result.status.name,
        "certified": result.certified, "reads": problem.data.n_read / shards.n_rows, "seconds": seconds,
        "estimate": before + estimate, "peak": peak.anonymous, "peak_data": peak.data,
        "primal": result.primal, "dual": result.dual,
    }  # fmt: skip


def warm_up(oneslack):
    """Compile before the clock and the peak count."""
    import tempfile

    rng = np.random.default_rng(0)
    for d, sparse in ((4, False), (300, True)):
        with tempfile.TemporaryDirectory() as folder:
            X = rng.normal(size=(2000, d)) * (rng.random((2000, d)) < (0.1 if sparse else 1.0))
            with ShardWriter(f"{folder}/w") as writer:
                writer.append(sp.csr_array(X) if sparse else X, np.where(X[:, 0] > 0.1, 1, -1))
            problem = oneslack.ShardedProblem(oneslack.Binary(d), open_shards(f"{folder}/w"), n_jobs=1)
            memory = int(0.5 * oneslack.Streaming("1GB").bytes_in_memory(problem))
            oneslack.solve(problem, oneslack.Streaming(memory), tol=0.1, max_iter=200)


def show(row):
    print(
        f"  step {row.iteration} {row.seconds:.1f} s gap {row.gap:.4f} dual {row.dual:.6g}", file=sys.stderr
    )


def measure(name, args):
    folder = args.folder / f"{name}-{args.share:g}"
    if not folder.exists():
        clock = time.perf_counter()
        part = folder.with_suffix(".part")
        MAKERS[name](part, args.share)
        part.rename(folder)
        print(f"{name}: made in {time.perf_counter() - clock:.0f} s", file=sys.stderr)
    read = plain_read(folder, args.cold)
    options = ["--folder", folder, "--limit", args.limit, "--memory", args.memory, "--tol", args.tol]
    options += ["--C", args.C, "--jobs", args.jobs]
    flags = [f"--{flag}" for flag in ("cold", "intercept", "verbose") if getattr(args, flag)]
    command = [sys.executable, __file__, "--train", *map(str, options), *flags]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return found | {"name": name, "plain": read}


def line(found):
    MB, size = 1e6, found["bytes"]
    speed = found["reads"] * size / MB / found["seconds"]
    off = found["estimate"] / found["peak"] - 1
    return (
        f"| {found['name']} | {found['rows']:,} | {in_words(size)} | {100 * found['gap']:.3f} % "
        f"({found['status'].lower()}) | {found['reads']:.2f} | {found['seconds']:.1f} | {speed:.0f} "
        f"| {found['processor']:.1f} | {speed * found['seconds'] / found['processor']:.0f} "
        f"| {size / MB / found['plain']:.0f} | {in_words(found['estimate'])} | {in_words(found['peak'])} "
        f"({100 * off:+.0f} %) | {in_words(found['peak_data'])} |"
    )


HEAD = (
    "| data | rows | size | certified gap | reads | seconds | MB/s | CPU seconds | MB a CPU second "
    "| plain read MB/s | memory, estimated | peak (estimate off by) | peak VmData |\n" + 13 * "|---" + "|"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="for the data, which stay there")
    parser.add_argument("--sets", nargs="+", choices=list(MAKERS), default=["dense", "sparse"])
    parser.add_argument("--share", type=float, default=1.0, help="of the full size")
    parser.add_argument("--limit", default="1GB", help="RLIMIT_DATA of the process that trains")
    parser.add_argument("--memory", default="500MB", help="budget of the solver")
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cold", action="store_true", help="drop the files from the system's cache first")
    parser.add_argument("--intercept", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.train:
        return print(json.dumps(train(args)))
    args.folder.mkdir(parents=True, exist_ok=True)
    print(HEAD)
    for name in args.sets:
        print(line(measure(name, args)), flush=True)


if __name__ == "__main__":
    main()
