"""Pictures of models and of their training, by matplotlib: `pip install "oneslack[plot]"`.

Each `plot_...` draws on the Axes it is given, or on a new one, and returns them.  Colours are readable on
light and on dark ground and by the colour-blind; ink and ground are those of matplotlib's own style, so that
`plt.style.use("dark_background")` is all there is to do for the dark.
"""

from __future__ import annotations

import importlib

# Drawing is imported when it is first asked for: matplotlib is an extra, and slow to import.
_HOME = {
    "plot_bounds": "bounds",
    "plot_confusion": "matrices",
    "plot_precision_recall": "curves",
    "plot_regions": "regions",
    "plot_roc": "curves",
    "plot_tags": "tags",
    "plot_transitions": "matrices",
    "plot_tree": "trees",
    "plot_weights": "weights",
    "tagged_html": "tags",
}

__all__ = list(_HOME)


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'oneslack.viz' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(__all__)
