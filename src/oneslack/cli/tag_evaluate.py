"""`oneslack evaluate` with a tagger: tokens, sentences, labels, and phrases where labels are IOB."""

from __future__ import annotations

import re
from itertools import pairwise

from .output import Refusal
from .tag_model import read_sentences, reading_of

_IOB = re.compile(r"O|[BI](-.*)?")
MEASURES = {
    "accuracy": "token accuracy",
    "sentence_accuracy": "sentence accuracy",
    "phrase_precision": "phrase precision",
    "phrase_recall": "phrase recall",
    "phrase_f1": "phrase F1",
}


def tag_facts(saved, path, options) -> dict:
    """The facts of an evaluation, among them `measures`, by name."""
    import numpy as np

    from .measures import confusion_table, rates

    reading = reading_of(saved, path, options, need_labels=True)
    X, truth = read_sentences(path, reading, saved, options.zero_based)
    classes = saved.model.classes_.tolist()
    y = _codes(path, truth, classes, saved)
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
        "classes": [
            {"label": label, **rates(confusion[:, k], confusion[k], int(confusion[k, k]))}
            for k, label in enumerate(classes)
        ],
        "phrases": [{"type": kind, **found} for kind, found in phrases.items()] if whole_rates else None,
        "confusion": confusion[: len(classes)].tolist(),
    }


def _codes(path, truth, classes, saved):
    """The position of each label among the model's, or -1."""
    import numpy as np

    place = {label: k for k, label in enumerate(classes)}
    codes = np.array([place.get(label, -1) for label in truth.tolist()])
    if (codes < 0).all():
        raise Refusal(
            f"{path}: none of its labels, such as {truth.tolist()[0]!r}, is a label of {saved.path} "
            f"({', '.join(map(str, classes[:10]))}); name the label's column with --label."
        )
    return codes


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
    return {kind: _phrase_rates(score) for kind, score in phrase_scores(Y, Y_hat).items()}


def _phrase_rates(score) -> dict:
    both = score.n_true + score.n_predicted
    return {
        "precision": score.n_correct / score.n_predicted if score.n_predicted else None,
        "recall": score.n_correct / score.n_true if score.n_true else None,
        "f1": 2 * score.n_correct / both if both else None,
        "phrases": score.n_true,
        "predicted": score.n_predicted,
    }


def print_facts(facts):
    """The measures, then a table of the phrases and one of the labels."""
    from rich.console import Console

    from .evaluate import FEW, class_table, confusion_rows, percent, phrase_table

    console = Console(highlight=False, soft_wrap=True)
    notes = {
        "accuracy": f"  ({round(facts['accuracy'] * facts['tokens']):,} of {facts['tokens']:,} right)",
        "sentence_accuracy": f"  (of {facts['examples']:,} sentences)",
    }
    for name, value in facts["measures"].items():
        console.print(f"{MEASURES[name]} {percent(value)}{notes.get(name, '')}", markup=False)
    if facts["unknown_labels"]:
        console.print(f"{facts['unknown_labels']:,} tokens have a label that the model does not know")
    if facts["phrases"]:
        console.print(phrase_table(facts["phrases"]))
    console.print(class_table(facts["classes"], "label", "tokens"))
    if len(facts["classes"]) <= FEW:
        console.print(confusion_rows(facts))
