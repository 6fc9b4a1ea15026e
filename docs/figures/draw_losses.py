"""Draws the losses of docs/losses.md, by their own definitions: losses_sides.svg and losses_numbers.svg.

Needs matplotlib:

    python docs/figures/draw_losses.py
"""

from pathlib import Path

import numpy as np

from oneslack.losses import LOSSES

HERE = Path(__file__).parent
INK = "#7f7f7f"
#: Colours after Okabe and Ito that show on white and on black, with dashes for those who see no colours.
STYLES = {
    "hinge": ("#D55E00", "-"),
    "squared_hinge": ("#2a87c8", "--"),
    "logistic": ("#009E73", "-."),
    "epsilon_insensitive": ("#D55E00", "-"),
    "squared_epsilon_insensitive": ("#2a87c8", "--"),
    "pinball": ("#009E73", "-."),
    "huber": ("#CC79A7", (0, (5, 1, 1, 1, 1, 1))),
}
#: Parameters that show the shapes.
GIVEN = {
    "epsilon_insensitive": {"epsilon": 0.5},
    "squared_epsilon_insensitive": {"epsilon": 0.5},
    "pinball": {"quantile": 0.8},
    "huber": {"delta": 0.75},
}


def draw(names, y, scores, path, xlabel, top):
    """Left the losses, right their duals p = -d phi / d z: how hard an example pulls at its score."""
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(7.6, 3.1), layout="constrained")
    for name in names:
        loss = LOSSES[name](**GIVEN.get(name, {}))
        words = ", ".join(f"{part} = {value:g}" for part, value in GIVEN.get(name, {}).items())
        label = f"{name} ({words})" if words else name
        colour, dashes = STYLES[name]
        x = scores * y if loss.has_sides else y - scores
        values = [loss.value(y, z) for z in scores]
        pulls = np.array([loss.dual(y, z) for z in scores])
        jumps = np.abs(np.diff(pulls, append=pulls[-1])) > 0.2  # no line across a jump
        panels[0].plot(x, values, color=colour, ls=dashes, lw=1.6, label=label)
        panels[1].plot(x, np.where(jumps, np.nan, pulls), color=colour, ls=dashes, lw=1.6)
    panels[0].set(title="the loss", xlabel=xlabel, ylim=(-0.05 * top, top))
    panels[1].set(title="its pull: p", xlabel=xlabel, ylim=(-1.6, 2.2) if y == 0.0 else (-0.15, 3.0))
    for panel in panels:
        panel.grid(color=INK, alpha=0.25, lw=0.5)
        panel.set_facecolor("none")
        panel.title.set_color(INK)
    figure.legend(loc="outside lower center", ncols=2 if y == 0.0 else 3, frameon=False)
    figure.savefig(path, transparent=True, metadata={"Date": None})


def main():
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "oneslack", "font.size": 9, "text.color": INK}
        | dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    )
    margins = np.linspace(-1.5, 2.5, 401)
    sides = [name for name, loss in LOSSES.items() if loss.has_sides]
    numbers = [name for name, loss in LOSSES.items() if not loss.has_sides]
    draw(sides, 1.0, margins, HERE / "losses_sides.svg", "y z: the score on the right side", 4.0)
    draw(numbers, 0.0, np.linspace(-2.0, 2.0, 401), HERE / "losses_numbers.svg", "r = y − z: the error", 2.0)


if __name__ == "__main__":
    main()
