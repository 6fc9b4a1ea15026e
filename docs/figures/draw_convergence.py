"""Draws the picture of the front page and the README, convergence.svg: two bounds that close on the optimum.

One training of LinearSVC by cutting planes on scikit-learn's breast-cancer data. Needs matplotlib:

    python docs/figures/draw_convergence.py
"""

from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import oneslack
from oneslack.viz.look import LOWER, UPPER

HERE = Path(__file__).parent
INK = "#7f7f7f"
TOL = 1e-3


def draw(trace, path):
    """Left the two bounds, right the gap between them, step by step."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8.2, 2.7), layout="constrained")
    step, upper, lower = (trace.column(name) for name in ("iteration", "primal", "dual"))
    left.fill_between(step, lower, upper, step="post", color=UPPER, alpha=0.2, linewidth=0)
    left.step(step, upper, where="post", color=UPPER)
    left.step(step, lower, where="post", color=LOWER, linestyle="--")
    left.annotate("objective of the model", (7.3, 5.9), color=UPPER)
    left.annotate("proven lower bound", (10.2, 2.1), color=LOWER)
    left.annotate("the optimum\nlies here", (1.4, 1.5), color=INK)
    left.set(ylim=(0, 2.6 * upper[-1]), xlabel="step", ylabel="objective")
    gap = 100 * trace.column("gap")
    right.step(step, gap, where="post", color=UPPER)
    right.axhline(100 * TOL, color=INK, linewidth=1, linestyle=":")
    right.annotate(
        f"tol={TOL:g}: training ends", (1, 100 * TOL), (0, 4), textcoords="offset points", color=INK
    )
    right.set(yscale="log", xlabel="step", ylabel="from the optimum, at most")
    right.set_yticks([100, 10, 1, 0.1], ["100 %", "10 %", "1 %", "0.1 %"])
    right.minorticks_off()
    for panel in (left, right):
        panel.set_facecolor("none")
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, transparent=True, metadata={"Date": None})


def main():
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.fonttype": "none", "svg.hashsalt": "oneslack", "font.size": 9, "text.color": INK}
        | dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    )
    X, y = load_breast_cancer(return_X_y=True)
    model = oneslack.LinearSVC(C=0.1, tol=TOL, solver="one_slack").fit(scale(X), y)
    draw(model.result_.trace, HERE / "convergence.svg")


if __name__ == "__main__":
    main()
