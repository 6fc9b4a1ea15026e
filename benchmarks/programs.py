"""The papers' programs by their own names, on their example data: bounds in their own units, and seconds.

reuters_acq is the first example of SVM-light and of SVM-perf; mq2008 is ranking data for SVM-rank; sector has
105 classes for SVM-multiclass; conll2000 is written as SVM-hmm's file, with the words and tags of a
window as features.  Each runs as a process of its own, so that the seconds are those of a script.

    python benchmarks/programs.py --data DIR
"""

import argparse
import bz2
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from problems import add_options, data_folder

from oneslack.features import FeatureIndex
from oneslack.formats import read_conll, write_svmlight

#: Program, options, file; the epsilon of each is the program's default.
RUNS = (
    ("svm_learn", "", "acq"),
    ("svm_perf_learn", "-c 20", "acq"),
    ("svm_perf_learn", "-c 20 -l 10", "acq"),
    ("svm_rank_learn", "-c 20", "mq2008"),
    ("svm_rank_learn", "-c 20 -l 2", "mq2008"),
    ("svm_multiclass_learn", "-c 5000", "sector"),
    ("svm_hmm_learn", "-c 890 -e 0.5", "conll2000"),
    ("train", "-s 1", "acq"),
    ("train", "-s 4", "sector"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    data = data_folder(parser.parse_args().data)
    with tempfile.TemporaryDirectory() as folder:
        files = written(data, Path(folder))
        print("| program | options | file | seconds | P | D | gap |\n|---|---|---|---|---|---|---|")
        for program, options, name in RUNS:
            primal, dual, seconds = run(program, options, files[name], Path(folder) / "model")
            gap = "" if dual is None else f"{(primal - dual) / primal:.2%}"
            low = "" if dual is None else f"{dual:.6g}"
            print(f"| {program} | `{options}` | {name} | {seconds:.1f} | {primal:.6g} | {low} | {gap} |")


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


def run(program, options, file, model):
    """(P, D or None, seconds) of a process."""
    call = [sys.executable, "-m", "oneslack.adapters.programs", program]
    clock = time.perf_counter()
    out = subprocess.run(
        [*call, *options.split(), file, model], check=True, capture_output=True, text=True
    ).stdout
    seconds = time.perf_counter() - clock
    found = {name: re.search(rf"{name}=([-\d.]+)", out) for name in ("pval", "dval")}
    if found["pval"]:
        return float(found["pval"][1]), float(found["dval"][1]), seconds
    values = [float(value) for value in re.findall(r"Objective value = ([-\d.]+)", out)]
    gaps = [float(gap) for gap in re.findall(r"at most ([-\d.e]+) too high", out)]
    return sum(values), sum(values) - sum(gaps), seconds


if __name__ == "__main__":
    main()
