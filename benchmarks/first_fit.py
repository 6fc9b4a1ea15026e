"""What a new process pays: imports, compilation with an empty cache, loading with a filled one.

first     LinearSVC on a9a (the default)
compiled  of several trainings, with an empty cache each: what compilation takes, by the clock and by the
          processor, what the training itself says that it took, and the loops that take longest

python benchmarks/first_fit.py --data DIR
python benchmarks/first_fit.py compiled --data DIR [--kinds "train tag" ...] [--loops 5]
"""

import argparse
import json
import lzma
import os
import subprocess
import sys
import tempfile

import numpy as np
from problems import add_options, data_folder, load

FIRST = """
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

#: Listens to numba itself; a loop is told without those that are compiled within it.
COMPILED = """
import json, sys, time
import numpy as np
from numba.core import event
loops, open_ones, total = {}, [], np.zeros(2)
def clocks():
    return np.array([time.perf_counter(), time.process_time()])
class Listener(event.Listener):
    def on_start(self, event):
        open_ones.append([clocks(), np.zeros(2)])
    def on_end(self, event):
        begin, within = open_ones.pop()
        spent = clocks() - begin
        function = event.data["dispatcher"].py_func
        name = function.__module__.split(".")[-1] + "." + function.__qualname__.split(".")[-1]
        loops[name] = loops.get(name, 0.0) + float((spent - within)[1])
        if open_ones:
            open_ones[-1][1] += spent
        else:
            total[:] += spent
event.register("numba:compile", Listener())
import oneslack
TRAINING
print(json.dumps({"wall": total[0], "cpu": total[1], "seconds": seconds, "loops": loops}))
"""
COMMAND = """
from oneslack.cli import main
from oneslack.cli.model_store import load
assert main(["train", KIND, sys.argv[1], "-o", sys.argv[2], "--quiet", *OPTIONS]) == 0
seconds = load(sys.argv[2]).header["training"]["seconds"]
"""
MADE_UP = """
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
y = X[:, 0] + 0.3 * rng.normal(size=200) > 0
seconds = oneslack.FIT.result_.seconds
"""
#: From a name to the file of data that it needs, and the training.
KINDS = {
    "LinearSVC, a9a": (
        "a9a.npz",
        """
import scipy.sparse as sp
z = np.load(sys.argv[1])
X = sp.csr_matrix((z["data"], z["indices"], z["indptr"]), shape=tuple(z["shape"]))
seconds = oneslack.LinearSVC().fit(X, z["y"]).result_.seconds
""",
    ),
    "LinearSVC, 200 × 5": (None, MADE_UP.replace("FIT", "LinearSVC().fit(X, y)")),
    "KernelSVC, 200 × 5": (None, MADE_UP.replace("FIT", "KernelSVC().fit(X, y)")),
    "RankSVM, 200 × 5": (
        None,
        MADE_UP.replace("FIT", "RankSVM().fit(X, 1.0 * y, groups=np.repeat(np.arange(20), 10))"),
    ),
    "train tag": ("sentences.txt", COMMAND.replace("KIND", "'tag'").replace("OPTIONS", "[]")),
    "train parse": (
        "trees.txt",
        COMMAND.replace("KIND", "'parse'").replace("OPTIONS", "['--max-words', '15', '--tol', '0.1']"),
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="?", default="first", choices=["first", "compiled"])
    add_options(parser)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--loops", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.what == "first":
            first(folder, args)
        else:
            compiled(folder, args)


def first(folder, args):
    path = write_a9a(folder, args)
    print("| numba cache | import sklearn.svm | import oneslack | first fit | second fit | all |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, repeat in (("empty", 1), ("filled", args.repeat)):
        runs = [child(FIRST, os.path.join(folder, "cache"), path) for _ in range(repeat)]
        median = np.median([[float(value) for value in run.split()] for run in runs], axis=0)
        print(f"| {name} | {' | '.join(f'{value:.2f} s' for value in median)} |")


def compiled(folder, args):
    writers = {"a9a.npz": write_a9a, "sentences.txt": write_sentences, "trees.txt": write_trees}
    print("| training | compilation | of the processor | training | loops that take longest |")
    print("| --- | --- | --- | --- | --- |")
    for number, kind in enumerate(args.kinds):
        needs, training = KINDS[kind]
        files = [writers[needs](folder, args), os.path.join(folder, "a.model")] if needs else []
        cache = os.path.join(folder, f"cache{number}")
        found = json.loads(child(COMPILED.replace("TRAINING", training), cache, *files))
        longest = sorted(found["loops"].items(), key=lambda item: -item[1])[: args.loops]
        loops = ", ".join(f"{name} {seconds:.2f}" for name, seconds in longest)
        print(
            f"| {kind} | {found['wall']:.2f} s | {found['cpu']:.2f} s | {found['seconds']:.2f} s | {loops} |",
            flush=True,
        )


def write_a9a(folder, args):
    X, y = load("a9a", args.data, args.cache)
    path = os.path.join(folder, "a9a.npz")
    np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    return path


def write_sentences(folder, args):
    """The first 500 sentences of CoNLL-2000."""
    return _first(folder, args, "conll2000/train.txt.xz", "sentences.txt", "\n\n", 500)


def write_trees(folder, args):
    """The first 300 trees of the Penn treebank's sample."""
    return _first(folder, args, "ptb_sample/wsj_0001-0199.trees.xz", "trees.txt", "\n", 300)


def _first(folder, args, source, name, end, count):
    path = os.path.join(folder, name)
    with lzma.open(data_folder(args.data) / source, "rt") as file, open(path, "w") as out:
        out.write(end.join(file.read().split(end)[:count]) + end)
    return path


def child(code, cache, *arguments):
    """What a new process with that cache prints."""
    env = {**os.environ, "NUMBA_CACHE_DIR": cache}
    run = subprocess.run([sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return run.stdout


if __name__ == "__main__":
    main()
