"""How all pictures look: colours, and Axes to draw on."""

from __future__ import annotations

from ..errors import OneslackError

#: Colours of several things in one picture: Okabe and Ito's set for the colour-blind, those of its members
#: that stand out from white and from black alike, and two more of their kind.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b15c8e", "#a67c00", "#5e7fb1", "#7f7f7f")
UPPER, LOWER = "#0072b2", "#009e73"
#: Below and above zero; grey, not white, in the middle, so that zero shows on any ground.
NEGATIVE, POSITIVE = "#d55e00", "#0072b2"
#: From few to many.
COUNTS = "cividis"


def axes_of(ax, figsize=None):
    """The Axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise OneslackError(
            'pictures need matplotlib, which is not installed; run pip install "oneslack[plot]"'
        ) from error
    return plt.subplots(figsize=figsize, layout="constrained")[1]


def tidy(ax):
    """Only the two lines of the frame that carry numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def colour(k) -> str:
    """Of the k-th thing; they come again when there are many."""
    return PALETTE[k % len(PALETTE)]


def luminance(colour) -> float:
    """Relative luminance of a colour by WCAG 2, from 0 (black) to 1."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on(colour) -> str:
    """Black or white, whichever is easier to read on a colour."""
    light = luminance(colour)
    return "black" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "white"
