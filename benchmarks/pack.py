"""How fast svmlight text is packed: beside reading the bytes alone and beside other readers, one thread.

    python benchmarks/pack.py FILE...
    python benchmarks/pack.py            on a generated file of 200 MB

All take turns; the table shows the median of the processor's seconds and MB of text for each of them, so
that neighbours on the machine count little.  The last rows read the shards again: their MB are those of
the shards.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from bench_reader import generate
from sklearn.datasets import load_svmlight_file

from oneslack.formats import open_shards, pack, read_svmlight

ROW = "{what:<28} {megabytes:>8} {seconds:>9} {rate:>9} {wall:>9}"


def main():
    parser = argparse.ArgumentParser(description="Time the packing of svmlight files.")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--repeat", type=int, default=5, help="how often each of them runs")
    parser.add_argument("--megabytes", type=int, default=200, help="size of the generated file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compile_parser(folder)
        for path in options.files or [generate(folder, options.megabytes)]:
            print(f"\n{os.path.basename(path)}")
            print(ROW.format(what="", megabytes="MB", seconds="cpu s", rate="MB/s", wall="wall s"))
            measure(path, os.path.join(folder, "packed"), options.repeat)


def compile_parser(folder):
    path = os.path.join(folder, "tiny.svm")
    with open(path, "w") as file:
        file.write("1 1:0.5\n")
    pack(path, os.path.join(folder, "tiny"))
    read_svmlight(path)


def measure(path, folder, repeat):
    def pack_anew():
        shutil.rmtree(folder, ignore_errors=True)
        return pack(path, folder, jobs=1)

    tasks = {
        "plain read": lambda: plain_read([path]),
        "pack": pack_anew,
        "read_svmlight, float32": lambda: read_svmlight(path, dtype=np.float32),
        "scikit-learn, float32": lambda: load_svmlight_file(path, dtype=np.float32),
        "shards: plain read": lambda: plain_read([shard.path for shard in open_shards(folder)]),
        "shards: verify": lambda: open_shards(folder).verify(),
        "shards: X @ w for each": lambda: products(open_shards(folder)),
    }
    times = {what: [] for what in tasks}
    for _ in range(repeat):
        for what, task in tasks.items():
            cpu, wall = time.process_time(), time.perf_counter()
            task()
            times[what].append((time.process_time() - cpu, time.perf_counter() - wall))
    text, packed = os.path.getsize(path) / 1e6, open_shards(folder).n_bytes / 1e6
    for what, pairs in times.items():
        cpu, wall = (statistics.median(column) for column in zip(*pairs, strict=True))
        size = packed if what.startswith("shards") else text
        print(ROW.format(what=what, megabytes=f"{size:.1f}", seconds=f"{cpu:.3f}", rate=f"{size / cpu:.0f}",
                         wall=f"{wall:.3f}"))  # fmt: skip


def plain_read(paths, block=1 << 22):
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while file.read(block):
                pass


def products(shards):
    w = np.ones(shards.n_features, shards.dtype)
    return sum(float((shard.X @ w).sum()) for shard in shards)


if __name__ == "__main__":
    main()
