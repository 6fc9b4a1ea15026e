"""Tagged text to train on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from .._jit.clock import now
from .data import OwnExamples, counting_from_one
from .output import Refusal
from .packed import A_TEMPLATE, A_TOKEN, budget_of
from .tag_columns import LABEL, TagSource


@dataclass(frozen=True)
class TaggedExamples(OwnExamples):
    """Sentences with their labels."""

    labels: list
    n_tokens: int
    called = "sentences"

    def size(self, model) -> dict:
        return {"examples": len(self.X), "tokens": self.n_tokens, "features": model.model_.n_features}

    def words(self, facts) -> str:
        return f"{self.title}, {facts['tokens']:,} tokens, {facts['features']:,} features"


def read_tagged(columns, label, templates, unlabelled=None, memory=None, on_disk=True) -> TaggedExamples:
    """A file to train on, of which the templates' columns and the labels are read; labels that are
    `unlabelled` are not known.  A packed folder that is too large for `memory` is used where it lies, if it
    may stay `on_disk` and all labels are known."""
    clock = now()

    def examples(X, y, labels):
        seconds = now() - clock
        return TaggedExamples(columns.path, X, y, columns.source(label), seconds, labels, X.n_tokens)

    chosen = {**columns.of_templates(templates, label), LABEL: label}
    if columns.kind == "packed" and unlabelled is None and on_disk:
        X = columns.packed(chosen)
        if X.n_tokens * (len(templates) * A_TEMPLATE + A_TOKEN) > budget_of(memory):
            return examples(X, LABEL, sorted(set().union(*X.texts(LABEL))))
    X = columns.read(chosen)
    found = X.columns[LABEL]
    labels, y = sorted(set(found.values) - {unlabelled}), LABEL
    if len(labels) < len(found.values):
        flat = [None if text == unlabelled else text for text in found.strings().tolist()]
        y = [flat[lo:hi] for lo, hi in pairwise(X.offsets)]
    return examples(X, y, labels)


def read_tagged_numbers(path) -> TaggedExamples:
    """An SVM-hmm file to train on."""
    from ..data.rows import Ragged
    from ..formats import read_svmhmm

    clock = now()
    rows, zero_based = counting_from_one(lambda zero_based: read_svmhmm(path, zero_based=zero_based))
    if rows.X.shape[1] == 0:
        raise Refusal(f"{path}: its tokens have no features; there is nothing to learn from.")
    tags, source = rows.tags, TagSource("svmhmm", zero_based=zero_based)
    y = [tags[lo:hi].tolist() for lo, hi in pairwise(rows.offsets)]
    labels, seconds = sorted(set(tags.tolist())), now() - clock
    return TaggedExamples(path, Ragged(rows.X, rows.offsets), y, source, seconds, labels, len(tags))
