"""Which class a model gives to each point of a plane."""

from __future__ import annotations

import numpy as np

from ..errors import OneslackError
from .look import axes_of, colour, tidy

#: Points a side at which the model is asked.
GRID = 200


def plot_regions(model, X, y=None, *, feature_names=None, ax=None):
    """The regions of the classes of a model of two features, with examples on them.

    Parameters
    ----------
    model : a fitted classifier of two features
        Any with `predict` and `classes_`; of two classes, the margins too are drawn.
    X : array-like of shape (n, 2)
        Examples, which also say what part of the plane is shown.
    y : array-like of shape (n,) or None
        Their classes.
    feature_names : pair of str or None
        Names of the axes.
    ax : matplotlib Axes or None
        Where to draw; a new figure by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import oneslack
    >>> from oneslack import viz
    >>> from oneslack.datasets import make_checkers
    >>> X, y = make_checkers(200, random_state=0)
    >>> ax = viz.plot_regions(oneslack.KernelSVC(gamma=10).fit(X, y), X, y)
    >>> ax.get_xlabel()
    'feature 0'
    """
    X = np.asarray(X, float)
    if X.ndim != 2 or X.shape[1] != 2:
        raise OneslackError(f"regions are drawn for two features; X has shape {X.shape}")
    classes = np.asarray(model.classes_)
    shades = [colour(k) for k in range(len(classes))]
    right, up = (_range(X[:, k]) for k in (0, 1))
    points = np.column_stack([part.ravel() for part in np.meshgrid(right, up)])
    codes = np.searchsorted(classes, model.predict(points)).reshape(GRID, GRID)
    ax = axes_of(ax)
    from matplotlib.colors import ListedColormap  # after axes_of, which says where it is missing

    ax.imshow(
        codes, origin="lower", extent=(right[0], right[-1], up[0], up[-1]), aspect="auto", alpha=0.25,
        cmap=ListedColormap(shades), vmin=-0.5, vmax=len(classes) - 0.5, interpolation="nearest",
    )  # fmt: skip
    if len(classes) == 2 and hasattr(model, "decision_function"):
        heights = np.asarray(model.decision_function(points)).reshape(GRID, GRID)
        ax.contour(right, up, heights, [-1, 0, 1], colors="gray", linestyles=["--", "-", "--"], linewidths=1)
    _points(ax, X, y, classes, shades)
    first, second = feature_names or getattr(model, "feature_names_in_", ("feature 0", "feature 1"))
    ax.set_xlabel(str(first))
    ax.set_ylabel(str(second))
    return tidy(ax)


def _range(values):
    low, high = values.min(), values.max()
    margin = 0.05 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, GRID)


def _points(ax, X, y, classes, shades):
    if y is None:
        ax.scatter(*X.T, s=10, color="gray")
        return
    y = np.asarray(y)
    for k, label in enumerate(classes):
        mine = X[y == label]
        ax.scatter(
            *mine.T, s=14, color=shades[k], marker="osD^vPX"[k % 7], edgecolors="white", linewidths=0.4,
            label=str(label),
        )  # fmt: skip
    ax.legend(title="class")
