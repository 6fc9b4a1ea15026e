"""The papers' programs by their own names, on their example data: bounds in their own units, and seconds.

reuters_acq is the first example of SVM-light and of SVM-perf; mq2008 is ranking data for SVM-rank; sector has
105 classes for SVM-multiclass; conll2000 is written as SVM-hmm's file, with the words and tags of a
window as features.  Covertype, with `--large`, is what the papers of 2006 and 2009 print times for.  Each
runs as a process of its own: the processor seconds are a script's, with Python's start and the reading.

The optimum of the program's problem lies between P and D; "allowed" is what its epsilon lets P be above it.
`--check` computes the optimum of the same C with LIBLINEAR, where LIBLINEAR has the problem.

    python benchmarks/programs.py --data DIR [--large | --check] [--only svm_rank_learn ...]
"""

import argparse
import bz2
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from problems import add_options, covtype7, data_folder

from oneslack.features import FeatureIndex
from oneslack.formats import read_conll, read_svmlight, write_svmlight

#: Program, options, file, C and the program's epsilon (its default), the CPU-seconds that its paper prints.
RUNS = (
    ("svm_learn", "", "acq", 2000, 0.001, None),
    ("svm_perf_learn", "-c 20", "acq", 20, 0.1, None),
    ("svm_perf_learn", "-c 20 -l 10", "acq", 20, 0.1, None),
    ("svm_rank_learn", "-c 20", "mq2008", 20, 0.001, None),
    ("svm_rank_learn", "-c 20 -l 2", "mq2008", 20, 0.001, None),
    ("svm_multiclass_learn", "-c 5000", "sector", 5000, 0.1, None),
    ("svm_hmm_learn", "-c 890 -e 0.5", "conll2000", 890, 0.5, None),
    ("train", "-s 1", "acq", None, 0.1, None),
    ("train", "-s 4", "sector", None, 0.1, None),
)
#: Joachims (2006), table 1, C = 10^6 of losses as shares; Joachims, Finley & Yu (2009), table 1: 1.05 hours.
LARGE = (
    ("svm_perf_learn", "-c 10000", "covtype1", 1e4, 0.1, 171.7),
    ("svm_perf_learn", "-c 10000 -l 10", "covtype1", 1e4, 0.1, 1109.1),
    ("svm_multiclass_learn", "-c 10000000", "covtype7", 1e7, 0.1, 3780.0),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--large", action="store_true", help="Covertype alone: minutes")
    parser.add_argument("--check", action="store_true", help="optima by LIBLINEAR")
    parser.add_argument("--only", nargs="+", help="names of programs")
    given = parser.parse_args()
    data, runs = data_folder(given.data), LARGE if given.large else RUNS
    with tempfile.TemporaryDirectory() as folder:
        files = (covertype if given.large else written)(data, Path(folder))
        if given.check:
            check(files)
            return
        print("| program | options | file | CPU-seconds | its paper's | P | D | P - D | allowed |")
        print("|---|---|---|---|---|---|---|---|---|")
        for program, options, name, C, epsilon, known in runs:
            if given.only and program not in given.only:
                continue
            primal, dual, seconds = run(program, options, files[name], Path(folder) / "model")
            allowed = primal * epsilon / 100 if C is None else C * epsilon
            bounds = f"{primal:.7g} | {dual:.7g} | {primal - dual:.3g} | {allowed:.3g}"
            row = f"| `{program}` | `{options}` | {name} | {seconds:.1f} | {known or ''} | {bounds} |"
            print(row, flush=True)


def covertype(data, folder):
    """Its first class and all seven, as text."""
    X, y = covtype7(data)
    files = {name: folder / name for name in ("covtype1", "covtype7")}
    write_svmlight(files["covtype7"], X, y + 1)
    write_svmlight(files["covtype1"], X, np.where(y == 0, 1, -1))
    return files


def written(data, folder):
    """Plain text files, by name."""
    sources = {
        "acq": data / "reuters_acq" / "acq_train.svm.bz2",
        "mq2008": data / "mq2008" / "S1.txt.bz2",
        "sector": data / "sector" / "sector.scale.bz2",
    }
    files = {name: folder / name for name in (*sources, "conll2000")}
    for name, source in sources.items():
        files[name].write_bytes(bz2.decompress(source.read_bytes()))
    sentences = read_conll(data / "conll2000" / "train.txt.xz", columns=["w", "pos", "tag"])
    tags, lengths = sentences.columns["tag"].codes + 1, np.diff(sentences.offsets)
    rows = FeatureIndex("chunking").fit_transform(sentences)
    write_svmlight(files["conll2000"], rows, tags, np.repeat(np.arange(1, len(lengths) + 1), lengths))
    return files


def check(files):
    """Optima by LIBLINEAR, to a tolerance far below the programs', in the programs' units."""
    acq, sector = (read_svmlight(files[name], zero_based=False) for name in ("acq", "sector"))
    found = liblinear(acq.X, acq.y, 100 * 20 / len(acq.y), "-s 3 -B 1")
    print(f"svm_perf_learn -c 20 acq: {found:.7g}")
    n = len(sector.y)
    print(f"svm_multiclass_learn -c 5000 sector: {1e4 * liblinear(sector.X, sector.y, 50 / n, '-s 4'):.7g}")
    ranks = read_svmlight(files["mq2008"], zero_based=False, qid=True)
    first, second = pairs(ranks.y, ranks.qid)
    signs = np.where(np.arange(len(first)) % 2, 1.0, -1.0)  # LIBLINEAR wants two classes
    rows = sp.csr_matrix(ranks.X[first] - ranks.X[second]).multiply(signs[:, None]).tocsr()
    found = liblinear(rows, signs, 20 / len(np.unique(ranks.qid)), "-s 3")
    print(f"svm_rank_learn -c 20 mq2008: {found:.7g}")


def pairs(y, qid):
    """Rows (i, j) of a query with y_i > y_j."""
    both = []
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        i, j = np.nonzero(y[rows][:, None] > y[rows])
        both.append((rows[i], rows[j]))
    return tuple(np.concatenate(part) for part in zip(*both, strict=True))


def liblinear(X, y, C, options):
    """1/2 |w|^2 + C sum of hinges at its weights."""
    from liblinear.liblinearutil import train

    model = train(y, X, f"{options} -c {C:.17g} -e 1e-6 -q")
    d = X.shape[1]
    rows = [model.get_decfun(k) for k in range(model.nr_class if "-s 4" in options else 1)]
    W, b = np.array([w[:d] for w, _ in rows]), np.array([bias for _, bias in rows])
    scores = X @ W.T + b
    if len(W) == 1:
        hinges = np.maximum(0, 1 - np.where(y == model.get_labels()[0], 1, -1) * scores[:, 0])
    else:
        own = (y[:, None] == np.array(model.get_labels())).argmax(axis=1)
        margins = 1 + scores - scores[np.arange(len(y)), own][:, None]
        margins[np.arange(len(y)), own] = 0
        hinges = margins.max(axis=1)
    return 0.5 * float((W**2).sum() + (b**2).sum()) + C * hinges.sum()


def run(program, options, file, model):
    """(P, D, processor seconds) of a process."""
    call = [sys.executable, "-m", "oneslack.adapters.programs", program]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(
        [*call, *options.split(), file, model], check=True, capture_output=True, text=True
    ).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    found = {name: re.search(rf"{name}=([-\d.]+)", out) for name in ("pval", "dval")}
    if found["pval"]:
        return float(found["pval"][1]), float(found["dval"][1]), seconds
    values = [float(value) for value in re.findall(r"Objective value = ([-\d.]+)", out)]
    gaps = [float(gap) for gap in re.findall(r"at most (\S+) too high", out)]
    return sum(values), sum(values) - sum(gaps), seconds


if __name__ == "__main__":
    main()
