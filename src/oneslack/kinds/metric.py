"""Classes by a model that was trained for a measure: that one comes first."""

from __future__ import annotations

from dataclasses import replace

from ..errors import OneslackError
from . import classify
from .printing import show_measures
from .targets import Subject

#: Parameters of measures that have some.
PARAMETERS = {"k": ("precision_at_k", "recall_at_k"), "beta": ("fbeta",)}


def _facts(saved) -> dict:
    model = saved.model
    several = model.multilabel_ or len(model.classes_) > 2
    return {
        **classify.facts(saved),
        "metric": model.metric,
        **{name: getattr(model, name) if model.metric in of else None for name, of in PARAMETERS.items()},
        "positive_class": None if several else model.pos_label_.item(),
        "labels_an_example": "several" if model.multilabel_ else None,
    }


def _subject(examples, model) -> Subject:
    """Classes of which one is to be found, or each in turn, as well as the metric tells."""
    labels, metric = examples.labels, model.metric
    own = {name: getattr(model, name) for name, of in PARAMETERS.items() if metric in of}
    words = "".join(f" ({name}={value if name == 'k' else f'{value:g}'})" for name, value in own.items())
    facts = {"classes": labels, "metric": metric, **own}
    if len(labels) == 2:
        from ..metrics import positive_of

        positive = labels[positive_of(labels, examples.y, model.pos_label)]
        remark = f"trained for {metric}{words}; the positive class is {positive}, which --pos-label chooses"
        return Subject("2 classes", {**facts, "positive_class": positive}, remark)
    remark = f"trained for {metric}{words}, each class against the rest"
    return Subject(f"{len(labels)} classes", facts, remark, n_problems=len(labels))


def _measure(saved, table) -> dict:
    if saved.model.multilabel_:
        raise OneslackError(
            f"{saved.path}: predicts several labels an example, but a file holds one; evaluate it in Python."
        )
    return classify.class_facts(saved, table, _own_facts)


def _own_facts(model, table, truth, confusion, accuracy) -> dict:
    own = {name: getattr(model, name) for name, of in PARAMETERS.items() if model.metric in of}
    facts = {"trained_for": model.metric, **own}
    facts |= classify.own_facts(model, table, truth, confusion, accuracy)
    return facts | {"measures": _trained_first(model, table, truth, facts["measures"])}


def _trained_first(model, table, truth, measures) -> dict:
    """The measures with the one that the model was trained for in front."""
    from ..models.measures import METRICS

    metric, two = model.metric, len(model.classes_) == 2
    if metric not in METRICS:  # trained for a function
        return measures
    if two and metric == "error":
        return measures  # accuracy says it, and is the first
    if two and metric in measures:
        return {metric: measures[metric], **measures}
    value = _own_score(model, table, truth)
    if metric == "error":
        value = 1.0 - value
    elif two and (
        (metric == "recall_at_k" and measures["recall"] is None)
        or (metric == "fbeta" and measures["f1"] is None)
    ):
        value = None
    return {metric: value, **measures}


def _own_score(model, table, truth) -> float:
    """What `score` says; a label that is not known equals no class."""
    import numpy as np

    labels = np.append(model.classes_.astype(object), None)
    return model.score(table.X, labels[truth])


def _show(facts):
    notes, metric = classify.notes(facts), facts["trained_for"]
    first = next(iter(facts["measures"]))
    if metric in (first, "error"):
        own = [f"{name}={facts[name]}" for name in PARAMETERS if name in facts]
        mean = [] if "positive_class" in facts else ["mean over each class against the rest"]
        notes[first] = [*notes.get(first, []), *own, *mean, "trained for"]
    show_measures(facts, notes)


KIND = replace(classify.KIND, facts=_facts, measure=_measure, show=_show, subject=_subject)
