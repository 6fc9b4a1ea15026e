"""Measures of sets of labels: of single labels, of examples, of whole sets."""

from __future__ import annotations

import numpy as np


def label_set_scores(y_true, y_pred) -> dict:
    """Measures of predicted sets of labels, matrices of 0 and 1 of shape (n, L).

    hamming_loss, label_accuracy   the share of wrong, and of right labels
    example_f1                     the mean of the examples' F1; 1 where both sets are empty
    micro_f1, macro_f1             F1 of all labels counted together; the mean of the labels' F1, of those
                                   that are there or predicted
    subset_accuracy                the share of examples whose labels are all right

    >>> import numpy as np
    >>> from oneslack.metrics import label_set_scores
    >>> scores = label_set_scores(np.array([[1, 1, 0], [0, 1, 0]]), np.array([[1, 0, 0], [0, 1, 0]]))
    >>> round(scores["hamming_loss"], 3), round(scores["example_f1"], 3), scores["subset_accuracy"]
    (0.167, 0.833, 0.5)
    """
    truth, predicted = np.asarray(y_true) != 0, np.asarray(y_pred) != 0
    if truth.shape != predicted.shape or truth.ndim != 2 or not truth.size:
        raise ValueError(
            f"sets of labels have shapes {truth.shape} and {predicted.shape}, expected one (n, L)"
        )
    hits, sizes = truth & predicted, truth.astype(int) + predicted
    wrong = float(np.mean(truth != predicted))
    return {
        "hamming_loss": wrong,
        "label_accuracy": 1.0 - wrong,
        "example_f1": float(np.mean(_f1(hits.sum(axis=1), sizes.sum(axis=1), 1.0))),
        "micro_f1": float(_f1(hits.sum(), sizes.sum(), 1.0)),
        "macro_f1": _mean(_f1(hits.sum(axis=0), sizes.sum(axis=0), np.nan)),
        "subset_accuracy": float(np.mean((truth == predicted).all(axis=1))),
    }


def _f1(hits, sizes, of_nothing):
    sizes = np.asarray(sizes, float)
    return np.divide(2.0 * hits, sizes, out=np.full(sizes.shape, of_nothing), where=sizes > 0)


def _mean(values):
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else 1.0
