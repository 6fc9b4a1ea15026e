"""Classes without an order: what all classifiers are measured by, and those of linear scores."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..errors import OneslackError
from . import rows
from .printing import measure_words, show_measures
from .registry import Kind
from .targets import Subject

#: Features that are named as the reasons of an error.
REASONS = 3


def facts(saved) -> dict:
    """What it predicts."""
    return {"predicts": None, "classes": saved.model.classes_.tolist()}


def cells(saved, X, scores, say=None):
    """Classes; with scores, what decides between them."""
    if not scores:
        return rows.cells(saved, X)
    return rows.cells_and(saved, X, saved.model.decision_function(X))


def subject(examples, model) -> Subject:
    """Classes without an order; of two it is noted which one measures look for."""
    labels = examples.labels
    n, facts = len(labels), {"classes": labels}
    if n == 2 and examples.y is not None:
        from ..metrics import positive_of

        facts["positive_class"] = labels[positive_of(labels, examples.y)]
    return Subject(f"{n} classes", facts, n_problems=n if model._is_ovr(n) else 1)


# Measures.


class _Seen(NamedTuple):
    """Examples that are measured, and which of two classes is the positive one."""

    X: Any
    positive: int | None


def measure(saved, table) -> dict:
    """The facts of an evaluation."""
    return class_facts(saved, table, own_facts)


def class_facts(saved, table, own) -> dict:
    """Accuracy, rates by class and confusion; own(model, table, truth, confusion, accuracy) is the rest."""
    model, labels = saved.model, saved.model.classes_.tolist()
    y = table.y.astype(str) if isinstance(labels[0], str) else table.y
    truth = codes(table.path, y, labels, f"class of {saved.path}", "compare like with like")
    confusion = confusion_table(truth, _positions(model.predict(table.X), labels), len(labels))
    accuracy = float(confusion.diagonal().sum() / confusion.sum())
    place = positive_place(saved, y) if len(labels) == 2 else None
    return {
        "examples": table.X.shape[0],
        "accuracy": accuracy,
        **own(model, _Seen(table.X, place), truth, confusion, accuracy),
        "unknown_labels": int((truth < 0).sum()),
        "classes": rates_by_class(labels, confusion),
        "confusion": confusion[: len(labels)].tolist(),
    }


def own_facts(model, table, truth, confusion, accuracy) -> dict:
    """Of two classes one is the positive one."""
    if len(model.classes_) != 2:
        return {"measures": {"accuracy": accuracy, "macro_f1": macro_f1(confusion)}}
    place = table.positive
    measures = {"accuracy": accuracy, **_two_classes(model, table, truth, confusion, place)}
    return {"positive_class": model.classes_[place].item(), "measures": measures}


def positive_place(saved, y) -> int:
    """Which of two classes is the positive one: as asked for, as in training, or by the rule of metrics."""
    labels = saved.model.classes_.tolist()
    trained = getattr(saved.model, "pos_label_", None)
    if saved.pos_label is not None:
        known = {str(label): k for k, label in enumerate(labels)}
        if saved.pos_label not in known:
            raise OneslackError(
                f"--pos-label: {saved.path} has no class {saved.pos_label!r}; it has {', '.join(known)}."
            )
        if trained is not None and labels[known[saved.pos_label]] != trained:
            raise OneslackError(
                f"--pos-label: {saved.path} was trained for the class {trained}; drop it, or train again."
            )
        return known[saved.pos_label]
    if trained is None:
        trained = saved.header.get("training", {}).get("positive_class")
    from ..metrics import positive_of

    return labels.index(trained) if trained in labels else positive_of(labels, y)


def _two_classes(model, table, truth, confusion, place) -> dict:
    """Of the positive class; examples of unknown classes are not of it."""
    from .. import metrics

    positive, scores = truth == place, (2 * place - 1) * model.decision_function(table.X)
    some, all_of_it = positive.any(), positive.all()
    return {
        **rates(
            *(
                int(counts.sum())
                for counts in (confusion[:, place], confusion[place], confusion[place, place])
            )
        ),
        "roc_auc": metrics.roc_auc(positive, scores) if some and not all_of_it else None,
        "average_precision": metrics.average_precision(positive, scores) if some else None,
        "prbep": metrics.precision_recall_break_even(positive, scores) if some else None,
    }


def codes(path, y, labels, of, advice):
    """The position of each label among the model's, or -1; refused where all are unknown."""
    found = _positions(y, labels)
    if (found < 0).all():
        raise OneslackError(
            f"{path}: none of its labels, such as {y[:1].tolist()[0]!r}, is a {of} "
            f"({', '.join(map(str, labels[:10]))}); {advice}."
        )
    return found


def _positions(values, labels):
    import numpy as np

    position = {value: k for k, value in enumerate(labels)}
    return np.array([position.get(value, -1) for value in values.tolist()])


