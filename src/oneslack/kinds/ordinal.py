"""Classes in an order: one score, cut by thresholds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from . import classify, rows
from .targets import Subject, count_pairs, in_order


def _facts(saved) -> dict:
    return {**classify.facts(saved), "thresholds": saved.model.thresholds_.tolist()}


def _subject(examples, model) -> Subject:
    labels = examples.labels
    return Subject(f"{len(labels)} classes", {"classes": labels}, f"in this order: {in_order(labels)}")


def _cells(saved, X, scores, say=None):
    return rows.cells_and(saved, X, saved.model.rank_scores(X)) if scores else rows.cells(saved, X)


def _measure(saved, table) -> dict:
    return classify.class_facts(saved, table, _own_facts)


def _own_facts(model, table, truth, confusion, accuracy) -> dict:
    """Of the examples whose class is known."""
    import numpy as np

    from .. import metrics

    known = truth >= 0
    truth, X = truth[known], table.X[known]
    predicted = np.searchsorted(model.classes_, model.predict(X))
    pairs = count_pairs(truth, None)[1]
    measures = {
        "accuracy": accuracy,
        "mean_absolute_error": float(np.abs(predicted - truth).mean()),
        "ordered_pairs": metrics.ordered_pairs(truth, model.rank_scores(X)) if pairs else None,
    }
    return {"measures": measures}


def _looks(saved) -> list[str]:
    from ..viz.report.looks import thresholds

    return [*rows.looks(saved), thresholds(saved.model)]


KIND = replace(
    classify.KIND, facts=_facts, cells=_cells, measure=_measure, looks=_looks, command="ordinal",
    subject=_subject, sections=partial(classify.sections, by_weights=False), by_shards=False,
)  # fmt: skip
