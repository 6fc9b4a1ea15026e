"""Segments of WNUT-17 (named entities) and CoNLL-2000 (chunks): SequenceSegmenter beside SequenceTagger.

python benchmarks/segments.py --data FOLDER [--sets wnut17,conll2000] [--dlib]

Both get the same templates.  C, and for the segmenter its coding and the price of a missed token, are chosen
by F1 on sentences that are held out: WNUT's own development set, the last tenth of CoNLL-2000's training
sentences.

With --dlib, dlib's own sequence segmenter beside ours on the same features. It knows segments without a
label, so these are dropped for both; its C counts the mean over sentences, ours the sum.  Needs `import dlib`
(the package dlib is built on installation; tools/python/src/sequence_segmenter.cpp of its sources, with
basic.cpp and dlib/all/source.cpp, is all that is used here).
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import pairwise

import oneslack
from oneslack.estimators._shared.segment_tags import segments_of
from oneslack.estimators.sequence_segmenter import segment_score, segments_given
from oneslack.features import FeatureIndex
from oneslack.formats import Sentences, read_conll

#: Training, held out, test; columns; templates; what is tried.
SETS = {
    "wnut17": (
        ("wnut17train.conll.xz", "emerging.dev.conll.xz", "emerging.test.annotated.xz"),
        ["w", "y"], "ner", (0.1, 1.0), (1.0, 2.0, 4.0),
    ),
    "conll2000": (
        ("train.txt.xz", None, "test.txt.xz"), ["w", "pos", "y"], "chunking", (0.1,), (1.0,),
    ),
}  # fmt: skip


def tagger(templates, C):
    return oneslack.SequenceTagger(C=C, templates=templates, constraints="iob")


def segmenter(templates, C, coding, missed):
    return oneslack.SequenceSegmenter(C=C, templates=templates, coding=coding, missed=missed)


def score(model, X):
    """Precision, recall and F1 of segments."""
    found = model.predict(X)
    if not isinstance(model, oneslack.SequenceSegmenter):
        found = [segments_of(tags) for tags in found]
    return segment_score(segments_given(X, "y")[0], found)


def part(X, first, stop):
    """Some of the sentences."""
    rows = [X.sentence(i) for i in range(first, stop)]
    return Sentences.from_lists(
        **{name: [[token[k] for token in row] for row in rows] for k, name in enumerate(X.columns)}
    )


def compare(name, folder):
    files, columns, templates, Cs, prices = SETS[name]
    train, held, test = (
        read_conll(os.path.join(folder, name, file), columns=columns) if file else None for file in files
    )
    if held is None:
        cut = len(train) * 9 // 10
        train, held, whole = part(train, 0, cut), part(train, cut, len(train)), train
    else:
        whole = train
    ways = {
        "SequenceTagger": [(tagger, (C,)) for C in Cs],
        "SequenceSegmenter": [
            (segmenter, (C, coding, missed)) for C in Cs for coding in ("bio", "bilou") for missed in prices
        ],
    }
    for way, choices in ways.items():
        tried = {}
        for make, settings in choices:
            tried[make, settings] = score(make(templates, *settings).fit(train, "y"), held).f1
            print(f"  {name} {way} {settings}: held out F1 {tried[make, settings]:.4f}", flush=True)
        make, settings = max(tried, key=tried.get)
        start = time.process_time()
        model = make(templates, *settings).fit(whole, "y")
        seconds, found = time.process_time() - start, score(model, test)
        print(
            f"{name:10} {way:18} {settings!s:20} precision {found.precision:.4f} recall {found.recall:.4f} "
            f"F1 {found.f1:.4f}  gap {model.duality_gap_:.0e}  {seconds:.1f} s CPU",
            flush=True,
        )


def beside_dlib(name, folder, n_train, Cs=(0.1, 1.0)):
    """Segments without labels, by dlib and by ours."""
    import dlib

    files, columns, templates, *_ = SETS[name]
    train, held, test = (
        read_conll(os.path.join(folder, name, file), columns=columns) if file else None for file in files
    )
    train = part(train, 0, min(n_train, len(train)))
    test = test if held is None else held
    index = FeatureIndex(templates, min_count=2)
    X = {"train": matrices(index.fit_transform(train), train), "test": matrices(index.transform(test), test)}
    Y = {"train": unlabelled(train), "test": unlabelled(test)}
    print(f"{name}: {len(train):,} sentences, {index.fit_transform(train).shape[1]:,} features")
    for C in Cs:
        start = time.process_time()
        ours = oneslack.SequenceSegmenter(C=C, n_jobs=1).fit(X["train"], Y["train"])
        seconds, found = time.process_time() - start, segment_score(Y["test"], ours.predict(X["test"]))
        print(
            f"  SequenceSegmenter C={C}: F1 {found.f1:.4f}, {seconds:.1f} s CPU, gap {ours.duality_gap_:.1e}",
            flush=True,
        )
        params = dlib.segmenter_params()
        params.use_BIO_model, params.use_high_order_features, params.window_size = False, False, 1
        params.num_threads, params.C = 1, C * len(train)
        samples, segments = dlib.sparse_vectorss(), dlib.rangess()
        for x, y in zip(X["train"], Y["train"]):
            samples.append(of_dlib(dlib, x))
            spans = dlib.ranges()
            for _, first, end in y:
                spans.append(dlib.range(first, end))
            segments.append(spans)
        start = time.process_time()
        theirs = dlib.train_sequence_segmenter(samples, segments, params)
        seconds = time.process_time() - start
        guesses = [[("x", s.begin, s.end) for s in theirs(of_dlib(dlib, x))] for x in X["test"]]
        found = segment_score(Y["test"], guesses)
        print(f"  dlib C={C} n: F1 {found.f1:.4f}, {seconds:.1f} s CPU", flush=True)


def matrices(rows, sentences):
    bounds = sentences.offsets
    return [rows[lo:hi] for lo, hi in pairwise(bounds)]


def unlabelled(sentences):
    return [[("x", first, end) for _, first, end in one] for one in segments_given(sentences, "y")[0]]


def of_dlib(dlib, rows):
    """A sentence as dlib takes it: a sparse vector a token."""
    sentence = dlib.sparse_vectors()
    for k in range(rows.shape[0]):
        vector = dlib.sparse_vector()
        for at in range(rows.indptr[k], rows.indptr[k + 1]):
            vector.append(dlib.pair(int(rows.indices[at]), float(rows.data[at])))
        sentence.append(vector)
    return sentence


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("ONESLACK_DATA"))
    parser.add_argument("--sets", default="wnut17,conll2000")
    parser.add_argument("--dlib", action="store_true", help="beside dlib instead, without labels")
    parser.add_argument("--sentences", type=int, default=2000, help="for training, with --dlib")
    given = parser.parse_args()
    if given.data is None:
        parser.error("name the folder of the data with --data or ONESLACK_DATA")
    for name in given.sets.split(","):
        if given.dlib:
            beside_dlib(name, given.data, given.sentences)
        else:
            compare(name, given.data)


if __name__ == "__main__":
    main()
