"""The picture of the demo: the band between the two bounds closes on the optimum."""

from __future__ import annotations

from matplotlib.figure import Figure

from .output import writing

UPPER, LOWER, BAND, THEIRS, INK = "#0b6e99", "#3a9d5d", "#d8ecf3", "#d9480f", "#333333"
#: Of the vertical axis, in optima.
HEIGHT = 3.2


def draw(path, panels):
    """Write a PNG with one panel for each (name, trace, scikit-learn's objective)."""
    figure = Figure(figsize=(5.6 * len(panels), 4.6), layout="constrained", dpi=150)
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, panel in zip(all_axes, panels):
        _panel(axes, *panel)
    all_axes[0].set_ylabel("objective ÷ optimum", color=INK)
    figure.legend(
        *all_axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=10,
    )
    with writing(path, text=False) as file:
        figure.savefig(file, format="png")


def _panel(axes, name, trace, theirs):
    optimum = trace[-1].primal
    milliseconds = 1e3 * trace.column("seconds")
    upper, lower = trace.column("primal") / optimum, trace.column("dual") / optimum
    axes.fill_between(
        milliseconds, lower, upper, step="post", color=BAND, linewidth=0, label="the optimum lies here"
    )
    axes.step(milliseconds, upper, where="post", color=UPPER, linewidth=1.8, label="the model so far")
    axes.step(milliseconds, lower, where="post", color=LOWER, linewidth=1.8, label="proven lower bound")
    axes.axhline(
        theirs / optimum, color=THEIRS, linewidth=1.4, linestyle=(0, (5, 3)), label="scikit-learn stopped"
    )
    axes.set_xlim(0, milliseconds[-1])
    axes.set_ylim(0, HEIGHT)
    above = 100 * (theirs / optimum - 1)
    _note(
        axes,
        min(theirs / optimum, HEIGHT),
        6,
        f"scikit-learn: {above:+.{0 if above >= 10 else 1}f} %",
        THEIRS,
    )
    _note(axes, 1.0, -8, f"gap {100 * trace[-1].gap:.2g} % after {milliseconds[-1]:.0f} ms", INK)
    _dress(axes, name)


def _note(axes, height, offset, text, colour):
    """Words at the right edge, above or below a height."""
    axes.annotate(
        text, (1, height), xycoords=("axes fraction", "data"), xytext=(-4, offset), ha="right",
        va="bottom" if offset > 0 else "top", textcoords="offset points", color=colour, fontsize=10,
    )  # fmt: skip


def _dress(axes, name):
    axes.set_title(name, loc="left", color=INK, fontsize=12, fontweight="bold")
    axes.set_xlabel("milliseconds of training", color=INK)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
