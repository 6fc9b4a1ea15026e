"""Segments with labels in sentences."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from ..errors import OneslackError
from . import tag
from .classify import rates
from .printing import percent, show_measures
from .targets import Subject


def _subject(examples, model) -> Subject:
    found = tag.KIND.subject(examples, model)
    labels = sorted({name.partition("-")[2] for name in map(str, examples.labels) if name != "O"})
    prices = f"missed {model.missed:g}, false {model.false_alarm:g}"
    remark = f"{found.remark}; coding: {model.coding}; prices: {prices}"
    facts = {**found.facts, "segments": labels, "coding": model.coding}
    return Subject(f"segments of {len(labels)} labels", facts, remark.removeprefix("; "))


def _facts(saved) -> dict:
    model = saved.model
    facts = {**tag.KIND.facts(saved), "predicts": "segments", "segments": model.labels_}
    return {**facts, "coding": model.coding, "missed": model.missed, "false_alarm": model.false_alarm}


def _cells(saved, X, scores, say=None):
    """A BIO tag for each token; with scores, by how much its own tag beats the best output with another."""
    tags = [[one] for sentence in saved.model.predict_tags(X) for one in sentence]
    if not scores:
        return tags
    margins = (f"{margin:.6g}" for margins in saved.model.predict_margins(X) for margin in margins.tolist())
    return [[*cells, margin] for cells, margin in zip(tags, margins, strict=True)]


def _both(saved, examples):
    """(truth, predicted): BIO tags of the sentences."""
    from ..estimators._shared.segment_tags import segments_of, tags_of

    flat = [str(text) for text in examples.y.tolist()]
    sentences = [flat[lo:hi] for lo, hi in pairwise(examples.X.offsets.tolist())]
    truth = []
    for i, tags in enumerate(sentences):
        try:
            truth.append(tags_of(segments_of(tags), len(tags), "bio"))
        except ValueError as error:
            raise OneslackError(
                f"{examples.path}: sentence {i + 1}, {error}; name the label's column with --label."
            ) from error
    return truth, saved.model.predict_tags(examples.X)


def _measure(saved, examples) -> dict:
    from ..metrics import phrase_scores, token_accuracy

    truth, predicted = _both(saved, examples)
    scores = phrase_scores(truth, predicted)
    whole = scores.pop(None)
    right = sum(y == z for y, z in zip(truth, predicted, strict=True))
    return {
        "examples": len(truth),
        "tokens": len(examples.y),
        "measures": {
            "phrase_f1": whole.f1,
            "phrase_precision": whole.precision,
            "phrase_recall": whole.recall,
            "sentence_accuracy": right / len(truth),
            "accuracy": token_accuracy(truth, predicted),
        },
        "phrases": [
            {
                "type": kind,
                **rates(one.n_predicted, one.n_true, one.n_correct),
                "phrases": one.n_true,
                "predicted": one.n_predicted,
            }
            for kind, one in scores.items()
        ],
    }


def _show(facts):
    show_measures(facts, {"phrase_f1": [f"of {facts['examples']:,} sentences"]}, tag.MEASURES)


def _sections(saved, examples, facts):
    from ..viz.report import quality
    from ..viz.report.training import phrase_rates

    truth, predicted = _both(saved, examples)
    pairs = [(tag.MEASURES[name], percent(value)) for name, value in facts["measures"].items()]
    remarks = [f"{facts['examples']:,} sentences, {facts['tokens']:,} tokens."]
    good = quality.quality(pairs, remarks, phrase_rates("By label", "label", facts["phrases"]))
    words, offsets = tag.words_of(examples.X), examples.X.offsets.tolist()
    sentences = [words[lo:hi] for lo, hi in pairwise(offsets)]
    return good, quality.sentence_errors(sentences, truth, predicted, saved.model.predict_margins(examples.X))


KIND = replace(
    tag.KIND, facts=_facts, cells=_cells, measure=_measure, show=_show, sections=_sections,
    command="segments", subject=_subject,
)  # fmt: skip
