"""Models that train for a measure of the whole sample, by name: `measure_model`."""

from __future__ import annotations

from ..linear.binary import Binary
from ..ranking.model import Ranking
from .average_precision import AveragePrecision
from .contingency import ContingencyLoss
from .f_beta import FBeta
from .top_k import BreakEven, PrecisionAtK, RecallAtK

__all__ = [
    "METRICS",
    "AveragePrecision",
    "BreakEven",
    "ContingencyLoss",
    "FBeta",
    "PrecisionAtK",
    "RecallAtK",
    "measure_model",
]


def measure_model(metric, n_features, *, k=None, beta=1.0, concave=False, intercept=True):
    """The model that trains for a metric.

    Parameters
    ----------
    metric : a name of METRICS, or a function loss(tp, fp, fn, tn) (see ContingencyLoss)
    n_features : d
    k : for precision_at_k and recall_at_k: a number of examples or, as a float, a share of them
    beta : for fbeta; above 1 recall counts more, below 1 precision
    concave : for a function: promises that it is concave in fp for fixed tp
    intercept : fit a bias, where the measure sees one (error, f1, fbeta, a function)

    >>> from oneslack.models.measures import measure_model
    >>> measure_model("f1", 3)
    FBeta(n_features=3, intercept=True, beta=1.0)
    """
    if callable(metric):
        return ContingencyLoss(n_features, metric, intercept, concave)
    if metric not in METRICS:
        raise ValueError(
            f"metric={metric!r} is not known; use one of {', '.join(METRICS)}, "
            "or a function loss(tp, fp, fn, tn)"
        )
    if metric in ("precision_at_k", "recall_at_k") and k is None:
        raise ValueError(f"metric={metric!r} needs k, the number of examples to predict positive")
    return _MODELS[metric](n_features, intercept, k, beta)


_MODELS = {
    "error": lambda d, intercept, k, beta: Binary(d, intercept),
    "f1": lambda d, intercept, k, beta: FBeta(d, intercept),
    "fbeta": lambda d, intercept, k, beta: FBeta(d, intercept, beta),
    "prbep": lambda d, *_: BreakEven(d),
    "precision_at_k": lambda d, intercept, k, beta: PrecisionAtK(d, k),
    "recall_at_k": lambda d, intercept, k, beta: RecallAtK(d, k),
    "average_precision": lambda d, *_: AveragePrecision(d),
    "roc_auc": lambda d, *_: Ranking(d),
}
#: The names that `measure_model` knows.
METRICS = tuple(_MODELS)
