"""A picture of labels on a grid."""

from __future__ import annotations


def plot_grid(x, cmap=None, axes=None, border_color="green"):
    """Draw the labels (height, width) of a grid with lines between the cells; returns the axes."""
    import matplotlib.pyplot as plt

    axes = axes if axes is not None else plt.subplots()[1]
    axes.matshow(x, cmap=cmap)
    for at in range(1, x.shape[0]):
        axes.axhline(at - 0.5, color=border_color)
    for at in range(1, x.shape[1]):
        axes.axvline(at - 0.5, color=border_color)
    axes.set_xticks([])
    axes.set_yticks([])
    return axes
