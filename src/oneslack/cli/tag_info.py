"""What a file of tagged text holds, for `oneslack info`."""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise

from ..kinds.tag import is_iob
from .tag_columns import Columns, kind_of

#: Values of a column that are shown.
SHOWN = 3


def tagged_facts(path, wanted, columns, label) -> dict:
    """Sentences, tokens, columns and labels of a file."""
    from ..formats.registry import FORMATS

    kind = kind_of(path, wanted) or "conll"
    if kind == "svmhmm":
        return _number_facts(path)
    sentences, place = _read(path, kind, columns, label)
    labels = sentences.columns[place].strings().tolist() if place is not None else None
    return {
        "file": path,
        "holds": f"tagged text ({FORMATS[kind].title})",
        **_size(sentences.offsets),
        "columns": [_column(name, column) for name, column in sentences.columns.items()],
        "label": place,
        "labels": _counts(labels),
        "phrases": _phrases(labels, sentences.offsets),
        "bytes": os.path.getsize(path),
    }


def _read(path, kind, columns, label):
    """(Sentences of all columns but the numbers of CoNLL-U, name of the label's)."""
    columns = Columns.of(path, kind, None if kind == "conllu" else columns)
    shown = columns.names[1:] if columns.is_conllu else columns.names
    return columns.read({name: name for name in shown}), columns.label(label) if len(shown) > 1 else None


def _number_facts(path) -> dict:
    from ..formats import read_svmhmm

    rows = read_svmhmm(path)
    return {
        "file": path,
        "holds": "tagged numbers (SVM-hmm)",
        **_size(rows.offsets),
        "features": rows.X.shape[1],
        "labels": _counts(rows.tags.tolist()),
        "bytes": os.path.getsize(path),
    }


def _size(offsets) -> dict:
    import numpy as np

    lengths = np.diff(offsets)
    return {
        "sentences": len(lengths),
        "tokens": int(offsets[-1]),
        "longest_sentence": int(lengths.max()),
    }


def _column(name, column) -> str:
    shown = ", ".join(column.values[:SHOWN])
    return (
        f"{name} ({len(column.values):,} different: {shown}{', ...' if len(column.values) > SHOWN else ''})"
    )


def _counts(labels):
    if labels is None:
        return None
    counts = Counter(labels)
    return {"classes": len(counts), "counts": {str(label): n for label, n in counts.most_common()}}


def _phrases(labels, offsets):
    """How many phrases of which type, where labels are IOB."""
    from ..metrics import phrases

    if labels is None or not is_iob(set(labels)):
        return None
    counts = Counter(kind for lo, hi in pairwise(offsets) for kind, _, _ in phrases(labels[lo:hi]))
    return {"classes": len(counts), "counts": dict(counts.most_common())}
