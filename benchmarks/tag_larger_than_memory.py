"""Memory of a tagger on packed text (CoNLL-2000): loaded, and with its features on disk, by the budget.

Each run has a process of its own; "peak" is the anonymous memory beyond what the process had before `fit`.

    python benchmarks/tag_larger_than_memory.py --data DIR --folder DIR
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from larger_than_memory import Peak, status
from problems import add_options, data_folder

from oneslack.data.bytes import in_words
from oneslack.formats import open_shards, pack, read_conll

COLUMNS = ["w", "pos", "tag"]
BUDGETS = (None, "1GB", "500MB")


def packed(args):
    """The folder with the training text, packed once."""
    folder = args.folder / "conll2000"
    if not folder.exists():
        text = data_folder(args.data) / "conll2000" / "train.txt.xz"
        pack([text], folder, kind="conll", columns=COLUMNS)
    return folder


def train(args):
    """In this process; what is there to know, as JSON."""
    import oneslack

    warm = read_conll(data_folder(args.data) / "conll2000" / "test.txt.xz", columns=COLUMNS)
    options = {"templates": "chunking", "C": args.C, "tol": args.tol, "n_jobs": args.jobs}
    solver = "auto" if args.memory is None else oneslack.Streaming(args.memory)
    oneslack.SequenceTagger(solver=solver, time_limit=1.0, **options).fit(warm, "tag")  # compiles
    del warm
    before, peak = status()["RssAnon"], Peak()
    peak.start()
    clock = time.perf_counter()
    shards = open_shards(packed(args))
    text = shards
    if args.memory is None:
        from oneslack.formats.packed_sentences import PackedSentences

        text = PackedSentences(shards, {name: name for name in COLUMNS}).in_memory()
    tagger = oneslack.SequenceTagger(solver=solver, **options).fit(text, "tag")
    return {
        "seconds": time.perf_counter() - clock, "gap": tagger.duality_gap_, "steps": tagger.n_iter_,
        "peak": peak.anonymous - before, "solver": tagger.result_.solver,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--folder", type=Path, required=True, help="for the packed text, which stays there")
    parser.add_argument("--C", type=float, default=0.1)
    parser.add_argument("--tol", type=float, default=0.01)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.train:
        return print(json.dumps(train(args)))
    args.folder.mkdir(parents=True, exist_ok=True)
    packed(args)
    print("| budget | solver | certified gap | steps | seconds | peak |\n|---|---|---|---|---|---|")
    for memory in BUDGETS:
        command = [sys.executable, __file__, *sys.argv[1:], "--train"]
        command += [] if memory is None else ["--memory", memory]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        print(f"| {memory or 'loaded'} | {found['solver']} | {100 * found['gap']:.2f} % | {found['steps']} "
              f"| {found['seconds']:.1f} | {in_words(found['peak'])} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
