"""Segments of WNUT-17 (named entities) and CoNLL-2000 (chunks): SequenceSegmenter beside SequenceTagger.

python benchmarks/segments.py --data FOLDER [--sets wnut17,conll2000]

Both get the same templates.  C, and for the segmenter its coding and the price of a missed token, are chosen
by F1 on sentences that are held out: WNUT's own development set, the last tenth of CoNLL-2000's training
sentences.
"""

from __future__ import annotations

import argparse
import os
import time

import oneslack
from oneslack.estimators._shared.segment_tags import segments_of
from oneslack.estimators.sequence_segmenter import segment_score, segments_given
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", default=os.environ.get("ONESLACK_DATA"))
    parser.add_argument("--sets", default="wnut17,conll2000")
    given = parser.parse_args()
    if given.data is None:
        parser.error("name the folder of the data with --data or ONESLACK_DATA")
    for name in given.sets.split(","):
        compare(name, given.data)


if __name__ == "__main__":
    main()
