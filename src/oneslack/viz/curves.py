"""ROC and precision-recall curves, with the point where the model stands."""

from __future__ import annotations

import numpy as np

from ..errors import OneslackError
from ..metrics import average_precision, roc_auc
from .look import NEGATIVE, axes_of, colour, tidy
from .thresholds import rates


def plot_roc(model, X, y, *, label=None, ax=None):
    """Recall against false alarms at every threshold, and where the model's own threshold lies.

    Parameters
    ----------
    model : a fitted classifier of two classes
        Any estimator with `decision_function` and `classes_`; what is learned is the second class.
    X : array-like or sparse matrix of shape (n, d)
    y : array-like of shape (n,)
    label : str or None
        Name of the curve; the ROC area is added.
    ax : matplotlib Axes or None
        Where to draw, such as those of another curve; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import oneslack
    >>> from oneslack import viz
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(100, 5, random_state=0)
    >>> viz.plot_roc(oneslack.LinearSVC().fit(X, y), X, y).get_xlabel()
    'false alarms (share of negatives)'
    """
    positive, scores = _scores(model, X, y)
    curve = rates(positive, scores)
    at = curve.at(0.0)
    name = f"{label or type(model).__name__}: area {roc_auc(positive, scores):.4f}"
    ax = axes_of(ax)
    _draw(ax, curve.false_alarms, curve.recall, at, name, _threshold_name(model), where="default")
    if not any(line.get_gid() == "chance" for line in ax.lines):
        ax.plot([0, 1], [0, 1], color="gray", linewidth=0.8, linestyle=":", gid="chance")
    ax.set_xlabel("false alarms (share of negatives)")
    ax.set_ylabel("recall (share of positives)")
    ax.set_aspect("equal")
    _legend(ax, "lower right")
    return tidy(ax)


def plot_precision_recall(model, X, y, *, label=None, ax=None):
    """Precision against recall at every threshold, and where the model's own threshold lies.

    Parameters
    ----------
    model, X, y, label, ax
        As for `plot_roc`; average precision is added to the label.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import oneslack
    >>> from oneslack import viz
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(100, 5, random_state=0)
    >>> viz.plot_precision_recall(oneslack.MetricSVC("f1").fit(X, y), X, y).get_ylabel()
    'precision'
    """
    positive, scores = _scores(model, X, y)
    curve = rates(positive, scores)
    name = f"{label or type(model).__name__}: average precision {average_precision(positive, scores):.4f}"
    ax = axes_of(ax)
    _draw(ax, curve.recall, curve.precision, curve.at(0.0), name, _threshold_name(model), where="steps-pre")
    ax.set_xlabel("recall")
    ax.set_ylabel("precision")
    ax.set_ylim(0, 1.05)
    _legend(ax, "lower left", below=True)
    return tidy(ax)


def _scores(model, X, y):
    classes = getattr(model, "classes_", ())
    if len(classes) != 2 or not hasattr(model, "decision_function"):
        raise OneslackError(
            f"a curve is for two classes; this {type(model).__name__} has {len(classes)}, or no scores"
        )
    return np.asarray(y) == classes[1], np.asarray(model.decision_function(X), float)


def _threshold_name(model) -> str:
    metric = getattr(model, "metric", None)
    if isinstance(metric, str):
        return f"its threshold, trained for {metric}"
    return "its threshold"


def _draw(ax, right, up, at, name, point_name, where):
    k = sum(line.get_gid() == "curve" for line in ax.lines)
    (line,) = ax.plot(right, up, color=colour(k), label=name, drawstyle=where, gid="curve")
    marker = "osD^v"[k % 5]
    ax.plot(
        right[at], up[at], marker, color=line.get_color() if k else NEGATIVE, markersize=8, label=point_name,
        linestyle="none", gid="point",
    )  # fmt: skip


def _legend(ax, loc, below=False):
    """One curve and its point; of several curves each with its point on it, perhaps below the picture."""
    curves, points = ([line for line in ax.lines if line.get_gid() == gid] for gid in ("curve", "point"))
    if len(curves) == 1:
        ax.legend(frameon=False, loc=loc)
        return
    from matplotlib.lines import Line2D

    handles = []
    for curve, point in zip(curves, points, strict=True):
        point.set_color(curve.get_color())
        both = {"color": curve.get_color(), "marker": point.get_marker(), "label": curve.get_label()}
        handles.append(Line2D([], [], **both))
    place = {"loc": "upper left", "bbox_to_anchor": (0, 0), "borderaxespad": 4.0} if below else {"loc": loc}
    ax.legend(handles=handles, title="points: their own thresholds", alignment="left", frameon=False, **place)
