"""Labels for the tokens of sentences; phrases where labels are IOB."""

from __future__ import annotations

import re
from itertools import pairwise

from . import rows
from .classify import codes, confusion_table, rates, rates_by_class
from .printing import percent, show_measures
from .registry import Kind
from .targets import Subject

_IOB = re.compile(r"O|[BI](-.*)?")
MEASURES = {
    "accuracy": "token accuracy",
    "sentence_accuracy": "sentence accuracy",
    "phrase_precision": "phrase precision",
    "phrase_recall": "phrase recall",
    "phrase_f1": "phrase F1",
}


# Train and info.


def _subject(examples, model) -> Subject:
    source, templates = examples.source, model.templates
    facts = {"classes": examples.labels, "format": source.kind}
    remark = ""
    if templates is not None:
        named = templates if isinstance(templates, str) else f"{len(templates)} of your own"
        place = source.label if source.kind == "conllu" else source.columns[source.label]
        facts |= {"templates": named, "label": place}
        remark = f"templates: {named}; label: {place}"
    return Subject(f"{len(examples.labels)} labels", facts, remark)


def _facts(saved) -> dict:
    """What it predicts, and what it looks at."""
    features, source = saved.header["features"], saved.header.get("source", {})
    return {
        "predicts": "labels of tokens",
        "classes": saved.model.classes_.tolist(),
        "features_from": features["from"],
        "templates": features.get("templates"),
        "hash_bits": features.get("hash_bits"),
        "order": saved.model.order,
        "format": source.get("kind"),
        "columns": source.get("columns"),
        "label": source.get("label"),
    }


# Predict.


def _cells(saved, X, scores, say=None):
    """A label for each token; with scores, by how much it beats the best sequence with another one."""
    model = saved.model
    labels = map(str, model.classes_[model.predict_codes(X).values].tolist())
    if not scores:
        return [[label] for label in labels]
    margins = (f"{margin:.6g}" for margins in model.predict_margins(X) for margin in margins.tolist())
    return list(zip(labels, margins, strict=True))


# Evaluate.


def _measure(saved, examples) -> dict:
    import numpy as np

    X, truth = examples.X, examples.y
    classes = saved.model.classes_.tolist()
    advice = "name the label's column with --label"
    y = codes(examples.path, truth, classes, f"label of {saved.path}", advice)
    predicted = saved.model.predict_codes(X)
    right = y == predicted.values
    confusion = confusion_table(y, predicted.values, len(classes))
    whole = np.logical_and.reduceat(right, X.offsets[:-1])
    phrases = _phrases(truth, saved.model.classes_[predicted.values], X.offsets, classes)
    whole_rates = phrases.pop(None, None)
    measures = {"accuracy": float(right.mean()), "sentence_accuracy": float(whole.mean())}
    if whole_rates is not None:
        measures |= {f"phrase_{name}": whole_rates[name] for name in ("precision", "recall", "f1")}
    return {
        "examples": len(X),
        "tokens": len(truth),
        "accuracy": measures["accuracy"],
        "measures": measures,
        "unknown_labels": int((y < 0).sum()),
        "classes": rates_by_class(classes, confusion),
        "phrases": [{"type": kind, **found} for kind, found in phrases.items()] if whole_rates else None,
        "confusion": confusion[: len(classes)].tolist(),
    }


def is_iob(labels) -> bool:
    """Are all labels O, B-type or I-type, and some not O?"""
    return all(isinstance(label, str) and _IOB.fullmatch(label) for label in labels) and set(labels) != {"O"}


def _phrases(truth, predicted, offsets, classes) -> dict:
    """{type: rates}, None being all types; {} where labels are not IOB."""
    from ..metrics import phrase_scores

    if not is_iob({*classes, *truth.tolist()}):
        return {}
    Y, Y_hat = (
        [labels[lo:hi] for lo, hi in pairwise(offsets)] for labels in (truth.tolist(), predicted.tolist())
    )
    return {
        kind: {
            **rates(score.n_predicted, score.n_true, score.n_correct),
            "phrases": score.n_true,
            "predicted": score.n_predicted,
        }
        for kind, score in phrase_scores(Y, Y_hat).items()
    }


def _show(facts):
    right = round(facts["accuracy"] * facts["tokens"])
    notes = {
        "accuracy": [f"{right:,} of {facts['tokens']:,} right"],
        "sentence_accuracy": [f"of {facts['examples']:,} sentences"],
    }
    show_measures(facts, notes, MEASURES, "label", "tokens")


# The report.


def _sections(saved, examples, facts):
    from ..viz.report import quality
    from ..viz.report.training import phrase_rates

    X, model = examples.X, saved.model
    remarks = [f"{facts['examples']:,} sentences, {facts['tokens']:,} tokens."]
    if facts["unknown_labels"]:
        remarks.append(f"{facts['unknown_labels']:,} tokens have a label that the model does not know.")
    phrases = phrase_rates("By type of phrase", "type", facts["phrases"]) if facts["phrases"] else ""
    pairs = [(MEASURES[name], percent(value)) for name, value in facts["measures"].items()]
    good = quality.quality(pairs, remarks, phrases, quality.confusion(facts, "tokens"))
    labels = model.classes_[model.predict_codes(X).values].tolist()
    cut = ([group[lo:hi] for lo, hi in pairwise(X.offsets.tolist())] for group in
            (words_of(X), examples.y.tolist(), labels))  # fmt: skip
    return good, quality.sentence_errors(*cut, model.predict_margins(X))


def words_of(X):
    """A text for each token: its word, or its number in the file where it is a row of numbers."""
    if not hasattr(X, "columns"):
        return [f"token {t + 1}" for t in range(int(X.offsets[-1]))]
    name = "w" if "w" in X.columns else next(iter(X.columns))
    return X.columns[name].strings().tolist()


def _looks(saved) -> list[str]:
    from ..viz.report.looks import transitions

    return [*rows.looks(saved), transitions(saved.model)]


KIND = Kind(
    _facts, "sentences", None, _cells, _measure, _show, _sections, _looks, command="tag", subject=_subject
)
