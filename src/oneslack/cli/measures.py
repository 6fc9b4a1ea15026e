"""How well a model does on examples with targets: the measures that fit its kind.

A measure is None where it has no meaning, such as the recall of a class that does not occur.
"""

from __future__ import annotations

from .output import Refusal
from .targets import check_numbers, count_pairs

#: Places of a ranking that NDCG looks at.
TOP = (1, 5, 10)
#: 2^target must stay a finite number, and so must a sum of many.
LARGEST_GAIN = 1000


def measure(saved, table) -> dict:
    """The facts of an evaluation, among them `measures`, by name and the most telling first."""
    model = saved.model
    if saved.header["kind"] == "LinearSVR":
        return _regression(model, table)
    if not hasattr(model, "classes_"):
        return _ranking(model, table)
    if getattr(model, "multilabel_", False):
        raise Refusal(
            f"{saved.path}: predicts several labels an example, but a file holds one; evaluate it in Python."
        )
    labels = model.classes_.tolist()
    truth = _codes(table, labels, saved.path)
    confusion = confusion_table(truth, _positions(model.predict(table.X), labels), len(labels))
    return {
        **_class_measures(model, table, truth, confusion),
        "unknown_labels": int((truth < 0).sum()),
        "classes": [
            {"label": label, **rates(confusion[:, k], confusion[k], int(confusion[k, k]))}
            for k, label in enumerate(labels)
        ],
        "confusion": confusion[: len(labels)].tolist(),
    }


def _regression(model, table) -> dict:
    """Errors in the targets' own unit."""
    import numpy as np

    check_numbers(table)
    errors = np.asarray(table.y, float) - model.predict(table.X)
    outside = np.maximum(np.abs(errors) - model.epsilon, 0.0)
    return {
        "epsilon": float(model.epsilon),
        "measures": {
            "mean_absolute_error": float(np.abs(errors).mean()),
            "root_mean_squared_error": float(np.sqrt((errors**2).mean())),
            "mean_outside_tube": float(outside.mean()),
            "r2": float(model.score(table.X, table.y)) if np.ptp(table.y) > 0 else None,
        },
    }


def _ranking(model, table) -> dict:
    from .. import metrics

    check_numbers(table)
    y, scores, groups = table.y, model.predict(table.X), table.qid
    n_queries, pairs, _ = count_pairs(y, groups)
    gains = bool((y >= 0).all() and (y > 0).any() and (y <= LARGEST_GAIN).all())
    relevance = bool((y == 0).any() and (y > 0).any())
    return {
        "queries": n_queries,
        "pairs": pairs,
        "measures": {
            "ordered_pairs": metrics.ordered_pairs(y, scores, groups) if pairs else None,
            **{
                f"ndcg@{k}": metrics.ndcg(y, scores, groups, k, exponential=True) if gains else None
                for k in TOP
            },
            "map": metrics.mean_average_precision(y, scores, groups) if relevance else None,
        },
        "ndcg_gain": "2^target - 1",
    }


def _class_measures(model, table, truth, confusion) -> dict:
    """accuracy, measures, and what they are measures of."""
    accuracy = float(confusion.diagonal().sum() / confusion.sum())
    facts = {"accuracy": accuracy}
    metric = getattr(model, "metric", None)
    if metric is not None:
        facts["trained_for"] = metric
        facts |= {name: getattr(model, name) for name in ("k", "beta") if metric in _METRICS_WITH[name]}
    if hasattr(model, "thresholds_"):
        measures = {"accuracy": accuracy, **_order(model, table, truth)}
    elif len(model.classes_) == 2:
        facts["positive_class"] = model.classes_[1].item()
        measures = {"accuracy": accuracy, **_two_classes(model, table, truth, confusion)}
    else:
        measures = {"accuracy": accuracy}
    return {**facts, "measures": _trained_first(model, table, truth, measures)}


_METRICS_WITH = {"k": ("precision_at_k", "recall_at_k"), "beta": ("fbeta",)}


def _order(model, table, truth) -> dict:
    """Of the examples whose class is known."""
    import numpy as np

    from .. import metrics

    known = truth >= 0
    truth, X = truth[known], table.X[known]
    predicted = np.searchsorted(model.classes_, model.predict(X))
    pairs = count_pairs(truth, None)[1]
    return {
        "mean_absolute_error": float(np.abs(predicted - truth).mean()),
        "ordered_pairs": metrics.ordered_pairs(truth, model.rank_scores(X)) if pairs else None,
    }


def _two_classes(model, table, truth, confusion) -> dict:
    """Of the second class; examples of unknown classes are not of it."""
    from .. import metrics

    positive, scores = truth == 1, model.decision_function(table.X)
    found = rates(confusion[:, 1], confusion[1], int(confusion[1, 1]))
    some, all_of_it = positive.any(), positive.all()
    return {
        **{name: found[name] for name in ("precision", "recall", "f1")},
        "roc_auc": metrics.roc_auc(positive, scores) if some and not all_of_it else None,
        "average_precision": metrics.average_precision(positive, scores) if some else None,
        "prbep": metrics.precision_recall_break_even(positive, scores) if some else None,
    }


def _trained_first(model, table, truth, measures) -> dict:
    """The measures with the one that the model was trained for in front."""
    from ..models.measures import METRICS

    metric, two = getattr(model, "metric", None), len(model.classes_) == 2
    if metric not in METRICS:  # no MetricSVC, or one that was trained for a function
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


def _codes(table, labels, model_path):
    """The position of each label among the model's, or -1."""
    y = table.y.astype(str) if isinstance(labels[0], str) else table.y
    codes = _positions(y, labels)
    if (codes < 0).all():
        raise Refusal(
            f"{table.path}: none of its labels, such as {y[0].item()!r}, is a class of {model_path} "
            f"({', '.join(map(str, labels[:10]))}); compare like with like."
        )
    return codes


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


def rates(predicted, present, hits) -> dict:
    """Of a class, from its column and its row of the confusion table, and where they meet."""
    predicted, present = int(predicted.sum()), int(present.sum())
    return {
        "precision": hits / predicted if predicted else None,
        "recall": hits / present if present else None,
        "f1": 2 * hits / (predicted + present) if predicted + present else None,
        "examples": present,
    }
