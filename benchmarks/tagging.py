"""Tagging and chunking beside CRFsuite: the same features, the same tokens, one after the other.

Five corpora: chunks and part-of-speech tags of CoNLL-2000, tags of the English Web Treebank, named entities
of WNUT-17, and made-up text (big_tagging.py).  CRFsuite trains by L-BFGS for 100 iterations at most;
SequenceTagger until the certified relative gap is at most 1 %.  Each takes its constant (c2, C) from a grid
by accuracy on the last fifth of the training sentences, after training on the others; with --C and --c2 there
is no choice.  Then both train on everything with one thread, in turn; times are processor time, medians.
Reading and making features is not counted for either.

    pip install python-crfsuite
    python benchmarks/tagging.py --data DIR                    # an hour or two, most of it CRFsuite's
    python benchmarks/tagging.py --data DIR --corpora chunks --C 0.1 --c2 1 --details
"""

import argparse
import os
import statistics
import tempfile
import time
from functools import cached_property
from itertools import pairwise

import big_tagging
import numpy as np
from problems import add_options, data_folder

import oneslack
from oneslack.data.rows import Ragged
from oneslack.features import FeatureIndex
from oneslack.formats import read_conll, read_conllu
from oneslack.metrics import phrase_f1, token_accuracy

GRID = {"CRFsuite": (0.1, 0.3, 1.0, 3.0), "oneslack": (0.01, 0.03, 0.1, 0.3)}


class Part:
    """Sentences as features for either program: X a Ragged, Y lists of tags."""

    def __init__(self, X, tags, names):
        self.X, self.tags, self.names = X, tags, names
        self.Y = [tags[lo:hi] for lo, hi in pairwise(X.offsets)]

    @cached_property
    def items(self):
        """Lists of names of features, as CRFsuite takes them."""
        import pycrfsuite

        matrix = self.X.values
        tokens = [
            [self.names[k] for k in matrix.indices[lo:hi].tolist()] for lo, hi in pairwise(matrix.indptr)
        ]
        return [pycrfsuite.ItemSequence(tokens[lo:hi]) for lo, hi in pairwise(self.X.offsets)]

    def take(self, lo, hi):
        first, last = self.X.offsets[lo], self.X.offsets[hi]
        return Part(self.X[lo:hi], self.tags[first:last], self.names)


def from_files(read, templates):
    """(train, test, sentences of train)."""
    sentences = [read("train"), read("test")]
    index = FeatureIndex(templates)
    X = [index.fit_transform(sentences[0]), index.transform(sentences[1])]
    parts = [
        Part(Ragged(rows, each.offsets), each.columns["tag"].strings().tolist(), index.feature_names())
        for rows, each in zip(X, sentences, strict=True)
    ]
    return *parts, sentences[0]


def conll2000(data, columns, templates):
    folder = data / "conll2000"
    return from_files(lambda part: read_conll(folder / f"{part}.txt.xz", columns=columns), templates)


def ewt(data):
    folder, columns = data / "ud_english_ewt", {"w": "form", "tag": "upos"}
    return from_files(lambda part: read_conllu(folder / f"en_ewt-ud-{part}.conllu.xz", columns), "tagging")


def wnut(data):
    names = {"train": "wnut17train.conll.xz", "test": "emerging.test.annotated.xz"}
    return from_files(lambda part: read_conll(data / "wnut17" / names[part], columns=["w", "tag"]), "ner")


def made_up(data, n_train=3435, n_test=1000, n_features=49_000, n_labels=14):
    """A small corpus with hard labels."""
    X, labels, offsets = big_tagging.make_text(n_train + n_test, n_features, n_labels=n_labels)
    names = [f"f{k}" for k in range(n_features)]
    whole = Part(Ragged(X, offsets), [f"L{label}" for label in labels], names)
    return whole.take(0, n_train), whole.take(n_train, n_train + n_test), None


CORPORA = {
    "made up": made_up,
    "entities, WNUT-17": wnut,
    "tags, EWT": ewt,
    "tags, CoNLL-2000": lambda data: conll2000(data, ["w", "tag", "chunk"], "tagging"),
    "chunks, CoNLL-2000": lambda data: conll2000(data, ["w", "pos", "tag"], "chunking"),
}


class Crfsuite:
    """python-crfsuite."""

    def __init__(self, c2):
        self.c2 = c2
        self.path = os.path.join(tempfile.mkdtemp(), "crf.model")

    def train(self, part):
        import pycrfsuite

        options = {"c1": 0.0, "c2": self.c2, "max_iterations": 100}
        trainer = pycrfsuite.Trainer("lbfgs", options, verbose=False)
        for items, tags in zip(part.items, part.Y, strict=True):
            trainer.append(items, tags)
        start = time.process_time()
        trainer.train(self.path)
        return time.process_time() - start

    def predict(self, part):
        import pycrfsuite

        items, tagger = part.items, pycrfsuite.Tagger()
        tagger.open(self.path)
        start = time.process_time()
        Y = [tagger.tag(each) for each in items]
        return Y, time.process_time() - start


