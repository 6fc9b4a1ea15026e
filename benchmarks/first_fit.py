"""What a new process pays: imports, compilation with an empty cache, loading with a filled one.

python benchmarks/first_fit.py --data DIR
"""

import argparse
import os
import subprocess
import sys
import tempfile

from problems import add_options, load

CHILD = """
import sys, time
start = time.perf_counter()
import numpy as np, scipy.sparse as sp
import sklearn.svm
after_sklearn = time.perf_counter()
import oneslack
oneslack.LinearSVC
after_import = time.perf_counter()
z = np.load(sys.argv[1])
X = sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]))
loaded = time.perf_counter()
model = oneslack.LinearSVC().fit(X, z["y"])
first = time.perf_counter()
oneslack.LinearSVC().fit(X, z["y"])
second = time.perf_counter()
print(after_sklearn - start, after_import - after_sklearn, first - loaded, second - first, first - start)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    import numpy as np

    X, y = load("a9a", args.data, args.cache)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a9a.npz")
        np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
        print("| numba cache | import sklearn.svm | import oneslack | first fit | second fit | all |")
        print("| --- | --- | --- | --- | --- | --- |")
        print(f"| empty | {row(path, os.path.join(folder, 'cache'))} |")
        rows = [row(path, os.path.join(folder, "cache")) for _ in range(args.repeat)]
        median = np.median([[float(cell.split()[0]) for cell in r.split(" | ")] for r in rows], axis=0)
        print(f"| filled | {' | '.join(f'{value:.2f} s' for value in median)} |")


def row(path, cache):
    env = {**os.environ, "NUMBA_CACHE_DIR": cache}
    run = subprocess.run(
        [sys.executable, "-c", CHILD, path], env=env, capture_output=True, text=True, check=True
    )
    return " | ".join(f"{float(value):.2f} s" for value in run.stdout.split())


if __name__ == "__main__":
    main()
