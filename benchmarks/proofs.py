"""What a proof costs: seconds of training and of `check_proof`, and bytes that it adds to a model file.

Training ends at the tolerance that is given (tags, trees: 1 %), processor seconds, data in memory for both; a
first small fit compiles.  "bytes an example" counts what a file with the proof is longer than one without;
examples are sentences for tags and trees.

    python benchmarks/proofs.py --data DIR
    python benchmarks/proofs.py --data DIR --sets covtype1 mq2008
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np
import problems
import sets
from problems import data_folder

import oneslack


def two_classes(name, **options):
    return lambda args: (oneslack.LinearSVC(**options), *problems.load(name, args.data, args.cache), {})


def numbers(args):
    return oneslack.LinearSVR(), *sets.load("elevation", args, is_number=True), {}


def ranks(args):
    import rank

    train = rank.fold([rank.mq2008(data_folder(args.data), i) for i in range(1, 6)], 0)[0]
    return oneslack.RankSVM(0.01), train.X, train.y, {"groups": train.queries}


def measure(args):
    X, y = problems.load("reuters_moneyfx", args.data, args.cache)
    return oneslack.MetricSVC("f1", C=1.0), X, y, {}


def kernel(args):
    from oneslack.datasets import make_checkers

    X, y = make_checkers(10_000, random_state=0)
    return oneslack.KernelSVC(gamma=20.0, method="exact", fit_intercept=False), X, y, {}


def chunks(args):
    from oneslack.formats import read_conll

    file = data_folder(args.data) / "conll2000" / "train.txt.xz"
    sentences = read_conll(file, columns=["w", "pos", "tag"])
    return oneslack.SequenceTagger(C=0.1, tol=0.01, templates="chunking"), sentences, "tag", {}


def trees(args):
    from parsing import corpus

    return oneslack.GrammarParser(tol=0.01), corpus(data_folder(args.data), "craft", 15)[0], None, {}


SETS = {
    "covtype1": two_classes("covtype1"),
    "rcv1_like": two_classes("rcv1_like"),
    "covtype7": two_classes("covtype7", multi_class="crammer_singer"),
    "news20, one against the rest": two_classes("news20", multi_class="ovr"),
    "elevation (numbers)": numbers,
    "mq2008 (ranks)": ranks,
    "moneyfx (F1)": measure,
    "checkers, 10,000 (kernel)": kernel,
    "conll2000 (chunks)": chunks,
    "craft, up to 15 words (trees)": trees,
}


def timed(work, *arguments, **options):
    start = time.process_time()
    found = work(*arguments, **options)
    return time.process_time() - start, found


def count(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    problems.add_options(parser)
    parser.add_argument("--sets", nargs="+", default=[""], help="those whose names hold one of these words")
    args = parser.parse_args()
    print("| set | examples | training | verify | verify / training | proof | bytes an example | proven |")
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    for name, load in SETS.items():
        if not any(word in name for word in args.sets):
            continue
        model, X, y, more = load(args)
        given = (X,) if y is None else (X, y)
        model.fit(*given, **more)  # compiles
        training, _ = timed(model.fit, *given, **more)
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, part) for part in ("plain", "proven")]
            model.save(paths[0])
            model.save(paths[1], proof=True)
            sizes = [Path(path).stat().st_size for path in paths]
            checking, report = timed(oneslack.check_proof, paths[1], *given, **more)
        proof, n = sizes[1] - sizes[0], count(X)
        print(
            f"| {name} | {n:,} | {training:.2f} s | {checking:.2f} s | {checking / training:.1f} "
            f"| {proof / 1e6:.2f} MB | {proof / n:.1f} | {np.format_float_scientific(report.gap, 1)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
