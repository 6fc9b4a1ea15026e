"""A small model of each kind, for the tests of reports."""

import json
import shlex
from pathlib import Path

import numpy as np

import oneslack
from oneslack.cli import main

TAGGED = (
    "He PRP B-NP\nsat VBD B-VP\n. . O\n\nShe PRP B-NP\nsaw VBD B-VP\nthe DT B-NP\ncat NN I-NP\n. . O\n\n"
    "A DT B-NP\ndog NN I-NP\nran VBD B-VP\n. . O\n"
)
TAGGED_TEST = "He PRP B-NP\nran VBD B-VP\nup RP B-PRT\n. . O\n\n<b>Say</b> VB B-VP\n! . O\n"
TREES = (
    "(S (NP (PRP I)) (VP (VBP see) (NP (NP (NNS stars)) (PP (OF of) (NP (NN gold))))))\n"
    "(S (NP (PRP we)) (VP (VBP see) (NP (NNS stars)) (PP (IN with) (NP (NNS eyes)))))\n"
    "(S (NP (NNS eyes)) (VP (VBP see)))\n"
)
#: Two trees of one sentence: one of them must be wrong.
OTHER_TREES = (
    "(S (NP (PRP we)) (VP (VBP see) (NP (NP (NNS stars)) (PP (IN with) (NP (NN gold))))))\n"
    "(S (NP (PRP we)) (VP (VBP see) (NP (NNS stars)) (PP (IN with) (NP (NN gold)))))\n"
)
#: Of each kind: how it is trained (None: in Python), the data, and words that the page must hold.
KINDS = {
    "binary": ("classify two.csv -C 0.1 --solver one_slack --class-weight balanced", "two.csv", ["ROC area"]),
    "metric": ("classify two.csv --metric precision_at_k --k 10", "two.csv", ["precision at k", "d & e"]),
    "multi": ("classify grades.npz --multi-class ovr --no-intercept", "grades.npz", ["feature 0"]),
    "regress": ("regress numbers.npz --tube 0.5", "numbers.npz", ["mean absolute error", "Largest errors"]),
    "rank": ("rank queries.npz -C 0.5", "queries.npz", ["Queries, the worst first", "pairs in order"]),
    "ordinal": ("ordinal grades.npz", "grades.npz", ["Where the score passes", "0 | 1"]),
    "tag": ("tag train.txt -C 1 --start --constraints iob", "test.txt", ["phrase F1", "By type of phrase"]),
    "parse": (
        "parse train.trees -C 1 --vertical 2 --horizontal -1",
        "test.trees",
        ["wrong phrases"],
    ),
    "graph": ("graph graphs.jsonl", "graphs.jsonl", ["Graphs with the most errors", "node accuracy"]),
    "segment": ("segment pictures", "pictures", ["Pictures with the most errors", "cell accuracy"]),
    "match": ("match sets.jsonl", "sets.jsonl", ["Examples with the most errors", "partners right"]),
    "kernel": (None, "grades.npz", ["support vectors", "rbf"]),
    "structural": (None, None, ["StructuralSVM"]),
}


def write_data(folder):
    """Data for each kind of model, and the models that no command trains."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).round(3)
    score = X @ [2.0, 1.0, 0.0, -1.0] + 0.5 * rng.normal(size=60)
    two = np.where(score > 0, "yes", "no <i>really</i>")
    lines = [",".join([*map(str, row), label]) for row, label in zip(X.tolist(), two)]
    (folder / "two.csv").write_text("\n".join(["a,b,c,d & e,kind", *lines]) + "\n")
    grade = np.clip(np.round(score), -1, 1).astype(int) + 1
    np.savez(folder / "grades.npz", X=X, y=grade)
    np.savez(folder / "numbers.npz", X=X, y=score)
    np.savez(folder / "queries.npz", X=X, y=grade, qid=np.repeat(np.arange(6), 10))
    (folder / "train.txt").write_text(TAGGED)
    (folder / "test.txt").write_text(TAGGED_TEST)
    (folder / "train.trees").write_text(TREES)
    (folder / "test.trees").write_text(OTHER_TREES)
    write_structures(folder, rng)
    oneslack.KernelSVC(C=10).fit(X, grade).save(folder / "kernel.model")
    oneslack.StructuralSVM(oneslack.Multiclass(4, 3)).fit(X, grade).save(folder / "structural.model")


def write_structures(folder, rng):
    """Graphs, pictures and matchings with errors that no model avoids."""
    (folder / "pictures").mkdir()
    graphs, sets = [], []
    for k in range(4):
        y = rng.choice(["in", "out", "<b>odd</b>"], 5).tolist()
        nodes = [[float(label == "in"), rng.normal()] for label in y]
        edges = [[0, 1], [1, 2], [2, 0], [3, 4]]
        graphs.append(json.dumps({"nodes": nodes, "edges": edges, "labels": y}))
        picture = rng.integers(0, 2, (6, 8))
        np.savez(folder / "pictures" / f"{k}.npz", x=picture + rng.normal(size=(6, 8)), y=picture)
        first = rng.normal(size=(2, 4, 2)).tolist()
        sets.append(json.dumps({"first": first[0], "second": first[1], "y": rng.permutation(4).tolist()}))
    (folder / "graphs.jsonl").write_text("\n".join(graphs) + "\n")
    (folder / "sets.jsonl").write_text("\n".join(sets) + "\n")


def train(name, folder):
    """The model of a kind as NAME.model in the folder, which must be the current one."""
    if KINDS[name][0] and not Path(folder, f"{name}.model").exists():
        assert main(["train", *shlex.split(KINDS[name][0]), "-o", f"{name}.model", "-q"]) == 0
