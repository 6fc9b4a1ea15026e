"""How fast svmlight text is read: oneslack against scikit-learn, one thread, same file and matrix.

    python benchmarks/bench_reader.py FILE...
    python benchmarks/bench_reader.py            on a generated file of 100 MB

The two readers take turns, so that a noisy machine disturbs both alike; the table shows medians.
"""

import argparse
import os
import statistics
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from sklearn.datasets import load_svmlight_file

from oneslack.formats import read_svmlight

ROW = "{file:<24} {megabytes:>8} {entries:>12} {ours:>10} {sklearn:>10} {rate:>9} {ratio:>7}"


def main():
    parser = argparse.ArgumentParser(description="Time the svmlight reader against scikit-learn's.")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--repeat", type=int, default=5, help="how often each reader runs")
    parser.add_argument("--megabytes", type=int, default=100, help="size of the generated file")
    options = parser.parse_args()
    print(ROW.format(file="file", megabytes="MB", entries="entries", ours="oneslack s",
                     sklearn="sklearn s", rate="MB/s", ratio="ratio"))  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        compile_parser(folder)
        for path in options.files or [generate(folder, options.megabytes)]:
            print(measure(path, options.repeat), flush=True)


def compile_parser(folder):
    path = os.path.join(folder, "tiny.svm")
    with open(path, "w") as file:
        file.write("1 1:0.5\n")
    read_svmlight(path)


def generate(folder, megabytes, seed=0):
    """Rows like those of text collections: about 75 of 50,000 features, six digits."""
    rng = np.random.default_rng(seed)
    path = os.path.join(folder, f"generated_{megabytes}MB.svm")
    with open(path, "w") as file:
        while file.tell() < megabytes * 1_000_000:
            indices = np.unique(rng.integers(1, 50_000, rng.integers(1, 150)))
            pairs = map("{}:{:.6g}".format, indices.tolist(), rng.random(len(indices)).tolist())
            file.write(f"{rng.choice((-1, 1))} {' '.join(pairs)}\n")
    return path


def measure(path, repeat):
    seconds = {"ours": [], "sklearn": []}
    for _ in range(repeat):
        start = time.perf_counter()
        table = read_svmlight(path)
        middle = time.perf_counter()
        X, y = load_svmlight_file(path)
        seconds["ours"].append(middle - start)
        seconds["sklearn"].append(time.perf_counter() - middle)
        check_equal(table, X, y)
    ours, theirs = (statistics.median(times) for times in seconds.values())
    ratio = statistics.median(b / a for a, b in zip(*seconds.values(), strict=True))
    megabytes = os.path.getsize(path) / 1e6
    return ROW.format(
        file=os.path.basename(path),
        megabytes=f"{megabytes:.1f}",
        entries=X.nnz,
        ours=f"{ours:.4f}",
        sklearn=f"{theirs:.4f}",
        rate=f"{megabytes / ours:.0f}",
        ratio=f"{ratio:.1f}x",
    )


def check_equal(table, X, y):
    assert table.X.shape == X.shape
    assert np.array_equal(table.X.indptr, X.indptr)
    assert np.array_equal(table.X.indices, X.indices)
    assert np.array_equal(table.X.data, X.data)
    assert np.array_equal(table.y, y)


if __name__ == "__main__":
    main()