def confusion_table(truth, predicted, n_classes):
    """(K + 1, K): rows are true classes, the last one labels that the model does not know."""
    import numpy as np

    rows = np.where(truth < 0, n_classes, truth)
    counts = np.bincount(rows * n_classes + predicted, minlength=(n_classes + 1) * n_classes)
    return counts.reshape(n_classes + 1, n_classes)


def rates_by_class(labels, confusion) -> list[dict]:
    """Precision, recall and F1 of each."""
    predicted, present = confusion.sum(axis=0).tolist(), confusion.sum(axis=1).tolist()
    hits = confusion.diagonal().tolist()
    return [
        {"label": label, **rates(predicted[k], present[k], hits[k]), "examples": present[k]}
        for k, label in enumerate(labels)
    ]


def macro_f1(confusion) -> float | None:
    """The mean over the classes that are there, or were predicted."""
    known = confusion[: confusion.shape[1]]
    found = [rates(int(p), int(t), int(h))["f1"] for p, t, h in
             zip(confusion.sum(axis=0), known.sum(axis=1), known.diagonal(), strict=True)]  # fmt: skip
    found = [value for value in found if value is not None]
    return sum(found) / len(found) if found else None


def baseline(facts) -> str:
    """What it would be to predict the most frequent class always."""
    largest = max(facts["classes"], key=lambda row: row["examples"])
    share = 100 * largest["examples"] / max(1, facts["examples"])
    return f"Always to predict {largest['label']} would be right for {share:.2f} %."


def rates(predicted, present, hits) -> dict:
    """Of a class: how often it was predicted, was there, and both."""
    return {
        "precision": hits / predicted if predicted else None,
        "recall": hits / present if present else None,
        "f1": 2 * hits / (predicted + present) if predicted + present else None,
    }


def notes(facts) -> dict:
    """What stands in parentheses after a measure: {measure: [words]}."""
    right = round(facts["accuracy"] * facts["examples"])
    told = {"accuracy": [f"{right:,} of {facts['examples']:,} right"]}
    if "positive_class" in facts:
        told["precision"] = [f"the positive class is {facts['positive_class']}"]
    return told


def show(facts):
    """Print the measures, and tables of the classes."""
    show_measures(facts, notes(facts))


# The report.


def sections(saved, table, facts, by_weights=True):
    """(HTML of how good it is, HTML of its errors, with what spoke for them where weights tell it)."""
    import numpy as np

    from ..viz.report import quality

    model = saved.model
    labels = model.classes_.tolist()
    y = table.y.astype(str) if isinstance(labels[0], str) else table.y
    truth, predicted = y.tolist(), model.predict(table.X).tolist()
    scores = np.asarray(model.decision_function(table.X), float)
    remarks = [f"{facts['examples']:,} examples. {baseline(facts)}"]
    if "positive_class" in facts:
        remarks.append(f"Precision, recall and the curves are those of the class {facts['positive_class']}.")
    if facts["unknown_labels"]:
        remarks.append(f"{facts['unknown_labels']:,} examples have a label that the model does not know.")
    drawn = ""
    if scores.ndim == 1 and len(labels) == 2:
        place = labels.index(facts["positive_class"])
        drawn = quality.curves(
            np.array([label == labels[place] for label in truth]), (2 * place - 1) * scores
        )
    good = quality.quality(measure_words(facts), remarks, drawn, quality.confusion(facts))
    why = _reasons(saved, table.X, truth, predicted, labels) if by_weights else None
    return good, quality.class_errors(truth, predicted, _margins(scores, truth, predicted, labels), why)


def _margins(scores, truth, predicted, labels):
    """(n,): by how much the predicted class was ahead of the true one; of one score, how far it is from 0."""
    import numpy as np

    if scores.ndim == 1:
        return np.abs(scores)
    place = {label: k for k, label in enumerate(labels)}
    rows = np.arange(len(scores))
    right = np.array([place.get(label, -1) for label in truth])
    ahead = scores[rows, [place[label] for label in predicted]] - scores[rows, right]
    return np.where(right < 0, 0.0, ahead)


def _reasons(saved, X, truth, predicted, labels):
    """A function from an example to words on the features that spoke most for the wrong class."""
    import numpy as np

    names, place = rows.feature_names(saved), {label: k for k, label in enumerate(labels)}
    coef = np.atleast_2d(saved.model.coef_)

    def words(i):
        if truth[i] not in place:
            return "its class is not known"
        a, b = place[predicted[i]], place[truth[i]]
        w = coef[a] - coef[b] if len(coef) > 1 else coef[0] * (1 if a == 1 else -1)
        x = X[[i]].toarray().ravel() if hasattr(X, "toarray") else np.asarray(X[i], float)
        spoke = w * x
        order = [k for k in np.argsort(-spoke)[:REASONS] if spoke[k] > 0]
        return ", ".join(f"{names[k]} ({spoke[k]:+.3g})" for k in order)

    return words


KIND = Kind(
    facts, "rows", None, cells, measure, show, sections, command="classify", subject=subject, by_shards=True,
)  # fmt: skip