class Ours:
    """SequenceTagger."""

    def __init__(self, C):
        self.C = C
        self.path = os.path.join(tempfile.mkdtemp(), "ours.model")

    def train(self, part, **options):
        self.tagger = oneslack.SequenceTagger(C=self.C, n_jobs=1, **{"tol": 0.01, **options})
        start = time.process_time()
        self.tagger.fit(part.X, part.Y)
        return time.process_time() - start

    def save(self, sentences, templates):
        """A model file that knows its features by name, as CRFsuite's does."""
        tagger = oneslack.SequenceTagger(C=self.C, tol=0.01, templates=templates)
        tagger.fit(sentences, "tag").save(self.path)

    def predict(self, part):
        start = time.process_time()
        Y = self.tagger.predict(part.X)
        return Y, time.process_time() - start

    def until(self, train, test, goal):
        """Seconds until the accuracy on the test set is first at least the goal."""
        for steps in range(1, 31):
            seconds = self.train(train, tol=1e-9, max_iter=steps)
            if token_accuracy(test.Y, self.predict(test)[0]) >= goal:
                return seconds, steps
        return float("nan"), steps


PROGRAMS = {"CRFsuite": Crfsuite, "oneslack": Ours}


def choose(name, train, given):
    """A program with the constant that is best on the last fifth."""
    make = PROGRAMS[name]
    if given is not None:
        return make(given)
    n = len(train.X)
    known, held_out = train.take(0, n - n // 5), train.take(n - n // 5, n)
    reached = {}
    for constant in GRID[name]:
        program = make(constant)
        program.train(known)
        reached[constant] = token_accuracy(held_out.Y, program.predict(held_out)[0])
    return make(max(reached, key=reached.get))


def compare(name, corpus, args):
    """Of a corpus: ({program: seconds}, rows of the table, a line about it)."""
    train, test, sentences = corpus
    Ours(0.1).train(train.take(0, 50), tol=0.5)  # compile
    given = {"CRFsuite": args.c2, "oneslack": args.C}
    programs = {each: choose(each, train, given[each]) for each in PROGRAMS}
    seconds = {each: [] for each in programs}
    for _ in range(args.repeat):
        for each, program in programs.items():
            seconds[each].append(program.train(train))
    seconds = {each: statistics.median(times) for each, times in seconds.items()}
    reached, lines = {}, []
    for each, program in programs.items():
        Y, tagging = program.predict(test)
        reached[each] = token_accuracy(test.Y, Y)
        constant = f"c2 = {program.c2:g}" if each == "CRFsuite" else f"C = {program.C:g}"
        phrases = any(tag.startswith("B-") for tag in train.tags)
        cells = [
            name, f"{each}, {constant}", f"{seconds[each]:.1f} s", f"{100 * reached[each]:.2f} %",
            f"{100 * phrase_f1(test.Y, Y):.2f}" if phrases else "", f"{len(test.tags) / tagging:,.0f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    tagger = programs["oneslack"].tagger
    notes = (
        f"{name}: {ratio_of(seconds):.3f} of CRFsuite's time; certified gap {tagger.duality_gap_:.4f}, "
        f"{tagger.result_.n_iter} steps, {tagger.model_.n_params:,} weights"
    )
    if args.details:
        notes += "\n" + details(programs, train, test, sentences, reached["CRFsuite"])
    return seconds, lines, notes


def ratio_of(seconds):
    return seconds["oneslack"] / seconds["CRFsuite"]


def details(programs, train, test, sentences, goal):
    ours = programs["oneslack"]
    until, steps = ours.until(train, test, goal)
    text = f"  CRFsuite's test accuracy after {until:.2f} s ({steps} steps)"
    if sentences is None:
        return text
    ours.save(sentences, "chunking" if "pos" in sentences.columns else "tagging")
    sizes = [os.path.getsize(program.path) / 1e6 for program in programs.values()]
    return text + f"; model files: CRFsuite {sizes[0]:.1f} MB, oneslack {sizes[1]:.1f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--C", type=float, help="of oneslack; chosen where it is not given")
    parser.add_argument("--c2", type=float, help="of CRFsuite; chosen where it is not given")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--corpora", nargs="+", default=[""], help="those whose names hold one of these words"
    )
    parser.add_argument("--details", action="store_true", help="time to CRFsuite's accuracy; model files")
    args = parser.parse_args()
    names = [name for name in CORPORA if any(word in name for word in args.corpora)]
    compared = []
    for name in names:
        compared.append(compare(name, CORPORA[name](data_folder(args.data)), args))
        print(compared[-1][2], flush=True)
    print("\n| corpus | program | training | test accuracy | phrase F1 | tokens/s |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for _, lines, _ in sorted(compared, key=lambda each: -ratio_of(each[0])):
        print("\n".join(lines))
    print(f"\nworst ratio of training times: {np.max([ratio_of(seconds) for seconds, _, _ in compared]):.3f}")


if __name__ == "__main__":
    main()
