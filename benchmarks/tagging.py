"""Chunking (CoNLL-2000) beside CRFsuite: the same features, the same tokens, one after the other.

CRFsuite trains by L-BFGS with c2 = 1 for 100 iterations, as its users do; SequenceTagger until the certified
relative gap is at most 1 %.  Reading and making features is not counted for either.  The last lines say
after how long oneslack first has CRFsuite's final accuracy on the test set.  Tagging speed is that of one
thread, from ready-made features.

    pip install python-crfsuite
    python benchmarks/tagging.py --data DIR
"""

import argparse
import os
import statistics
import tempfile
import time
from itertools import pairwise

from problems import add_options, data_folder

import oneslack
from oneslack.data.rows import Ragged
from oneslack.features import FeatureIndex
from oneslack.formats import read_conll
from oneslack.metrics import phrase_f1, token_accuracy

COLUMNS = ["w", "pos", "tag"]
TEMPLATES = "chunking"


class Corpus:
    """Both parts of the data, as features for either program."""

    def __init__(self, folder):
        train, test = (read_conll(folder / f"{part}.txt.xz", columns=COLUMNS) for part in ("train", "test"))
        self.train, self.index = train, FeatureIndex(TEMPLATES)
        self.X = Ragged(self.index.fit_transform(train), train.offsets)
        self.X_test = Ragged(self.index.transform(test), test.offsets)
        self.Y, self.Y_test = _tags(train), _tags(test)

    def items(self, X):
        """Lists of names of features, as CRFsuite takes them."""
        names = self.index.feature_names()
        matrix, offsets = X.values, X.offsets
        tokens = [
            [names[k] for k in matrix.indices[matrix.indptr[i] : matrix.indptr[i + 1]]]
            for i in range(matrix.shape[0])
        ]
        return [tokens[lo:hi] for lo, hi in pairwise(offsets)]


def _tags(sentences):
    tags, offsets = sentences.columns["tag"].strings().tolist(), sentences.offsets
    return [tags[lo:hi] for lo, hi in pairwise(offsets)]


class Crfsuite:
    """python-crfsuite."""

    def __init__(self, corpus):
        import pycrfsuite

        self.module, self.corpus = pycrfsuite, corpus
        self.items = [pycrfsuite.ItemSequence(items) for items in corpus.items(corpus.X)]
        self.items_test = [pycrfsuite.ItemSequence(items) for items in corpus.items(corpus.X_test)]
        self.path = os.path.join(tempfile.mkdtemp(), "crf.model")

    def train(self):
        trainer = self.module.Trainer("lbfgs", {"c1": 0.0, "c2": 1.0, "max_iterations": 100}, verbose=False)
        for items, tags in zip(self.items, self.corpus.Y, strict=True):
            trainer.append(items, tags)
        start = time.perf_counter()
        trainer.train(self.path)
        return time.perf_counter() - start

    def predict(self):
        tagger = self.module.Tagger()
        tagger.open(self.path)
        start = time.perf_counter()
        Y = [tagger.tag(items) for items in self.items_test]
        return Y, time.perf_counter() - start


class Ours:
    """SequenceTagger."""

    def __init__(self, corpus, C):
        self.corpus, self.C = corpus, C
        self.path = os.path.join(tempfile.mkdtemp(), "ours.model")

    def train(self, **options):
        self.tagger = oneslack.SequenceTagger(C=self.C, **{"tol": 0.01, **options})
        start = time.perf_counter()
        self.tagger.fit(self.corpus.X, self.corpus.Y)
        return time.perf_counter() - start

    def save(self):
        """A model file that knows its features by name, as CRFsuite's does."""
        tagger = oneslack.SequenceTagger(C=self.C, tol=0.01, templates=TEMPLATES)
        tagger.fit(self.corpus.train, "tag").save(self.path)

    def predict(self):
        self.tagger.n_jobs = 1
        start = time.perf_counter()
        Y = self.tagger.predict(self.corpus.X_test)
        return Y, time.perf_counter() - start

    def until(self, goal):
        """Seconds until the accuracy on the test set is first at least the goal."""
        for steps in range(1, 31):
            seconds = self.train(tol=1e-9, max_iter=steps)
            if token_accuracy(self.corpus.Y_test, self.predict()[0]) >= goal:
                return seconds, steps
        return float("nan"), steps


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_options(parser)
    parser.add_argument("--C", type=float, default=0.1)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    corpus = Corpus(data_folder(args.data) / "conll2000")
    programs = {"CRFsuite": Crfsuite(corpus), "oneslack": Ours(corpus, args.C)}
    programs["oneslack"].train(max_iter=1)
    programs["oneslack"].predict()
    seconds = {name: [] for name in programs}
    for _ in range(args.repeat):
        for name, program in programs.items():
            seconds[name].append(program.train())
    n_tokens = len(corpus.X_test.values.indptr) - 1
    print("| program | training | test accuracy | phrase F1 | tokens/s |")
    print("| --- | ---: | ---: | ---: | ---: |")
    reached = {}
    for name, program in programs.items():
        Y, tagging = program.predict()
        tagging = statistics.median([tagging, *(program.predict()[1] for _ in range(4))])
        reached[name] = token_accuracy(corpus.Y_test, Y)
        cells = [
            f"{statistics.median(seconds[name]):.1f} s", f"{100 * reached[name]:.2f} %",
            f"{100 * phrase_f1(corpus.Y_test, Y):.2f}", f"{n_tokens / tagging:,.0f}",
        ]  # fmt: skip
        print(f"| {name} | {' | '.join(cells)} |")
    ratio = statistics.median(seconds["oneslack"]) / statistics.median(seconds["CRFsuite"])
    gap = programs["oneslack"].tagger.duality_gap_
    print(f"\nours / CRFsuite: {ratio:.3f}; certified relative gap {gap:.4f}")
    until, steps = programs["oneslack"].until(reached["CRFsuite"])
    print(
        f"CRFsuite's test accuracy after {until:.2f} s ({steps} steps), "
        f"{until / statistics.median(seconds['CRFsuite']):.3f} of its time"
    )
    programs["oneslack"].save()
    sizes = {name: os.path.getsize(program.path) / 1e6 for name, program in programs.items()}
    print(f"model files: CRFsuite {sizes['CRFsuite']:.1f} MB, oneslack {sizes['oneslack']:.1f} MB")


if __name__ == "__main__":
    main()
